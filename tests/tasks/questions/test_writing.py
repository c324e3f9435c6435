"""Question and scene files from start to end: options, report, progress, and inputs that change."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import fsspec
import pytest
from commands import Commands
from fsspec.implementations.memory import MemoryFileSystem
from scene_records import sampled_scenes

import vqagen
from vqagen.files.formats import encode_lines
from vqagen.files.locations import shipped
from vqagen.language.domain_files import load_domain_files
from vqagen.run.runner import Progress
from vqagen.run.windows import Work
from vqagen.tasks.contract import RunReport
from vqagen.tasks.questions.task import QuestionTask
from vqagen.tasks.sampling.task import SamplingTask

SCENES, WINDOW = 23, 5
ONE_HOP = shipped("templates") / "clevr" / "one_hop.json"
QUICK = f"--reset-counts-every {WINDOW} --templates-per-image 3 --templates {ONE_HOP}"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """The program, in a folder that has scenes."""
    monkeypatch.chdir(tmp_path)
    records = sampled_scenes(SCENES, seed=8)
    Path("scenes.json").write_text(json.dumps({"info": {}, "scenes": records}))
    return Commands(capfdbinary)


REFUSED = [
    ("--workers 0", "--workers must be a number from 1 on, or auto; found '0'"),
    ("--workers 2 --cluster tcp://a:1", "--workers are of this machine; a cluster has its own"),
    ("--cluster nowhere", "--cluster nowhere: expected the address of a Dask scheduler"),
    ("--resume --force", "--resume finishes what is there and --force replaces it; choose one"),
    ("--shard 3/2", "--shard must be K/N with K from 1 to N, such as 3/8; found '3/2'"),
    ("--trace --hide-answers", "--trace shows the answers that --hide-answers leaves out"),
    ("--only \udcff", "only must hold names, found '\\udcff'"),
    ("--only cuont --only qurey", "did you mean 'count'?\nvqagen: --only: unknown question type or template 'qurey'"),
    *(
        (f"{names} {QUICK}", "is in use by the same run; name another file")
        for names in (
            "--report q.json",
            "--report ./q.json",
            "-o q.jsonl --report q.jsonl.info.json",
            "--report scenes.json --force",
        )
    ),
]


def test_what_cannot_be_is_told_before_anything_is_made(run: Commands) -> None:
    """A report takes no name of the same run either."""
    before = Path("scenes.json").read_bytes()
    for flags, told in REFUSED:
        ran = run(f"generate --scenes scenes.json --out q.json {flags}")

        assert (ran.code, ran.out, told in ran.err) == (2, b"", True), (flags, ran.err)
    assert (os.listdir(), Path("scenes.json").read_bytes()) == (["scenes.json"], before)


@pytest.mark.slow
def test_one_window_of_all_scenes_is_done_by_one_process(run: Commands) -> None:
    flags = "generate --scenes scenes.json --templates-per-image 3 --reset-counts-every 0"
    run.done(f"{flags} --out one.json")
    ran = run(f"{flags} --out two.json --workers 2")

    assert "warning: --reset-counts-every 0 makes one window of all scenes" in ran.err
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()


@pytest.mark.slow
def test_the_report_counts_what_is_in_the_file_and_does_not_depend_on_the_means(run: Commands) -> None:
    reports = []
    for number, options in enumerate(("", "--workers 2")):
        run.done(f"generate --scenes scenes.json --out q{number}.json {QUICK} {options} --report r{number}.json")
        reports.append(json.loads(Path(f"r{number}.json").read_bytes()))
        seconds = reports[-1]["run"].pop("seconds")
        assert seconds > 0
    questions = json.loads(Path("q0.json").read_bytes())["questions"]

    assert reports[0] == reports[1]
    assert reports[0]["run"] == {"was_complete": False, "resumed_scenes": 0}
    assert (reports[0]["questions"], reports[0]["scenes"]) == (len(questions), SCENES)
    assert sum(family["questions"] for family in reports[0]["families"].values()) == len(questions)
    assert reports[0]["settings"]["reset_counts_every"] == WINDOW


HOW_MANY = {
    "name": "how_many",
    "text": "How many things are there?",
    "nodes": [{"type": "scene", "inputs": []}, {"type": "count", "inputs": [0]}],
}
"""A template of one text, which each window asks once."""
REPEATED = f"generate --scenes scenes.json --reset-counts-every {WINDOW} --templates how_many.json --dedupe all"


def test_what_a_selection_leaves_out_is_told(run: Commands) -> None:
    Path("how_many.json").write_text(json.dumps([HOW_MANY]))
    ran = run(f"{REPEATED} --out q.json --report r.json")
    report = json.loads(Path("r.json").read_bytes())
    records = json.loads(Path("q.json").read_bytes())["questions"]
    left_out = sum(family["left_out"] for family in report["families"].values())
    emptied = left_out  # a scene has one question

    assert left_out > 1
    assert f"{len(records)} question about {SCENES} scenes" in ran.err
    assert f"  left out of the whole: {left_out} more questions, and {emptied} scenes with none\n" in ran.err
    assert (report["questions"], report["emptied_scenes"]) == (len(records), emptied)
    assert sum(family["questions"] for family in report["families"].values()) == len(records)


def test_a_run_that_was_complete_leaves_everything_as_it_is(run: Commands) -> None:
    command = f"generate --scenes scenes.json --out q.json {QUICK} --resume --report r.json"
    run.done(command)
    before = {name: Path(name).stat().st_mtime_ns for name in os.listdir()}
    ran = run(command)

    assert ran.err == "q.json is complete: there is nothing to do\n"
    assert {name: Path(name).stat().st_mtime_ns for name in os.listdir()} == before


@pytest.mark.slow
def test_progress_soon_knows_how_many_scenes_there_are(run: Commands) -> None:
    """Also where nobody said so: by how much of the file has been read."""
    for count in (0, 12):
        seen: list[tuple[int | None, int]] = []
        settings = vqagen.QuestionSettings(count=count, reset_counts_every=WINDOW, templates_per_image=2)
        vqagen.write_questions(
            "scenes.json",
            f"q{count}.json",
            settings=settings,
            on_progress=lambda progress, seen=seen: seen.append((progress.expected, progress.items)),
        )
        whole = count or SCENES

        assert seen[-1][1] == whole
        assert all(expected is not None and abs(expected - whole) <= 0.2 * whole for expected, _ in seen)


def test_scenes_that_change_while_they_are_read_are_noticed(run: Commands) -> None:
    """The hash in the info would be of others than those that were asked about."""

    def change(progress: Progress) -> None:
        os.utime("scenes.json", ns=(1, 1))

    settings = vqagen.QuestionSettings(reset_counts_every=WINDOW, templates_per_image=2)
    with pytest.raises(vqagen.BadInput, match=r"^scenes.json: changed while it was read"):
        vqagen.write_questions("scenes.json", "q.json", settings=settings, on_progress=change)
    assert not Path("q.json").exists()


# Workers ----------------------------------------------------------------------------------------------------------


def test_a_worker_that_reads_other_files_is_refused(run: Commands) -> None:
    """On a cluster each machine has files of its own."""
    files, encode = vqagen.find_domain(), encode_lines
    hashes = {**load_domain_files(files).hashes, "templates": "sha256:0"}
    work = Work(QuestionTask(vqagen.QuestionSettings(), files), hashes, encode)
    drawing = Work(SamplingTask(vqagen.SamplingSettings(count=1), files), {"metadata": "sha256:0"}, encode)

    with pytest.raises(vqagen.VqagenError, match=r"^a worker reads other templates than the run began with"):
        work.load()
    with pytest.raises(vqagen.VqagenError, match=r"^a worker reads other metadata than the run began with"):
        drawing.load()


# What is there already --------------------------------------------------------------------------------------------


def read(place: str) -> bytes:
    with fsspec.open(place, "rb") as file:
        return bytes(file.read())


def write(place: str, content: bytes) -> None:
    with fsspec.open(place, "wb") as file:
        file.write(content)


@pytest.mark.slow
def test_an_output_that_was_cut_is_not_complete(run: Commands, memory: MemoryFileSystem) -> None:
    """The end of a packed file may be missing, and yet its beginning be read."""
    for out in ("q.json", "q.jsonl", "q.jsonl.gz", "memory://cut/q.jsonl"):
        command = f"generate --scenes scenes.json --out {out} {QUICK} --resume"
        run.done(command)
        assert "is complete" in run.done(command).err
        content = read(out)
        cut = b"".join(content.splitlines(keepends=True)[:-2]) if "gz" not in out else content[:-1]
        write(out, cut)
        ran = run(command)

        assert ran.code in (2, 3)
        assert re.match(f"vqagen: {out}(:| was) (changed|damaged) or cut", ran.err)
        assert read(out) == cut


def test_questions_are_not_written_among_the_scenes_that_are_read(run: Commands) -> None:
    """The next run of the command would take them for scenes."""
    record = json.loads(Path("scenes.json").read_bytes())["scenes"][0]
    Path("scenes/deep").mkdir(parents=True)
    Path("scenes/0.json").write_text(json.dumps(record))
    for out in ("scenes/q.json", "scenes/deep/q.jsonl.gz", "./scenes/../scenes/q.ndjson --resume"):
        ran = run(f"generate --scenes scenes --out {out}")

        assert ran.code == 2
        assert "lies in scenes, all of which the same run reads; name another folder" in ran.err
    run.done(f"generate --scenes scenes --out scenes/q.parquet {QUICK}")


@pytest.mark.slow
def test_a_run_that_was_killed_before_its_report_gives_it_when_resumed(run: Commands) -> None:
    selection = "--dedupe all"
    flags = f"generate --scenes scenes.json {QUICK} {selection} --report r.json"
    run.done(f"{flags} --out q.json")
    wanted = json.loads(Path("r.json").read_bytes())
    Path("r.json").unlink()

    def stop(self: RunReport) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunReport, "to_record", stop)
        assert run(f"{flags} --out p.json").code == 130
        assert run(f"{flags} --out p.json --resume").code == 130
    run.done(f"{flags} --out p.json --resume")
    made = json.loads(Path("r.json").read_bytes())

    assert {key: value for key, value in made.items() if key != "run"} == {
        key: value for key, value in wanted.items() if key != "run"
    }
    assert sorted(os.listdir()) == ["p.json", "q.json", "r.json", "scenes.json"]


def test_a_report_that_cannot_be_made_any_more_is_told_of(run: Commands) -> None:
    run.done(f"generate --scenes scenes.json --out q.json {QUICK}")
    ran = run(f"generate --scenes scenes.json --out q.json {QUICK} --resume --report r.json")

    assert (ran.code, Path("r.json").exists()) == (0, False)
    assert "no report is written" in ran.err


def test_questions_without_programs_are_kept_apart_by_text_alone_and_that_is_told(run: Commands) -> None:
    run.done(f"generate --scenes scenes.json --out hidden.jsonl {QUICK} --hide-answers")
    ran = run(f"generate --scenes scenes.json --out q.json {QUICK} --seed 1 --disjoint-from hidden.jsonl")

    assert f"warning: hidden.jsonl: {3 * SCENES} questions without a program: only the text" in ran.err
