"""How well the objects of a question can be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vqagen.bits import Objects
from vqagen.language.program import Program
from vqagen.plugin import FILTER, Undefined
from vqagen.world.scene import Scene


def hardly_visible(scene: Mapping[str, Any], least: int) -> Objects | None:
    """Return the objects of a scene record of which fewer pixels than `least` can be seen.

    None if the scene does not say how much of its objects can be seen.
    """
    found = 0
    for number, each in enumerate(scene["objects"]):
        pixels = each.get("visible_pixels")
        if pixels is None:
            return None
        found |= (pixels < least) << number
    return found


def referred(program: Program, scene: Scene) -> Objects:
    """Return the objects that a program refers to: those that any of its steps takes or gives.

    All objects, from which programs start, count only where something else than a filter takes them, as in "How many
    things are there?".
    """
    outputs: Sequence[Any] = program.outputs(scene)
    found = 0
    for node, output in zip(program.nodes, outputs, strict=True):
        function = program.catalogue[node.function]
        if not node.inputs and function.output == "ObjectSet":
            continue
        taken = () if function.role == FILTER else node.inputs
        for value, kind in [(output, function.output), *((outputs[i], _output(program, i)) for i in taken)]:
            if kind == "ObjectSet":
                found |= value
            elif kind == "Object":
                found |= 1 << value
    return found


def _output(program: Program, place: int) -> str:
    return program.catalogue[program.nodes[place].function].output


def is_visible(program: Program, scene: Scene, hidden: Objects) -> bool:
    """True if a program refers to none of the `hidden` objects of its scene; also if it has no answer there."""
    try:
        return not hidden & referred(program, scene)
    except Undefined:
        return True
