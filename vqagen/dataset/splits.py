"""Splits by scene: scenes that are nearly the same always come into the same one.

Two scenes are nearly the same if their objects can be matched so that the two of each match have the same values and
lie less than NEAR apart. Whether a scene is like another by way of a third does not matter: all three stay together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from vqagen.dataset.rows import SPLITS, TEST
from vqagen.extras import needed
from vqagen.rng import shuffled, stream

NEAR = 0.5
"""Of the scene's units, along each axis. A large object of CLEVR has a radius of 0.7, a small one of 0.35."""
Point = tuple[float, ...]
Values = tuple[tuple[str, str], ...]
SceneOutline = tuple[tuple[Values, ...], tuple[Point, ...]]
"""The values of each object, sorted, and its point. No points if that of any object is unknown: then equal values make
scenes nearly the same."""


def outline_of(scene: Mapping[str, Any], attributes: Sequence[str]) -> SceneOutline:
    """Return what decides whether a scene record is nearly the same as another; `attributes` are keys of objects."""
    objects = sorted(
        (tuple((key, repr(thing.get(key))) for key in attributes), tuple(map(float, thing.get("3d_coords") or ())))
        for thing in scene["objects"]
    )
    points = tuple(point for _, point in objects)
    return tuple(values for values, _ in objects), points if all(points) else ()


def are_nearly_same(one: SceneOutline, other: SceneOutline) -> bool:
    """True if the objects of the two can be matched one to one, each with one of the same values near it."""
    if one[0] != other[0] or not (one[1] and other[1]):
        return one[0] == other[0]
    near = [
        [values == other_values and _are_near(here, there) for other_values, there in zip(*other, strict=True)]
        for values, here in zip(*one, strict=True)
    ]
    pairs = needed("scipy.optimize", "stats", "a dataset").linear_sum_assignment(near, maximize=True)
    return all(near[i][j] for i, j in zip(*pairs, strict=True))


def _are_near(here: Point, there: Point) -> bool:
    return all(abs(a - b) < NEAR for a, b in zip(here, there, strict=True))


def groups_of(outlines: Iterable[SceneOutline]) -> list[list[int]]:
    """Return the places of the scenes that stay together: most groups are one scene. By the first of each.

    Of scenes with the same values, only those are compared whose objects lie, on average, as far to the side as in the
    other: no others can be nearly the same.
    """
    alike: dict[tuple[Values, ...], list[tuple[float, int, SceneOutline]]] = {}
    for place, (values, points) in enumerate(outlines):
        mean = sum(point[0] for point in points) / len(points) if points else 0.0
        alike.setdefault(values, []).append((mean, place, (values, points)))
    pairs = [pair for scenes in alike.values() for pair in _near_pairs(sorted(scenes))]
    number = sum(map(len, alike.values()))
    sparse = needed("scipy.sparse", "stats", "a dataset")
    graph = sparse.coo_matrix(([1] * len(pairs), tuple(zip(*pairs, strict=True)) or ([], [])), (number, number))
    _, labels = needed("scipy.sparse.csgraph", "stats", "a dataset").connected_components(graph)
    groups: dict[int, list[int]] = {}
    for place, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(place)
    return list(groups.values())


def _near_pairs(scenes: Sequence[tuple[float, int, SceneOutline]]) -> Iterator[tuple[int, int]]:
    """Yield the places of all pairs that are nearly the same, of scenes in the order of their mean."""
    for number, (mean, place, outline) in enumerate(scenes):
        for other_mean, other_place, other in scenes[number + 1 :]:
            if outline[1] and other[1] and other_mean - mean > NEAR:
                break
            if are_nearly_same(outline, other):
                yield place, other_place


def split_scenes(groups: Sequence[Sequence[int]], parts: Sequence[int], seed: int, test_from: int | None) -> list[str]:
    """Return the split of each scene. `parts` are the shares of train, validation and test in percent.

    With `test_from`, all scenes from this place on are the test split, and the others keep their shares: a group of
    both loses its test scenes, whose split is "". No group is parted. The first split with a share gets the scenes that
    fit into no other.
    """
    names, free = [""] * sum(map(len, groups)), list[Sequence[int]]()
    for group in groups:
        trained = [place for place in group if test_from is None or place < test_from]
        if trained:
            free.append(trained)
        else:
            for place in group:
                names[place] = TEST
    left = sum(map(len, free))
    shares = (0, parts[1] * 100 / max(parts[0] + parts[1], 1), 0) if test_from is not None else (0, *parts[1:])
    wanted = {name: round(left * share / 100) for name, share in zip(SPLITS, shares, strict=True)}
    first = next(name for name, share in zip(SPLITS, parts, strict=True) if share)
    wanted[first] = left
    for group in shuffled(stream(seed, "splits"), free):
        name = next((name for name in reversed(SPLITS) if len(group) <= wanted[name]), first)
        wanted[name] -= len(group)
        for place in group:
            names[place] = name
    return names
