"""The ladder: how often each baseline is right, over all questions and in each category, type and family."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vqagen.errors import counted
from vqagen.score.gold.item import GoldItem
from vqagen.score.intervals import Interval, Numbers, cluster_interval, clustered_mean
from vqagen.score.report.table import SHARE, Cell, Column, Report, Table
from vqagen.shortcuts.baselines.learning_task import LearningTask, credit, family_of, type_of
from vqagen.shortcuts.baselines.rungs import Answered

FLOOR = "majority"
"""The baseline that every lift is measured from."""
_BY: dict[str, Callable[[GoldItem], str]] = {
    "category": lambda item: str(item.fields.get("category") or type_of(item)),
    "type": type_of,
    "family": lambda item: family_of(item) or type_of(item),
}


@dataclass(frozen=True)
class GroupResult:
    """How often a baseline was right in one group of questions."""

    n: int
    correct: float
    """The sum of credits; a whole number unless annotators differ."""
    accuracy: float
    interval: Interval
    expected: float
    lift: float
    """The accuracy above that of the majority per type; NaN if this was not run."""
    lift_interval: Interval

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        record: dict[str, Any] = {
            "n": self.n,
            "correct": self.correct,
            "accuracy": round(self.accuracy, 6),
            "interval": _rounded(self.interval),
            "expected": round(self.expected, 6),
        }
        if not math.isnan(self.lift):
            record |= {"lift": round(self.lift, 6), "lift_interval": _rounded(self.lift_interval)}
        return record


@dataclass(frozen=True)
class RungResult:
    """How often one baseline was right."""

    name: str
    meaning: str
    unanswered: int
    note: str
    everything: GroupResult
    """All questions; those without an answer count as wrong."""
    groups: dict[str, dict[str, GroupResult]]
    """category, type or family -> its name -> result."""

    @property
    def answered_accuracy(self) -> float:
        """The share of right answers among the questions that have an answer; 0 if none has."""
        answered = self.everything.n - self.unanswered
        return self.everything.correct / answered if answered else 0.0

    @property
    def notes(self) -> str:
        """Return what is to be said beside the accuracy; "" for nothing."""
        notes = [self.note] if self.note else []
        if self.unanswered:
            missing, rest = counted(self.unanswered, "question"), self.answered_accuracy
            notes.append(f"no answer to {missing}, counted as wrong; of the others {rest:.3f} are right")
        return "; ".join(notes)

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "baseline": self.name,
            "meaning": self.meaning,
            "unanswered": self.unanswered,
            "note": self.note,
            **self.everything.to_record(),
            **{
                f"by_{key}": {name: each.to_record() for name, each in found.items()}
                for key, found in self.groups.items()
            },
        }


class Ladder:
    """The results of baselines on one question file."""

    def __init__(self, learning: LearningTask) -> None:
        self._learning = learning
        images: dict[str, int] = {}
        self._images = np.array([images.setdefault(item.image, len(images)) for item in learning.items], dtype=np.int64)
        self._groups = {key: self._places(name_of) for key, name_of in _BY.items()}
        self._floor: Numbers | None = None
        self.rungs: list[RungResult] = []

    def _places(self, name_of: Callable[[GoldItem], str]) -> dict[str, Numbers]:
        found: dict[str, list[int]] = {}
        for place, item in enumerate(self._learning.items):
            found.setdefault(name_of(item), []).append(place)
        return {name: np.array(found[name]) for name in sorted(found)}

    def add(self, answered: Answered) -> RungResult:
        """Score the guesses of one baseline, and keep its result. The floor must be added before those above it."""
        pairs = zip(self._learning.items, answered.guesses, strict=True)
        right = np.array([credit(guess.candidates, item) for item, guess in pairs])
        expected = np.array([guess.expected for guess in answered.guesses])
        if answered.rung.name == FLOOR:
            self._floor = right
        everything = np.arange(len(right))
        result = RungResult(
            answered.rung.name,
            answered.rung.meaning,
            sum(not guess.candidates for guess in answered.guesses),
            answered.note,
            self._result(right, expected, everything),
            {
                key: {name: self._result(right, expected, places) for name, places in groups.items()}
                for key, groups in self._groups.items()
            },
        )
        self.rungs.append(result)
        return result

    def _result(self, right: Numbers, expected: Numbers, places: Numbers) -> GroupResult:
        own, images = right[places], self._images[places]
        lift, lift_interval = math.nan, Interval(math.nan, math.nan)
        if self._floor is not None:
            estimate = clustered_mean(own - self._floor[places], images)
            lift, lift_interval = estimate.mean, estimate.interval(-1.0, 1.0)
        return GroupResult(
            len(places),
            float(own.sum()),
            float(own.mean()),
            cluster_interval(own, images),
            float(expected[places].mean()),
            lift,
            lift_interval,
        )

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {"questions": len(self._learning.items), "baselines": [rung.to_record() for rung in self.rungs]}

    def report(self) -> Report:
        """Return the table for people: a row for each baseline, with a column for each category."""
        categories = list(self.rungs[0].groups["category"]) if self.rungs else []
        shares = ("accuracy", "low", "high", "expected", "lift", *categories)
        columns = (Column("baseline"), *(Column(name, SHARE) for name in shares))
        notes = tuple(f"{rung.name}: {rung.notes}" for rung in self.rungs if rung.notes)
        table = Table("baselines", "Baselines", columns, tuple(_row(rung, categories) for rung in self.rungs), notes)
        head = (
            f"{counted(len(self._learning.items), 'question')}; low and high are bounds of 95 % intervals",
            f"lift: the accuracy above that of {FLOOR}",
        )
        return Report("Baselines", head, (table,), self.to_record())


def _row(rung: RungResult, categories: Sequence[str]) -> tuple[Cell, ...]:
    everything, found = rung.everything, rung.groups["category"]
    return (
        rung.name,
        everything.accuracy,
        *everything.interval,
        everything.expected,
        None if math.isnan(everything.lift) else everything.lift,
        *(found[category].accuracy for category in categories),
    )


def _rounded(interval: Interval) -> list[float]:
    return [round(interval.low, 6), round(interval.high, 6)]
