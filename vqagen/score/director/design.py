"""Checks of the shares of a file: in each finished window, every cell of the design has as many trials as it should."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import ceil, floor
from typing import Any, NamedTuple

from vqagen.score.director.rules import (
    CLASS_OF,
    CONTROL,
    DIRECTOR,
    HORIZONTAL,
    NONE,
    PARTICIPANT,
    RELATION,
    SIZE,
    TEST,
    VERTICAL,
)
from vqagen.score.director.text_checks import FRAMED
from vqagen.score.director.trial import Trial

LEVELS = ("trial type", "rule class", "frame", "is_physics")
SETTINGS = frozenset(
    ("test_share", "size_share", "vertical_share", "horizontal_share", "physics_share", "questions", "suffix")
)
"""The settings that say the shares. Without one of them, no window is judged."""
WINDOW = 960
"""Trials in a window if the file does not say it."""


class Cell(NamedTuple):
    """A cell of the design."""

    type: str
    rule_class: str
    frame: str | None
    is_physics: bool


class DesignCheck:
    """Counts the trials of each window, and compares a finished one with the shares of the settings."""

    def __init__(self, settings: Mapping[str, Any], window: int = WINDOW) -> None:
        self._window = window
        self._is_paired = bool(settings.get("paired"))
        is_known = settings.keys() >= SETTINGS and settings["suffix"] in FRAMED
        self._shares = _Shares(settings) if is_known else None
        self.faults: list[str] = []
        """The faults of the windows that are finished."""
        self._first: int | None = None
        """The number of the window's first trial; None if that is not in the file."""
        self._taken = 0
        self._counts: Counter[tuple[Cell, str]] = Counter()

    def take(self, trial: Trial) -> None:
        """Count a trial, and judge the window that it finishes."""
        if self._shares is None or not self._window:
            return
        number = trial.index
        if number % self._window == 0:
            self._first, self._taken, self._counts = number, 0, Counter()
        if self._first is None:  # the window began in another shard
            return
        self._taken += 1
        if not (self._is_paired and number % 2):
            cell = Cell("" if self._is_paired else trial.type, trial.rule_class, trial.frame, trial.is_physics)
            self._counts[cell, trial.rule] += 1
        if number == self._first + self._window - 1 and self._taken == self._window:
            what = f"trials {self._first} to {number}"
            cells: Counter[Cell] = Counter()
            for (cell, _), count in self._counts.items():
                cells[cell] += count
            self.faults += (f"{what}: {each}" for each in (*self._uneven(cells, ()), *self._uneven_rules()))

    def _uneven(self, cells: Counter[Cell], path: tuple[Any, ...]) -> Iterator[str]:
        """Yield the cells below a path, such as ("test", "size"), with too many or too few trials."""
        assert self._shares is not None
        if len(path) == len(LEVELS):
            return
        within = cells.total()
        shares = self._shares.below(path, self._is_paired)
        found: dict[Any, Counter[Cell]] = {value: Counter() for value in shares}
        for cell, count in cells.items():
            found.setdefault(cell[len(path)], Counter())[cell] += count
        for value, inside in found.items():
            exact = within * shares.get(value, 0.0)
            if not floor(exact + 1e-9) <= inside.total() <= ceil(exact - 1e-9):
                where = ", ".join(map(str, path)) or "all"
                numbers = f"{inside.total()} of {within}, not {exact:g}"
                yield f"{LEVELS[len(path)]} {value} in {where}: {numbers}"
            yield from self._uneven(inside, (*path, value))

    def _uneven_rules(self) -> Iterator[str]:
        """Yield the cells of the design whose rules are not equally frequent."""
        found: dict[Cell, Counter[str]] = {}
        for (cell, rule), count in self._counts.items():
            found.setdefault(cell, Counter())[rule] += count
        for cell, rules in found.items():
            numbers = [rules[rule] for rule, its_class in CLASS_OF.items() if its_class == cell.rule_class]
            if max(numbers) - min(numbers) > 1:
                said = ", ".join(f"{count} {rule}" for rule, count in sorted(rules.items()))
                yield f"rules of {cell.type or 'all'}, {cell.rule_class}: {said}"


class _Shares:
    """The shares of the settings at each level of the design."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        rules = {SIZE: settings["size_share"], VERTICAL: settings["vertical_share"]}
        rules[HORIZONTAL] = settings["horizontal_share"]
        rules[NONE] = max(0.0, 1 - sum(rules.values()))
        self._types = {TEST: settings["test_share"], CONTROL: 1 - settings["test_share"]}
        self._classes = {RELATION: 1.0} if settings["questions"] == "relational" else rules
        self._frames = {DIRECTOR: 0.5, PARTICIPANT: 0.5}
        self._framed = FRAMED[settings["suffix"]]
        self._physics = {True: settings["physics_share"], False: 1 - settings["physics_share"]}

    def below(self, path: tuple[Any, ...], is_paired: bool) -> Mapping[Any, float]:
        """Return value -> share, of the level below a path."""
        if not path:
            return {"": 1.0} if is_paired else self._types
        if len(path) == 1:
            return self._classes
        if len(path) == 2:
            return self._frames if path[1] in self._framed else {None: 1.0}
        return self._physics
