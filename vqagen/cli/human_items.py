"""`vqagen human items`: items for raters from questions, dialogs and director trials."""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli.options import domain_options, input_path, path, settings_options
from vqagen.human.settings import ItemSettings


@click.command("items")
@click.argument("file", type=path, metavar="QUESTIONS|DIALOGS|TRIALS")
@click.option("--scenes", type=input_path, metavar="PATH", help="Scenes that questions and dialogs are about.")
@click.option("--out", "-o", required=True, type=path, metavar="FILE", help="File for the items, JSON Lines.")
@domain_options("domain", "metadata", "templates", "synonyms", "plugins")
@settings_options(settings=ItemSettings)
@click.option("--force", is_flag=True, help="Replace a file that exists.")
def items(
    file: str,
    scenes: str | None,
    out: str,
    domain: dict[str, Any],
    settings: ItemSettings,
    force: bool,
) -> None:
    """Make items for raters from files of `vqagen generate`, `dialog` or `director generate`.

    Raters answer QUESTIONS, DIALOGS round by round, or TRIALS, and `vqagen human export` writes their answers as
    predictions.

    Pictures are those that the scenes name, such as of `vqagen scenes draw`, or that lie in the folder of TRIALS.

    \b
    Example:
      vqagen human items questions.json --scenes scenes.json --out asked.jsonl
    """
    from collections import Counter

    from vqagen.errors import counted
    from vqagen.files.output import check_output
    from vqagen.human.items import make_items, write_items
    from vqagen.language.domain_files import find_domain

    check_output(out, force)
    made = make_items(scenes, file, settings, find_domain(**domain))
    write_items(made, out, force=force)
    # Kinds of answers that nothing is known of are texts: a domain that was not named is seen here.
    forms = Counter(item.form.__struct_config__.tag for item in made if item.form)
    lines = [f"{counted(number, 'question')} answered by {form}" for form, number in forms.items()]
    click.echo(f"{', '.join(lines) or 'no items'} in {out}", err=True)
