"""Restrictions: values that an object may have beside its other values, and the order in which values are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

from vqagen.world.attribute import Attribute, Recorded

MOST_CASES = 10_000
"""Most combinations of values that are searched for one that leaves no value. Sampling reports the others."""


class Restriction(NamedTuple):
    """A rule for objects whose `attribute` is one of `values`, or has one in its list.

    For each attribute in `only`, such an object takes one of the values listed there.
    """

    attribute: str
    values: tuple[str, ...]
    only: Mapping[str, tuple[str, ...]]

    def binds(self, looks: Mapping[str, Recorded]) -> bool:
        """True if the rule applies to an object with the values `looks`."""
        found = looks.get(self.attribute)
        return found in self.values if isinstance(found, str) else any(value in self.values for value in found or ())


def allowed(
    values: Sequence[str], key: str, looks: Mapping[str, Recorded], restrict: Iterable[Restriction]
) -> Sequence[str]:
    """Return the values of attribute `key` that an object with the values `looks` may take."""
    for rule in restrict:
        if key in rule.only and rule.binds(looks):
            values = [value for value in values if value in rule.only[key]]
    return values


def draw_order(keys: Iterable[str], restrict: Sequence[Restriction]) -> tuple[str, ...]:
    """Return the attributes, each after those that restrict it. Raises CycleError if there is no such order."""
    deciders = {key: [rule.attribute for rule in restrict if key in rule.only] for key in keys}
    return tuple(TopologicalSorter(deciders).static_order())


def dead_ends(
    key: str, least: int, attributes: Mapping[str, Attribute], restrict: Sequence[Restriction]
) -> Iterator[str]:
    """Yield values of others, such as "shape cube, size large", that leave `key` fewer than `least` values."""
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
