"""`vqagen human import`: answers that HUMANr collected."""

from __future__ import annotations

import click

from vqagen.cli.options import path

_SHOWN = 5
_MEANINGS = {
    "ambiguous": "may be about another trial; kept as HUMANr does, unless --drop-ambiguous is given",
    "lost": "trials without an answer",
    "rejected": "no answers",
    "skipped": "not part of the study",
    "unnamed": "links without a worker id",
}


@click.command("import")
@click.argument("answers", type=path, metavar="REDIS.json|RESULTS.csv")
@click.option("--tasks", type=path, metavar="FILE", help="comparison_tasks.json or latest_run.json; not for a CSV.")
@click.option("--drop-ambiguous", is_flag=True, help="Leave out answers that may be about another trial.")
@click.option("--out", "-o", type=path, required=True, metavar="FOLDER", help="The folder to write.")
@click.option("--force", is_flag=True, help="Replace answers in that folder.")
def import_humanr(answers: str, tasks: str | None, drop_ambiguous: bool, out: str, force: bool) -> None:
    """Read the answers that HUMANr collected, so that `vqagen human score` scores them.

    REDIS.json is the content of HUMANr's Redis database ({link id: {field: value}}), which needs --tasks; RESULTS.csv
    holds its results. HUMANr keeps one answer for each image of a link: answers that were lost by that, or may be about
    another trial, are counted here and named in import.json, as is all that is no answer. Worker ids are replaced by
    numbers.

    \b
    Example:
      vqagen human import redis.json --tasks comparison_tasks.json --out answers
      vqagen human score answers --method humanr,cluster
    """
    from vqagen.errors import counted
    from vqagen.human.humanr_import import import_humanr

    rows, findings = import_humanr(answers, out, tasks, drop_ambiguous=drop_ambiguous, force=force)
    for kind, places in findings.items():
        if places:
            click.echo(f"vqagen: {len(places):,} {kind}: {_MEANINGS[kind]}", err=True)
            for place in places[:_SHOWN]:
                click.echo(f"  {place}", err=True)
            if len(places) > _SHOWN:
                click.echo(f"  and {len(places) - _SHOWN:,} more in {out}/import.json", err=True)
    click.echo(f"{counted(len(rows), 'answer')} in {out}", err=True)
