"""Exports: equal answers give equal bytes, wherever they are stored, and no ids unless they are asked for."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from pathlib import Path

import pytest
from commands import Commands
from human_answered import RATERS, START, make_answered
from human_stores import STUDY

from vqagen.human.export.dictionary import ANSWERS, ASSIGNMENTS, FILES
from vqagen.human.export.rows import answer_rows, read_rows
from vqagen.human.store.opening import ANSWERS as STORE
from vqagen.human.store.opening import open_store
from vqagen.human.study.item import CHECK
from vqagen.human.study.study import Study


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study with answers, which no test of this file changes."""
    return make_answered(tmp_path_factory.mktemp("answered"))


@pytest.fixture
def vqagen_(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.chdir(tmp_path)
    return Commands(capsysbinary)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_an_export_has_a_row_for_each_stored_answer(made: Study, vqagen_: Commands) -> None:
    ran = vqagen_.done(f"human export {made.folder} --out answers")

    rows = list(read_rows("answers"))
    store = open_store(made.folder / STORE, made.id, create=False, read_only=True)
    assert rows == list(answer_rows(made, store))
    assert [(row.assignment, row.trial, row.value, row.stored) for row in rows] == [
        (answer.assignment, answer.trial, answer.value, answer.stored) for answer in store.answers()
    ]
    assert {row.rater for row in rows} == set(RATERS[:5])
    assert ran.err == f"{len(rows)} answers of 6 raters in 6 assignments\n"
    store.close()


def test_a_row_states_what_was_judged_and_how_it_was_shown(made: Study, vqagen_: Commands) -> None:
    """Values are turned toward the second text, and checks say which text is right."""
    vqagen_.done(f"human export {made.folder} --out answers")

    for row in read_rows("answers"):
        trial = made.trials(row.task, row.slot)[row.trial - 1]
        texts = [each.text for each in trial.item.candidates]
        assert (row.item, row.image, row.use) == (trial.item.id, trial.item.image, trial.item.use)
        assert [row.first_source, row.second_source] == [each.source for each in trial.item.candidates]
        assert trial.texts == (tuple(texts) if row.second_on_right else tuple(reversed(texts)))
        assert row.toward_second == (row.value if row.second_on_right else 10 - row.value)
        assert (row.gold_is_second is None) == (row.use != CHECK)


def test_a_backup_gives_the_same_bytes(made: Study, vqagen_: Commands) -> None:
    options = "--include-ids --events"
    vqagen_.done(f"human export {made.folder} {options} --out answers")
    vqagen_.done(f"human store backup {made.folder} --out copy.sqlite")
    vqagen_.done(f"human export {made.folder} {options} --store copy.sqlite --out of-copy")

    assert bytes_of(Path("of-copy")) == bytes_of(Path("answers"))


def test_ids_and_events_are_exported_only_if_asked_for(made: Study, vqagen_: Commands) -> None:
    vqagen_.done(f"human export {made.folder} --out plain")
    vqagen_.done(f"human export {made.folder} --out full --include-ids --events")

    plain, full = bytes_of(Path("plain")), bytes_of(Path("full"))
    assert set(full) - set(plain) == {"people.csv", "events.jsonl"}
    assert not [name for name, content in plain.items() if b"Person" in content]
    assert full["people.csv"].decode().splitlines()[:2] == ["rater,platform,person", f"{RATERS[0]},id,Person0"]
    assert Path("full/people.csv").stat().st_mode & 0o777 == 0o600
    kinds = {json.loads(line)["kind"] for line in full["events.jsonl"].splitlines()}
    assert kinds == {"claim", "answer_new", "webdriver", "complete", "withdraw", "expire"}


def test_every_column_is_in_the_dictionary(made: Study, vqagen_: Commands) -> None:
    """And the manifest has the hash of every other file."""
    vqagen_.done(f"human export {made.folder} --out answers --include-ids --events")

    files = bytes_of(Path("answers"))
    for name, (_, columns) in FILES.items():
        first = files[name].splitlines()[0]
        found = list(json.loads(first)) if name.endswith("jsonl") else next(csv.reader([first.decode()]))
        assert found == [column.name for column in columns], name
    page, manifest = files["dictionary.md"].decode(), json.loads(files["manifest.json"])
    assert all(f"| {column.name} |" in page for column in (*ANSWERS, *ASSIGNMENTS))
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items() if name != "manifest.json"}
    assert {name: entry["sha256"] for name, entry in manifest["files"].items()} == hashes


def test_assignments_are_exported_with_times_and_flags(made: Study, vqagen_: Commands) -> None:
    vqagen_.done(f"human export {made.folder} --out answers")

    rows = list(csv.DictReader(Path("answers/assignments.csv").read_text().splitlines()))
    by_rater = {row["rater"]: row for row in rows}
    assert [by_rater[rater]["state"] for rater in RATERS] == [
        *("complete", "complete", "claimed", "expired", "withdrawn", "withdrawn")
    ]
    assert by_rater[RATERS[0]]["claimed"] == str(START)
    assert by_rater[RATERS[2]]["ended"] == ""
    assert "partial" in by_rater[RATERS[2]]["flags"].split()
    assert "webdriver" in by_rater[RATERS[1]]["flags"].split()
    assert (by_rater[RATERS[4]]["answers"], by_rater[RATERS[5]]["answers"]) == ("2", "0")


def test_only_an_export_is_replaced_and_its_ids_go(made: Study, vqagen_: Commands) -> None:
    vqagen_.done(f"human export {made.folder} --out answers --include-ids")
    refused = vqagen_(f"human export {made.folder} --out answers")
    vqagen_.done(f"human export {made.folder} --out answers --force")
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("mine")
    other = vqagen_(f"human export {made.folder} --out mine --force")

    assert (refused.code, "give --force" in refused.err) == (2, True)
    assert not Path("answers/people.csv").exists()
    assert (other.code, "other files than an export (thesis.txt)" in other.err) == (2, True)
    assert [file.name for file in Path("mine").iterdir()] == ["thesis.txt"]
    assert sorted(file.name for file in Path().iterdir()) == ["answers", "mine"]


MISTAKES = [
    ("human export none --out answers", 3, "study folder none does not exist"),
    ("human export {study} --out missing/answers", 3, "folder .*missing does not exist"),
    ("human export {study} --out answers --store none.sqlite", 3, "no answers at none.sqlite"),
    ("human export {study} --out answers --store http://x", 2, "unknown store"),
    ("human export {study} --out answers --store text.txt", 3, "not a database"),
    ("human export {study} --out answers --store other.sqlite", 3, f"answers of study {STUDY}, not of "),
]


def test_a_mistake_is_reported(made: Study, vqagen_: Commands) -> None:
    Path("text.txt").write_text("no database " * 100)
    open_store("other.sqlite", STUDY, create=True).close()

    wrong = []
    for line, code, message in MISTAKES:
        ran = vqagen_(line.format(study=made.folder))
        if ran.code != code or not re.search(message, ran.err):
            wrong.append((message, ran))
    assert wrong == []
    assert not Path("answers").exists()
