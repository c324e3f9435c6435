"""Question and scene files from start to end: means, report, progress, and inputs that change."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from commands import Commands

import vqagen
from vqagen.run.progress import Progress

SCENES, WINDOW = 23, 5
QUICK = f"--reset-counts-every {WINDOW} --templates-per-image 3"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """The program, in a folder that has scenes."""
    monkeypatch.chdir(tmp_path)
    records = list(vqagen.sample_scenes(SCENES, seed=8))
    Path("scenes.json").write_text(json.dumps({"info": {}, "scenes": records}))
    return Commands(capfdbinary)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ("--workers 0", "--workers must be a number from 1 on, or auto; found 0"),
        ("--workers -2", "--workers must be a number from 1 on, or auto; found '-2'"),
        ("--workers many", "--workers must be a number from 1 on, or auto; found 'many'"),
        ("--workers 2 --cluster local:2", "--workers are of this machine; a cluster has its own"),
        ("--cluster nowhere", "--cluster nowhere: expected the address of a Dask scheduler"),
        ("--resume --force", "--resume goes on with what is there and --force replaces it; choose one"),
        ("--shard 3/2", "--shard must be K/N with K from 1 to N"),
        ("--trace --hide-answers", "--trace tells the answers that --hide-answers leaves out"),
        ("--disjoint-from nothing.json", "questions not found: nothing.json"),
        ("--report nowhere/r.json", "output folder nowhere does not exist"),
        (
            "--only cuont --only qurey",
            "did you mean 'count'?\nvqagen: --only: unknown question type or template 'qurey'",
        ),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_made(run: Commands, flags: str, told: str) -> None:
    ran = run(f"generate --scenes scenes.json --out q.json {flags}")

    assert (ran.code, ran.out) == (2, b"")
    assert told in ran.err
    assert os.listdir() == ["scenes.json"]


def test_one_window_of_all_scenes_is_done_by_one_process(run: Commands) -> None:
    flags = "generate --scenes scenes.json --templates-per-image 3 --reset-counts-every 0"
    run.done(f"{flags} --out one.json")
    ran = run(f"{flags} --out two.json --workers 2")

    assert "warning: --reset-counts-every 0 makes one window of all scenes" in ran.err
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()


def test_the_report_counts_what_is_in_the_file_and_does_not_depend_on_the_means(run: Commands) -> None:
    reports = []
    for number, means in enumerate(("", "--workers 2", "--cluster local:1")):
        run.done(f"generate --scenes scenes.json --out q{number}.json {QUICK} {means} --report r{number}.json")
        reports.append(json.loads(Path(f"r{number}.json").read_bytes()))
        seconds = reports[-1]["run"].pop("seconds")
        assert seconds > 0
    questions = json.loads(Path("q0.json").read_bytes())["questions"]

    assert reports[0] == reports[1] == reports[2]
    assert reports[0]["run"] == {"was_complete": False, "resumed_scenes": 0}
    assert (reports[0]["questions"], reports[0]["scenes"]) == (len(questions), SCENES)
    assert sum(family["questions"] for family in reports[0]["families"].values()) == len(questions)
    assert reports[0]["settings"]["reset_counts_every"] == WINDOW


def test_what_a_selection_leaves_out_is_told(run: Commands) -> None:
    flags = f"--scenes scenes.json --out q.json {QUICK} --only count --max-per-template 2 --report r.json"
    ran = run(f"generate {flags}")
    report = json.loads(Path("r.json").read_bytes())
    made = sum(family["questions"] for family in report["families"].values())

    assert f"{report['questions']} questions about {SCENES} scenes" in ran.err
    assert f"{made - report['questions']} more questions were made and left out of the whole" in ran.err


def test_a_report_is_no_more_replaced_than_an_output(run: Commands) -> None:
    Path("r.json").write_text("mine")
    ran = run(f"generate --scenes scenes.json --out q.json {QUICK} --report r.json")

    assert (ran.code, Path("r.json").read_text()) == (2, "mine")
    assert "r.json exists already; give --force" in ran.err


def test_a_run_that_was_complete_leaves_everything_as_it_is(run: Commands) -> None:
    command = f"generate --scenes scenes.json --out q.json {QUICK} --resume --report r.json"
    run.done(command)
    before = {name: Path(name).stat().st_mtime_ns for name in os.listdir()}
    ran = run(command)

    assert ran.err == "q.json is complete: there is nothing to do\n"
    assert {name: Path(name).stat().st_mtime_ns for name in os.listdir()} == before


@pytest.mark.parametrize("count", [0, 12])
def test_progress_soon_knows_how_many_scenes_there_are(run: Commands, count: int) -> None:
    """Also where nobody said so: by how much of the file has been read."""
    seen: list[tuple[int | None, int]] = []

    def look(progress: Progress) -> None:
        seen.append((progress.expected, progress.items))

    settings = vqagen.Settings(count=count, reset_counts_every=WINDOW, templates_per_image=2)
    vqagen.write_questions("scenes.json", "q.json", settings=settings, on_made=look)
    whole = count or SCENES

    assert seen[-1][1] == whole
    assert all(expected is not None and abs(expected - whole) <= 0.2 * whole for expected, _ in seen)


def test_scenes_that_change_while_they_are_read_are_noticed(run: Commands) -> None:
    """The hash in the info would be of others than those that were asked about."""

    def change(progress: Progress) -> None:
        os.utime("scenes.json", ns=(1, 1))

    settings = vqagen.Settings(reset_counts_every=WINDOW, templates_per_image=2)
    with pytest.raises(vqagen.BadInput, match=r"^scenes.json: changed while it was read"):
        vqagen.write_questions("scenes.json", "q.json", settings=settings, on_made=change)
    assert not Path("q.json").exists()


@pytest.mark.parametrize("out", ["s.json", "s.jsonl", "s.json.gz"])
def test_sampled_scenes_do_not_depend_on_workers_or_interruptions(run: Commands, out: str) -> None:
    flags = "scenes sample --count 300 --seed 4 --start-index 40"
    run.done(f"{flags} --out one-{out}")
    run.done(f"{flags} --out two-{out} --workers 2")
    stopped = 0

    def stop(progress: Progress) -> None:
        nonlocal stopped
        stopped += 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vqagen.write_scenes(300, f"three-{out}", seed=4, start=40, on_made=stop)
    run.done(f"{flags} --out three-{out} --resume")

    assert stopped == 1
    contents = {Path(f"{name}-{out}").read_bytes() for name in ("one", "two", "three")}
    assert len(contents) == 1


def test_sampled_scenes_of_another_run_are_not_gone_on_with(run: Commands) -> None:
    run.done("scenes sample --count 3 --out s.json")
    again, more = (
        run("scenes sample --count 3 --out s.json --resume"),
        run("scenes sample --count 4 --out s.json --resume"),
    )

    assert (again.code, again.err) == (0, "s.json is complete: there is nothing to do\n")
    assert more.code == 2
    assert "generator.settings.count: 3, not 4" in more.err


def test_scenes_are_no_parquet(run: Commands) -> None:
    ran = run("scenes sample --count 3 --out s.parquet")

    assert (ran.code, os.listdir()) == (2, ["scenes.json"])
    assert "scenes are written as JSON" in ran.err
