"""Small scene records for tests, made from a few words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

ATTRIBUTES = ("size", "color", "material", "shape")


def scene_record(
    objects: Sequence[str], left_to_right: Sequence[int], front_to_back: Sequence[int], index: int = 0
) -> dict[str, Any]:
    """A CLEVR scene record. Objects are written as "large red metal cube"; the orders are of object indexes.

    >>> scene_record(["large red metal cube", "small red metal cube"], [0, 1], [1, 0])["relationships"]["left"]
    [[], [0]]
    """
    return {
        "split": "test",
        "image_index": index,
        "image_filename": f"TEST_{index:06d}.png",
        "objects": [dict(zip(ATTRIBUTES, words.split(), strict=True)) for words in objects],
        "relationships": {
            "left": _before(left_to_right),
            "right": _before(left_to_right[::-1]),
            "front": _before(front_to_back),
            "behind": _before(front_to_back[::-1]),
        },
    }


def _before(order: Sequence[int]) -> list[list[int]]:
    """Row i: what comes before object i in the order."""
    return [sorted(order[: order.index(i)]) for i in range(len(order))]


SMALL_SCENES = (
    scene_record(["large red metal cube", "small red rubber sphere", "small blue metal cube"], [2, 0, 1], [0, 1, 2], 0),
    scene_record(
        ["small gray rubber cylinder", "small gray rubber cylinder", "large gray metal sphere"], [0, 1, 2], [1, 2, 0], 1
    ),
    scene_record(
        ["large red metal cube", "small red metal cube", "small green rubber cube", "small green rubber sphere"],
        [3, 0, 2, 1],
        [1, 3, 0, 2],
        2,
    ),
)
"""Three and four objects, with all, some and few attributes shared."""
