"""A progress bar on stderr, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def with_bar(
    items: Iterable[Item], total: int | None, unit: str, made: Callable[[], int] | None = None
) -> Iterator[Item]:
    """The items, counted on a bar. `made` counts what comes of them: questions, whose rate is shown beside."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    from tqdm import tqdm  # 70 ms to import, so only where the bar shows

    with tqdm(total=total, unit=unit) as bar:
        for item in items:
            yield item
            bar.update()
            if made is not None and bar.n % 50 == 0:
                bar.set_postfix_str(f"{made() / max(bar.format_dict['elapsed'], 1e-9):,.0f} questions/s", refresh=False)
