"""Questions that are not to be asked again: every process reads them for itself, and reads the same."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from commands import Commands
from scene_records import sampled_scenes

import vqagen
from vqagen.files.formats import encode_lines
from vqagen.files.locations import shipped
from vqagen.run.job import Job, make_job
from vqagen.tasks.questions.task import question_task

ONE_HOP = shipped("templates") / "clevr" / "one_hop.json"
ASKED = f"generate --scenes scenes.json --templates {ONE_HOP} --reset-counts-every 5 --disjoint-from old.jsonl"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in a folder with scenes, and with questions about them that were asked before."""
    monkeypatch.chdir(tmp_path)
    Path("scenes.json").write_text(json.dumps({"scenes": sampled_scenes(20)}))
    commands = Commands(capfdbinary)
    commands.done(f"generate --scenes scenes.json --templates {ONE_HOP} -o old.jsonl")
    return commands


def job() -> Job:
    files = vqagen.find_domain(templates=ONE_HOP)
    return make_job(question_task(files, vqagen.QuestionSettings(), vqagen.RecordForm(), ["old.jsonl"]), "scenes.json")


@pytest.mark.slow
def test_workers_keep_the_same_questions_apart(run: Commands) -> None:
    run.done(f"{ASKED} -o one.json")
    run.done(f"{ASKED} -o two.json --workers 2")
    old = {json.loads(line)["question"] for line in Path("old.jsonl").read_bytes().splitlines()}

    assert Path("two.json").read_bytes() == Path("one.json").read_bytes()
    assert old.isdisjoint(record["question"] for record in json.loads(Path("two.json").read_bytes())["questions"])


@pytest.mark.slow
def test_a_worker_in_another_folder_finds_the_files(run: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = job()
    here = begun.work(encode_lines)
    windows, travelled = [list(window) for window in begun.windows(0)], pickle.dumps(here)
    monkeypatch.chdir("/")
    there = pickle.loads(travelled)

    assert there.loaded is None
    assert list(there.load()(windows[0], 0)) == list(here.load()(windows[0], 0))


def test_other_questions_than_those_that_the_run_began_with_are_refused(run: Commands) -> None:
    begun = job()
    work = pickle.loads(pickle.dumps(begun.work(encode_lines)))
    Path("old.jsonl").write_bytes(Path("old.jsonl").read_bytes() * 2)

    with pytest.raises(vqagen.VqagenError, match=r"old.jsonl: not what the run began with"):
        work.load()
    with pytest.raises(vqagen.VqagenError, match=r"^old.jsonl: not what the run began with"):
        begun.work(encode_lines)


@pytest.mark.slow
def test_hidden_programs_are_told_of_once(run: Commands) -> None:
    run.done(f"generate --scenes scenes.json --templates {ONE_HOP} -o old.jsonl --hide-answers --force")
    told = "questions without a program: only the text of such a question is not asked again"

    assert run.done(f"{ASKED} -o q.json").err.count(told) == 1
    assert told not in run.done(f"{ASKED} -o q.json --resume").err
