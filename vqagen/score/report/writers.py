"""Formats of reports; each writer returns the whole text. WRITERS lists them by name."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path, PurePath

from vqagen.errors import UsageError
from vqagen.files.output import STDOUT, atomic_output, check_output
from vqagen.files.packing import unpacked_name
from vqagen.score.report.table import SHARE, Cell, Column, Figure, Report, Reported, Table, shown

_HEAD = "head"
"""The name of the head among the tables."""


def as_json(report: Report) -> str:
    """Return one JSON object: the facts of the head, the tables by key, and the gates."""
    return json.dumps(report.to_record(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(report: Report) -> str:
    """Return one table with all rows of all tables; `table` is their key. Cells that a table lacks are empty.

    The lines of the head come first, in a column of their own, so that no score stands without its coverage.
    """
    names = list(dict.fromkeys(column.name for table in report.tables for column in table.columns))
    out = io.StringIO()
    writer = csv.DictWriter(out, ["table", *names, _HEAD], lineterminator="\n")
    writer.writeheader()
    writer.writerows({"table": _HEAD, _HEAD: line} for line in report.head)
    for table in report.tables:
        for row in table.to_record()["rows"]:
            writer.writerow({"table": table.key, **row})
    return out.getvalue()


_PAGE_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2933; max-width: 1080px; margin: 2em auto; padding: 0 1em; }
@media (prefers-color-scheme: dark) { body { background: #14191f; color: #dfe5ea; } }
""".strip()
"""Of a page alone; a notebook has its own."""
_STYLE = """
.report h1 { font-size: 1.5em; overflow-wrap: anywhere; } .report h2 { font-size: 1.15em; margin: 1.8em 0 .3em; }
.report .head { background: #8882; padding: .8em 1em; margin: 0; list-style: none; }
.report .head li { white-space: pre-wrap; font: .85em/1.6 ui-monospace, monospace; }
.report .failed { color: #c8331f; font-weight: 600; }
.report nav { margin: 1em 0; font-size: .9em; } .report nav a { margin-right: 1em; display: inline-block; }
.report a { color: #2f7fc4; }
.report .wide { overflow-x: auto; }
.report table { border-collapse: collapse; font-size: .9em; min-width: 50%; width: max-content; }
.report th, .report td { text-align: left; padding: .2em .7em; border-bottom: 1px solid #8884; vertical-align: top; }
.report th, .report td { max-width: min(32em, 60vw); }
.report .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.report .note, .report figcaption { opacity: .75; font-size: .9em; margin: .3em 0; }
.report .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); gap: 2em; }
.report figure { margin: 0; } .report figure h2 { margin: 0 0 .2em; }
.report figure svg { width: 100%; max-width: 480px; height: auto; background: #fff; }
""".strip()
_BAR = "#3b82c466"
"""Colour of the bar behind an accuracy."""


def page(report: Report) -> str:
    """Return the page as HTML."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(report.title)}</title>
<style>
{_PAGE_STYLE}
</style></head><body>
{fragment(report)}
</body></html>
"""


def fragment(report: Report) -> str:
    """Return the part of a page that a notebook shows, with its style."""
    head = "\n".join(f"<li>{escape(line)}</li>" for line in report.head)
    failures = "\n".join(f'<p class="failed">{escape(line)}</p>' for line in report.failures)
    links = "\n".join(f'<a href="#{escape(table.key)}">{escape(table.title)}</a>' for table in report.tables)
    return f"""<div class="report">
<style>
{_STYLE}
</style>
<h1>{escape(report.title)}</h1>
<ul class="head">
{head}
</ul>
{failures}
<nav>
{links}
</nav>
{_figures(report.figures)}
{chr(10).join(map(_section, report.tables))}
</div>"""


def _figures(figures: tuple[Figure, ...]) -> str:
    drawn = (
        f"<figure><h2>{escape(figure.title)}</h2><figcaption>{escape(figure.caption)}</figcaption>{figure.svg}</figure>"
        for figure in figures
    )
    return f'<div class="figures">{"".join(drawn)}</div>' if figures else ""


def _section(table: Table) -> str:
    filled = table.filled()
    heads = "".join(f"<th{_class(column)}>{escape(column.name)}</th>" for column, _ in filled)
    cells = zip(*([_cell(column, cell) for cell in cells] for column, cells in filled), strict=True)
    rows = "\n".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in table.notes)
    return (
        f'<h2 id="{escape(table.key)}">{escape(table.title)}</h2>\n<div class="wide"><table>'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>{notes}"
    )


def _cell(column: Column, cell: Cell) -> str:
    bar = ""
    if column.form == SHARE and column.name == "accuracy" and isinstance(cell, int | float):
        end = f"{min(max(cell, 0), 1):.1%}"
        bar = f' style="background: linear-gradient(90deg, {_BAR} {end}, transparent {end})"'
    return f"<td{_class(column)}{bar}>{escape(shown(cell, column))}</td>"


def _class(column: Column) -> str:
    return ' class="number"' if column.is_number else ""


WRITERS: Mapping[str, Callable[[Report], str]] = {
    "text": Report.text,
    "json": as_json,
    "html": page,
    "csv": as_csv,
}
"""Name of a format -> its writer."""
_ENDINGS = {".txt": "text", ".json": "json", ".html": "html", ".csv": "csv"}


def format_of_report(out: str) -> str:
    """Return the format that the ending of a file's name stands for. UsageError for another ending.

    >>> format_of_report("-"), format_of_report("scores.html"), format_of_report("scores.csv.gz")
    ('text', 'html', 'csv')
    """
    if out == STDOUT:
        return "text"
    ending = PurePath(unpacked_name(out)).suffix.lower()
    if ending not in _ENDINGS:
        named = f"ends in {ending}" if ending else "has no ending"
        raise UsageError(f"the report {out} {named}; name a file that ends in {', '.join(_ENDINGS)}")
    return _ENDINGS[ending]


def write_report(report: Report | Reported, out: Path | str) -> None:
    """Write a report, or that of a result, in the format of the name's ending.

    UsageError for other endings, and if there is such a file.
    """
    write = WRITERS[format_of_report(str(out))]
    write_content(write(report if isinstance(report, Report) else report.report()), str(out))


def write_content(content: str, out: str, *, force: bool = False) -> None:
    """Write the text of a report."""
    check_output(out, force)
    with atomic_output(out) as file:
        file.write(content.encode())
