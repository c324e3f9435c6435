"""Scenes of a run: they are what its `info` names, however they change meanwhile, and whatever is resumed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from scene_records import many_scenes, sampled_scenes

import vqagen
from vqagen.files.formats import encode_lines
from vqagen.files.locations import Location, shipped
from vqagen.run.job import Job, make_job
from vqagen.run.runner import Progress
from vqagen.run.windows import in_process
from vqagen.tasks.questions.task import question_task
from vqagen.world.loading import SceneSource, find_scenes

SCENES, WINDOW = 120, 5
FILES = vqagen.find_domain(templates=shipped("templates") / "clevr" / "one_hop.json")
SETTINGS = vqagen.QuestionSettings(reset_counts_every=WINDOW, templates_per_image=2)
Record = dict[str, Any]
Writer = Callable[[list[Record]], object]


@cache
def sampled(seed: int) -> list[Record]:
    """Scenes longer than what the reader takes at once, so that it has not read all when the first block is made."""
    padding = {"padding": "x" * 6000}
    return [scene | padding for scene in many_scenes(SCENES, seed)]


def in_document(scenes: list[Record]) -> None:
    Path("scenes").write_text(json.dumps({"info": {}, "scenes": scenes}))


def in_lines(scenes: list[Record]) -> None:
    Path("scenes").write_text("".join(json.dumps(scene) + "\n" for scene in scenes))


def in_folder(scenes: list[Record]) -> None:
    Path("scenes").mkdir(exist_ok=True)
    for number, scene in enumerate(scenes):
        Path("scenes", f"{number:03d}.json").write_text(json.dumps(scene))


WRITERS = [in_document, in_lines, in_folder]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(
    out: str, workers: int = 1, resume: bool = False, on_progress: Callable[[Progress], None] | None = None
) -> bytes:
    """The questions about the scenes."""
    options = vqagen.RunOptions(workers=workers, resume=resume)
    vqagen.write_questions("scenes", out, FILES, SETTINGS, options=options, on_progress=on_progress or (lambda _: None))
    return Path(out).read_bytes()


def write_meanwhile(change: Callable[[], object], workers: int = 1) -> None:
    """Have the scenes changed when the first block is made, which the run must notice."""
    changes: Iterator[object] = (change() for _ in range(1))
    with pytest.raises(vqagen.BadInput, match=r"^scenes(/\d+\.json)?: changed while it was read") as told:
        write("q.json", workers, on_progress=lambda _: next(changes, None))
    assert "what was made is kept in q.json.part; --resume finishes it with the same input only" in str(
        told.value.__notes__
    )


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
def test_nothing_is_kept_that_was_made_of_changed_scenes(writer: Writer, workers: int) -> None:
    """With the old scenes in their place again, a resumed run has the bytes of one that was left alone."""
    ours, others = sampled(1), sampled(2)
    writer(ours)
    whole = write("whole.json")

    write_meanwhile(lambda: writer(others), workers)
    writer(ours)

    assert write("q.json", workers, resume=True) == whole


@pytest.mark.slow
def test_scenes_that_change_while_they_are_looked_into_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was seen in the file is not what the hash is taken of."""
    in_document(sampled(1))

    def find_and_change(path: Location) -> SceneSource:
        found = find_scenes(path)
        in_document(sampled(2))
        return found

    monkeypatch.setattr("vqagen.run.job.find_scenes", find_and_change)
    job = job_about("scenes")

    with pytest.raises(vqagen.BadInput, match=r"^scenes: changed while it was read$"):
        made(job)


@pytest.mark.parametrize("name", ["scenes.json", "scenes"])
def test_scenes_in_a_store_that_change_are_noticed(name: str, memory: MemoryFileSystem) -> None:
    """Those of one file behind the first scene and at the end, those of a folder behind each."""

    def put(seed: int) -> None:
        scenes = sampled_scenes(6, seed)
        document = json.dumps({"scenes": scenes}).encode()
        texts = (
            {"": document}
            if name == "scenes.json"
            else {f"/{n}.json": json.dumps(s).encode() for n, s in enumerate(scenes)}
        )
        for inside, text in texts.items():
            memory.pipe(f"/watched/{name}{inside}", text)

    put(1)
    job = job_about(f"memory://watched/{name}")

    assert made(job)
    put(1)
    with pytest.raises(vqagen.BadInput, match="changed while it was read"):
        made(job)


def job_about(scenes: str, settings: vqagen.QuestionSettings = SETTINGS) -> Job:
    """A job of questions."""
    return make_job(question_task(FILES, settings, vqagen.RecordForm()), scenes, None)


def made(job: Job) -> bytes:
    """All records of a job, in this process."""
    windows = ((job.first, window) for window in job.windows(job.first))
    try:
        return b"".join(block.body for block in in_process(job.work(encode_lines), windows))
    except vqagen.VqagenError as error:
        raise job.located(error) from None


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
def test_a_start_behind_the_last_scene_is_bad_input(writer: Writer) -> None:
    """Once it made an empty output."""
    writer(sampled(1)[:7])
    expected = r"^scenes: no scene 7 to start at: there are 7 scenes, numbered from 0$"
    with pytest.raises(vqagen.BadInput, match=expected):
        job_about("scenes", SETTINGS.cut_to(7, 0))
