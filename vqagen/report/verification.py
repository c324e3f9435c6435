"""The result of a verification: the wrong records by kind, the first ones of each, and what is not proved."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vqagen.errors import counted
from vqagen.report.table import COUNT, TEXT, Cell, Report, Reported, Table, columns

KEPT = 1000
"""Mismatches that a file of the report lists one by one; further ones are only counted."""
EXAMPLES = 3
"""Mismatches of a kind that a screen shows."""
_NUMBER = re.compile(r"\d+")


class Mismatch(NamedTuple):
    """One thing in one record that does not follow from the scene or grid, or a note about it."""

    position: int | None
    """The place of the record in the file, from 0; None for a fault of the whole file."""
    kind: str
    """Such as "wrong answer"; mismatches are counted by it."""
    problem: str
    """The sentence for people: what is written, and what would be right."""
    path: str = ""
    """The JSON path inside the record, such as `program[2].inputs`; "" for the whole record."""
    name: str = ""
    """What people call the record, such as `trial 7`. A record of several dialogs has a name for each of these."""
    label: str = ""
    """What is wrong in a dialog: the label of the round."""
    is_note: bool = False
    """True for what a reader should know and nobody must mend."""


@dataclass(repr=False)
class VerificationReport(Reported):
    """The result of verifying questions, dialogs or trials."""

    records: str = "questions"
    """questions, dialogs or trials."""
    meanings: Mapping[str, str] = field(default_factory=dict)
    """Kind -> its meaning, for kinds that do not say it themselves."""
    checked: int = 0
    mismatched: int = 0
    """Records with a fault, however many they have."""
    by_problem: Counter[str] = field(default_factory=Counter)
    """Kind -> faults."""
    notes: Counter[str] = field(default_factory=Counter)
    """Kind -> notes."""
    by_label: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(label, kind) -> faults and notes, of records that have labels."""
    unproven: Counter[str] = field(default_factory=Counter)
    """What was not verified, such as "text not read: …" -> how often."""
    proved: str = ""
    """What holds of the records if none is wrong."""
    remarks: list[str] = field(default_factory=list)
    """What the file was verified by, where that is not what it says itself."""
    mismatches: list[Mismatch] = field(default_factory=list)
    """The first `KEPT`."""
    examples: dict[str, dict[str, Mismatch]] = field(default_factory=dict)
    """Kind -> sentence without its numbers -> the first mismatch with it: two causes of one kind are both shown."""
    _last: tuple[int | None, str] = (None, "")
    """The position and name of the last faulty record."""

    @property
    def is_clean(self) -> bool:
        """True if nothing is wrong."""
        return not self.by_problem

    @property
    def summary(self) -> str:
        """The result in a line."""
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.by_problem.most_common())
        notes = f"; {counted(self.notes.total(), 'note')}" if self.notes else ""
        head = f"{counted(self.checked, self.records.removesuffix('s'))} checked, {self.mismatched:,} wrong"
        found = "; ".join(filter(None, (kinds, "" if self.mismatched else self.proved)))
        return f"{head}{': ' if found else ''}{found}{notes}"

    def add(self, mismatch: Mismatch) -> None:
        """Count a mismatch. Those of one record follow each other."""
        position, kind, problem, *_ = mismatch
        (self.notes if mismatch.is_note else self.by_problem)[kind] += 1
        if mismatch.label:
            self.by_label[mismatch.label, kind] += 1
        if position is not None and not mismatch.is_note and self._last != (position, mismatch.name):
            self._last = position, mismatch.name
            self.mismatched += 1
        examples = self.examples.setdefault(kind, {})
        if len(examples) < EXAMPLES:
            examples.setdefault(_NUMBER.sub("#", problem), mismatch)
        if len(self.mismatches) < KEPT:
            self.mismatches.append(mismatch)

    def report(self) -> Report:
        """Return the report, as a screen or a file shows it."""
        unproven = {what: count for what, count in self.unproven.items() if count}
        head = [self.summary, *(f"not proved: {count:,} {what}" for what, count in unproven.items()), *self.remarks]
        facts = {name: getattr(self, name) for name in ("checked", "mismatched", "by_problem", "notes", "remarks")}
        return Report(
            f"Verification of {self.records}",
            tuple(head),
            tuple(table for table in self._tables() if table.rows),
            {**facts, "unproven": unproven},
        )

    def to_record(self) -> dict[str, Any]:
        """Return the report for JSON."""
        return self.report().to_record()

    def _tables(self) -> Iterator[Table]:
        meaning = {"meaning": TEXT} if self.meanings else {}
        kinds: tuple[tuple[Cell, ...], ...] = tuple(
            (kind, self.by_problem[kind], self.notes[kind], *([self.meanings[kind]] if self.meanings else []))
            for kind in self.examples
        )
        yield Table("problems", "Problems", columns(kind=TEXT, faults=COUNT, notes=COUNT, **meaning), kinds)
        labels = tuple((*key, count) for key, count in sorted(self.by_label.items()))
        yield Table("labels", "Problems by label", columns(label=TEXT, kind=TEXT, number=COUNT), labels)
        firsts = [first for examples in self.examples.values() for first in examples.values()]
        rows = tuple((first.kind, self._place(first), first.name, first.problem) for first in firsts)
        yield Table("examples", "First of each kind", columns(kind=TEXT, place=TEXT, record=TEXT, problem=TEXT), rows)
        named = columns(position=COUNT, kind=TEXT, problem=TEXT, path=TEXT, record=TEXT, label=TEXT)
        kept = tuple(mismatch[: len(named)] for mismatch in self.mismatches)
        yield Table("mismatches", "Mismatches", named, kept, is_detail=True)

    def placed(self, mismatch: Mismatch, file: str) -> Mismatch:
        """Return a mismatch as one of a report of several files."""
        return mismatch._replace(position=None, path=f"{file}: {self._place(mismatch)}".removesuffix(": "))

    def _place(self, mismatch: Mismatch) -> str:
        """Return the JSON path of a mismatch in the file."""
        record = "" if mismatch.position is None else f"{self.records}[{mismatch.position}]"
        return ".".join(part for part in (record, mismatch.path) if part)
