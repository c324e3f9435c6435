"""A template's program as a tree: the last node is the root, and the inputs of a node are its branches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from vqagen.language.composite import Composite
from vqagen.language.template import Template, TemplateNode


class Branch(NamedTuple):
    """One line of a tree: a node and its depth. `is_met_again` is true if an earlier line shows the node."""

    depth: int
    number: int
    is_met_again: bool


class NodeSketch(NamedTuple):
    """A node of a template, described for people."""

    number: int
    type: str
    side_inputs: tuple[str, ...]
    inputs: tuple[int, ...]
    output: str
    stands_for: tuple[str, ...]
    """The primitive steps of a composite node; an attribute that is left open has none."""
    meaning: str

    @property
    def call(self) -> str:
        """The call, such as `filter_unique <C> <S>`."""
        return " ".join((self.type, *self.side_inputs))

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return self._asdict()


def branches(template: Template) -> list[Branch]:
    """Return the tree, and after it the nodes that the last node does not need."""
    met: set[int] = set()

    def walk(number: int, depth: int) -> Iterator[Branch]:
        yield Branch(depth, number, number in met)
        if number not in met:
            met.add(number)
            for each in template.nodes[number].inputs:
                yield from walk(each, depth + 1)

    found: list[Branch] = []
    for root in reversed(range(len(template.nodes))):
        if root not in met:
            found += walk(root, 0)
    return found


def sketches(template: Template) -> tuple[NodeSketch, ...]:
    """Return all nodes, in order."""
    return tuple(_sketch(template, number, node) for number, node in enumerate(template.nodes))


def _sketch(template: Template, number: int, node: TemplateNode) -> NodeSketch:
    output, steps, meaning = "", tuple[str, ...](), ""
    if node.composite is not None:
        output, steps = node.composite.output, tuple(_steps(template, node, node.composite))
    else:
        function = template.catalogue[node.type]
        output, meaning = function.output, function.meaning
    return NodeSketch(number, node.type, node.side_inputs, node.inputs, output, steps, meaning)


def _steps(template: Template, node: TemplateNode, composite: Composite) -> Iterator[str]:
    if template.relation(node) is not None:
        yield "relate"
    for each in template.described(node):
        yield composite.filters[each.type]
    if composite.reducer:
        yield composite.reducer
