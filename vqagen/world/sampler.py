"""Draw random scenes by the rules in a domain's metadata, in the format of the released scene files.

A scene depends on the rules, the seed and its index alone. The method follows Johnson et al. 2017: objects are placed
one by one. If an object finds no place, or shows too few pixels in the end, the scene starts again without any objects,
so that crowded scenes are not biased by their first objects. One rule is added: solids never intersect, which the
corners of rotated squares otherwise may.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from random import Random
from typing import Any

from vqagen.errors import VqagenError
from vqagen.rng import below, pick, shuffled, stream
from vqagen.world.attribute import Recorded
from vqagen.world.camera import Camera, dot
from vqagen.world.sampling_rules import SamplingRules, allowed
from vqagen.world.scene import relation_lists
from vqagen.world.solids import Solid, is_enough_visible, is_unhidden, overlap

DIGITS = 6
"""Decimals of every float written. Rules are applied to the rounded numbers, so they hold for the written scene."""
Placed = tuple[Mapping[str, Recorded], Solid]
"""An object of the scene that is being drawn: its attribute values, and its body."""


def sample_scenes(
    rules: SamplingRules, seed: int, start: int, count: int, split: str = "sample"
) -> Iterator[dict[str, Any]]:
    """Yield scenes start .. start + count - 1, each as `sample_scene` returns it."""
    for index in range(start, start + count):
        yield sample_scene(rules, seed, index, split)


def sample_scene(
    rules: SamplingRules, seed: int, index: int, split: str = "sample", is_quick: bool = False
) -> dict[str, Any]:
    """Return one scene record, ready for JSON. Raises VqagenError if the rules leave too little room for one.

    The number of objects and the camera are drawn once and kept at restarts, so numbers of objects stay uniform.
    `is_quick`: places are drawn among those that leave the margins, which gives other scenes, of ten objects in a tenth
    of the time; and the camera is recorded.
    """
    rng = stream(seed, "scenes", index)
    low, high = rules.objects
    count = low + below(rng, high - low + 1)
    camera = rules.camera.draw(rng)
    failures = Counter[str]()
    for _ in range(rules.restarts_per_scene + 1):
        placed = _place_all(rules, rng, count, is_quick)
        if isinstance(placed, str):
            failures[placed] += 1
        elif rule := _hiding_rule(rules, camera, [solid for _, solid in placed]):
            failures[rule] += 1
        else:
            record = _record(rules, placed, camera, seed, index, split)
            return record | {"camera": camera.to_record()} if is_quick else record
    raise VqagenError(_no_room(rules, index, count, failures))


def scene_document_info(split: str) -> dict[str, Any]:
    """Return the `info` of a document of sampled scenes. It has no date: the same seed gives the same bytes."""
    return {"split": split, "license": "CC0 1.0", "version": "1.0"}


def _place_all(rules: SamplingRules, rng: Random, count: int, is_quick: bool) -> list[Placed] | str:
    """Return `count` objects, or the rule that forbade most places of the one that found none."""
    placed: list[Placed] = []
    for _ in range(count):
        looks = _draw_looks(rules, rng)
        if looks is None:
            return "restrict"
        solid = _place(rules, looks, [other for _, other in placed], rng, is_quick)
        if isinstance(solid, str):
            return solid
        placed.append((looks, solid))
    return placed


def _place(
    rules: SamplingRules, looks: Mapping[str, Recorded], others: Sequence[Solid], rng: Random, is_quick: bool
) -> Solid | str:
    """Return the body of an object beside the others; after too many tries, the rule that forbade most places."""
    kind, radius = rules.solid.of(looks), float(rules.radius.of(looks))
    axes, broken = [(*axis, 0.0) for axis in rules.margin_axes], Counter[str]()
    is_quick = is_quick and len(axes) == 2 and abs(dot(*axes)) < 1e-3
    for x, y in (_free_places if is_quick else _places)(rules, others, rng):
        place = round(x, DIGITS), round(y, DIGITS), radius
        solid = Solid(kind, place, radius, round(360 * rng.random(), DIGITS))
        rule = _broken_rule(rules, solid, others)
        if rule is None:
            return solid
        broken[rule] += 1
    return broken.most_common(1)[0][0] if broken else "margin"


def _places(rules: SamplingRules, others: Sequence[Solid], rng: Random) -> Iterator[tuple[float, float]]:
    """Yield places in the area."""
    low, high = rules.area
    for _ in range(rules.tries_per_object):
        yield low + (high - low) * rng.random(), low + (high - low) * rng.random()


def _free_places(rules: SamplingRules, others: Sequence[Solid], rng: Random) -> Iterator[tuple[float, float]]:
    """Yield places in the area that leave the margins of all others along two axes at right angles.

    Margins leave spans of each axis; of ten objects, a place in a hundred lies in spans of both.
    """
    axes, (low, high) = rules.margin_axes, rules.area
    free = [_free_spans(rules, axis, others) for axis in axes]
    lengths = [[*accumulate([end - start for start, end in spans])] for spans in free]
    for _ in range(rules.tries_per_object * 10 if all(free) else 0):  # spans of both meet mostly outside of the area
        at = []
        for spans, ends in zip(free, lengths, strict=True):
            place = rng.random() * ends[-1]
            number = bisect_left(ends, place)
            at.append(spans[number][1] - ends[number] + place)
        x, y = (at[0] * axes[0][i] + at[1] * axes[1][i] for i in (0, 1))
        if low <= x <= high and low <= y <= high:
            yield x, y


def _free_spans(rules: SamplingRules, axis: tuple[float, float], others: Sequence[Solid]) -> list[tuple[float, float]]:
    """Return what the margins of others leave of an axis on the ground, as far as the area reaches."""
    least, *_, most = sorted([x * axis[0] + y * axis[1] for x in rules.area for y in rules.area])
    taken = sorted([other.centre[0] * axis[0] + other.centre[1] * axis[1] for other in others])
    spans = pairwise([least - rules.margin, *taken, most + rules.margin])
    return [(one + rules.margin, other - rules.margin) for one, other in spans if other - one > 2 * rules.margin]


def _broken_rule(rules: SamplingRules, solid: Solid, others: Sequence[Solid]) -> str | None:
    """Return the first rule that forbids `solid` beside the others, or None."""
    (own_x, own_y, _), radius = solid.centre, solid.radius
    for other in others:
        x, y = own_x - other.centre[0], own_y - other.centre[1]
        gap = math.sqrt(x * x + y * y) - radius - other.radius
        if gap < rules.min_distance:
            return "min_distance"
        for along_x, along_y in rules.margin_axes:
            if 0 < abs(x * along_x + y * along_y) < rules.margin:
                return "margin"
        # No footprint reaches farther than a square's corners, half a radius beyond its sides.
        if gap < (radius + other.radius) / 2 and overlap(solid, other):
            return "radius"
    return None


def _hiding_rule(rules: SamplingRules, camera: Camera, solids: Sequence[Solid]) -> str | None:
    """Return the rule that forbids how the solids hide each other, or None."""
    if not is_enough_visible(camera, solids, rules.min_visible_pixels):
        return "min_visible_pixels"
    return None if is_unhidden(camera, solids, rules.min_visible_share) else "min_visible_share"


def _draw_looks(rules: SamplingRules, rng: Random) -> Mapping[str, Recorded] | None:
    """Return values of all attributes, or None if those drawn first leave an attribute too few to choose from."""
    looks: dict[str, Recorded] = {}
    for key in rules.draw_order:
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
    rules: SamplingRules, placed: Sequence[Placed], camera: Camera, seed: int, index: int, split: str
) -> dict[str, Any]:
    return {
        "split": split,
        "image_index": index,
        "image_filename": f"VQAGEN_{split}_{index:06d}.png",
        "objects": [_object_record(rules, looks, solid, camera) for looks, solid in placed],
        "directions": {name: list(direction) for name, direction in rules.directions.items()},
        "relationships": _relationships(rules, placed, seed, index),
    }


def _relationships(rules: SamplingRules, placed: Sequence[Placed], seed: int, index: int) -> dict[str, list[list[int]]]:
    positions = [solid.centre for _, solid in placed]
    lists = relation_lists(positions, rules.relation_directions, rules.relation_threshold)
    for name, (probability, is_symmetric) in rules.random_relations.items():
        # Each has a stream of its own, so that one more relation does not change the rest of a scene.
        lists[name] = _chance_lists(probability, is_symmetric, len(placed), stream(seed, f"scenes/{name}", index))
    return {relation: lists[relation] for relation in rules.relations}


def _chance_lists(probability: float, is_symmetric: bool, count: int, rng: Random) -> list[list[int]]:
    """Return `lists[i]`: the objects that stand in the random relation to object i."""
    pairs = {
        (i, j): rng.random() < probability for i in range(count) for j in range(i + 1 if is_symmetric else 0, count)
    }
    if is_symmetric:
        pairs |= {(j, i): holds for (i, j), holds in pairs.items()}
    return [[j for j in range(count) if j != i and pairs[i, j]] for i in range(count)]


def _object_record(rules: SamplingRules, looks: Mapping[str, Recorded], solid: Solid, camera: Camera) -> dict[str, Any]:
    x, y, depth = camera.project(solid.centre)
    record: dict[str, Any] = {}
    for key in rules.attributes:
        _write(record, key, looks[key])
    return {
        **record,
        "3d_coords": list(solid.centre),
        "rotation": solid.rotation,
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
