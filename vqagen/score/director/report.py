"""The result of verifying trials: faults and notes by rule, and the first of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vqagen.errors import counted
from vqagen.score.director.codes import MEANINGS
from vqagen.score.report.table import Report

KEPT = 1000
"""Faults that are listed one by one in the report as JSON; further ones are only counted."""
SHOWN = 3
"""Faults of a rule that are shown to people."""


class Finding(NamedTuple):
    """A fault or note, and where it is."""

    code: str
    trial: int | None
    """The number of the trial, as it says; None for the whole file."""
    place: str
    message: str
    is_note: bool = False
    """True for what its reader should know and nobody must mend."""

    def __str__(self) -> str:
        where = "all trials" if self.trial is None else f"trial {self.trial}"
        return ": ".join(part for part in (where, self.place, self.message) if part)


@dataclass
class TrialVerificationReport:
    """The result of verifying a file of trials."""

    trials: int = 0
    faulty: int = 0
    """Trials with a fault."""
    counts: Counter[str] = field(default_factory=Counter)
    """Code -> faults."""
    note_counts: Counter[str] = field(default_factory=Counter)
    """Code -> notes."""
    findings: list[Finding] = field(default_factory=list)
    """The first `KEPT`."""
    first: dict[tuple[str, bool], list[Finding]] = field(default_factory=dict)
    """(code, is note) -> the first few."""
    remarks: list[str] = field(default_factory=list)
    """What was judged by other rules or not at all, and why."""

    def add(self, finding: Finding) -> None:
        """Count a finding; list it while there are not too many."""
        (self.note_counts if finding.is_note else self.counts)[finding.code] += 1
        first = self.first.setdefault((finding.code, finding.is_note), [])
        if len(first) < SHOWN:
            first.append(finding)
        if len(self.findings) < KEPT:
            self.findings.append(finding)

    @property
    def checked(self) -> int:
        """Trials that were verified."""
        return self.trials

    @property
    def is_clean(self) -> bool:
        """True if there is no fault."""
        return not self.counts

    def lines(self) -> Iterator[str]:
        """Yield the faults by rule, the first of each, then notes and remarks, and the totals at the end."""
        for counts, is_note in ((self.counts, False), (self.note_counts, True)):
            for code, meaning in MEANINGS.items():
                if counts[code]:
                    kind = "note" if is_note else "fault"
                    yield f"{code} ({meaning}): {counted(counts[code], kind)}"
                    first = self.first[code, is_note]
                    yield from (f"  {finding}" for finding in first)
                    if counts[code] > len(first):
                        yield f"  … and {counts[code] - len(first):,} more"
                    yield ""
        yield from self.remarks
        faults = self.counts.total()
        share = f" in {counted(self.faulty, 'trial')}" if self.faulty else ""
        notes = f", {counted(self.note_counts.total(), 'note')}" if self.note_counts else ""
        yield f"{counted(self.trials, 'trial')} checked: {counted(faults, 'fault')}{share}{notes}"

    def report(self) -> Report:
        """Return the report, as a screen or a file shows it."""
        return Report("Verification of trials", tuple(self.lines()), (), self.to_record())

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "checked": self.trials,
            "faults": self.counts.total(),
            "faulty_trials": self.faulty,
            "notes": self.note_counts.total(),
            "by_code": {code: self.counts[code] for code in MEANINGS},
            "notes_by_code": {code: self.note_counts[code] for code in MEANINGS if self.note_counts[code]},
            "remarks": self.remarks,
            "findings": [finding._asdict() for finding in self.findings],
        }
