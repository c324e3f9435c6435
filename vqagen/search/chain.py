"""Choices of a plug-in's composite node: filters of a set of its own, of which any may be left open.

Offered is every description that fits some member of the set, each once. Where the plug-in asks for them, as many
descriptions that fit none are added.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from vqagen.language.registry import Function, Value
from vqagen.plugin import Undefined
from vqagen.search.choices import ABSENT_TRIES
from vqagen.search.description import Sampling
from vqagen.search.frame import Draw, Frame
from vqagen.search.plain_choice import FilterChain, WordTuple
from vqagen.world.scene import Scene

if TYPE_CHECKING:
    from vqagen.search.stage_search import StageSearch


class Narrowed(NamedTuple):
    """A description by words, None where an attribute is left open, and the members of a set that it fits."""

    members: Value
    words: WordTuple


class ChainDraw(Draw):
    """A plug-in's composite node."""

    __slots__ = ("_node", "_offers_absent")

    def __init__(self, node: FilterChain, sampling: Sampling) -> None:
        self._node = node
        self._offers_absent = node.offers_absent and sampling.absent != "none"

    def offer(self, stage: StageSearch, frame: Frame, dead: set[Any], undecided: set[Any]) -> bool:
        """Draw options until one leads on."""
        node, random, scene, members = self._node, frame.random, frame.scene, frame.values[self._node.inputs[0]]
        options = list(_present(node, frame, members))
        left, absent = len(options), len(options) if self._offers_absent else 0
        wanted = node.bound_words(frame)
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
            if stage.leads_on(frame, dead, undecided, option.members, option.words):
                return True
        return False


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
