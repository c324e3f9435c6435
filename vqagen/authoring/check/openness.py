"""The slots of a description that may be left open together, by the constraints on that description alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from vqagen.language.template import Template, TemplateNode
from vqagen.search.description import allow_openness, local_checks

ALL_WAYS = 10
"""Slots of a node up to which all ways to leave some open are listed; for more slots, a few ways."""


def ways_to_say(template: Template, node: TemplateNode) -> list[frozenset[str]]:
    """Return the sets of slots that a description may say, its relation left aside."""
    slots = [each.slot for each in template.described(node) if each.slot]
    checks = local_checks(template, slots).values()
    return [said for said in _candidates(slots) if allow_openness(checks, [slot in said for slot in slots])]


def _candidates(slots: list[str]) -> Iterator[frozenset[str]]:
    if len(slots) > ALL_WAYS:
        yield from (frozenset(), frozenset(slots), *(frozenset([slot]) for slot in slots))
        return
    for count in range(len(slots) + 1):
        yield from map(frozenset, itertools.combinations(slots, count))


def never_said(template: Template) -> set[str]:
    """Return the slots that constraints leave open in every question."""
    never: set[str] = set()
    for node in template.nodes:
        if node.composite is not None:
            slots = {each.slot for each in template.described(node) if each.slot}
            said = frozenset[str]().union(*ways_to_say(template, node))
            never |= slots - said
    return never
