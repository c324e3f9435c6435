"""Reports: tables, which are named columns of one form, rows of cells and notes, below a head."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from re import Match, Pattern
from typing import Any, NamedTuple

from vqagen.errors import UsageError, counted, unknown
from vqagen.extras import needed

TEXT, COUNT, SHARE, DECIMAL, NUMBER = "text", "count", "share", "decimal", "number"
"""Forms of columns. A share lies between 0 and 1 (skill, a share too, can be below 0). Decimals have three digits
behind the point, numbers have four digits in all, as p-values need them.
"""

Cell = str | int | float | None
"""A value; None where the column says nothing about the row."""
ABSENT = "-"
SCREEN_ROWS = 25
"""Rows of a table that a screen shows."""
_REPR_LINES, _REPR_WIDTH = 24, 120
_DIGITS = {SHARE: ".3f", DECIMAL: ",.3f", NUMBER: ",.4g"}


class Column(NamedTuple):
    """A column: its name and the form of its cells."""

    name: str
    form: str = TEXT

    @property
    def is_number(self) -> bool:
        """True if cells are aligned to the right."""
        return self.form != TEXT


def columns(**forms: str) -> tuple[Column, ...]:
    """Return columns by name; an underscore in a name is a space.

    >>> columns(answer=TEXT, off_by_one=SHARE)[1]
    Column(name='off by one', form='share')
    """
    return tuple(Column(name.replace("_", " "), form) for name, form in forms.items())


@dataclass(frozen=True, slots=True)
class Table:
    """A table; `key` names it in files, `title` for people."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    is_detail: bool = False
    """True for a table that a screen leaves out; every file has it."""

    def filled(self) -> list[tuple[Column, tuple[Cell, ...]]]:
        """Return each column with its cells, without columns of texts that are all empty."""
        found = [(column, tuple(row[place] for row in self.rows)) for place, column in enumerate(self.columns)]
        return [(column, cells) for column, cells in found if column.is_number or any(cells) or not cells]

    def lines(self) -> Iterator[str]:
        """Yield the title, the aligned rows and the notes."""
        aligned = []
        for column, cells in self.filled():
            texts = [column.name, *(shown(cell, column) for cell in cells)]
            width = max(map(len, texts))
            aligned.append([text.rjust(width) if column.is_number else text.ljust(width) for text in texts])
        yield self.title
        for line in zip(*aligned, strict=True):
            yield "  " + "  ".join(line).rstrip()
        yield from (f"  {note}" for note in self.notes)

    def frame(self) -> Any:
        """Return the rows as a data frame of pandas (extra `stats`)."""
        pandas = needed("pandas", "stats", "a data frame")
        return pandas.DataFrame(list(self.rows), columns=[column.name for column in self.columns])

    def to_record(self) -> dict[str, Any]:
        """Return the table for JSON: a list of rows, each with its cells by column."""
        names = [column.name for column in self.columns]
        return {
            "title": self.title,
            "rows": [dict(zip(names, row, strict=True)) for row in self.rows],
            **({"notes": list(self.notes)} if self.notes else {}),
        }


def shown(cell: Cell, column: Column) -> str:
    """Return a cell as people read it.

    >>> shown(0.37055, Column("accuracy", SHARE)), shown(28020, Column("n", COUNT)), shown(None, Column("floor", SHARE))
    ('0.371', '28,020', '-')
    """
    if cell is None:
        return ABSENT
    if isinstance(cell, str):
        return cell
    if column.form == COUNT:
        return f"{cell:,.0f}" if float(cell).is_integer() else f"{cell:,.2f}"
    return format(cell, _DIGITS.get(column.form, ""))


class Gate(NamedTuple):
    """A condition that a report had to meet, and whether it did."""

    name: str
    problem: str
    """The sentence for people; "" if the condition is met."""


Threshold = Match[str]
"""An option of `--fail-under`, with its parts by name."""


def matching_thresholds(texts: Iterable[str], form: Pattern[str], example: str) -> list[Threshold]:
    """Read options such as `overall=0.9,exist=0.95`. UsageError for all that do not have the form of a threshold."""
    parts = [part.strip() for given in texts for part in given.split(",")]
    found = [(part, form.fullmatch(part)) for part in parts]
    faults = [f"--fail-under {part!r} is no threshold: write {example}" for part, match in found if match is None]
    if faults:
        raise UsageError("\n".join(faults))
    return [match for _, match in found if match is not None]


class Figure(NamedTuple):
    """A drawing with its title, and a sentence that says how to read it."""

    title: str
    caption: str
    svg: str


@dataclass(frozen=True, repr=False)
class Report:
    """The report of a command: lines that state what was measured and how, tables, gates, and figures.

    A notebook shows it as a page does, and `repr` as a terminal does, cut to a screen.
    """

    title: str
    head: tuple[str, ...]
    tables: tuple[Table, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Values that the head states, for JSON."""
    gates: tuple[Gate, ...] = ()
    figures: tuple[Figure, ...] = ()
    """Drawings of the page; the other formats have only their figures in tables."""

    @property
    def failures(self) -> list[str]:
        """Sentences of the gates that were missed."""
        return [gate.problem for gate in self.gates if gate.problem]

    def table(self, key: str) -> Table:
        """Return the table of this key. UsageError, with the nearest key, if there is none."""
        found = {table.key: table for table in self.tables}
        if key not in found:
            raise UsageError(unknown("table", key, list(found)))
        return found[key]

    def frame(self, key: str = "") -> Any:
        """Return a table, by default the first, as a data frame of pandas (extra `stats`)."""
        return self.table(key or next((table.key for table in self.tables), "")).frame()

    def text(self) -> str:
        """Return the head, all tables, and the gates that were missed, as aligned text."""
        blocks = [self.head, *(table.lines() for table in self.tables), self.failures]
        return "\n\n".join(text for text in map("\n".join, blocks) if text) + "\n"

    def on_screen(self) -> Report:
        """Return the report without details and without rows beyond `SCREEN_ROWS`; its notes say what is left out."""
        tables = [_cut(table) for table in self.tables if not table.is_detail]
        hidden = [table.key for table in self.tables if table.is_detail]
        if hidden and tables:
            note = f"{counted(len(hidden), 'more table')} by --all, or in a file by -o report.html: {', '.join(hidden)}"
            tables[-1] = replace(tables[-1], notes=(*tables[-1].notes, note))
        return replace(self, tables=tuple(tables))

    def __repr__(self) -> str:
        lines = self.on_screen().text().splitlines()
        if len(lines) > _REPR_LINES:
            lines[_REPR_LINES - 1 :] = [f"… {len(lines) - _REPR_LINES + 1} more lines"]
        return "\n".join(line if len(line) <= _REPR_WIDTH else line[: _REPR_WIDTH - 1] + "…" for line in lines)

    def _repr_html_(self) -> str:
        return fragment(self.on_screen())

    def to_record(self) -> dict[str, Any]:
        """Return the report for JSON."""
        return {
            **self.facts,
            "tables": {table.key: table.to_record() for table in self.tables},
            "gates": [{"name": gate.name, "passed": not gate.problem, "problem": gate.problem} for gate in self.gates],
        }


def _cut(table: Table) -> Table:
    more = len(table.rows) - SCREEN_ROWS
    if more <= 0:
        return table
    return replace(table, rows=table.rows[:SCREEN_ROWS], notes=(*table.notes, f"… {more:,} more by --all"))


class Reported:
    """A result with a report: it shows itself as its report does."""

    def report(self) -> Report:
        """Return the report."""
        raise NotImplementedError

    def frame(self, key: str = "") -> Any:
        """Return a table of the report, by default the first, as a data frame of pandas (extra `stats`)."""
        return self.report().frame(key)

    def __repr__(self) -> str:
        return repr(self.report())

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()


def nonempty(tables: Iterable[Table | None]) -> tuple[Table, ...]:
    """Return the tables that have rows."""
    return tuple(table for table in tables if table is not None and table.rows)


# HTML -----------------------------------------------------------------------------------------------------------------

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
