"""The page of a report: one HTML file without scripts, which loads nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from vqagen.score.report.table import SHARE, Column, Figure, Report, Table, shown

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2933; max-width: 1080px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; overflow-wrap: anywhere; } h2 { font-size: 1.15em; margin: 1.8em 0 .3em; }
.head { background: #f4f6f8; padding: .8em 1em; margin: 0; list-style: none; }
.failed { color: #a3200d; font-weight: 600; }
nav { margin: 1em 0; font-size: .9em; } nav a { margin-right: 1em; color: #1b5e9e; display: inline-block; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9em; min-width: 50%; }
th, td { text-align: left; padding: .2em .7em; border-bottom: 1px solid #e4e9ed; vertical-align: top; }
th { position: sticky; top: 0; background: #fff; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.note, figcaption { color: #52606d; font-size: .9em; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); gap: 2em; }
figure { margin: 0; } figure h2 { margin: 0 0 .2em; } figure svg { width: 100%; height: auto; background: #fff; }
@media (prefers-color-scheme: dark) {
  body { background: #14191f; color: #dfe5ea; } th { background: #14191f; } .head { background: #1f262e; }
  th, td { border-color: #2d3741; }
  .note, figcaption { color: #9fb0bf; } nav a { color: #7db8ee; } .failed { color: #ff8a75; }
}
""".strip()
_BAR = "#3b82c466"
"""Colour of the bar behind an accuracy."""


def page(report: Report) -> str:
    """Return the page as HTML."""
    title = escape(report.title)
    head = "\n".join(f"<li>{escape(line)}</li>" for line in report.head)
    failures = "\n".join(f'<p class="failed">{escape(line)}</p>' for line in report.failures)
    links = "\n".join(f'<a href="#{escape(table.key)}">{escape(table.title)}</a>' for table in report.tables)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>
{_STYLE}
</style></head><body>
<h1>{title}</h1>
<ul class="head">
{head}
</ul>
{failures}
<nav>
{links}
</nav>
{_figures(report.figures)}
{chr(10).join(map(_section, report.tables))}
</body></html>
"""


def _figures(figures: tuple[Figure, ...]) -> str:
    drawn = (
        f"<figure><h2>{escape(figure.title)}</h2><figcaption>{escape(figure.caption)}</figcaption>{figure.svg}</figure>"
        for figure in figures
    )
    return f'<div class="figures">{"".join(drawn)}</div>' if figures else ""


def _section(table: Table) -> str:
    heads = "".join(f"<th{_class(column)}>{escape(column.name)}</th>" for column in table.columns)
    rows = "\n".join(f"<tr>{''.join(_cells(table, row))}</tr>" for row in table.rows)
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in table.notes)
    return (
        f'<h2 id="{escape(table.key)}">{escape(table.title)}</h2>\n<div class="wide"><table>'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>{notes}"
    )


def _cells(table: Table, row: tuple[str | int | float | None, ...]) -> Iterator[str]:
    for cell, column in zip(row, table.columns, strict=True):
        bar = ""
        if column.form == SHARE and column.name == "accuracy" and isinstance(cell, int | float):
            end = f"{min(max(cell, 0), 1):.1%}"
            bar = f' style="background: linear-gradient(90deg, {_BAR} {end}, transparent {end})"'
        yield f"<td{_class(column)}{bar}>{escape(shown(cell, column))}</td>"


def _class(column: Column) -> str:
    return ' class="number"' if column.is_number else ""
