"""The items of a run: which there are, in which windows, and what the `info` of an output says of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from vqagen.errors import VqagenError
from vqagen.run.shards import Shard, ShardPlan, plan_shard
from vqagen.run.windows import Span, span_to_read, windows_of
from vqagen.run.work import Window


class Items(Protocol):
    """The items of a run, or of a shard of it."""

    @property
    def own(self) -> Span:
        """The items that records are written about."""

    @property
    def shard_plan(self) -> ShardPlan | None:
        """The shard, if only that is made."""

    def windows(self, first: int) -> Iterator[Window]:
        """Yield the windows from that of item `first` on; it begins with the items before. None if all is done."""

    def expected(self) -> int | None:
        """Return how many items there are, as far as is known by now."""

    def info(self) -> dict[str, Any]:
        """Return what an output's `info` takes over from the input."""

    def hashes(self) -> dict[str, str]:
        """Return the content hash of what is read, by its role. May take long."""

    def located(self, error: VqagenError) -> VqagenError:
        """Return an error of a window with what only the process knows that reads the input: where, and since when."""


@dataclass(frozen=True, slots=True)
class Number:
    """An item that is nothing but its index."""

    noun: str
    index: int

    def __str__(self) -> str:
        return f"{self.noun} {self.index}"


@dataclass(frozen=True)
class NumberedItems:
    """Items that come from nowhere: numbers."""

    noun: str
    own: Span
    """The items that records are written about; its length is not 0."""
    window: int
    shard_plan: ShardPlan | None = None
    """The shard, if only that is made."""

    def windows(self, first: int) -> Iterator[Window]:
        """Yield the windows from that of item `first` on."""
        start, length = self.own
        if first >= start + length:
            return iter(())
        span = span_to_read(first, start + length - first, self.window)
        numbers = range(span.first, span.first + span.length)
        return windows_of((Number(self.noun, index) for index in numbers), self.window)

    def expected(self) -> int:
        """Return how many items there are."""
        return self.own.length

    def info(self) -> dict[str, Any]:
        """Return nothing: there is no input."""
        return {}

    def hashes(self) -> dict[str, str]:
        """Return nothing: there is no input."""
        return {}

    def located(self, error: VqagenError) -> VqagenError:
        """Return the error as it is."""
        return error


def number_items(noun: str, whole: Span, window: int, shard: Shard | None = None) -> NumberedItems:
    """Return the numbers of a run or of a shard of it. Raises UsageError for a shard without items."""
    plan = plan_shard(shard, whole, whole.length, window, noun) if shard else None
    return NumberedItems(noun, plan.own if plan else whole, window, plan)
