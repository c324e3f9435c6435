"""Draw random scenes by the rules in a domain's metadata, in the format of the released scene files.

A scene depends on the rules, the seed and its index alone. The method follows Johnson et al. 2017: objects are placed
one by one. If an object finds no place, or shows too few pixels in the end, the scene starts again without any objects,
so that crowded scenes are not biased by their first objects. One rule is added: solids never intersect, which the
corners of rotated squares otherwise may.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from vqagen.errors import VqagenError
from vqagen.rng import below, pick, shuffled, stream
from vqagen.world.attribute import Recorded
from vqagen.world.camera import Camera
from vqagen.world.placing import DIGITS, Ground, PlainGround
from vqagen.world.relations import relation_lists
from vqagen.world.sampling_rules import RandomRelation, SamplingRules
from vqagen.world.solids import Solid
from vqagen.world.visibility import is_enough_visible


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
    for placed, camera in _starts(rules, seed, index, Ground(rules)):
        if isinstance(placed, str):
            continue
        if is_enough_visible(camera, [thing.solid for thing in placed], rules.min_visible_pixels):
            return _record(rules, placed, camera, seed, index, split)
    raise VqagenError(_no_room(rules, seed, index))


def scene_document_info(split: str) -> dict[str, Any]:
    """Return the `info` of a document of sampled scenes. It has no date: the same seed gives the same bytes."""
    return {"split": split, "license": "CC0 1.0", "version": "1.0"}


def _starts(
    rules: SamplingRules, seed: int, index: int, ground: Ground | PlainGround
) -> Iterator[tuple[list[_PlacedObject] | str, Camera]]:
    """Yield the objects of each start of a scene, or the rule for which an object found no place, with the camera."""
    rng = stream(seed, "scenes", index)
    low, high = rules.objects
    count = low + below(rng, high - low + 1)
    camera = rules.camera.draw(rng)
    for _ in range(rules.restarts_per_scene + 1):
        yield _place_all(rules, rng, count, ground), camera


def _place_all(
    rules: SamplingRules, rng: Random, count: int, ground: Ground | PlainGround
) -> list[_PlacedObject] | str:
    """Return `count` objects, or the rule that most places of an object broke, of a `PlainGround`."""
    ground.clear()
    placed: list[_PlacedObject] = []
    for _ in range(count):
        looks = _draw_looks(rules, rng)
        if looks is None:
            return "restrict"
        solid = ground.place(rules.solid.of(looks), float(rules.radius.of(looks)), rng)
        if solid is None:
            return ground.broken.most_common(1)[0][0] if isinstance(ground, PlainGround) else "place"
        placed.append(_PlacedObject(looks, solid))
    return placed


def _draw_looks(rules: SamplingRules, rng: Random) -> Mapping[str, Recorded] | None:
    """Return values of all attributes, or None if those drawn first leave an attribute too few to choose from."""
    looks: dict[str, Recorded] = {}
    for key in rules.draw_order:
        if key in rules.free:
            looks[key] = pick(rng, rules.free[key])
            continue
        values = rules.allowed(key, looks)
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


def _no_room(rules: SamplingRules, seed: int, index: int) -> str:
    """Return the message of a scene without room. Its starts are drawn again, to count the rules that they broke."""
    starts = _starts(rules, seed, index, PlainGround(rules))
    failures = Counter(placed if isinstance(placed, str) else "min_visible_pixels" for placed, _ in starts)
    reasons = ", ".join(f"{times} times sampling.{rule}" for rule, times in failures.most_common())
    low, high = rules.objects
    count = low + below(stream(seed, "scenes", index), high - low + 1)
    return (
        f"{rules.source}: no scene {index} with {count} objects was found in {failures.total()} starts; rules that"
        f" were not met: {reasons}. Relax these rules, lower sampling.objects (now {list(rules.objects)}), enlarge"
        f" sampling.area (now {list(rules.area)}), or raise sampling.restarts_per_scene"
    )
