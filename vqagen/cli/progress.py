"""Progress on standard error: a bar on a terminal, elsewhere a line now and then, as for a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from vqagen.cli.messages import print_message

if TYPE_CHECKING:
    from vqagen.run.runner import OnProgress, Progress
    from vqagen.tasks.contract import RunReport

Clock = Callable[[], float]
LINE_EVERY = 30.0
"""Seconds between two lines of a log."""
COUNT_LINE = "{n_fmt} {unit}s, {rate_noinv_fmt}{postfix}"
RUN_LINE = "{n_fmt} of {total_fmt} {unit}s ({percentage:.0f}%), {rate_noinv_fmt}{postfix}, {remaining} left"


@contextmanager
def counting(unit: str, clock: Clock = time.monotonic) -> Iterator[Callable[[int], None]]:
    """Yield the function to call with the number of things done since the last call; their total is unknown."""
    with _shown(clock) as show:
        done = 0

        def add(number: int) -> None:
            nonlocal done
            done += number
            show(done, unit)

        yield add


@contextmanager
def run_progress(clock: Clock = time.monotonic) -> Iterator[OnProgress]:
    """Yield the function to call with the progress of a run."""
    with _shown(clock) as show:
        start = clock()

        def show_run(progress: Progress) -> None:
            total, rate = progress.expected and max(progress.expected, progress.items), ""
            if progress.noun != progress.item:
                rate = f"{progress.new_records / max(clock() - start, 1e-9):,.0f} {progress.noun}s/s"
            show(progress.items, progress.item, total, progress.resumed_items, rate)  # rates are of this run

        yield show_run


@contextmanager
def _shown(clock: Clock) -> Iterator[Callable[..., None]]:
    """Yield the function to call with the number that is done, the unit, total, initial number and a second rate."""
    if sys.stderr is not None and sys.stderr.isatty():
        from tqdm import tqdm  # 70 ms to import, so only where something shows

        with tqdm(delay=0.2) as bar:  # none for what is done at once, or was done before

            def update(done: int, unit: str, total: int | None = None, initial: int = 0, rate: str = "") -> None:
                bar.unit, bar.total, bar.initial = unit, total, initial
                bar.set_postfix_str(rate, refresh=False)
                bar.update(done - bar.n)

            yield update
            return
    start = last = clock()

    def log(done: int, unit: str, total: int | None = None, initial: int = 0, rate: str = "") -> None:
        nonlocal last
        if (now := clock()) - last >= LINE_EVERY:
            from tqdm import tqdm

            last = now
            limits: dict[str, Any] = {"bar_format": RUN_LINE if total else COUNT_LINE, "postfix": rate or None}
            line = tqdm.format_meter(done, total or 0, now - start, unit=unit, initial=initial, **limits)
            print_message(" ".join(line.split()))

    yield log


def run_summary(report: RunReport, out: str) -> str:
    """Return the result of a run in a few lines."""
    return f"{out} is complete: there is nothing to do" if report.was_complete else report.summary()
