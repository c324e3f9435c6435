"""Splits by scene: scenes that are nearly the same always come into the same one.

Two scenes are nearly the same if their objects can be matched so that the two of each match have the same values and
lie less than NEAR apart. Whether a scene is like another by way of a third does not matter: all three stay together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vqagen.dataset.rows import SPLITS, TEST
from vqagen.extras import needed
from vqagen.rng import shuffled, stream

NEAR = 0.5
"""Of the scene's units, along each axis. A large object of CLEVR has a radius of 0.7, a small one of 0.35."""
Point = tuple[float, ...]
Values = tuple[tuple[str, str], ...]


class Outline(NamedTuple):
    """What decides whether a scene is nearly the same as another: values and place of each object, sorted."""

    values: tuple[Values, ...]
    places: tuple[Point, ...]
    """Empty if the place of an object is unknown: then equal values make scenes nearly the same."""


def outline_of(scene: Mapping[str, Any], attributes: Sequence[str]) -> Outline:
    """Return the outline of a scene record whose objects have values under the keys `attributes`."""
    objects = sorted(
        (tuple((key, repr(each.get(key))) for key in attributes), tuple(map(float, each.get("3d_coords") or ())))
        for each in scene["objects"]
    )
    places = tuple(place for _, place in objects)
    return Outline(tuple(values for values, _ in objects), places if all(places) else ())


def are_nearly_same(one: Outline, other: Outline) -> bool:
    """True if the objects of the two can be matched one to one, each with one of the same values near it."""
    if one.values != other.values or not (one.places and other.places):
        return one.values == other.values
    near = [
        [values == other_values and _are_near(here, there) for other_values, there in zip(*other, strict=True)]
        for values, here in zip(*one, strict=True)
    ]
    pairs = needed("scipy.optimize", "stats", "a dataset").linear_sum_assignment(near, maximize=True)
    return all(near[i][j] for i, j in zip(*pairs, strict=True))


def _are_near(here: Point, there: Point) -> bool:
    return all(abs(a - b) < NEAR for a, b in zip(here, there, strict=True))


def groups_of(outlines: Iterable[Outline]) -> list[list[int]]:
    """Return the places of the scenes that stay together: most groups are one scene. By the first of each.

    Of scenes with the same values, only those are compared whose objects lie, on average, as far to the side as in the
    other: no others can be nearly the same.
    """
    alike: dict[tuple[Values, ...], list[tuple[float, int, Outline]]] = {}
    for place, outline in enumerate(outlines):
        mean = sum(each[0] for each in outline.places) / len(outline.places) if outline.places else 0.0
        alike.setdefault(outline.values, []).append((mean, place, outline))
    first = {place: place for listed in alike.values() for _, place, _ in listed}

    def first_of(place: int) -> int:
        while first[place] != place:
            place = first[place]
        return place

    for listed in alike.values():
        for one, other in _near_pairs(sorted(listed)):
            low, high = sorted((first_of(one), first_of(other)))
            first[high] = low
    groups: dict[int, list[int]] = {}
    for place in sorted(first):
        groups.setdefault(first_of(place), []).append(place)
    return list(groups.values())


def _near_pairs(listed: Sequence[tuple[float, int, Outline]]) -> Iterator[tuple[int, int]]:
    """Yield the places of all pairs that are nearly the same, of scenes in the order of their mean."""
    for number, (mean, place, outline) in enumerate(listed):
        for other_mean, other, candidate in listed[number + 1 :]:
            if outline.places and candidate.places and other_mean - mean > NEAR:
                break
            if are_nearly_same(outline, candidate):
                yield place, other


# Assignment -----------------------------------------------------------------------------------------------------------


class Split(NamedTuple):
    """The split of each scene."""

    names: list[str]
    """For each scene its split; "" for one that is left out."""
    together: int
    """Scenes that are nearly the same as an earlier one."""

    @property
    def left_out(self) -> int:
        """Test scenes that are nearly the same as one of another split."""
        return self.names.count("")


def split_scenes(groups: Sequence[Sequence[int]], parts: Sequence[int], seed: int, test_from: int | None) -> Split:
    """Return the split of each scene. `parts` are the shares of train, validation and test in percent.

    With `test_from`, all scenes from this place on are the test split, and the others keep their shares: a group of
    both loses its test scenes. No group is parted. The first split with a share gets the scenes that fit into no other.
    """
    number = sum(map(len, groups))
    names, free = [""] * number, list[Sequence[int]]()
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
    return Split(names, number - len(groups))
