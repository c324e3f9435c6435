"""The design of version 1.0: exact numbers and shares, by which the trials that it made are verified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from random import Random
from typing import Any

from vqagen.bits import is_single
from vqagen.rng import shuffled, stream
from vqagen.tasks.director.design import Cell, class_shares, numbers_of, share_of
from vqagen.tasks.director.reading import WrittenTrial
from vqagen.tasks.director.rules import CLASS_OF, CONTROL, FRAMES, NONE, RELATION, RULES, TEST, TYPES, says_frame
from vqagen.tasks.director.settings import REFERENCE, DirectorSettings
from vqagen.tasks.director.trial_series import TrialSeries
from vqagen.tasks.director.views import Views

WINDOW = 960
"""Trials whose shares are exact, unless a file says otherwise."""
MORE = 2
"""Related items that a strict trial may have more than the least number of its settings, of each of two kinds."""


def related_numbers(settings: DirectorSettings, rule_class: str) -> tuple[int, int]:
    """Return how many items that fit are seen besides the target, and how many are blocked, at least."""
    related = share_of(max(numbers_of(settings).items - 1, 0), settings.related)
    hidden = max(1, share_of(related, settings.related_blocked))
    if settings.compat == REFERENCE:
        return max(related - hidden, 0), hidden
    if rule_class in (NONE, RELATION):
        return 0, hidden if rule_class == NONE else 1
    return max(1, related - hidden), hidden


class ExactShares:
    """Draws numbers in fixed shares: after any number of draws, each was drawn its share of times, off by less than 1.

    The method is the one of Tijdeman, "The chairman assignment problem" (1980); where several numbers are equally due,
    chance decides.
    """

    def __init__(self, shares: Sequence[float], rng: Random) -> None:
        self._shares, self._rng = shares, rng
        self._drawn, self._draws = [0] * len(shares), 0
        self._due: list[int] = []
        self._are_equal = len(set(shares)) == 1

    def draw(self) -> int:
        """Return the next number."""
        numbers = range(len(self._shares))
        if self._are_equal:
            self._due = self._due or shuffled(self._rng, numbers)
            return self._due.pop()
        self._draws += 1
        slack = 1 / (2 * len(self._shares) - 2)
        owed = {number: self._draws * self._shares[number] - self._drawn[number] for number in numbers}
        waits = {
            number: round((1 - slack - lack) / self._shares[number], 6)
            for number, lack in owed.items()
            if lack >= slack - 1e-9
        }
        shortest = min(waits.values())
        chosen = shuffled(self._rng, [number for number, wait in waits.items() if wait == shortest])[0]
        self._drawn[chosen] += 1
        return chosen


class Design:
    """The cells of a window of trials (or pairs). Shares hold inside each part of the wider division.

    Trials are divided by type, then by rule class, by frame, by physics, and by rule: of 8 trials 4 are tests, of these
    2 are about sizes, and of these one has physics. In pairs, each cell gives two trials.
    """

    def __init__(self, settings: DirectorSettings, window: int) -> None:
        self._settings, self._rng = settings, stream(settings.seed, "design", window)
        self._root = self._divided()

    def cells(self) -> Iterator[Cell]:
        """Yield cells without end."""
        while True:
            part = self._root
            while not isinstance(part, Cell):
                shares, parts = part
                part = parts[shares.draw()]
            yield part

    def _divided(self, *chosen: Any) -> _Part:
        """Return the division of what has the `chosen` type, rule class, frame, physics and rule, as far as given."""
        if len(chosen) == len(Cell._fields):
            is_test, rule_class, frame, is_physics, rule = chosen
            return Cell(is_test, rule_class, rule, frame, is_physics)
        used = {value: share for value, share in self._shares(*chosen).items() if share > 0}
        if len(used) == 1:
            return self._divided(*chosen, *used)
        return ExactShares([*used.values()], self._rng), [self._divided(*chosen, value) for value in used]

    def _shares(self, *chosen: Any) -> Mapping[Any, float]:
        """Return the share of each value of what is not chosen yet."""
        settings = self._settings
        tests = 1.0 if settings.paired else settings.test_share
        if not chosen:
            return {False: 1 - tests, True: tests}
        if len(chosen) == 1:
            return class_shares(settings)
        if len(chosen) == 2:
            return dict.fromkeys(FRAMES if says_frame(settings.suffix, chosen[1]) else (None,), 0.5)
        if len(chosen) == 3:
            return {False: 1 - settings.physics_share, True: settings.physics_share}
        return dict.fromkeys(RULES[chosen[1]], 1.0)


_Part = Cell | tuple[ExactShares, Sequence["_Part"]]
"""A cell, or what is divided into parts in exact shares."""


def number_of_trials(settings: DirectorSettings, window: int) -> Counter[Cell]:
    """Return how many trials a run makes for each cell, in windows of so many; pairs count as one."""
    step = 2 if settings.paired else 1
    first, end, size = settings.start_index // step, (settings.start_index + settings.count) // step, window // step
    numbers: Counter[Cell] = Counter()
    for number in range(first // size, -(-end // size)):
        start = number * size
        numbers.update(islice(Design(settings, number).cells(), max(first - start, 0), min(end - start, size)))
    return numbers


class ExactSeries(TrialSeries):
    """The trials of a file that version 1.0 made."""

    def _count(self, trial: WrittenTrial, is_test: bool | None = None) -> None:
        """Count a trial, or one of each pair, whose cell is that of its test."""
        if not self.settings.paired:
            super()._count(trial)
        elif trial.index % 2 == 0:
            super()._count(trial, is_test=True)

    def _wrong_shares(self, trials: int) -> Iterator[tuple[str, str]]:
        wanted = number_of_trials(self.settings, self._window)
        for cell in sorted(wanted.keys() | self._cells.keys(), key=repr):
            if self._cells[cell] != wanted[cell]:
                kind = "physics" if cell.is_physics else "no physics"
                frame = f", {cell.frame}'s view" if cell.frame else ""
                yield f"{self._cells[cell]} of {TYPES[cell.is_test]}, {cell.rule}, {kind}{frame}", f"{wanted[cell]}"

    def _item_rows(self, views: Views) -> Iterator[tuple[str, str, int, range]]:
        trial, rule_class = views.trial, CLASS_OF[views.trial.rule]
        if self.settings.compat == REFERENCE or rule_class == RELATION:
            return
        seen, hidden = ((views.fitting & cells).bit_count() for cells in (views.open, trial.blocked))
        least_seen, least_hidden = related_numbers(self.settings, rule_class)
        more = MORE if rule_class != NONE else 0
        yield "cells", "fitting items seen", seen, range(1 + least_seen, 2 + least_seen + more)
        is_plain = rule_class == NONE and trial.type == CONTROL
        blocked = range(1) if is_plain else range(least_hidden, least_hidden + MORE + 1)
        yield "cells", "fitting items blocked", hidden, blocked

    def _move_faults(self, first: WrittenTrial, second: WrittenTrial) -> Iterator[str]:
        opened, closed = first.blocked & ~second.blocked, second.blocked & ~first.blocked
        moves = ((first, opened, second.answer), (second, closed, first.answer))
        freed = [moved == answer for one, moved, answer in moves if one.type == TEST]
        if not (is_single(opened) and is_single(closed) and all(freed)):
            moved = f"{first.labels(opened)} was opened and {first.labels(closed)} blocked"
            yield f"one block must move, from what is the answer without it in a test trial: {moved}"
