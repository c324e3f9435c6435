"""A progress bar on stderr, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Item = TypeVar("Item")


@contextmanager
def bar(total: int | None, unit: str) -> Iterator[Any | None]:
    """A tqdm bar to `update`; None where stderr is not a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm  # 70 ms to import, so only where the bar shows

    with tqdm(total=total, unit=unit) as shown:
        yield shown


@contextmanager
def counting(unit: str) -> Iterator[Callable[[int], None]]:
    """What to call with the number of things done since, where it is not known how many there will be."""
    with bar(None, unit) as shown:
        yield shown.update if shown is not None else lambda _: None


def with_bar(
    items: Iterable[Item], total: int | None, unit: str, made: Callable[[], int] | None = None
) -> Iterator[Item]:
    """The items, counted on a bar. `made` counts what comes of them: questions, whose rate is shown beside."""
    with bar(total, unit) as shown:
        if shown is None:
            yield from items
            return
        for item in items:
            yield item
            shown.update()
            if made is not None and shown.n % 50 == 0:
                seconds = max(shown.format_dict["elapsed"], 1e-9)
                shown.set_postfix_str(f"{made() / seconds:,.0f} questions/s", refresh=False)
