"""Checks of the numbers of items, blocked cells and fitting items, which the settings say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import floor
from typing import Any

from vqagen.bits import Objects
from vqagen.score.director.case import Case
from vqagen.score.director.rules import CLASS_OF, NONE, RELATION, SIZE, TEST
from vqagen.score.director.trial import TrialFault
from vqagen.score.director.views import BEATEN_BY

ROUNDING = 1e-9
MORE = 2
"""Fitting items that a trial can have more than the least number of its settings, seen and blocked ones each."""


class NumberCheck:
    """Compares the numbers of each trial with the settings."""

    def __init__(self, settings: Mapping[str, Any], is_strict: bool) -> None:
        self._settings = settings
        self._least = _least_fitting(settings) if is_strict else None

    def take(self, case: Case) -> Iterator[TrialFault]:
        """Yield the faults of a trial."""
        trial, settings = case.trial, self._settings
        cells = trial.width * trial.height
        for side in ("width", "height"):
            if settings.get(side, getattr(trial, side)) != getattr(trial, side):
                yield TrialFault("O13", side, f"expected {settings[side]}, found {getattr(trial, side)}")
        found = {"fill": case.views.participant.everything, "blocked": trial.blocked}
        for name, filled in found.items():
            if name in settings and filled.bit_count() != (wanted := floor(cells * settings[name] + ROUNDING)):
                place = "cells" if name == "fill" else name
                what = f"{filled.bit_count()} cells with items" if name == "fill" else f"{filled.bit_count()} cells"
                yield TrialFault(
                    "O13", place, f"expected {wanted} of {cells} by --{name} {settings[name]}, found {what}"
                )
        if self._least is not None and (fault := _fitting_fault(case, *self._least)):
            yield TrialFault("O13", "cells", fault)


def _least_fitting(settings: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the least numbers of fitting items besides the answer, seen and blocked; None if they are not known."""
    if not settings.keys() >= {"width", "height", "fill", "related", "related_blocked"}:
        return None
    items = floor(settings["width"] * settings["height"] * settings["fill"] + ROUNDING)
    related = floor(max(items - 1, 0) * settings["related"] + ROUNDING)
    hidden = max(1, floor(related * settings["related_blocked"] + ROUNDING))
    return max(1, related - hidden), hidden


def _fitting_fault(case: Case, seen: int, hidden: int) -> str:
    """Return what is wrong with the numbers of fitting items; "" if nothing is."""
    trial = case.trial
    rule_class = CLASS_OF[trial.rule]
    if rule_class == RELATION:
        return ""
    if rule_class == NONE:
        seen, hidden, more = 0, hidden if trial.type == TEST else 0, MORE if trial.type == TEST else 0
        most = 0, hidden + more
    else:
        most = seen + MORE, hidden + MORE
    numbers = case.open_fitting.bit_count() - 1, (case.fitting & trial.blocked).bit_count()
    if seen <= numbers[0] <= most[0] and hidden <= numbers[1] <= most[1]:
        return ""
    wanted = f"{seen} to {most[0]} more seen and {hidden} to {most[1]} blocked"
    return f"{numbers[0]} more fitting items seen and {numbers[1]} blocked, not {wanted}"


def beating(case: Case, cell: int) -> Objects:
    """Return the fitting items that the rule puts before the item of a cell; without a rule, all others."""
    trial, others = case.trial, case.fitting & ~(1 << cell)
    if trial.rule in BEATEN_BY:
        return others & case.views.participant.related[BEATEN_BY[trial.rule]][cell]
    if CLASS_OF[trial.rule] != SIZE:
        return others
    sizes = {each: case.items[name].size for each, name in enumerate(trial.cells) if name and others >> each & 1}
    own = case.items[trial.cells[cell] or ""].size
    sign = -1 if trial.rule == "smallest" else 1
    return sum(1 << each for each, size in sizes.items() if sign * size > sign * own)
