"""Scene records for tests: small ones, made from a few words, and sampled ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import vqagen
from vqagen.rng import pick, shuffled, stream

ATTRIBUTES = ("size", "color", "material", "shape")
LOOKS = ("small large", "gray red blue green brown purple cyan yellow", "rubber metal", "cube sphere cylinder")


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


def large_scene(size: int) -> dict[str, Any]:
    """A CLEVR scene record of any number of objects, with random looks in random orders."""
    rng = stream(0, "large scene", size)
    things = [" ".join(pick(rng, values.split()) for values in LOOKS) for _ in range(size)]
    return scene_record(things, shuffled(rng, range(size)), shuffled(rng, range(size)))


def sampled_scenes(count: int, seed: int = 0, domain: str = "clevr") -> list[dict[str, Any]]:
    """The scenes that `vqagen.sample_scenes` draws; each is drawn once in a process, for it takes 8 ms."""
    drawn = _drawn(seed, domain)
    first = len(drawn)
    if first < count:
        drawn += map(json.dumps, vqagen.sample_scenes(count - first, seed=seed, start_index=first, domain=domain))
    return [json.loads(text) for text in drawn[:count]]


def many_scenes(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Twenty sampled scenes again and again, each with a name of its own."""
    sampled = sampled_scenes(20, seed)
    named = ({"image_index": number, "image_filename": f"{number}.png"} for number in range(count))
    return [sampled[number % 20] | name for number, name in enumerate(named)]


@cache
def _drawn(seed: int, domain: str) -> list[str]:
    """The first scenes of a seed, as JSON; the list grows."""
    return []
