"""Draw random scenes by the rules in a domain's metadata, in the format of the released scene files.

A scene depends on the rules, the seed and its index alone. The method follows Johnson et al. 2017: objects are placed
one by one. If an object finds no place, or shows too few pixels in the end, the scene starts again without any objects,
so that crowded scenes are not biased by their first objects. One rule is added: solids never intersect, which the
corners of rotated squares otherwise may.
"""

from __future__ import annotations

import math
from bisect import bisect, insort
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from vqagen.errors import VqagenError
from vqagen.rng import below, pick, shuffled, stream
from vqagen.world.attribute import Recorded
from vqagen.world.camera import Camera
from vqagen.world.relations import relation_lists
from vqagen.world.sampling_rules import RandomRelation, SamplingRules, allowed
from vqagen.world.solids import Solid, is_enough_visible, overlap, reach

DIGITS = 6
"""Decimals of every float written. Rules are applied to the rounded numbers, so they hold for the written scene."""
CLOSE_CALL = 1e-5
"""The distance from a limit within which rounding to `DIGITS` may decide, as a share of the area's size where that is
more than 1. Rounding moves a point by at most 1e-6."""


class _PlacedObject(NamedTuple):
    """An object of the scene that is being drawn; `looks` are its attribute values."""

    looks: Mapping[str, Recorded]
    solid: Solid


def sample_scenes(
    rules: SamplingRules, seed: int, start: int, count: int, split: str = "sample"
) -> Iterator[dict[str, Any]]:
    """Yield scenes start .. start + count - 1, each as `sample_scene` returns it."""
    for index in range(start, start + count):
        yield sample_scene(rules, seed, index, split)


def sample_scene(rules: SamplingRules, seed: int, index: int, split: str = "sample") -> dict[str, Any]:
    """Return one scene record, ready for JSON. Raises VqagenError if the rules leave too little room for one.

    The number of objects and the camera are drawn once and kept at restarts, so numbers of objects stay uniform.
    """
    rng, ground = stream(seed, "scenes", index), Ground(rules)
    low, high = rules.objects
    count = low + below(rng, high - low + 1)
    camera = rules.camera.draw(rng)
    failures = Counter[str]()
    for _ in range(rules.restarts_per_scene + 1):
        placed = _place_all(rules, rng, count, ground)
        if isinstance(placed, str):
            failures[placed] += 1
        elif is_enough_visible(camera, [thing.solid for thing in placed], rules.min_visible_pixels):
            return _record(rules, placed, camera, seed, index, split)
        else:
            failures["min_visible_pixels"] += 1
    raise VqagenError(_no_room(rules, index, count, failures))


def scene_document_info(split: str) -> dict[str, Any]:
    """Return the `info` of a document of sampled scenes. It has no date: the same seed gives the same bytes."""
    return {"split": split, "license": "CC0 1.0", "version": "1.0"}


def _place_all(rules: SamplingRules, rng: Random, count: int, ground: Ground) -> list[_PlacedObject] | str:
    """Return `count` objects, or the rule that forbade most places of the one that found none."""
    ground.clear()
    placed: list[_PlacedObject] = []
    for _ in range(count):
        looks = _draw_looks(rules, rng)
        if looks is None:
            return "restrict"
        solid = ground.place(rules.solid.of(looks), float(rules.radius.of(looks)), rng)
        if isinstance(solid, str):
            return solid
        placed.append(_PlacedObject(looks, solid))
    return placed


def _draw_looks(rules: SamplingRules, rng: Random) -> Mapping[str, Recorded] | None:
    """Return values of all attributes, or None if those drawn first leave an attribute too few to choose from."""
    looks: dict[str, Recorded] = {}
    for key in rules.draw_order:
        if key in rules.free:
            looks[key] = pick(rng, rules.free[key])
            continue
        values = allowed(rules.attributes[key].leaves, key, looks, rules.restrict)
        is_short = len(values) < rules.list_length.get(key, (1, 1))[0]
        if is_short and key not in rules.missing:
            return None
        looks[key] = None if is_short else _draw_value(rules, key, values, rng)
    return looks


def _draw_value(rules: SamplingRules, key: str, values: Sequence[str], rng: Random) -> Recorded:
    if key in rules.missing and rng.random() < rules.missing[key]:
        return None
    if key not in rules.list_length:
        return pick(rng, values)
    least, most = rules.list_length[key]
    count = least + below(rng, min(most, len(values)) - least + 1)
    chosen = shuffled(rng, values)[:count]
    return tuple(value for value in values if value in chosen)


def _record(
    rules: SamplingRules, placed: Sequence[_PlacedObject], camera: Camera, seed: int, index: int, split: str
) -> dict[str, Any]:
    return {
        "split": split,
        "image_index": index,
        "image_filename": f"VQAGEN_{split}_{index:06d}.png",
        "objects": [_object_record(rules, thing, camera) for thing in placed],
        "directions": {name: list(direction) for name, direction in rules.directions.items()},
        "relationships": _relationships(rules, placed, seed, index),
    }


def _relationships(
    rules: SamplingRules, placed: Sequence[_PlacedObject], seed: int, index: int
) -> dict[str, list[list[int]]]:
    positions = [thing.solid.centre for thing in placed]
    found = relation_lists(positions, rules.relation_directions, rules.relation_threshold)
    for name, rule in rules.random_relations.items():
        # Each has a stream of its own, so that one more relation does not change the rest of a scene.
        found[name] = _chance_lists(rule, len(placed), stream(seed, f"scenes/{name}", index))
    return {relation: found[relation] for relation in rules.relations}


def _chance_lists(rule: RandomRelation, count: int, rng: Random) -> list[list[int]]:
    """Return `lists[i]`: the objects that stand in the random relation to object i."""
    pairs = {
        (i, j): rng.random() < rule.probability
        for i in range(count)
        for j in range(i + 1 if rule.is_symmetric else 0, count)
    }
    if rule.is_symmetric:
        pairs |= {(j, i): holds for (i, j), holds in pairs.items()}
    return [[j for j in range(count) if j != i and pairs[i, j]] for i in range(count)]


def _object_record(rules: SamplingRules, thing: _PlacedObject, camera: Camera) -> dict[str, Any]:
    x, y, depth = camera.project(thing.solid.centre)
    record: dict[str, Any] = {}
    for key in rules.attributes:
        _write(record, key, thing.looks[key])
    return {
        **record,
        "3d_coords": list(thing.solid.centre),
        "rotation": thing.solid.rotation,
        "pixel_coords": [round(x), round(y), round(depth, DIGITS)],
    }


def _write(record: dict[str, Any], key: str, value: Recorded) -> None:
    """Write a value under a key, which may be dotted. None is not written."""
    if value is None:
        return
    *outer, last = key.split(".")
    inside = record
    for step in outer:
        inside = inside.setdefault(step, {})
    inside[last] = list(value) if isinstance(value, tuple) else value


def _no_room(rules: SamplingRules, index: int, count: int, failures: Counter[str]) -> str:
    """Return the message of a scene without room; `failures` are its starts by the rule that was not met."""
    reasons = ", ".join(f"{times} times sampling.{rule}" for rule, times in failures.most_common())
    return (
        f"{rules.source}: no scene {index} with {count} objects was found in {failures.total()} starts; rules that"
        f" were not met: {reasons}. Relax these rules, lower sampling.objects (now {list(rules.objects)}), enlarge"
        f" sampling.area (now {list(rules.area)}), or raise sampling.restarts_per_scene"
    )


# Places -------------------------------------------------------------------------------------------------------------


class _Axis(NamedTuple):
    """A direction in which objects keep a margin, and the offsets along it of those placed, ascending."""

    x: float
    y: float
    offsets: list[float]


class _Round(NamedTuple):
    """A placed object as a disc, and the disc around its corners."""

    x: float
    y: float
    radius: float
    reach: float


class Ground:
    """The solids placed so far, and random places beside them for further ones.

    Nine of ten places are refused, so a place is judged as it was drawn, by sorted offsets and squares of distances.
    What is too close to call is left to `_broken_rule`, on rounded numbers. (12 us an object in place of 58.)
    """

    def __init__(self, rules: SamplingRules) -> None:
        self._rules = rules
        self._placed: list[Solid] = []
        self._rounds: list[_Round] = []
        directions = {(x, y) for x, y, _ in rules.relation_directions.values() if x or y}
        self._axes = [_Axis(x, y, []) for x, y in sorted({max((x, y), (-x, -y)) for x, y in directions})]
        self._close = CLOSE_CALL * max(1.0, *map(abs, rules.area))
        both_ways = all((-x, -y) in directions for x, y in directions)
        self._narrow = rules.margin - self._close if both_ways else 0.0
        """Offsets of more than a close call break the margin if they are less than this."""
        self._wide = rules.margin + self._close
        self.clear()

    def clear(self) -> None:
        """Remove all solids."""
        self._placed.clear()
        self._rounds.clear()
        for axis in self._axes:
            axis.offsets[:] = [-math.inf, math.inf]

    def place(self, kind: str, radius: float, rng: Random) -> Solid | str:
        """Return a new solid beside those placed before; after too many tries, the rule that forbade most places."""
        random, keeps_margin, keeps_distance = rng.random, self._keeps_margin, self._keeps_distance
        low, width, far = self._rules.area[0], self._rules.area[1] - self._rules.area[0], reach(kind, radius)
        margins, broken = 0, Counter[str]()
        for _ in range(self._rules.tries_per_object):
            x, y = low + width * random(), low + width * random()
            rotation = 360 * random()
            verdict = keeps_margin(x, y)
            if verdict is False:
                margins += 1
                continue
            distant = keeps_distance(x, y, radius, far)
            if distant is False:
                broken["min_distance"] += 1
                continue
            solid = _rounded(kind, radius, x, y, rotation)
            rule = None if verdict and distant else _broken_rule(self._rules, solid, self._placed)
            if rule is None:
                self._add(solid, far)
                return solid
            broken[rule] += 1
        broken["margin"] += margins
        return broken.most_common(1)[0][0]

    def _add(self, solid: Solid, far: float) -> None:
        x, y, _ = solid.centre
        self._placed.append(solid)
        self._rounds.append(_Round(x, y, solid.radius, far))
        for axis in self._axes:
            insort(axis.offsets, x * axis.x + y * axis.y)

    def _keeps_margin(self, x: float, y: float) -> bool | None:
        """True if a place keeps the margin from all objects, False if not; None if it is too close to call."""
        is_sure = True
        for along_x, along_y, offsets in self._axes:
            own = x * along_x + y * along_y
            after = bisect(offsets, own)
            gap = min(own - offsets[after - 1], offsets[after] - own)
            if gap < self._wide:
                if self._close < gap < self._narrow:
                    return False
                is_sure = False
        return True if is_sure else None

    def _keeps_distance(self, x: float, y: float, radius: float, far: float) -> bool | None:
        """True if a solid that reaches `far` is apart from all, False if not; None if it is too close to call."""
        close, own = self._close, radius + self._rules.min_distance
        is_sure = True
        for other_x, other_y, other_radius, other_far in self._rounds:
            away = (x - other_x) * (x - other_x) + (y - other_y) * (y - other_y)
            least = own + other_radius
            near = least - close
            if away < near * near and near > 0:
                return False
            apart = max(least, far + other_far) + close
            if away <= apart * apart:
                is_sure = False
        return True if is_sure else None


def _rounded(kind: str, radius: float, x: float, y: float, rotation: float) -> Solid:
    """Return a solid that stands on the ground, of numbers as they are written."""
    return Solid(kind, (round(x, DIGITS), round(y, DIGITS), radius), radius, round(rotation, DIGITS))


def _broken_rule(rules: SamplingRules, solid: Solid, placed: list[Solid]) -> str | None:
    """Return the first rule that forbids `solid` beside the objects placed before, or None."""
    for other in placed:
        x, y = solid.centre[0] - other.centre[0], solid.centre[1] - other.centre[1]
        if math.sqrt(x * x + y * y) - solid.radius - other.radius < rules.min_distance:
            return "min_distance"
        for direction in rules.relation_directions.values():
            if 0 < x * direction[0] + y * direction[1] < rules.margin:
                return "margin"
        if overlap(solid, other):
            return "radius"
    return None
