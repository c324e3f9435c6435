"""The engine that needs nothing: windows one after the other, in this process, read and written as they come."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from vqagen.run.work import Block, Window, Work


def in_process(work: Work, windows: Iterator[Window]) -> Generator[Block]:
    """The blocks of all windows, in order."""
    task = work.load()
    for window in windows:
        yield from task(window)
