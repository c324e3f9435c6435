"""`vqagen human export`: the answers of a study as files."""

from __future__ import annotations

import click

from vqagen.cli.human_store import store_option, study_argument
from vqagen.cli.options import path


@click.command("export")
@study_argument
@store_option
@click.option("--out", "-o", type=path, required=True, metavar="FOLDER", help="The folder to write.")
@click.option("--include-ids", is_flag=True, help="Add people.csv: who the raters are on their platforms.")
@click.option("--events", is_flag=True, help="Add events.jsonl: everything that happened, in order.")
@click.option("--force", is_flag=True, help="Replace an export in that folder.")
def export(study: str, store: str | None, out: str, include_ids: bool, events: bool, force: bool) -> None:
    """Write the answers of a study as JSON Lines and CSV, with a data dictionary.

    It works beside a running server. Equal answers give equal bytes, whatever store they are in. Raters have
    pseudonyms; flags of doubtful answers stand in assignments.csv, and what raters wrote to you in comments.csv.
    `vqagen human score` reads the folder.

    \b
    Example:
      vqagen human export study --out answers
    """
    from vqagen.errors import counted
    from vqagen.human.export import export_study

    numbers = export_study(study, out, store, include_ids=include_ids, events=events, force=force)
    answers, assignments, raters = map(counted, numbers, ("answer", "assignment", "rater"))
    click.echo(f"{answers} of {raters} in {assignments}", err=True)
