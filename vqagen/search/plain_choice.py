"""Nodes whose options are words: a primitive function with slots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vqagen.language.registry import Value
from vqagen.search.frame import Frame
from vqagen.search.local_checks import LocalCheck

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
