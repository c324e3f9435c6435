"""The hops of a program: steps that a person would say in one sentence, and what each sentence gives.

    scene, filter_color red, filter_shape cube, unique    one hop: the red cube
    relate left, filter_size small                        one hop: the small things left of it
    count                                                 says nothing new: a sentence about a set has its number

A filter begins a hop of its own where its set is used by another step too, or was said to have several objects. In the
second case, a filter that keeps all of them belongs to the hop of its set. What is left of no objects is not said.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from vqagen.bits import Objects
from vqagen.language.catalogue import Catalogue, Value
from vqagen.language.program import Program
from vqagen.plugin import FILTER
from vqagen.world.attribute import Attribute
from vqagen.world.scene import Scene

SILENT = ("unique", "not_unique", "count", "exist", "point", "mark")
"""Functions that give nothing that a sentence about their input does not say."""


class Hop(NamedTuple):
    """Steps of a program that one sentence of a reasoning says."""

    steps: tuple[int, ...]
    """The numbers of its nodes, the one that it begins with first."""
    objects: Objects | None
    """The objects that the sentence names; None for a step that gives a number, a value or a truth."""
    output: Value
    """What it gives: of steps that give objects, the set or object of the last of them."""


def hops_of(program: Program, scene: Scene) -> list[Hop]:
    """Return the hops of a program in the order in which they are said.

    Of `[scene, filter_shape cube, unique, relate left, filter_size small, count]` they are the cube, steps 0 to 2, and
    the small things left of it, steps 3 to 5. Raises Undefined when a step has no result in this scene.
    """
    nodes, outputs = program.nodes, program.outputs(scene)
    kinds = [program.catalogue[node.function].output for node in nodes]
    uses = Counter(i for node in nodes for i in node.inputs)
    chain_of: dict[int, list[int]] = {}
    chains: list[list[int]] = []
    for number, node in enumerate(nodes):
        source = node.inputs[0] if node.inputs else number
        chain = chain_of.get(source, [])
        is_filter = filtered_by(node.function, program.catalogue) is not None
        is_closed = any(nodes[i].function in SILENT for i in chain)
        is_idle = (is_filter or node.function == "difference") and outputs[source] == outputs[number]
        if node.function in SILENT or (is_filter and uses[source] == 1 and (not is_closed or is_idle)):
            chain.append(number)
        elif not (is_idle and outputs[number] == 0):
            chain = [source, number] if is_filter and nodes[source].function == "scene" else [number]
            chains.append(chain)
        chain_of[number] = chain
    hops = list[Hop]()
    for chain in chains:
        if len(chain) > 1 or nodes[chain[0]].function != "scene" or len(nodes) == 1:
            last = next((i for i in reversed(chain) if kinds[i] in ("Object", "ObjectSet")), None)
            output = outputs[chain[-1] if last is None else last]
            objects = None if last is None else 1 << output if kinds[last] == "Object" else output
            hops.append(Hop(tuple(chain), objects, output))
    return hops


def filtered_by(name: str, catalogue: Catalogue) -> Attribute | None:
    """Return the attribute whose values a function filters by; None for a function that is no filter."""
    function = catalogue[name]
    return catalogue.domain.attribute_of(function.values[0]) if function.role == FILTER and function.values else None
