"""Relations between objects: computed from positions and the directions of a scene, and their logic.

By the metadata, left is an order, and right its inverse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from vqagen.world.camera import Vector
    from vqagen.world.domain import Domain

THRESHOLD = 0.2
"""Least offset that counts, in world units; measured on the released scenes (see `relation_lists`)."""


def relation_lists(
    positions: Sequence[Vector], directions: Mapping[str, Vector], threshold: float = THRESHOLD
) -> dict[str, list[list[int]]]:
    """Return `lists[relation][i]`: the objects that stand in *relation* to object i, ascending ("j is left of i").

    A relation holds if the offset from i to j is more than `threshold` along its direction. With 0.2 these are exactly
    the relations of the 1,000 released train scenes of Johnson et al. 2017.
    """
    return {relation: _in_direction(positions, direction, threshold) for relation, direction in directions.items()}


def _in_direction(positions: Sequence[Vector], direction: Vector, threshold: float) -> list[list[int]]:
    along_x, along_y, along_z = direction[0], direction[1], direction[2]

    def offset(here: Vector, there: Vector) -> float:
        return (there[0] - here[0]) * along_x + (there[1] - here[1]) * along_y + (there[2] - here[2]) * along_z

    return [
        [j for j, other in enumerate(positions) if j != i and offset(position, other) > threshold]
        for i, position in enumerate(positions)
    ]


# The logic of relations ---------------------------------------------------------------------------------------------


DEFAULT_DIRECTIONS: Mapping[str, tuple[int, ...]] = {
    "left": (-1, 0, 0),
    "right": (1, 0, 0),
    "behind": (0, 1, 0),
    "front": (0, -1, 0),
    "above": (0, 0, 1),
    "below": (0, 0, -1),
}
"""The directions of a domain that samples scenes and gives no directions, up to a turn of the ground."""


class RelationOrder(NamedTuple):
    """The relations that are orders, and for each relation the one that says the same from the other side."""

    transitive: frozenset[str]
    inverse: Mapping[str, str]


def relation_order(domain: Domain) -> RelationOrder:
    """Return what the `sampling` section tells: relations with a direction are orders, opposite directions inverses.

    A relation that is drawn symmetric is its own inverse. Nothing is known of a domain without that section.
    """
    section = domain.record.get("sampling")
    if not isinstance(section, Mapping):
        return RelationOrder(frozenset(), {})
    drawn, directions = _named(section, "relations"), _named(section, "directions") or DEFAULT_DIRECTIONS
    spatial = [name for name in domain.recorded_relations if name in directions and name not in drawn]
    inverse = {one: other for one in spatial for other in spatial if _are_opposite(directions[one], directions[other])}
    inverse |= {name: name for name, rule in drawn.items() if isinstance(rule, Mapping) and rule.get("symmetric")}
    return RelationOrder(frozenset(spatial), inverse)


def _named(section: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = section.get(key)
    return found if isinstance(found, Mapping) else {}


def _are_opposite(one: Any, other: Any) -> bool:
    try:
        return all(abs(left + right) < 1e-9 for left, right in zip(one, other, strict=True))
    except (TypeError, ValueError):
        return False
