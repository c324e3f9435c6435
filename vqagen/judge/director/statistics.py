"""Statistics of a file of trials, taken in one pass: its design, who answers how well, and what could be guessed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from vqagen.bits import only
from vqagen.errors import BadInput, Problem
from vqagen.files.locations import locate
from vqagen.judge.director.case import Case, Found, case_of
from vqagen.judge.director.chi_square import differ
from vqagen.judge.director.policies import POLICIES, expected_accuracy
from vqagen.judge.director.reading import TrialReading
from vqagen.judge.director.repetition import AnswerCells
from vqagen.judge.director.rules import CONTROL, MIRRORED, NONE, PARTICIPANT, TEST
from vqagen.judge.director.trial import Trial, label
from vqagen.judge.director.trial_files import find_trials
from vqagen.judge.stats.census import Spread, text_hash
from vqagen.judge.stats.fault_list import FaultList

BATCH = 1000
"""Trials between two calls for the progress bar."""
CONTROLS, RULE_TESTS, PLAIN_TESTS, DIRECTORS_LEFT_RIGHT, ALL = GROUPS = (
    *("control", "rule tests", "tests without rule"),
    *("my left/right", "all"),
)
"""Groups of trials whose accuracy is shown."""
Cell = tuple[str, str, str | None, bool]
"""Type, class of rules, frame, physics."""


def groups_of(trial: Trial) -> Iterator[str]:
    """Yield the groups that a trial is in."""
    tests = PLAIN_TESTS if trial.rule == NONE else RULE_TESTS
    yield CONTROLS if trial.type == CONTROL else tests
    if trial.rule in MIRRORED and trial.frame != PARTICIPANT:
        yield DIRECTORS_LEFT_RIGHT
    yield ALL


@dataclass
class Accuracy:
    """The expected right answers in each group."""

    right: dict[str, float] = field(default_factory=dict)

    def add(self, trial: Trial, probability: float) -> None:
        """Add a trial that is answered right with this probability."""
        for group in groups_of(trial):
            self.right[group] = self.right.get(group, 0.0) + probability


class CellGuess:
    """Guesses the cell that was most often right in trials of the other half of the file that have the same key."""

    def __init__(self, key: Callable[[Trial], Hashable]) -> None:
        self._key = key
        self._cells: tuple[dict[Hashable, Counter[int]], ...] = ({}, {})
        self._tested: tuple[Counter[tuple[Hashable, str, int]], ...] = (Counter(), Counter())

    def take(self, trial: Trial) -> None:
        """Learn from a trial, and test the guess of the other half on it."""
        half, key, cell = trial.index // 2 % 2, self._key(trial), only(trial.answer)
        self._cells[half].setdefault(key, Counter())[cell] += 1
        self._tested[half].update((key, group, cell) for group in groups_of(trial))

    def accuracy(self) -> Accuracy:
        """Return the right guesses."""
        found = Accuracy(dict.fromkeys(GROUPS, 0.0))
        for half, tested in enumerate(self._tested):
            guesses = {key: max(sorted(cells), key=cells.__getitem__) for key, cells in self._cells[1 - half].items()}
            for (key, group, cell), count in tested.items():
                if guesses.get(key) == cell:
                    found.right[group] += count
        return found


def _grid(trial: Trial) -> Hashable:
    return trial.width, trial.height


def _words(trial: Trial) -> Hashable:
    return trial.width, trial.height, trial.rule, trial.frame, trial.noun


def _rule(trial: Trial) -> Hashable:
    return trial.width, trial.height, trial.rule


GUESSES: Mapping[str, tuple[str, Callable[[Trial], Hashable]]] = {
    "majority cell": ("the cell that is most often right", _grid),
    "cell of rule": ("the cell that is most often right for the rule", _rule),
    "cell of words": ("the same for rule, frame and noun", _words),
}
"""Name -> (meaning, the key of trials that are guessed alike)."""


def _features(case: Case) -> Iterator[tuple[str, int]]:
    """Yield what someone could tell control from test trials by, without taking a view: (name, value)."""
    trial, items = case.trial, case.views.participant.everything
    of_noun = sum(1 << i for i, name in enumerate(trial.cells) if name and trial.noun in case.items[name].true)
    target = trial.cells[only(trial.answer)]
    yield "items", items.bit_count()
    yield "blocked cells", trial.blocked.bit_count()
    yield "blocked items", (items & trial.blocked).bit_count()
    yield "fitting items, open", case.open_fitting.bit_count()
    yield "fitting items, blocked", (case.fitting & trial.blocked).bit_count()
    yield "items of the noun only, open", (of_noun & ~case.fitting & ~trial.blocked).bit_count()
    yield "items of the noun only, blocked", (of_noun & ~case.fitting & trial.blocked).bit_count()
    yield "adjectives", len(trial.adjectives)
    yield "words", len(trial.instruction.split())
    yield "column of the answer", only(trial.answer) % trial.width + 1
    yield "row of the answer", only(trial.answer) // trial.width + 1
    yield "size level of the answer", int(case.items[target].size) if target else 0


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
    in_group: Counter[str] = field(default_factory=Counter)
    policies: dict[str, Accuracy] = field(default_factory=lambda: {name: Accuracy() for name in POLICIES})
    guesses: dict[str, CellGuess] = field(
        default_factory=lambda: {n: CellGuess(key) for n, (_, key) in GUESSES.items()}
    )
    answers: AnswerCells = field(default_factory=AnswerCells)
    features: dict[str, dict[str, Counter[int]]] = field(default_factory=dict)
    """Feature -> type -> value -> trials."""
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
        for name, policy in POLICIES.items():
            self.policies[name].add(trial, expected_accuracy(policy, case))
        for guess in self.guesses.values():
            guess.take(trial)
        self.answers.take(trial)
        for name, value in _features(case):
            self.features.setdefault(name, {CONTROL: Counter(), TEST: Counter()})[trial.type][value] += 1
        self._take_text(trial)

    def _take_text(self, trial: Trial) -> None:
        self.words[len(trial.instruction.split())] += 1
        self.texts.add(text_hash(trial.instruction))
        self.phrases.add(text_hash(" ".join((*trial.adjectives, trial.noun))))
        self.templates[trial.template or ""] += 1
        self.nouns[trial.noun] += 1

    def accuracies(self) -> dict[str, dict[str, float]]:
        """Return policy or guess -> group -> accuracy, of the groups that the file has."""
        found = {**self.policies, **{name: guess.accuracy() for name, guess in self.guesses.items()}}
        return {
            name: {group: accuracy.right.get(group, 0.0) / self.in_group[group] for group in self.groups}
            for name, accuracy in found.items()
        }

    @property
    def groups(self) -> list[str]:
        """The groups that have trials."""
        return [group for group in GROUPS if self.in_group[group]]

    def type_means(self, feature: str) -> dict[str, float]:
        """Return the mean of a feature in control and in test trials; a type without trials is left out."""
        return {
            type_: sum(value * count for value, count in counts.items()) / counts.total()
            for type_, counts in self.features[feature].items()
            if counts
        }

    def tells_types(self, feature: str) -> bool:
        """Return whether a feature differs between control and test trials more than chance explains."""
        return differ(self.features[feature][CONTROL], self.features[feature][TEST])

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
            "answer_cells": {
                f"{width}x{height}": {
                    type_: {label(cell, width): count for cell, count in sorted(counts.items())}
                    for type_, counts in by_type.items()
                }
                for (width, height), by_type in sorted(self.answers.counts.items())
            },
            "features": {
                name: {
                    **{type_: round(mean, 4) for type_, mean in self.type_means(name).items()},
                    "differs": self.tells_types(name),
                }
                for name in self.features
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
