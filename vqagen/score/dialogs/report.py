"""The result of verifying dialogs: faults by kind and label, and the first of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from vqagen.errors import counted
from vqagen.score.dialogs.verdicts import HARD, SOFT, Verdict
from vqagen.score.report.table import Report

KEPT_FAULTS = 1000
"""Faults that are listed one by one in the report as JSON; further ones are only counted."""
SHOWN = 3
"""Faults of a kind that are shown to people."""
WHOLE = "(whole dialog)"
"""Stands for a label where a fault is of no one sentence."""
TOTAL = "total"


@dataclass(frozen=True)
class DialogFault:
    """One fault or weakness, and where it is."""

    dialog: str
    scene: int | None
    round: int | None
    """0 is the caption; None for a fault of the whole dialog."""
    label: str
    sentence: str
    kind: str
    why: str

    def __str__(self) -> str:
        place = "" if self.round is None else f", round {self.round}" if self.round else ", caption"
        sentence = f" {self.sentence!r}" if self.sentence else ""
        return f"{self.dialog}{place}{f' ({self.label})' if self.label != WHOLE else ''}:{sentence} {self.why}"


@dataclass
class DialogVerificationReport:
    """The result of verifying a file of dialogs."""

    dialogs: int = 0
    rounds: int = 0
    unjudged: int = 0
    """Rounds that are not judged because one before them could not be understood."""
    faulty: int = 0
    """Dialogs with a hard fault."""
    sentences: Counter[str] = field(default_factory=Counter)
    """Label -> sentences."""
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(label, kind) -> faults."""
    faults: list[DialogFault] = field(default_factory=list)
    """The first `KEPT_FAULTS`."""
    first: dict[str, list[DialogFault]] = field(default_factory=dict)
    """Kind -> the first few faults of the kind."""

    def add(self, fault: DialogFault) -> None:
        """Count a fault; list it while there are not too many."""
        self.counts[fault.label, fault.kind] += 1
        first = self.first.setdefault(fault.kind, [])
        if len(first) < SHOWN:
            first.append(fault)
        if len(self.faults) < KEPT_FAULTS:
            self.faults.append(fault)

    def number(self, kinds: Collection[str], label: str | None = None) -> int:
        """Return the number of faults of some kinds, of one label or of all."""
        return sum(number for (each, kind), number in self.counts.items() if kind in kinds and label in (None, each))

    @property
    def checked(self) -> int:
        """Dialogs that were verified."""
        return self.dialogs

    @property
    def hard(self) -> int:
        """Hard faults."""
        return self.number(HARD)

    @property
    def soft(self) -> int:
        """Weaknesses."""
        return self.number(SOFT)

    @property
    def is_clean(self) -> bool:
        """True if there is no hard fault."""
        return self.hard == 0

    def lines(self) -> Iterator[str]:
        """Yield the table of faults by label and kind, the first faults of each kind, and the totals at the end."""
        yield from self._table()
        for kind in (*HARD, *SOFT):
            faults = self.first.get(kind, ())
            if faults:
                yield ""
                yield f"{kind} ({_MEANINGS[kind]}):"
                yield from (f"  {fault}" for fault in faults)
                rest = self.number((kind,)) - len(faults)
                if rest:
                    yield f"  … and {rest:,} more"
        yield ""
        if self.unjudged:
            yield f"{counted(self.unjudged, 'round')} not judged, behind a sentence that could not be understood"
        head = f"{counted(self.dialogs, 'dialog')} with {counted(self.rounds, 'round')} checked"
        share = f" in {counted(self.faulty, 'dialog')}" if self.faulty else ""
        yield f"{head}: {counted(self.hard, 'hard fault')}{share}, {counted(self.soft, 'soft one')}"

    def _table(self) -> Iterator[str]:
        columns = [*HARD, "soft"]
        labels = sorted(self.sentences)
        if any(label == WHOLE for label, _ in self.counts):
            labels.append(WHOLE)
        width = max(map(len, [*labels, TOTAL]), default=0)
        yield "  ".join([f"{'label':{width}}", f"{'sentences':>9}", *(f"{kind:>{len(kind)}}" for kind in columns)])
        for label in [*labels, TOTAL]:
            chosen = None if label == TOTAL else label
            sentences = self.sentences.total() if chosen is None else self.sentences[label]
            numbers = [self.number(SOFT if kind == "soft" else (kind,), chosen) for kind in columns]
            cells = (f"{number or '-':>{len(kind)}}" for number, kind in zip(numbers, columns, strict=True))
            yield "  ".join([f"{label:{width}}", f"{sentences or '-':>9}", *cells])

    def report(self) -> Report:
        """Return the report, as a screen or a file shows it."""
        return Report("Verification of dialogs", tuple(self.lines()), (), self.to_record())

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        kinds = (*HARD, *SOFT)
        labels = sorted({*self.sentences, *(label for label, _ in self.counts)})
        return {
            "dialogs": self.dialogs,
            "rounds": self.rounds,
            "unjudged_rounds": self.unjudged,
            "hard": self.hard,
            "soft": self.soft,
            "dialogs_with_hard_faults": self.faulty,
            "by_kind": {kind: self.number((kind,)) for kind in kinds},
            "by_label": {
                label: {
                    "sentences": self.sentences[label],
                    **{kind: self.counts[label, kind] for kind in kinds if self.counts[label, kind]},
                }
                for label in labels
            },
            "faults": [vars(fault) for fault in self.faults],
        }


_MEANINGS = {**HARD, **{kind: f"soft: {meaning}" for kind, meaning in SOFT.items()}}
"""Kind -> its meaning, for people."""


def fault_of(verdict: Verdict, dialog: str, scene: int | None, place: tuple[int | None, str, str]) -> DialogFault:
    """Return a verdict as a fault of a sentence, given as (round, label, sentence)."""
    return DialogFault(dialog, scene, *place, verdict.kind, verdict.why)
