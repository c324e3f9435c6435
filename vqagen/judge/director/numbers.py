"""Checks of the numbers of items, blocked cells and fitting items, which must be the same in every trial of a kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import floor
from typing import Any

from vqagen.bits import Objects, is_single, only
from vqagen.judge.director.case import Case
from vqagen.judge.director.relation_checks import on_ray
from vqagen.judge.director.rules import CLASS_OF, NONE, RELATION, SIZE, TEST
from vqagen.judge.director.trial import TrialFault
from vqagen.judge.director.views import BEATEN_BY

ROUNDING = 1e-9


class NumberCheck:
    """Compares the numbers of each trial with the settings, and with the trials before it."""

    def __init__(self, settings: Mapping[str, Any], is_strict: bool) -> None:
        self._settings, self._is_strict = settings, is_strict
        self._usual: dict[tuple[str, str], tuple[int, int]] = {}

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
        if self._is_strict and settings and not settings.get("paired"):
            yield from self._fitting(case)

    def _fitting(self, case: Case) -> Iterator[TrialFault]:
        trial = case.trial
        rule_class = CLASS_OF[trial.rule]
        fitting = on_ray(case) if rule_class == RELATION else case.fitting
        numbers = ((fitting & ~trial.blocked).bit_count(), (fitting & trial.blocked).bit_count())
        kind = (rule_class, trial.type if rule_class in (NONE, RELATION) else "")
        usual = self._usual.setdefault(kind, numbers)
        if rule_class != RELATION and numbers != usual:
            message = "{} fitting items seen and {} blocked".format(*numbers)
            yield TrialFault("O13", "cells", f"{message}, but {usual[0]} and {usual[1]} in the first such trial")
        if trial.type == TEST and is_single(case.gold) and rule_class not in (NONE, RELATION):
            better = beating(case, only(case.gold)) & trial.blocked
            if not is_single(better):
                message = f"one blocked item should beat the answer, found {trial.labels(better)}"
                yield TrialFault("O13", "cells", message)


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
