"""The words of a template's slots, read from a program that was made of the template."""

from __future__ import annotations

from collections.abc import Sequence

from vqagen.language.program import Node, Program
from vqagen.language.template import Template, TemplateNode

Words = dict[str, str | None]


def words_of(template: Template, program: Program) -> Words | None:
    """Return the word of each slot, None where it is left open; None if the program is not of the template."""
    words: Words = dict.fromkeys(template.slots)
    nodes = list(program.nodes)
    for node in template.nodes:
        taken = _take(template, node, nodes, words)
        if taken is None:
            return None
        nodes = nodes[taken:]
    return None if nodes else words


def _take(template: Template, node: TemplateNode, nodes: Sequence[Node], words: Words) -> int | None:
    """Note the words of one node of a template, and return how many nodes of the program it stands for."""
    composite = node.composite
    if composite is None:
        if not nodes or nodes[0].function != node.type or len(nodes[0].values) != len(node.side_inputs):
            return None
        fits = [_note(side, value, words) for side, value in zip(node.side_inputs, nodes[0].values, strict=True)]
        return 1 if all(fits) else None
    at = 0
    relation = template.relation(node) if composite.relates else None
    if relation is not None:
        if not nodes or not nodes[0].values or not _note(relation.slot or relation.literal, nodes[0].values[0], words):
            return None
        at = 1
    for side in template.described(node):
        is_said = at < len(nodes) and nodes[at].function == composite.filters.get(side.type)
        if is_said and _note(side.slot or side.literal, nodes[at].values[0], words):
            at += 1
        elif side.literal is not None:
            return None
    if composite.reducer:
        if at >= len(nodes) or nodes[at].function != composite.reducer:
            return None
        at += 1
    return at


def _note(side: str | None, value: str, words: Words) -> bool:
    """Note the word of a slot; True if a literal, or a slot that has a word already, is the same."""
    if side not in words:
        return side == value
    if words[side] not in (None, value):
        return False
    words[side] = value
    return True
