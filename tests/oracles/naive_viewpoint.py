"""Points of view and distances from coordinates alone, with complex numbers: the twin of `language.viewpoint`.

Looking from a to b, the place p is at (p - a) / (b - a): its real part says how far ahead, its imaginary part how far
to the left. Who sits across the table looks towards the camera, whose place stands in the metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import asin, radians
from typing import Any

from oracles.naive_programs import Undefined, run_step, step_type, step_values
from oracles.naive_vocabulary import Record, World, make_world

AHEAD = {"front": lambda z: z.real, "behind": lambda z: -z.real, "left": lambda z: z.imag, "right": lambda z: -z.imag}


def faults(question: Record, scene: Record, metadata: Record) -> list[str]:
    """What is wrong with a question: its answer, or that it should not have been asked."""
    world, results, margins = make_world(scene, metadata), list[Any](), metadata["viewpoint"]
    try:
        for step in question["program"]:
            inputs, name = [results[i] for i in step["inputs"]], step_type(step)
            if name in STEPS:
                results.append(STEPS[name](world, margins, *inputs, *step_values(step)))
            else:
                results.append(run_step(world, name, inputs, step_values(step)))
    except Undefined as error:
        return [f"not to be asked: {error}"]
    said = {True: "yes", False: "no"}[results[-1]] if isinstance(results[-1], bool) else str(results[-1])
    return [] if said == question["answer"] else [f"answer is {question['answer']}, should be {said}"]


def _places(world: World) -> list[complex]:
    return [complex(*thing["3d_coords"][:2]) for thing in world.scene["objects"]]


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise Undefined(what)


def _on_side(world: World, margins: Record, origin: int, facing: int, thing: int, side: str) -> bool:
    _demand(len({origin, facing, thing}) == 3, "the same object twice")
    place = _places(world)
    seen = (place[thing] - place[origin]) / (place[facing] - place[origin])
    ahead = AHEAD[side](seen)
    _demand(asin(min(1, abs(ahead) / abs(seen))) >= radians(margins["angle"]), "a direction within the margin")
    return ahead > 0


def _all_on_side(world: World, margins: Record, origin: int, facing: int, side: str) -> frozenset[int]:
    _demand(origin != facing, "the same object twice")
    others = world.everything - {origin, facing}
    found = {i for i in others if _on_side(world, margins, origin, facing, i, side)}
    return frozenset(found | {facing} if side == "front" else found)


def _across(camera: complex) -> Callable[..., bool]:
    def is_across(world: World, margins: Record, thing: int, anchor: int, side: str) -> bool:
        _demand(thing != anchor, "the same object twice")
        place = _places(world)
        # Behind is farther from who looks, and front nearer; of an object that faces something it is the other way.
        side = {"front": "behind", "behind": "front"}.get(side, side)
        ahead = AHEAD[side]((place[thing] - place[anchor]) / (camera / abs(camera)))
        _demand(abs(ahead) >= margins["distance"], "an offset within the margin")
        return bool(ahead > 0)

    return is_across


is_across = _across(complex(7.48113, -6.50764))
"""The camera of CLEVR, as its metadata gives it."""


def _all_across(world: World, margins: Record, anchor: int, side: str) -> frozenset[int]:
    return frozenset(i for i in world.everything - {anchor} if is_across(world, margins, i, anchor, side))


def _end(world: World, margins: Record, anchor: int, among: Sequence[int], sign: int) -> int:
    """The nearest (1) or farthest (-1) of some."""
    place = _places(world)
    far = {i: sign * abs(place[i] - place[anchor]) for i in among if i != anchor}
    _demand(len(far) > 1, "one object alone is no nearest")
    best = min(far, key=lambda i: far[i])
    others = [far[i] - far[best] for i in far if i != best]
    _demand(min(others) >= margins["distance"], "two distances within the margin")
    return best


def _of_two(sign: int) -> Callable[..., int]:
    def pick(world: World, margins: Record, anchor: int, one: int, other: int) -> int:
        _demand(len({anchor, one, other}) == 3, "the same object twice")
        return _end(world, margins, anchor, (one, other), sign)

    return pick


def _times(world: World, margins: Record, anchor: int, one: int, other: int) -> int:
    _demand(len({anchor, one, other}) == 3, "the same object twice")
    place = _places(world)
    ratio = abs(place[one] - place[anchor]) / abs(place[other] - place[anchor])
    fits = [times for times in range(2, 100) if abs(ratio - times) <= margins["ratio"]]
    _demand(len(fits) == 1, "no whole number of times")
    return fits[0]


STEPS: dict[str, Callable[..., Any]] = {
    "is_related_facing": _on_side,
    "relate_facing": _all_on_side,
    "is_related_across": is_across,
    "relate_across": _all_across,
    "nearest": lambda world, margins, anchor, among: frozenset([_end(world, margins, anchor, among, 1)]),
    "farthest": lambda world, margins, anchor, among: frozenset([_end(world, margins, anchor, among, -1)]),
    "nearer": _of_two(1),
    "farther": _of_two(-1),
    "times_as_far": _times,
}
