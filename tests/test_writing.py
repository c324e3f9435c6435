"""Question and scene files from start to end: options, report, progress, and inputs that change."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest
from commands import Commands
from scene_records import sampled_scenes

import vqagen
from vqagen.files.shipped import shipped
from vqagen.language.domain_files import load_domain_files
from vqagen.records.layouts import encode_lines
from vqagen.run import writing
from vqagen.run.job import TaskWork
from vqagen.run.progress import Progress
from vqagen.tasks.contract import Report
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


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ("--workers 0", "--workers must be a number from 1 on, or auto; found '0'"),
        ("--workers -2", "--workers must be a number from 1 on, or auto; found '-2'"),
        ("--workers many", "--workers must be a number from 1 on, or auto; found 'many'"),
        ("--workers 2 --cluster local:2", "--workers are of this machine; a cluster has its own"),
        ("--cluster nowhere", "--cluster nowhere: expected the address of a Dask scheduler"),
        ("--resume --force", "--resume finishes what is there and --force replaces it; choose one"),
        ("--shard 3/2", "--shard must be K/N with K from 1 to N"),
        ("--trace --hide-answers", "--trace shows the answers that --hide-answers leaves out"),
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


def test_what_is_told_of_a_selection_holds_for_either_dialect(run: Commands) -> None:
    Path("how_many.json").write_text(json.dumps([HOW_MANY]))
    run.done(f"{REPEATED} --out a.jsonl --report a.json")
    run.done(f"{REPEATED} --out b.jsonl --report b.json --dialect release")
    reports = [json.loads(Path(name).read_bytes()) for name in ("a.json", "b.json")]

    assert reports[0]["families"] == reports[1]["families"]
    assert reports[0]["emptied_scenes"] == reports[1]["emptied_scenes"] > 0


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

    settings = vqagen.QuestionSettings(count=count, reset_counts_every=WINDOW, templates_per_image=2)
    vqagen.write_questions("scenes.json", "q.json", settings=settings, on_progress=look)
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


@pytest.mark.quick(1)
@pytest.mark.parametrize("out", ["s.json", "s.jsonl", "s.json.gz"])
def test_sampled_scenes_do_not_depend_on_workers_or_interruptions(
    run: Commands, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vqagen.tasks.sampling.task.SamplingTask.WINDOW", 10)
    flags = "scenes sample --count 25 --seed 4 --start-index 4"
    run.done(f"{flags} --out one-{out}")
    run.done(f"{flags} --out two-{out} --workers 2")
    stopped = 0

    def stop(progress: Progress) -> None:
        nonlocal stopped
        stopped += 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vqagen.write_scenes(f"three-{out}", vqagen.SamplingSettings(4, 4, 25), on_progress=stop)
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
    assert "scenes are written as json (.json) or jsonl (.jsonl), not as parquet" in ran.err


# What Python callers may get wrong --------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize("settings", [{}, {"dedupe": "all"}])
def test_generate_gives_what_is_written(run: Commands, settings: dict[str, Any]) -> None:
    chosen = {"reset_counts_every": WINDOW, "templates_per_image": 3, "only": ("count", "exist"), **settings}
    vqagen.write_questions(Path("scenes.json"), Path("q.json"), settings=vqagen.QuestionSettings(**chosen))
    written = json.loads(Path("q.json").read_bytes())["questions"]

    assert [question.text for question in vqagen.generate("scenes.json", **chosen)] == [
        record["question"] for record in written
    ]


def test_outputs_may_be_given_as_paths(run: Commands) -> None:
    vqagen.write_scenes(Path("s.jsonl"), vqagen.SamplingSettings(count=3))
    for start in (0, 2):
        settings = vqagen.QuestionSettings(start_index=start, count=2 - start // 2, templates_per_image=1)
        vqagen.write_questions(Path("s.jsonl"), Path(f"q{start}.json"), settings=settings)

    assert vqagen.merge([Path("q0.json"), Path("q2.json")], Path("q.json")) == (3, 2, "question")


def test_one_path_may_stand_where_several_may(run: Commands) -> None:
    """Its letters are not taken for names."""
    settings = vqagen.QuestionSettings(count=1, templates_per_image=1)
    vqagen.write_questions("scenes.json", "q.json", settings=settings)
    vqagen.write_questions("scenes.json", "other.json", settings=settings, disjoint_from="q.json")

    assert vqagen.merge("q.json", "merged.json") == (1, 1, "question")
    assert Path("merged.json").read_bytes() == Path("q.json").read_bytes() != Path("other.json").read_bytes()


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: vqagen.RecordForm(dialect="relase"), "--dialect must be one of generator, release, found 'relase'"),
        (lambda: vqagen.write_questions("scenes.json", "q.csv", format="csv"), "unknown format 'csv'"),
        (lambda: vqagen.SamplingSettings(), "--count must be at least 1, found 0"),
        (lambda: vqagen.SamplingSettings(0, -1, 3), "--start-index must be at least 0, found -1"),
        (
            lambda: vqagen.SamplingSettings(1.0, count="3"),
            "seed must be a whole number, found 1.0\ncount must",
        ),
        (lambda: vqagen.SamplingSettings(2**70, count=1), "seed must lie within 64 bits"),
    ],
)
def test_wrong_values_are_told(run: Commands, call: Callable[[], object], told: str) -> None:
    with pytest.raises(vqagen.UsageError, match=re.escape(told)):
        call()
    assert os.listdir() == ["scenes.json"]


# Names of outputs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "flags",
    [
        "-o q.json --report q.json",
        "-o q.jsonl --report q.jsonl.info.json",
        "-o q.json --report q.json.part",
        "-o q.json --report ./q.json.journal",
        "-o q.json --report scenes.json --force",
        "-o - --report -",
    ],
)
def test_a_report_takes_no_name_of_the_same_run(run: Commands, flags: str) -> None:
    before = Path("scenes.json").read_bytes()
    ran = run(f"generate --scenes scenes.json {QUICK} {flags}")

    assert (ran.code, ran.out, os.listdir()) == (2, b"", ["scenes.json"])
    assert "is in use by the same run; name another file" in ran.err
    assert Path("scenes.json").read_bytes() == before


@pytest.mark.parametrize("flags", ["-o q.parquet.gz", "-o q.json.zst --format parquet"])
def test_parquet_is_not_packed_again(run: Commands, flags: str) -> None:
    ran = run(f"generate --scenes scenes.json {QUICK} {flags}")

    assert (ran.code, os.listdir()) == (2, ["scenes.json"])
    assert "Parquet is packed inside" in ran.err


def test_parquet_of_any_name_is_read(run: Commands) -> None:
    run.done(f"generate --scenes scenes.json {QUICK} -o q.json --format parquet")

    assert run.done("verify q.json --scenes scenes.json").out == f"{3 * SCENES} questions checked, 0 wrong\n".encode()


def test_a_complete_output_of_another_format_is_not_taken_for_this_one(run: Commands) -> None:
    run.done(f"generate --scenes scenes.json {QUICK} -o q.txt --format json")
    ran = run(f"generate --scenes scenes.json {QUICK} -o q.txt --format parquet --resume")

    assert (ran.code, ran.err) == (
        2,
        "vqagen: q.txt is of another format (json, not parquet); --force replaces it\n",
    )


# Workers ----------------------------------------------------------------------------------------------------------


def test_a_worker_that_reads_other_files_is_refused(run: Commands) -> None:
    """On a cluster each machine has files of its own."""
    files, encode = vqagen.find_domain(), encode_lines
    hashes = {**load_domain_files(files).hashes, "templates": "sha256:0"}
    work = TaskWork(QuestionTask(vqagen.QuestionSettings(), files), hashes, encode, 0)
    drawing = TaskWork(SamplingTask(vqagen.SamplingSettings(count=1), files), {"metadata": "sha256:0"}, encode, 0)

    with pytest.raises(vqagen.VqagenError, match=r"^a worker reads other templates than the run began with"):
        work.load()
    with pytest.raises(vqagen.VqagenError, match=r"^a worker reads other metadata than the run began with"):
        drawing.load()


def test_one_window_of_all_scenes_is_not_sent_to_a_cluster(run: Commands) -> None:
    ran = run(
        "generate --scenes scenes.json --only one_hop.json --out q.json --reset-counts-every 0 --cluster tcp://127.0.0.1:1"
    )

    assert ran.code == 0
    assert "one window of all scenes" in ran.err


def test_scenes_that_vanish_while_they_are_read_are_told(run: Commands) -> None:
    settings = vqagen.QuestionSettings(reset_counts_every=WINDOW, templates_per_image=2)
    with pytest.raises(vqagen.BadInput, match="changed while it was read"):
        vqagen.write_questions(
            "scenes.json",
            "q.json",
            settings=settings,
            on_progress=lambda _: Path("scenes.json").unlink(missing_ok=True),
        )


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ("--out new/", "output new/ names a folder; name a file in it"),
        ("--out q.parquet --format json", "q.parquet: what is named so is read as Parquet, not as json"),
        ("--out q.csv.gz", "q.csv.gz: questions are written as json (.json) or jsonl (.jsonl) or parquet (.parquet)"),
        ("--out q.json --report gone.json", "nowhere does not exist; create it first"),
        ("--out q.json --shard 0/3", "--shard must be K/N with K from 1 to N, such as 3/8; found '0/3'"),
        ("--out q.json --only \udcff", "only must hold names, found '\\udcff'"),
    ],
)
def test_what_cannot_be_is_refused_at_once(run: Commands, flags: str, told: str) -> None:
    Path("gone.json").symlink_to("nowhere/r.json")
    ran = run(f"generate --scenes scenes.json {flags}")

    assert ran.code == 2
    assert told in ran.err
    assert sorted(os.listdir()) == ["gone.json", "scenes.json"]


def test_a_packing_and_a_format_are_known_by_capitals_too(run: Commands) -> None:
    run.done(f"generate --scenes scenes.json --out Q.JSONL.GZ {QUICK}")
    run.done(f"generate --scenes scenes.json --out q.jsonl.gz {QUICK}")

    assert Path("Q.JSONL.GZ").read_bytes() == Path("q.jsonl.gz").read_bytes()


# What is there already --------------------------------------------------------------------------------------------


def read(place: str) -> bytes:
    with fsspec.open(place, "rb") as file:
        return bytes(file.read())


def write(place: str, content: bytes) -> None:
    with fsspec.open(place, "wb") as file:
        file.write(content)


@pytest.mark.parametrize("out", ["q.json", "q.jsonl"])
def test_an_output_that_was_cut_is_not_complete(run: Commands, out: str) -> None:
    command = f"generate --scenes scenes.json --out {out} {QUICK} --resume"
    run.done(command)
    lines = Path(out).read_bytes().splitlines(keepends=True)
    Path(out).write_bytes(b"".join(lines[:-2]))
    ran = run(command)

    assert (ran.code, ran.err) == (
        2,
        f"vqagen: {out} was changed or cut after it was made; --force makes it anew\n",
    )


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "out", ["q.jsonl.gz", "q.json.gz", "q.jsonl.zst", "memory://cut/q.jsonl", "memory://cut/q.json"]
)
def test_so_is_one_that_is_packed_or_elsewhere(run: Commands, out: str) -> None:
    """The end of a packed file may be missing, and yet its beginning be read."""
    if out.endswith(".zst"):
        pytest.importorskip("zstandard")
    command = f"generate --scenes scenes.json --out {out} {QUICK} --resume"
    run.done(command)
    assert "is complete" in run.done(command).err
    content = read(out)
    for length in (len(content) - 1, len(content) * 2 // 3):
        write(out, content[:length])
        ran = run(command)

        assert ran.code in (2, 3)
        assert re.match(f"vqagen: {out}(:| was) (changed|damaged) or cut", ran.err)
        assert read(out) == content[:length]


@pytest.mark.slow
def test_outputs_at_two_urls_that_end_alike_have_parts_of_their_own(run: Commands) -> None:

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    settings = vqagen.QuestionSettings(reset_counts_every=WINDOW, templates_per_image=3)
    for folder in ("train", "val"):
        with pytest.raises(KeyboardInterrupt):
            vqagen.write_questions("scenes.json", f"memory://{folder}/q.json", settings=settings, on_progress=stop)
    parts = [name for name in os.listdir() if name.endswith(".part")]
    for folder in ("train", "val"):
        again = vqagen.RunOptions(resume=True)
        made = vqagen.write_questions("scenes.json", f"memory://{folder}/q.json", settings=settings, options=again)
        assert made.result.resumed_items == WINDOW

    assert len(parts) == 2
    assert all(name.startswith("q.json.") for name in parts)
    assert os.listdir() == ["scenes.json"]


@pytest.mark.parametrize("resume", ["", "--resume"])
def test_questions_are_not_written_among_the_scenes_that_are_read(run: Commands, resume: str) -> None:
    """The next run of the command would take them for scenes."""
    record = json.loads(Path("scenes.json").read_bytes())["scenes"][0]
    Path("scenes/deep").mkdir(parents=True)
    Path("scenes/0.json").write_text(json.dumps(record))
    for out in ("scenes/q.json", "scenes/deep/q.jsonl.gz", "./scenes/../scenes/q.ndjson"):
        ran = run(f"generate --scenes scenes --out {out} {resume}")

        assert ran.code == 2
        assert "lies in scenes, all of which the same run reads; name another folder" in ran.err
    pytest.importorskip("pyarrow")
    assert run(f"generate --scenes scenes --out scenes/q.parquet {resume}").code == 0


@pytest.mark.parametrize("selection", ["", "--dedupe all"])
def test_a_run_that_was_killed_before_its_report_gives_it_when_resumed(run: Commands, selection: str) -> None:
    flags = f"generate --scenes scenes.json {QUICK} {selection} --report r.json"
    run.done(f"{flags} --out q.json")
    wanted = json.loads(Path("r.json").read_bytes())
    Path("r.json").unlink()

    def stop(self: Report, out: str) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "_write_report", stop)
        assert run(f"{flags} --out p.json").code == 130
        assert run(f"{flags} --out p.json --resume").code == 130
    run.done(f"{flags} --out p.json --resume")
    made = json.loads(Path("r.json").read_bytes())

    assert {key: value for key, value in made.items() if key != "run"} == {
        key: value for key, value in wanted.items() if key != "run"
    }
    assert sorted(os.listdir()) == ["p.json", "q.json", "r.json", "scenes.json"]


def test_the_report_of_a_selection_is_that_of_the_run_also_after_its_end(run: Commands) -> None:
    """For callers in Python, who get it in hand."""
    settings = vqagen.QuestionSettings(reset_counts_every=WINDOW, templates_per_image=3, dedupe="all")
    made = vqagen.write_questions("scenes.json", "q.json", settings=settings)
    again = vqagen.write_questions("scenes.json", "q.json", settings=settings, options=vqagen.RunOptions(resume=True))

    assert made.questions == len(json.loads(Path("q.json").read_bytes())["questions"])
    assert made.questions + made.left_out.total() == made.tally.questions.total()
    assert (again.was_complete, again.questions) == (True, 0)


def test_a_report_that_cannot_be_made_any_more_is_told_of(run: Commands) -> None:
    run.done(f"generate --scenes scenes.json --out q.json {QUICK}")
    ran = run(f"generate --scenes scenes.json --out q.json {QUICK} --resume --report r.json")

    assert (ran.code, Path("r.json").exists()) == (0, False)
    assert "no report is written" in ran.err


def test_questions_without_programs_are_kept_apart_by_text_alone_and_that_is_told(run: Commands) -> None:
    run.done(f"generate --scenes scenes.json --out hidden.jsonl {QUICK} --hide-answers")
    ran = run(f"generate --scenes scenes.json --out q.json {QUICK} --seed 1 --disjoint-from hidden.jsonl")

    assert f"warning: hidden.jsonl: {3 * SCENES} questions without a program: only the text" in ran.err


def test_the_hint_for_bad_input_promises_nothing_false(run: Commands) -> None:
    document = json.loads(Path("scenes.json").read_bytes())
    document["scenes"][SCENES - 2]["objects"][0]["color"] = "bleu"
    Path("bad.json").write_text(json.dumps(document))
    ran = run(f"generate --scenes bad.json --out q.json {QUICK}")

    assert ran.code == 3
    assert "kept in q.json.part; --resume finishes it with the same input only" in ran.err
