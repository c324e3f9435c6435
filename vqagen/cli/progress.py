"""Progress on standard error: a bar on a terminal, elsewhere a line now and then, as for a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from vqagen.cli.messages import print_message
from vqagen.errors import counted

if TYPE_CHECKING:
    from vqagen.run.runner import OnProgress, Progress
    from vqagen.tasks.contract import RunReport

Clock = Callable[[], float]
LINE_EVERY = 30.0
"""Seconds between two lines of a log."""


@contextmanager
def counting(unit: str, clock: Clock = time.monotonic) -> Iterator[Callable[[int], None]]:
    """Yield the function to call with the number of things done since the last call; their total is unknown."""
    if not _is_terminal():
        yield _CountLog(unit, clock).add
        return
    from tqdm import tqdm  # 70 ms to import, so only where the bar shows

    with tqdm(unit=unit) as shown:

        def update(number: int) -> None:
            shown.update(number)

        yield update


@contextmanager
def run_progress(clock: Clock = time.monotonic) -> Iterator[OnProgress]:
    """Yield the function to call with the progress of a run."""
    if not _is_terminal():
        yield _RunLog(clock).show
        return
    from tqdm import tqdm

    with tqdm(unit="item") as shown:
        yield _bar_updater(shown)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _bar_updater(shown: Any) -> OnProgress:
    def update(progress: Progress) -> None:
        shown.unit = progress.item
        shown.initial = progress.resumed_items  # rates are of this run
        shown.total = progress.expected and max(progress.expected, progress.items)
        if progress.noun != progress.item:
            seconds = max(shown.format_dict["elapsed"], 1e-9)
            shown.set_postfix_str(f"{progress.new_records / seconds:,.0f} {progress.noun}s/s", refresh=False)
        shown.update(progress.items - shown.n)

    return update


def run_summary(report: RunReport, out: str) -> str:
    """Return the result of a run in a few lines."""
    return f"{out} is complete: there is nothing to do" if report.was_complete else report.summary()


class _Log:
    """The time since the start, and whether the next line is due."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._start = self._last = clock()

    def is_due(self) -> bool:
        """True if LINE_EVERY seconds have passed since the last line; the next line is due as long after that."""
        now = self._clock()
        if now - self._last < LINE_EVERY:
            return False
        self._last = now
        return True

    @property
    def seconds(self) -> float:
        """The time from the start to the last line."""
        return self._last - self._start


class _CountLog:
    """A log of things of which nobody knows how many there will be."""

    def __init__(self, unit: str, clock: Clock) -> None:
        self._unit, self._log, self._count = unit, _Log(clock), 0

    def add(self, number: int) -> None:
        """Count things that are done."""
        self._count += number
        if self._log.is_due():
            print_message(f"{counted(self._count, self._unit)} so far, {_rate(self._count, self._log, self._unit)}")


class _RunLog:
    """A log of a run: the items that are done, the rates, and the time that is left."""

    def __init__(self, clock: Clock) -> None:
        self._log = _Log(clock)

    def show(self, progress: Progress) -> None:
        """Print a line, if one is due."""
        if self._log.is_due():
            print_message(", ".join(self._parts(progress)))

    def _parts(self, progress: Progress) -> Iterator[str]:
        done, expected = progress.items, progress.expected
        new = done - progress.resumed_items
        share = f"{done:,} of {counted(expected, progress.item)} ({done / expected:.0%})" if expected else ""
        yield share or counted(done, progress.item)
        yield _rate(new, self._log, progress.item)
        if progress.noun != progress.item:
            yield _rate(progress.new_records, self._log, progress.noun)
        if expected and new:
            yield f"{_duration(max(expected - done, 0) * self._log.seconds / new)} left"


def _rate(number: int, log: _Log, unit: str) -> str:
    rate = number / log.seconds
    return f"{rate:,.0f} {unit}s/s" if rate >= 10 else f"{rate:.2g} {unit}s/s"


def _duration(seconds: float) -> str:
    """Return a duration in hours and minutes, or in minutes and seconds.

    >>> _duration(59.4), _duration(125), _duration(7260)
    ('59 s', '2 min 5 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {whole % 60} s"
