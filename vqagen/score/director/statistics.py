"""Statistics of a file of trials, taken in one pass: its design, its words, and who answers how well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import locate
from vqagen.records.fault_list import FaultList
from vqagen.score.director.case import Found, case_of
from vqagen.score.director.policies import GUESSES, POLICIES, Guesser, expected_accuracy
from vqagen.score.director.reading import TrialReading
from vqagen.score.director.rules import CONTESTED, CONTROL, MIRRORED, NONE, PARTICIPANT
from vqagen.score.director.trial import Trial
from vqagen.score.director.trial_files import find_trials
from vqagen.score.gold.census import Spread, text_hash

BATCH = 1000
"""Trials between two calls for the progress bar."""
BOTH, CONTROLS, RULE_TESTS, PLAIN_TESTS, YOUR_VIEW, DIRECTORS_LEFT_RIGHT, ALL = GROUPS = (
    *("both of a pair", "control", "rule tests", "tests without rule", "your-view tests", "my left/right", "all"),
)
"""Groups of trials whose accuracy is shown. Of a pair, both trials must be answered correctly."""
Cell = tuple[str, str, str | None, bool]
"""Type, class of rules, frame, physics."""


def groups_of(trial: Trial) -> Iterator[str]:
    """Yield the groups that a trial is in."""
    tests = PLAIN_TESTS if trial.rule == NONE else RULE_TESTS
    yield CONTROLS if trial.type == CONTROL else YOUR_VIEW if trial.group == CONTESTED else tests
    if trial.rule in MIRRORED and trial.frame != PARTICIPANT:
        yield DIRECTORS_LEFT_RIGHT
    yield ALL


@dataclass
class TrialStatistics:
    """The statistics of one file."""

    name: str
    trials: int = 0
    grids: Counter[tuple[int, int]] = field(default_factory=Counter)
    cells: Counter[Cell] = field(default_factory=Counter)
    rules: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(rule, type) -> trials."""
    pairs: set[int] = field(default_factory=set)
    first: tuple[int | None, dict[str, float]] = (None, {})
    """The pair of the trial before, and the chances of each policy in it."""
    in_group: Counter[str] = field(default_factory=Counter)
    policies: dict[str, dict[str, float]] = field(
        default_factory=lambda: {name: dict.fromkeys(GROUPS, 0.0) for name in (*POLICIES, *GUESSES)}
    )
    """Policy or guess -> group -> the trials that it is expected to answer right."""
    guessers: dict[str, Guesser] = field(
        default_factory=lambda: {name: Guesser(guess) for name, guess in GUESSES.items()}
    )
    words: Counter[int] = field(default_factory=Counter)
    texts: set[int] = field(default_factory=set)
    phrases: set[int] = field(default_factory=set)
    templates: Counter[str] = field(default_factory=Counter)
    nouns: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def take(self, found: Found) -> None:
        """Count a trial."""
        trial, case = found.trial, case_of(found)
        self.trials += 1
        self.grids[trial.width, trial.height] += 1
        self.cells[trial.type, trial.rule_class, trial.frame, trial.is_physics] += 1
        self.rules[trial.rule, trial.type] += 1
        self.in_group.update(groups_of(trial))
        if trial.pair is not None:
            self.pairs.add(trial.pair)
        chances = {name: expected_accuracy(policy, case) for name, policy in POLICIES.items()}
        chances |= {name: guesser.take(case) for name, guesser in self.guessers.items()}
        for name, probability in chances.items():
            for group in groups_of(trial):
                self.policies[name][group] += probability
        self._take_pair(trial, chances)
        self._take_text(trial)

    def _take_pair(self, trial: Trial, chances: dict[str, float]) -> None:
        """Count the pair that a trial completes. Its trials follow each other."""
        first, self.first = self.first, (trial.pair, chances)
        if trial.pair is not None and first[0] == trial.pair:
            self.in_group[BOTH] += 1
            for name, probability in chances.items():
                self.policies[name][BOTH] += first[1][name] * probability

    def _take_text(self, trial: Trial) -> None:
        self.words[len(trial.instruction.split())] += 1
        self.texts.add(text_hash(trial.instruction))
        self.phrases.add(text_hash(" ".join((*trial.adjectives, trial.noun))))
        self.templates[trial.template or ""] += 1
        self.nouns[trial.noun] += 1

    def accuracies(self) -> dict[str, dict[str, float]]:
        """Return policy -> group -> accuracy, of the groups that the file has."""
        return {
            name: {group: right[group] / self.in_group[group] for group in self.groups}
            for name, right in self.policies.items()
        }

    @property
    def groups(self) -> list[str]:
        """The groups that have trials."""
        return [group for group in GROUPS if self.in_group[group]]

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "trials": self.trials,
            "grids": {f"{width}x{height}": count for (width, height), count in sorted(self.grids.items())},
            "pairs": len(self.pairs),
            "cells": [
                dict(zip(("trial_type", "rule_class", "frame", "is_physics", "trials"), (*cell, count), strict=True))
                for cell, count in sorted(self.cells.items(), key=str)
            ],
            "rules": [
                {"rule": rule, "trial_type": type_, "trials": count}
                for (rule, type_), count in sorted(self.rules.items())
            ],
            "groups": {group: self.in_group[group] for group in self.groups},
            "accuracy": {
                name: {group: round(value, 4) for group, value in accuracy.items()}
                for name, accuracy in self.accuracies().items()
            },
            "texts": len(self.texts),
            "phrases": len(self.phrases),
            "words": spread.to_record() if (spread := Spread.of(self.words)) else None,
            "templates": dict(sorted(self.templates.items())),
            "nouns": dict(self.nouns.most_common()),
            "notes": self.notes,
        }


def trial_statistics(path: str, on_read: Callable[[int], None] = lambda _: None) -> TrialStatistics:
    """Return the statistics of a file or folder of trials, read once. BadInput with the trials that cannot be read."""
    reading = TrialReading(find_trials(locate(path)))
    statistics, source = TrialStatistics(path), reading.file.source
    faults = FaultList(str(source.path), "trial")
    since = 0
    for position, record in enumerate(reading.records()):
        found = reading.read(record)
        if isinstance(found, Found):
            statistics.take(found)
        else:
            faults.add([(fault.place, fault.message) for fault in found], source.kind.path(position))
        since += 1
        if since == BATCH:
            on_read(since)
            since = 0
    on_read(since)
    faults.finish()
    if not statistics.trials:
        raise BadInput([Problem("no trials", str(source.path))])
    statistics.notes += reading.remarks
    return statistics
