"""Nodes whose options are words: a primitive function with slots, and a plug-in's chain of filters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vqagen.language.program import Node, NodeRun
from vqagen.language.registry import Function, Value
from vqagen.plugin import Run
from vqagen.search.frame import Frame
from vqagen.search.local_checks import LocalCheck
from vqagen.world.scene import Scene

WordTuple = tuple[str | None, ...]


@dataclass(frozen=True)
class PlainChoice:
    """A primitive node with slots or literals as its values.

    `options` has, for each value, what it may be; a slot that an earlier node filled is looked up by `bound`.
    """

    run: Callable[..., Value]
    inputs: tuple[int, ...]
    options: tuple[WordTuple, ...]
    bound: tuple[Callable[[Frame], str | None] | None, ...]
    checks: tuple[LocalCheck, ...] = ()

    def allows(self, words: WordTuple) -> bool:
        """True if the node's own constraints allow these words."""
        return all(check.holds(words) for check in self.checks)

    def bound_words(self, frame: Frame) -> list[tuple[int, str | None]]:
        """Return (place, word) of the slots that earlier nodes filled."""
        return [(k, word_of(frame)) for k, word_of in enumerate(self.bound) if word_of is not None]


@dataclass(frozen=True)
class FilterChain(PlainChoice):
    """A plug-in's composite node: `run(scene, members, *words)` applies a filter for each word that is not None."""

    filters: tuple[Function, ...] = ()
    offers_absent: bool = False
    must_say: bool = False
    """True if it must say something, as no function follows the filters."""

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
