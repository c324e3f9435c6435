"""`vqagen director items`: a catalogue of the director task is copied, checked and drawn."""

from __future__ import annotations

import json
import os

import click

from vqagen.cli.group import Group
from vqagen.cli.options import catalogue_option, path


@click.group("items", cls=Group)
def items() -> None:
    """Copy, check and draw a catalogue of items.

    Entries are kinds, which are drawn in every color and size; items with pictures of their own; adjectives; and nouns.
    The shipped catalogue can be read; a copy of it is edited by hand.

    \b
    Example:
      vqagen director items copy items.json
      vqagen director items check --catalogue items.json
    """


@items.command("copy")
@click.argument("target", type=path, metavar="FILE")
@click.option("--catalogue", type=path, metavar="FILE", help="Catalogue to copy, in place of the shipped one.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def copy(target: str, catalogue: str | None, force: bool) -> None:
    """Write a copy of a catalogue, to be changed.

    \b
    Example:
      vqagen director items copy items.json
    """
    from vqagen.authoring.item_catalogue import copy_catalogue

    click.echo(f"wrote {copy_catalogue(target, catalogue, force)}", err=True)


@items.command("check")
@catalogue_option
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_context
def check(ctx: click.Context, catalogue: str | None, strict: bool, as_json: bool) -> None:
    """Report every mistake in a catalogue, and what is probably unintended.

    Errors make other commands fail: unknown or contradictory words, names that clash, drawings with mistakes, missing
    or unreadable pictures. Warnings are accepted: adjectives that are true of all items or of none. The exit code is 1
    if there is an error.

    \b
    Example:
      vqagen director items check
    """
    from vqagen.authoring.item_catalogue import check_catalogue
    from vqagen.cli.check import report_lines

    report = check_catalogue(catalogue)
    if as_json:
        click.echo(json.dumps(report.to_record(), indent=2, ensure_ascii=False))
    else:
        for line in report_lines(report):
            click.echo(line, color=False if os.environ.get("NO_COLOR") else None)
    ctx.exit(1 if report.errors or (strict and report.warnings) else 0)


@items.command("preview")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--out", "-o", required=True, type=path, metavar="FILE", help="Picture: an .svg file; - for standard output."
)
@catalogue_option
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def preview(names: tuple[str, ...], out: str, catalogue: str | None, force: bool) -> None:
    """Draw items as a contact sheet, or one item alone.

    Without NAMEs the sheet shows each kind once, and each own item. A kind is shown in every color and size. The name
    of one item, such as red_apple_3, draws this item alone, on a transparent background.

    \b
    Example:
      vqagen director items preview -o items.svg
    """
    from vqagen.authoring.item_catalogue import sheet_svg
    from vqagen.files.output import atomic_output, check_ending, check_output
    from vqagen.tasks.director.catalogue import load_catalogue_file

    check_ending(out, (".svg",), "pictures of items")
    check_output(out, force, [catalogue])
    made = sheet_svg(load_catalogue_file(catalogue), names)
    with atomic_output(out) as file:
        file.write(made.encode())
