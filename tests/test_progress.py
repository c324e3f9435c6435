"""Progress on standard error where it is no terminal: a line now and then, by a clock that the tests set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from vqagen.cli.progress import LINE_EVERY, counting, run_progress
from vqagen.run.runner import Progress
from vqagen.run.scene_items import ReadSoFar


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


def test_a_log_has_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    """Not for each block."""
    reports = [Progress("scene", "question", 1000, 10 * step, 0, 100 * step) for step in range(1, 7)]
    printed = lines_of(reports, 10, 29.9, 30, 40, 59, 61, capsys=capsys)

    assert printed == [
        "vqagen: 30 of 1,000 scenes (3%), 1 scenes/s, 10 questions/s, 16 min 10 s left",
        "vqagen: 60 of 1,000 scenes (6%), 0.98 scenes/s, 9.8 questions/s, 15 min 56 s left",
    ]


def test_the_rates_of_a_resumed_run_are_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """What an earlier run did is done, and says nothing about the speed of this one."""
    printed = lines_of([Progress("scene", "question", 70_000, 40_000, 10_000, 300_000)], LINE_EVERY, capsys=capsys)

    assert printed == ["vqagen: 40,000 of 70,000 scenes (57%), 1,000 scenes/s, 10,000 questions/s, 30 s left"]


def test_a_log_needs_no_expected_number(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a stream nobody knows how many scenes it has."""
    assert lines_of([Progress("scene", "question", None, 60, 0, 600)], LINE_EVERY, capsys=capsys) == [
        "vqagen: 60 scenes, 2 scenes/s, 20 questions/s"
    ]


def test_a_log_of_what_was_resumed_alone_says_no_time_that_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    assert lines_of([Progress("scene", "question", 100, 50, 50, 0)], LINE_EVERY, capsys=capsys) == [
        "vqagen: 50 of 100 scenes (50%), 0 scenes/s, 0 questions/s"
    ]


def test_a_count_is_logged_too(capsys: pytest.CaptureFixture[str]) -> None:
    """As of questions that are verified."""
    with counting("question", clock_of(0, 29, 31, 50)) as add:
        for _ in range(3):
            add(2000)

    assert capsys.readouterr().err == "vqagen: 4,000 questions so far, 129 questions/s\n"


@pytest.mark.parametrize(
    ("read", "length", "size", "expected"),
    [
        (ReadSoFar(), 30, 1000, 30),
        (ReadSoFar(scenes=10, bytes=100, end=12), None, 1000, 12),
        (ReadSoFar(scenes=10, bytes=100), None, 1000, 100),
        (ReadSoFar(), None, 1000, None),
        (ReadSoFar(scenes=10, bytes=100), None, 0, None),
    ],
    ids=["listed", "read to the end", "by bytes", "nothing read", "packed"],
)
def test_the_number_of_scenes_is_estimated_where_it_is_not_known(
    read: ReadSoFar, length: int | None, size: int, expected: int | None
) -> None:
    """By the bytes of those read so far; of a packed file or a pipe nothing is known."""
    source: Any = SimpleNamespace(length=length, size=size)

    assert read.estimate(source) == expected
