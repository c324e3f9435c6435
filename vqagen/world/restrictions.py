"""Restrictions: which values an object may have beside its others, and in which order values can be drawn then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

from vqagen.world.attribute import Attribute, Recorded

MOST_CASES = 10_000
"""Combinations looked at for one that leaves no value; the rest is found out when scenes are drawn."""


class Restriction(NamedTuple):
    """Objects whose `attribute` is, or has in its list, one of `values` take, for each attribute of `only`, nothing
    but the values listed there."""

    attribute: str
    values: tuple[str, ...]
    only: Mapping[str, tuple[str, ...]]

    def binds(self, looks: Mapping[str, Recorded]) -> bool:
        """Whether it speaks of an object that has the values `looks`."""
        found = looks.get(self.attribute)
        return found in self.values if isinstance(found, str) else any(value in self.values for value in found or ())


def allowed(
    values: Sequence[str], key: str, looks: Mapping[str, Recorded], restrict: Iterable[Restriction]
) -> Sequence[str]:
    """Those of the values of attribute `key` that are open to an object that already has the values `looks`."""
    for rule in restrict:
        if key in rule.only and rule.binds(looks):
            values = [value for value in values if value in rule.only[key]]
    return values


def draw_order(keys: Iterable[str], restrict: Sequence[Restriction]) -> tuple[str, ...]:
    """The attributes, each after those that restrict it; CycleError where there is no such order."""
    deciders = {key: [rule.attribute for rule in restrict if key in rule.only] for key in keys}
    return tuple(TopologicalSorter(deciders).static_order())


def dead_ends(
    key: str, least: int, attributes: Mapping[str, Attribute], restrict: Sequence[Restriction]
) -> Iterator[str]:
    """Values of other attributes, as "shape cube, size large", that leave attribute `key` fewer than `least` values."""
    cases: dict[tuple[str, ...], dict[str, Recorded]] = {attributes[key].leaves: {}}
    for decider in dict.fromkeys(rule.attribute for rule in restrict if key in rule.only):
        rules = [rule for rule in restrict if rule.attribute == decider]
        if decider not in attributes or len(cases) > MOST_CASES:
            return
        after: dict[tuple[str, ...], dict[str, Recorded]] = {}
        for left, looks in cases.items():
            for value in attributes[decider].leaves:
                still_left = tuple(allowed(left, key, {decider: value}, rules))
                after.setdefault(still_left, {**looks, decider: value})
        cases = after
    for left, looks in cases.items():
        if len(left) < least:
            yield ", ".join(f"{decider} {value}" for decider, value in looks.items())
