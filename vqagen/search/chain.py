"""Choices of a plug-in's composite node: filters of a set of its own, of which any may be left open.

Offered is every description that fits some member of the set, each once. Where the plug-in asks for them, as many
descriptions that fit none are added.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

from vqagen.language.program import Node, NodeRun
from vqagen.language.registry import Function, Value
from vqagen.plugin import Run, Undefined
from vqagen.search.choices import ABSENT_TRIES, PlainChoice
from vqagen.search.description import Sampling
from vqagen.search.frame import Draw, Frame, Pick
from vqagen.world.scene import Scene

WordTuple = tuple[str | None, ...]


class Narrowed(NamedTuple):
    """A description by words, None where an attribute is left open, and the members of a set that it fits."""

    members: Value
    words: WordTuple


@dataclass(frozen=True)
class FilterChain(PlainChoice):
    """A plug-in's composite node: `run(scene, members, *words)` applies a filter for each word that is not None."""

    filters: tuple[Function, ...] = ()
    offers_absent: bool = False
    is_reference: bool = False
    """True if the node gives one member, and may lose words that it does not need."""
    must_say: bool = False
    """True if it must say something, as no function follows the filters."""

    def allows(self, words: WordTuple) -> bool:
        """True if the node's own constraints allow these words."""
        return all(check.holds(words) for check in self.checks)

    def written(self, source: int, first: int, words: WordTuple) -> NodeRun:
        """Return the program nodes that apply the filters to node `source`; they are numbered from `first`."""
        said = [(function, word) for function, word in zip(self.filters, words, strict=True) if word is not None]
        inputs = (source, *range(first, first + len(said)))
        return NodeRun(tuple(Node(each.name, (i,), (word,)) for i, (each, word) in zip(inputs, said, strict=False)))


def chain_of(filters: tuple[Function, ...]) -> Run:
    """Return the filters as one function that applies each with its own word."""

    def run(scene: Scene, members: Value, *words: str | None) -> Value:
        for function, word in zip(filters, words, strict=True):
            if word is not None:
                members = function.run(scene, members, word)
        return members

    return run


def draw_chain(node: FilterChain, sampling: Sampling) -> Draw:
    """Draw options of a plug-in's composite node."""
    bound = [(k, word_of) for k, word_of in enumerate(node.bound) if word_of is not None]
    offers_absent = node.offers_absent and sampling.absent != "none"
    shorten = sampling.shorten and node.is_reference

    def draw(frame: Frame, dead: Set[Any]) -> Iterator[tuple[Value, Pick]]:
        random, scene, members = frame.random, frame.scene, frame.values[node.inputs[0]]
        options = list(_present(node, frame, members))
        left, absent = len(options), len(options) if offers_absent else 0
        wanted = [(k, word_of(frame)) for k, word_of in bound]
        while left or absent:
            at = int(random() * (left + absent))
            if at < left:
                option = options[at]
                left -= 1
                options[at] = options[left]
            else:
                absent -= 1
                found = _absent(node, scene, members, random)
                if found is None:
                    continue
                option = found
            if option.members in dead or not node.allows(option.words):
                continue
            if any(option.words[k] != word for k, word in wanted):
                continue
            words = _shortened(node, scene, members, option, random) if shorten else option.words
            yield option.members, words

    return draw


def _present(node: FilterChain, frame: Frame, members: Hashable) -> list[Narrowed]:
    """Return every description that fits some member; kept for the scene, as the same set occurs again and again."""
    known: dict[Any, list[Narrowed]] = frame.tables.chains
    key = (node.run, members)
    found = known.get(key)
    if found is None:
        found = [Narrowed(members, ())] if members else []
        for function, words in zip(node.filters, node.options, strict=True):
            found = [longer for each in found for word in words for longer in _said(frame.scene, function, each, word)]
        if node.must_say:
            found = [each for each in found if any(word is not None for word in each.words)]
        known[key] = found
    return found


def _said(scene: Scene, function: Function, shorter: Narrowed, word: str | None) -> Iterator[Narrowed]:
    """A description with one word more, unless it fits nothing then."""
    try:
        members = shorter.members if word is None else function.run(scene, shorter.members, word)
    except Undefined:
        return
    if members:
        yield Narrowed(members, (*shorter.words, word))


def _absent(node: FilterChain, scene: Scene, members: Value, random: Callable[[], float]) -> Narrowed | None:
    """A random description that fits nothing; None where none was found in so many tries."""
    for _ in range(ABSENT_TRIES):
        words = tuple([each[int(random() * len(each))] for each in node.options])
        try:
            narrowed = node.run(scene, members, *words)
        except Undefined:
            continue
        if not narrowed:  # the set has members, so it was a word that left none
            return Narrowed(narrowed, words)
    return None


def _shortened(
    node: FilterChain, scene: Scene, members: Value, option: Narrowed, random: Callable[[], float]
) -> WordTuple:
    """Leave open, in random order, every attribute without which the description still fits the same members."""
    words = option.words
    spare = [k for k, word in enumerate(words) if word is not None and node.options[k][0] is None]
    while spare:
        k = spare.pop(int(random() * len(spare)))
        shorter = (*words[:k], None, *words[k + 1 :])
        if node.allows(shorter) and node.run(scene, members, *shorter) == option.members:
            words = shorter
    return words
