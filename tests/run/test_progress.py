"""Progress on standard error where it is no terminal: a line now and then, by a clock that the tests set."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from scene_records import SMALL_SCENES, sampled_scenes

import vqagen
from vqagen.cli.messages import LINE_EVERY, counting, reading_then, run_progress
from vqagen.run.runner import Progress


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


def test_steps_are_logged_after_what_was_read(capsys: pytest.CaptureFixture[str]) -> None:
    """As of predictors, which learn from questions."""
    with reading_then("predictor", "record", clock_of(0, 1, 31, 62)) as (on_read, on_step):
        on_read(5000)
        on_step(0, 4)
        on_step(2, 4)

    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("vqagen: 0 of 4 predictors (0%), ")
    assert lines[1].startswith("vqagen: 2 of 4 predictors (50%), ")


@pytest.mark.parametrize("layout", ["document", "list", "lines", "folder"])
def test_the_number_of_scenes_is_right_from_the_start(layout: str, tmp_path: Path) -> None:
    """Scenes are of different lengths, so an estimate by their bytes would change; of a packed file none is known."""
    scenes = [*sampled_scenes(4, seed=2), *SMALL_SCENES]
    documents = {"document": {"scenes": scenes}, "list": scenes}
    path = tmp_path / "scenes.json"
    if layout == "folder":
        path.mkdir()
        for number, scene in enumerate(scenes):
            (path / f"{number}.json").write_text(json.dumps(scene))
    else:
        written = documents.get(layout)
        lines = [json.dumps(written)] if written else [json.dumps(scene) for scene in scenes]
        path.write_text("".join(line + "\n" for line in lines))
    settings = vqagen.QuestionSettings(reset_counts_every=2, templates_per_image=1)
    totals: list[int | None] = []

    vqagen.write_questions(
        path, tmp_path / "q.json", settings=settings, on_progress=lambda it: totals.append(it.expected)
    )

    assert set(totals) == {7}
    assert len(totals) == 4


def test_of_a_packed_file_the_number_of_scenes_is_not_known(tmp_path: Path) -> None:
    """It would have to be unpacked twice; --count says how many are asked for."""
    path = tmp_path / "scenes.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"scenes": SMALL_SCENES}).encode()))
    for count, expected in ((0, None), (2, 2)):
        totals: list[int | None] = []
        settings = vqagen.QuestionSettings(count=count, templates_per_image=1)
        out = tmp_path / f"{count}.json"
        vqagen.write_questions(
            path, out, settings=settings, on_progress=lambda it, into=totals: into.append(it.expected)
        )

        assert set(totals) == {expected}


def test_no_bar_is_shown_for_what_is_done_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where nothing is to do."""
    terminal = StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stderr", terminal)
    with run_progress():
        pass
    with run_progress() as show:
        show(Progress("scene", "question", 3, 3, 0, 30))

    assert terminal.getvalue() == ""
