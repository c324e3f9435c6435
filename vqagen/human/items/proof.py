"""Proofs that a text is untrue of a scene: a chain of steps that anyone can run on the scene again.

A proof is text, such as `program [["scene"],["filter_color","red"],["filter_shape","cube"],["count"]] gives 0`: each
step is a function of our programs with its values, and takes the result of the step before. It stands in `gold.reason`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from vqagen.errors import BadInput
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Node, Program
from vqagen.plugin import Undefined
from vqagen.world.scene import Scene

Steps = tuple[tuple[str, ...], ...]
"""A function and its values, for each step."""


def absence(values: Mapping[str, str], scene: Scene, catalogue: Catalogue) -> str | None:
    """Prove that no object of a scene has all of these values, {attribute: value}; None if some object has."""
    filters = tuple((f"filter_{attribute}", value) for attribute, value in values.items())
    return none_left((("scene",), *filters), scene, catalogue)


def none_left(steps: Steps, scene: Scene, catalogue: Catalogue) -> str | None:
    """Prove that steps leave no object of a scene; None if they leave one, or cannot be run on it."""
    counted = (*steps, ("count",))
    shown = json.dumps(counted, ensure_ascii=False, separators=(",", ":"))
    return f"program {shown} gives 0" if result_of(counted, scene, catalogue) == 0 else None


def result_of(steps: Steps, scene: Scene, catalogue: Catalogue) -> object:
    """Return the result of the last step; None if there is none in this scene, or the steps are no program."""
    nodes = tuple(Node(step[0], (at - 1,) if at else (), step[1:]) for at, step in enumerate(steps))
    try:
        return Program(nodes, catalogue).run(scene)
    except (BadInput, Undefined):
        return None


def chain_to(program: Program, last: int) -> Steps | None:
    """Return the steps of a program up to a node; None if they are no chain, such as two sets that are joined."""
    steps: list[tuple[str, ...]] = []
    at = last
    while True:
        node = program.nodes[at]
        steps.append((node.function, *node.values))
        if not node.inputs:
            return tuple(reversed(steps))
        if len(node.inputs) > 1:
            return None
        (at,) = node.inputs
