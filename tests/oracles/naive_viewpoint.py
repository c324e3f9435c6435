"""Points of view and distances from coordinates alone, with complex numbers: the twin of `language.viewpoint`.

Looking from a to b, the place p is at (p - a) / (b - a): its real part says how far ahead, its imaginary part how far
to the left. Who sits across the table looks towards the camera.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import asin, radians
from typing import Any

from oracles.naive_vocabulary import Undefined, World

AHEAD = {"front": lambda z: z.real, "behind": lambda z: -z.real, "left": lambda z: z.imag, "right": lambda z: -z.imag}
CAMERA = complex(7.48113, -6.50764)
"""As CLEVR's metadata has it."""


def _places(world: World) -> list[complex]:
    return [complex(*thing["3d_coords"][:2]) for thing in world.scene["objects"]]


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise Undefined(what)


def _on_side(world: World, origin: int, facing: int, thing: int, side: str) -> bool:
    _demand(len({origin, facing, thing}) == 3, "the same object twice")
    place = _places(world)
    seen = (place[thing] - place[origin]) / (place[facing] - place[origin])
    ahead = AHEAD[side](seen)
    _demand(asin(min(1, abs(ahead) / abs(seen))) >= radians(world.margins["angle"]), "a direction within the margin")
    return ahead > 0


def _all_on_side(world: World, origin: int, facing: int, side: str) -> frozenset[int]:
    _demand(origin != facing, "the same object twice")
    others = world.everything - {origin, facing}
    found = {i for i in others if _on_side(world, origin, facing, i, side)}
    return frozenset(found | {facing} if side == "front" else found)


def _is_across(world: World, thing: int, anchor: int, side: str) -> bool:
    _demand(thing != anchor, "the same object twice")
    place, heading = _places(world), CAMERA / abs(CAMERA)
    # Behind is farther from who looks, and front nearer; for who faces something it is the other way.
    ahead = AHEAD[{"front": "behind", "behind": "front"}.get(side, side)]((place[thing] - place[anchor]) / heading)
    _demand(abs(ahead) >= world.margins["distance"], "an offset within the margin")
    return ahead > 0


def _all_across(world: World, anchor: int, side: str) -> frozenset[int]:
    return frozenset(i for i in world.everything - {anchor} if _is_across(world, i, anchor, side))


def _end(world: World, anchor: int, among: Sequence[int], sign: int) -> int:
    """The nearest (1) or farthest (-1) of some."""
    place = _places(world)
    far = {i: sign * abs(place[i] - place[anchor]) for i in among if i != anchor}
    _demand(len(far) > 1, "one object alone is no nearest")
    best = min(far, key=lambda i: far[i])
    others = [far[i] - far[best] for i in far if i != best]
    _demand(min(others) >= world.margins["distance"], "two distances within the margin")
    return best


def _of_two(world: World, anchor: int, one: int, other: int, sign: int) -> int:
    _demand(len({anchor, one, other}) == 3, "the same object twice")
    return _end(world, anchor, (one, other), sign)


def _times(world: World, anchor: int, one: int, other: int) -> int:
    _demand(len({anchor, one, other}) == 3, "the same object twice")
    place = _places(world)
    ratio = abs(place[one] - place[anchor]) / abs(place[other] - place[anchor])
    fits = [times for times in range(2, 100) if abs(ratio - times) <= world.margins["ratio"]]
    _demand(len(fits) == 1, "no whole number of times")
    return fits[0]


STEPS: dict[str, Callable[..., Any]] = {
    "is_related_facing": _on_side,
    "relate_facing": _all_on_side,
    "is_related_across": _is_across,
    "relate_across": _all_across,
    "nearest": lambda world, anchor, among: frozenset([_end(world, anchor, among, 1)]),
    "farthest": lambda world, anchor, among: frozenset([_end(world, anchor, among, -1)]),
    "nearer": partial(_of_two, sign=1),
    "farther": partial(_of_two, sign=-1),
    "times_as_far": _times,
}
