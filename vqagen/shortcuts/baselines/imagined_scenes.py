"""Scenes that nobody saw: with attributes drawn independently, or with some attributes misread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from vqagen.bits import Objects
from vqagen.rng import below, pick
from vqagen.world.attribute import Attribute, Recorded
from vqagen.world.domain import Domain
from vqagen.world.scene import Scene


def marginal_scene(scenes: Sequence[Scene], domain: Domain, rng: Random) -> Scene:
    """Return a scene whose number of objects and relations are those of one scene, and whose values are each that of
    any object of any scene: all attributes are independent of each other, and of the relations.
    """
    shape, donors = pick(rng, scenes), [scene for scene in scenes if scene.size]
    values: dict[str, list[Recorded]] = {}
    for attribute in domain.attributes:
        row = values[attribute.name] = []
        for _ in range(shape.size):
            donor = pick(rng, donors)
            row.append(donor.values[attribute.name][below(rng, donor.size)])
    return with_values(shape, domain, values)


def misread_scene(scene: Scene, domain: Domain, rate: float, rng: Random) -> Scene:
    """Return a scene in which each value was replaced, with a probability of `rate`, by any other of its attribute.

    The numbers drawn do not depend on the rate: what is misread at a low rate is misread at a higher rate too.
    """
    values = {
        attribute.name: [_misread(attribute, value, rate, rng) for value in scene.values[attribute.name]]
        for attribute in domain.attributes
    }
    return with_values(scene, domain, values)


def _misread(attribute: Attribute, value: Recorded, rate: float, rng: Random) -> Recorded:
    is_misread, choice = rng.random() < rate, rng.random()
    others = [leaf for leaf in attribute.leaves if leaf != value and (leaf,) != value]
    if not is_misread or not others:
        return value
    other = others[int(choice * len(others))]
    return (other,) if attribute.multi else other


def with_values(scene: Scene, domain: Domain, values: dict[str, list[Recorded]]) -> Scene:
    """Return a scene with the same relations and other values."""
    having = {attribute.name: _having(attribute, values[attribute.name]) for attribute in domain.attributes}
    return replace(scene, values=values, having=having)


def _having(attribute: Attribute, row: Sequence[Recorded]) -> dict[str, Objects]:
    having = dict.fromkeys(attribute.values, 0)
    for i, recorded in enumerate(row):
        for value in attribute.sayable(recorded):
            having[value] |= 1 << i
    return having
