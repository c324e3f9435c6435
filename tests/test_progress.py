"""Progress on standard error where it is no terminal: a line now and then, by a clock that the tests set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from vqagen.cli.progress import LINE_EVERY, counting, run_progress
from vqagen.run.job import SceneJob
from vqagen.run.runner import Progress
from vqagen.run.windows import Span


def clock_of(*seconds: float) -> Callable[[], float]:
    """Return a clock that shows these times, one after the other, the last one for ever."""

    def times() -> Iterator[float]:
        yield from seconds
        while True:
            yield seconds[-1]

    return times().__next__


def lines_of(reports: list[Progress], *seconds: float, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the lines that are printed for some reports, at these times after the start at 0."""
    with run_progress(clock_of(0, *seconds)) as show:
        for report in reports:
            show(report)
    return capsys.readouterr().err.splitlines()


LOGS = [
    (  # not for each block
        [Progress("scene", "question", 1000, 10 * step, 0, 100 * step) for step in range(1, 5)],
        [10, 29.9, 31, 40],
        ["vqagen: 30 of 1000 scenes (3%), 0.97scene/s, 10 questions/s, 16:42 left"],
    ),
    (  # what an earlier run did is done, and says nothing about the speed of this one
        [Progress("scene", "question", 70_000, 40_000, 10_000, 300_000)],
        [LINE_EVERY],
        ["vqagen: 40000 of 70000 scenes (57%), 1000.00scene/s, 10,000 questions/s, 00:30 left"],
    ),
    (  # of a stream nobody knows how many scenes it has
        [Progress("scene", "question", None, 60, 0, 600)],
        [LINE_EVERY],
        ["vqagen: 60 scenes, 2.00scene/s, 20 questions/s"],
    ),
]


@pytest.mark.parametrize(("reports", "seconds", "lines"), LOGS)
def test_a_log_has_a_line_now_and_then(
    reports: list[Progress], seconds: list[float], lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """`clock` is asked for the rate and for the line."""
    assert lines_of(reports, *(0, *(each for each in seconds for _ in range(2))), capsys=capsys) == lines


def test_a_count_is_logged_too(capsys: pytest.CaptureFixture[str]) -> None:
    """As of questions that are verified."""
    with counting("question", clock_of(0, 29, 31, 50)) as add:
        for _ in range(3):
            add(2000)

    assert capsys.readouterr().err == "vqagen: 4000 questions, 129.03question/s\n"


@pytest.mark.parametrize(
    ("read", "length", "size", "expected"),
    [
        ((0, 0, 0), 30, 1000, 30),
        ((10, 100, 12), None, 1000, 12),
        ((10, 100, 0), None, 1000, 100),
        ((0, 0, 0), None, 1000, None),
        ((10, 100, 0), None, 0, None),
    ],
    ids=["listed", "read to the end", "by bytes", "nothing read", "packed"],
)
def test_the_number_of_scenes_is_estimated_where_it_is_not_known(
    read: tuple[int, int, int], length: int | None, size: int, expected: int | None
) -> None:
    """By the bytes of those read so far; of a packed file or a pipe nothing is known."""
    source: Any = SimpleNamespace(length=length, size=size)
    task: Any = None

    assert SceneJob(task, Span(0, 0), None, (), *read, source=source).expected() == expected
