"""Relations between objects, computed from their positions and the directions of a scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from vqagen.world.vectors import Vector, dot, minus, unit

if TYPE_CHECKING:
    from vqagen.world.camera import Camera

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


def seen_directions(camera: Camera) -> dict[str, Vector]:
    """Return the directions of a viewer at `camera`: four along the ground, two along z; rounded to 6 digits.

    Raises ValueError if the camera's right points straight up or down.
    """
    x, y, _ = unit((camera.right[0], camera.right[1], 0.0))
    directions = {
        "left": (-x, -y, 0.0),
        "right": (x, y, 0.0),
        "behind": (-y, x, 0.0),
        "front": (y, -x, 0.0),
        "above": (0.0, 0.0, 1.0),
        "below": (0.0, 0.0, -1.0),
    }
    # Adding zero turns -0.0, which JSON would show, into 0.0.
    return {name: (round(x, 6) + 0.0, round(y, 6) + 0.0, z) for name, (x, y, z) in directions.items()}


def _in_direction(positions: Sequence[Vector], direction: Vector, threshold: float) -> list[list[int]]:
    return [
        [j for j, other in enumerate(positions) if j != i and dot(minus(other, position), direction) > threshold]
        for i, position in enumerate(positions)
    ]
