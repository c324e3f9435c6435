"""Formats of reports; each writer returns the whole text. WRITERS lists them by name."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from vqagen.errors import UsageError
from vqagen.files.output import STDOUT, atomic_output, check_output
from vqagen.files.packing import unpacked_name
from vqagen.report.table import Figure, Report, Reported, Table, fragment

_HEAD = "head"
"""The name of the head among the tables."""
_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
"""Beginnings of texts that a spreadsheet may run, also with full-width signs."""


def as_json(report: Report) -> str:
    """Return one JSON object: the facts of the head, the tables by key, and the gates."""
    return json.dumps(report.to_record(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(report: Report) -> str:
    """Return one table with all rows of all tables; `table` is their key. Cells that a table lacks are empty.

    The lines of the head come first, in a column of their own, so that no score stands without its coverage.
    """
    names = list(dict.fromkeys(column.name for table in report.tables for column in table.columns))
    rows = [{"table": _HEAD, _HEAD: line} for line in report.head]
    rows += [{"table": table.key, **row} for table in report.tables for row in table.to_record()["rows"]]
    header = ["table", *names, _HEAD]
    return csv_text([header, *([row.get(name) for name in header] for row in rows)])


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV. A text that a spreadsheet would take for a formula has an apostrophe before it."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(map(_plain, row) for row in rows)
    return out.getvalue()


def _plain(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n").replace("\r", "\n")  # a lone \r would not be quoted
    return f"'{text}" if _FORMULA.match(value) else text


_PAGE_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2933; max-width: 1080px; margin: 2em auto; padding: 0 1em; }
@media (prefers-color-scheme: dark) { body { background: #14191f; color: #dfe5ea; } }
""".strip()
"""Of a page alone; a notebook has its own."""


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


# Figures --------------------------------------------------------------------------------------------------------------
#
# Figures of reports as SVG.
#
# A figure has rows below each other, each with a label and a number above what is drawn on its axis:
#
#     axis = Axis(0, 1)
#     rows = [interval(axis, "color", 0.71, 0.65, 0.77, mark=0.25), interval(axis, "count", 0.3, 0.2, 0.4, mark=0.25)]
#     Figure("Accuracy", "lines are 95 % intervals", draw(axis, rows))
#
# Nothing needs to be installed or loaded for it, and it has the same bytes wherever it is drawn.


SURE, UNSURE, LINE, FAINT = "#3f7cac", "#8fb4cf", "#3d4852", "#b8c0c8"
"""Colours: a difference that is certain, one that is not, text and marks, the axis."""
_WIDTH, _LEFT, _RIGHT, _ROW = 480, 14, 466, 44
_LONGEST = 38
"""Characters of a label, beside which a number with its interval has room."""
_MOST_ROWS = 40
_CHARACTER = 8
"""The width of a character, about."""


class Axis(NamedTuple):
    """The horizontal axis of a figure, from its least to its most value."""

    least: float = 0.0
    most: float = 1.0

    def place(self, value: float) -> float:
        """Return where a value is drawn; values beyond the ends are drawn at the ends."""
        share = (min(max(value, self.least), self.most) - self.least) / (self.most - self.least)
        return _LEFT + share * (_RIGHT - _LEFT)


_UNIT = Axis()


class Row(NamedTuple):
    """A row of a figure."""

    label: str
    number: str
    """Stands opposite of the label."""
    drawn: str
    """SVG around y = 0."""


def interval(
    axis: Axis, label: str, mean: float, low: float | None, high: float | None, mark: float | None, form: str = ".3f"
) -> Row:
    """Return a dot with its interval and a mark, such as a floor. It is pale if the interval holds the mark."""
    number, line, color = format(mean, form), "", UNSURE
    if low is not None and high is not None:
        color = UNSURE if mark is None or low <= mark <= high else SURE
        number += f" [{low:{form}}, {high:{form}}]"
        line = _line(axis.place(low), axis.place(high), 0, 0, color, 4)
    dot = f'<circle cx="{axis.place(mean):.1f}" r="5" fill="{color}"/>'
    marked = "" if mark is None else _line(axis.place(mark), axis.place(mark), -9, 9, LINE, 2)
    return Row(label, number, line + dot + marked)


def bars(axis: Axis, left: float, parts: Iterable[tuple[str, float, str]]) -> str:
    """Return bars side by side from `left` on: (name, length, colour). A name is written where it fits."""
    drawn = []
    for name, length, color in parts:
        drawn.append(_box(axis, left, left + length, -9, 18, color, name))
        if 0 < len(name) * _CHARACTER < axis.place(left + length) - axis.place(left):
            drawn.append(_text(axis.place(left + length / 2), 5, name, "middle"))
        left += length
    return "".join(drawn)


def interval_figure(
    table: Table, value: str = "accuracy", axis: Axis = _UNIT, mark: float | None = None, form: str = ".3f"
) -> Figure:
    """Return a figure of the columns `value`, low and high of a table, with `mark`, or with its column floor, as marks.

    A row is labelled with its texts, but for notes.
    """
    names, rows = [column.name for column in table.columns], []
    labels = [place for place, column in enumerate(table.columns) if not column.is_number and column.name != "note"]
    for cells in table.rows[:_MOST_ROWS]:
        cell: dict[str, Any] = dict(zip(names, cells, strict=True))
        label, at = ", ".join(str(cells[place]) for place in labels), cell.get("floor", mark)
        if cell[value] is not None:
            rows.append(interval(axis, label, cell[value], cell["low"], cell["high"], at, form))
    caption = "lines: 95 % intervals" + ("; marks: floors" if "floor" in names else "")
    caption += "" if mark is None else f"; dark ones do not hold {mark:g}"
    more = f"; the first {_MOST_ROWS} of {len(table.rows):,}" if len(table.rows) > _MOST_ROWS else ""
    return Figure(table.title, caption + more, draw(axis, rows))


def draw(axis: Axis, rows: Sequence[Row]) -> str:
    """Return the figure as SVG, with lines at both ends and in the middle of the axis."""
    bottom = _ROW * len(rows) + 20
    ticks = (axis.least, (axis.least + axis.most) / 2, axis.most)
    grid = "".join(_line(axis.place(tick), axis.place(tick), -10, 10, FAINT, 1) for tick in ticks)
    drawn = [_text(axis.place(tick), bottom, f"{tick:g}", "middle") for tick in ticks]
    for number, row in enumerate(rows):
        short = row.label if len(row.label) <= _LONGEST else f"{row.label[: _LONGEST - 1]}…"
        label, right = _text(_LEFT - 5, -15, short, "start"), _text(_RIGHT + 5, -15, row.number, "end")
        title = f"<title>{escape(row.label)}</title>"
        drawn.append(f'<g transform="translate(0 {_ROW * number + 30})">{title}{label}{right}{grid}{row.drawn}</g>')
    return _svg(bottom, drawn)


def _box(axis: Axis, left: float, right: float, top: float, height: float, color: str, name: str) -> str:
    at, width = axis.place(left), axis.place(right) - axis.place(left)
    place = f'x="{at:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{color}"><title>{escape(name)}</title></rect>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(x1: float, x2: float, y1: float, y2: float, color: str, width: int) -> str:
    return f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1}" y2="{y2}" stroke="{color}" stroke-width="{width}"/>'


def _svg(bottom: float, drawn: Iterable[str]) -> str:
    size = f'viewBox="0 0 {_WIDTH} {bottom + 6}" font-size="14" font-family="system-ui, sans-serif" fill="{LINE}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{"".join(drawn)}</svg>'
