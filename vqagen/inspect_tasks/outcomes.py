"""Outcomes: how the trials of an evaluation were answered, and shares of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, NamedTuple

from vqagen.errors import counted
from vqagen.inspect_tasks.prompts import DIRECTOR
from vqagen.judge.director.mistakes import CORRECT
from vqagen.judge.director.rules import MIRRORED, PARTICIPANT, TEST

NORMAL_95 = 1.959964
"""The standard normal quantile of 97.5 %."""


@dataclass(frozen=True)
class Outcome:
    """One answered trial."""

    trial: str
    """Identifies the trial by its content."""
    trial_type: str
    rule: str
    rule_class: str
    frame: str
    """The frame of the words; `none` if the text says nothing of a point of view."""
    is_physics: bool
    story: str
    pair: int | None
    kind: str
    """The kind of answer; see `judge.director.mistakes`."""

    @property
    def is_correct(self) -> bool:
        """True for a right answer."""
        return self.kind == CORRECT

    @property
    def differs_visually(self) -> bool:
        """True if the director sees another answer than the participant."""
        return self.trial_type == TEST

    @property
    def differs_spatially(self) -> bool:
        """True if the director's own left or right must be understood."""
        return self.rule in MIRRORED and self.frame != PARTICIPANT and self.story == DIRECTOR


@dataclass(frozen=True)
class LoggedRun:
    """One evaluation: who answered, under which conditions, and how."""

    log: str
    respondent: str
    """The model, or the policy in its place."""
    story: str
    format: str
    dataset: str
    conditions: Mapping[str, str]
    """Further arguments of the task, as far as they are not the defaults."""
    status: str
    outcomes: tuple[Outcome, ...] = field(repr=False)
    unscored: int = 0
    """Samples without a score, as after an error."""

    @property
    def name(self) -> str:
        """The respondent, the story and the conditions, for people."""
        more = "".join(f", {key}={value}" for key, value in self.conditions.items())
        return f"{self.respondent}, story={self.story}, format={self.format}{more}"


class Share(NamedTuple):
    """Right answers among all."""

    correct: int
    total: int

    @property
    def rate(self) -> float:
        """The share."""
        return self.correct / self.total

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of Wilson."""
        n, z2 = self.total, NORMAL_95**2
        center = (self.rate + z2 / (2 * n)) / (1 + z2 / n)
        half = NORMAL_95 * sqrt(self.rate * (1 - self.rate) / n + z2 / (4 * n * n)) / (1 + z2 / n)
        return max(0.0, center - half), min(1.0, center + half)

    def __str__(self) -> str:
        return f"{self.rate:.1%} of {self.total:,}"

    def to_record(self) -> dict[str, Any]:
        """Return the share with its interval, for JSON."""
        low, high = self.interval
        return {"correct": self.correct, "total": self.total, "rate": self.rate, "low": low, "high": high}


def share_of(outcomes: Iterable[Outcome]) -> Share | None:
    """Return the share of right answers; None without outcomes."""
    right = [outcome.is_correct for outcome in outcomes]
    return Share(sum(right), len(right)) if right else None


def share_of_pairs(outcomes: Iterable[Outcome]) -> Share | None:
    """Return the share of pairs with two right answers; None without a pair. Epochs count as pairs of their own."""
    pairs: dict[int, list[bool]] = {}
    for outcome in outcomes:
        if outcome.pair is not None:
            pairs.setdefault(outcome.pair, []).append(outcome.is_correct)
    complete = [all(right) for right in pairs.values() if len(right) > 1]
    return Share(sum(complete), len(complete)) if complete else None


def describe_run(run: LoggedRun) -> str:
    """Return a line about a run, for people."""
    line = f"{run.name}: {counted(len(run.outcomes), 'answer')} about {run.dataset}"
    if run.unscored:
        line += f", {counted(run.unscored, 'sample')} without a score"
    return line if run.status == "success" else f"{line}; the evaluation ended with status {run.status}"
