"""`vqagen human items`: items for raters from questions and dialogs."""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli.human_making import systems_of
from vqagen.cli.options import domain_options, path, scenes_option, settings_options
from vqagen.human.items.settings import ItemSettings


@click.command("items")
@click.argument("file", required=False, type=path, metavar="[QUESTIONS|DIALOGS]")
@scenes_option
@click.option(
    "--system", "systems", multiple=True, metavar="NAME=FILE", help="Dialogs whose captions are those of a system."
)
@click.option("--out", "-o", required=True, type=path, metavar="FILE", help="File for the items, JSON Lines.")
@domain_options("domain", "metadata", "templates", "synonyms", "plugins")
@settings_options(settings=ItemSettings)
@click.option("--force", is_flag=True, help="Replace a file that exists.")
def items(
    file: str | None,
    scenes: str,
    systems: tuple[str, ...],
    out: str,
    domain: dict[str, Any],
    settings: ItemSettings,
    force: bool,
) -> None:
    """Make items for raters from files of `vqagen generate` or `vqagen dialog`.

    Of QUESTIONS, two texts of a template that ask for the same program are compared (--compare wordings), or two
    families with one type of answer (families). Captions of systems are compared with those of DIALOGS, or without
    DIALOGS with each other.

    The wrong text of each check is proven by a program: it names a thing that the scene does not have. The proof stands
    in `gold.reason`. Pictures are those that the scenes name, such as of `vqagen scenes draw`.

    \b
    Example:
      vqagen human items questions.json --scenes scenes.json --out items.jsonl
    """
    from vqagen.calls.human_items import make_items, write_items
    from vqagen.errors import counted
    from vqagen.files.output import check_output
    from vqagen.language.domain_files import find_domain

    check_output(out, force)
    made = make_items(scenes, file, systems_of(systems), settings, find_domain(**domain))
    counts = write_items(made, out, force=force)
    click.echo(f"{counted(counts.comparisons, 'comparison')}, {counted(counts.checks, 'check')} in {out}", err=True)
