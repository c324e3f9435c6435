"""Reports: tables, which are named columns of one form, rows of cells and notes, below a head."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

TEXT, COUNT, SHARE, DECIMAL, NUMBER = "text", "count", "share", "decimal", "number"
"""Forms of columns. A share lies between 0 and 1 (skill, a share too, can be below 0). Decimals have three digits
behind the point, numbers have four digits in all, as p-values need them.
"""

Cell = str | int | float | None
"""A value; None where the column says nothing about the row."""
ABSENT = "-"
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
    """True for a table that is too long for a terminal; every file has it."""

    def shown(self) -> list[list[str]]:
        """Return the cells as texts for people."""
        return [[shown(cell, column) for cell, column in zip(row, self.columns, strict=True)] for row in self.rows]

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


class Figure(NamedTuple):
    """A drawing with its title, and a sentence that says how to read it."""

    title: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Report:
    """The report of a command: lines that state what was measured and how, tables, gates, and figures."""

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
        """Return the table of this key."""
        return next(table for table in self.tables if table.key == key)

    def to_record(self) -> dict[str, Any]:
        """Return the report for JSON."""
        return {
            **self.facts,
            "tables": {table.key: table.to_record() for table in self.tables},
            "gates": [{"name": gate.name, "passed": not gate.problem, "problem": gate.problem} for gate in self.gates],
        }


def nonempty(tables: Iterable[Table | None]) -> tuple[Table, ...]:
    """Return the tables that have rows."""
    return tuple(table for table in tables if table is not None and table.rows)
