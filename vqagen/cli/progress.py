"""A progress bar on stderr, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vqagen.run.progress import OnProgress, Progress


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


@contextmanager
def run_bar(made: str = "") -> Iterator[OnProgress]:
    """What to call with the progress of a run: scenes on the bar, and beside it the rate of what is made of them."""
    with bar(None, "scene") as shown:
        yield _teller(shown, made) if shown is not None else lambda _: None


def _teller(shown: Any, made: str) -> OnProgress:
    def tell(progress: Progress) -> None:
        shown.initial = progress.resumed_items  # rates are of this run
        shown.total = progress.expected and max(progress.expected, progress.items)
        if made:
            seconds = max(shown.format_dict["elapsed"], 1e-9)
            shown.set_postfix_str(f"{progress.new_records / seconds:,.0f} {made}s/s", refresh=False)
        shown.update(progress.items - shown.n)

    return tell
