"""How well the objects of a question can be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vqagen.bits import Objects, union_of
from vqagen.language.program import Program
from vqagen.plugin import FILTER
from vqagen.world.scene import Scene


def hardly_visible(scene: Mapping[str, Any], least: int) -> Objects:
    """Return the objects of a scene with masks of which fewer pixels than `least` can be seen."""
    return union_of(number for number, each in enumerate(scene["objects"]) if each["visible_pixels"] < least)


def referred(program: Program, scene: Scene) -> Objects:
    """Return the objects that a program refers to: those that any of its steps takes or gives.

    All objects, from which programs start, count only where something else than a filter takes them, as in "How many
    things are there?". Raises Undefined for a program without an answer in the scene.
    """
    outputs: Sequence[Any] = program.outputs(scene)
    functions = [program.catalogue[node.function] for node in program.nodes]
    found = 0
    for place, node in enumerate(program.nodes):
        taken = () if functions[place].role == FILTER else node.inputs
        for at in (*taken, place) if node.inputs else ():
            if functions[at].output == "ObjectSet":
                found |= outputs[at]
            elif functions[at].output == "Object":
                found |= 1 << outputs[at]
    return found
