"""`vqagen director items list`, `show`, `stats`, `check` and `preview`: commands that read a catalogue."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from vqagen.cli.options import catalogue_option, integer, path

if TYPE_CHECKING:
    from vqagen.authoring.items.census import Census, WordCount
    from vqagen.authoring.items.listing import ThingRow

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command("list")
@click.argument("words", metavar="[WORD]...", nargs=-1)
@catalogue_option
@json_option
def list_command(words: tuple[str, ...], catalogue: str | None, as_json: bool) -> None:
    """List kinds and own items: their nouns, their adjectives, and what is unclear.

    With WORDs, only those for which each of these nouns and adjectives is true or unclear.

    \b
    Example:
      vqagen director items list food hot
    """
    from vqagen.authoring.items.catalogue_file import read_catalogue
    from vqagen.authoring.items.listing import list_things

    rows = list_things(read_catalogue(catalogue).document, words)
    if as_json:
        _print_json([row.to_record() for row in rows])
    else:
        _print_lines(_list_lines(rows))


def _list_lines(rows: Sequence[ThingRow]) -> Iterator[str]:
    from vqagen.authoring.items.entries import OWN_ITEM

    table = [
        (
            row.name + (" (own picture)" if row.sort == OWN_ITEM else ""),
            " ".join(row.nouns),
            " ".join(row.properties),
            "unclear: " + " ".join(row.unclear) if row.unclear else "",
        )
        for row in rows
    ]
    yield from _aligned(table)


@click.command("show")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@catalogue_option
@json_option
def show(names: tuple[str, ...], catalogue: str | None, as_json: bool) -> None:
    """Show all that a catalogue says about kinds, items, adjectives or nouns.

    \b
    Example:
      vqagen director items show apple hot
    """
    from vqagen.authoring.items.catalogue_file import read_catalogue
    from vqagen.authoring.items.listing import describe_entry

    document = read_catalogue(catalogue).document
    described = [describe_entry(document, name) for name in names]
    if as_json:
        _print_json(described)
    else:
        _print_lines(line for each in described for line in _description_lines(each))


def _description_lines(described: dict[str, Any]) -> Iterator[str]:
    yield f"{click.style(described['name'], bold=True)}  {described['sort']}"
    rest = {key: value for key, value in described.items() if key not in ("name", "sort")}
    yield from _aligned((f"  {key.replace('_', ' ')}", _shown(key, value)) for key, value in rest.items())


def _shown(key: str, value: Any) -> str:
    from vqagen.errors import counted

    if key == "art":
        return f"{counted(len(value), 'shape')}: {' '.join(_shape_name(each) for each in value)}"
    if isinstance(value, list):
        return " ".join(map(str, value)) or "-"
    return "yes" if value is True else "no" if value is False else str(value)


def _shape_name(shape: Any) -> str:
    from vqagen.art.shapes import SHAPES

    return next((key for key in SHAPES if isinstance(shape, dict) and key in shape), "?")


@click.command("stats")
@catalogue_option
@json_option
def stats(catalogue: str | None, as_json: bool) -> None:
    """Count the items of a catalogue by noun, adjective and size, and the questions that they allow.

    Kinds, which are nouns too, are counted with --json. Questions are a noun and up to two adjectives, each of which
    can be needed: about a kind, about wider nouns such as fruit, or about items. `vqagen director design` counts the
    questions for each cell of a design.

    \b
    Example:
      vqagen director items stats
    """
    from vqagen.authoring.items.census import count_catalogue
    from vqagen.tasks.director.catalogue import load_catalogue_file

    census = count_catalogue(load_catalogue_file(catalogue))
    if as_json:
        _print_json(census.to_record())
    else:
        _print_lines(_census_lines(census))


def _census_lines(census: Census) -> Iterator[str]:
    from vqagen.errors import counted

    own = f"{counted(census.own_items, 'item')} with pictures of their own"
    yield f"{counted(census.items, 'item')}: {counted(census.kinds, 'kind')} in each color and size, and {own}"
    yield ""
    yield from _aligned(_word_rows("noun", [each for each in census.nouns if not each.is_kind]))
    yield ""
    yield from _aligned(_word_rows("adjective", census.adjectives))
    yield ""
    yield from _aligned([("size", "items"), *((str(size), f"{number:,}") for size, number in census.sizes.items())])
    yield ""
    counts = [(each.nouns, f"{each.plain:,}", f"{each.physics:,}", f"{each.sizes:,}") for each in census.questions]
    yield from _aligned([("questions about", "plain", "physics", "with a size rule"), *counts])


def _word_rows(title: str, counts: Sequence[WordCount]) -> Iterator[tuple[str, ...]]:
    yield title, "kinds", "unclear", "items", ""
    for each in counts:
        note = each.adjective_class + (", physics" if each.is_physics else "")
        yield each.word, str(each.true), str(each.unclear), f"{each.items:,}", note


@click.command("check")
@catalogue_option
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_context
def check(ctx: click.Context, catalogue: str | None, strict: bool, as_json: bool) -> None:
    """Report every mistake in a catalogue, and what is probably unintended.

    Errors make other commands fail: unknown or contradictory words, names that clash, drawings with mistakes, missing
    or unreadable pictures. Warnings are accepted: adjectives that are true of all items or of none, nouns that are
    nearly the same, and own pictures whose color or size differs from the words. The exit code is 1 if there is an
    error.

    \b
    Example:
      vqagen director items check
    """
    from vqagen.authoring.items.checking import check_catalogue
    from vqagen.cli.check import report_lines

    report = check_catalogue(catalogue)
    if as_json:
        _print_json(report.to_record())
    else:
        _print_lines(report_lines(report))
    ctx.exit(1 if report.errors or (strict and report.warnings) else 0)


@click.command("preview")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--out", "-o", required=True, type=path, metavar="FILE", help="Picture: a .png or .svg file.")
@catalogue_option
@click.option("--color", default="", help="Only this color.")
@click.option("--size", type=integer(1), help="Only this size level, from 1.")
@click.option("--side", type=integer(16), default=120, show_default=True, help="Side of the largest items in pixels.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def preview(
    names: tuple[str, ...], out: str, catalogue: str | None, color: str, size: int | None, side: int, force: bool
) -> None:
    """Draw items as a contact sheet, or one item alone.

    Without NAMEs the sheet shows each kind once, and each own item. A kind is shown in every color and size. The name
    of one item, such as red_apple_3, draws this item alone, on a transparent background.

    \b
    Example:
      vqagen director items preview -o items.svg
    """
    from vqagen.authoring.items.sheet import LARGEST_SIDE, make_sheet, sheet_bytes
    from vqagen.errors import UsageError
    from vqagen.files.output import atomic_output, check_output
    from vqagen.tasks.director.catalogue import load_catalogue_file

    if side > LARGEST_SIDE:
        raise UsageError(f"--side must be at most {LARGEST_SIDE}, found {side}")
    check_output(out, force, [catalogue])
    made = sheet_bytes(make_sheet(load_catalogue_file(catalogue), names, color, size or 0, side), out)
    with atomic_output(out) as file:
        file.write(made)


# Printing -----------------------------------------------------------------------------------------------------------


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _print_lines(lines: Iterable[str]) -> None:
    import os

    for line in lines:
        click.echo(line, color=False if os.environ.get("NO_COLOR") else None)


def _aligned(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield rows of text in columns."""
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
