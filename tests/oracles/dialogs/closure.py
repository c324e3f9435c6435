"""Conclusions of a careful reader: nothing that follows is asked (3.5).

Each rule reads `Knowledge` and adds its conclusions; all of them are applied until none adds anything. Every rule is
true of any scene in which relations are strict orders and each object has one value of each attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from oracles.dialogs import number_rules, place_rules
from oracles.dialogs.facts import MANY, Fact, Quantity
from oracles.dialogs.knowledge import Knowledge

Rule = Callable[[Knowledge], None]
MOST_PASSES = 60
"""Passes after which conclusions stop; contradictory facts can go on for ever."""
RULES: tuple[Rule, ...] = (
    place_rules.members_are_as_their_set,
    number_rules.each_object_has_one_value,
    number_rules.members_have_one_value,
    number_rules.others_alike_are_one_fewer,
    place_rules.two_sides_are_all_others,
    number_rules.the_rest_is_all_but_the_mentioned,
    number_rules.nothing_is_left_beside_all,
    number_rules.known_members_count,
    number_rules.the_rest_lacks_what_was_mentioned,
    number_rules.values_are_of_the_rest_or_the_mentioned,
    place_rules.the_next_has_one_fewer_before_it,
    place_rules.orders_are_transitive,
    place_rules.what_lies_beyond_is_fewer,
    place_rules.different_objects_have_different_places,
    number_rules.known_ones_count,
    place_rules.one_definition_is_one_set,
    place_rules.one_place_is_one_object,
    place_rules.the_next_of_the_next_is_back,
    number_rules.only_one_value_is_left,
)
"""All rules, in the order in which a pass applies them."""


def learn(known: Knowledge, facts: Iterable[Fact]) -> None:
    """Take facts, and draw all conclusions from them."""
    for fact in facts:
        known.take(fact)
    _close(known)


def consider(known: Knowledge, quantity: Quantity) -> tuple[int, int]:
    """Return the bounds of a quantity that may be of no fact so far."""
    quantity = known.canonical(quantity)
    if quantity not in known.bounds:
        known.bounds[quantity] = 0, MANY
        _close(known)
    return known.range_of(quantity)


def _close(known: Knowledge) -> None:
    """Draw conclusions until no rule adds one. Nothing more is concluded from facts that contradict each other."""
    known.has_changed = True
    for _ in range(MOST_PASSES):
        if not known.has_changed or not known.is_consistent:
            return
        known.has_changed = False
        for rule in RULES:
            rule(known)
