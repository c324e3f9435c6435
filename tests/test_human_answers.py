"""The answers of a study: status, forgetting, reclaiming, backups, exports; equal answers give equal bytes."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import pytest
from commands import Commands
from human_answered import RATERS, START, make_answered
from human_stores import STUDY, claimed, content
from vqagen.human.store.store import Store

from vqagen.calls.human_answers import study_status
from vqagen.cli import human_status
from vqagen.human.export.dictionary import ANSWERS as ANSWER_COLUMNS
from vqagen.human.export.dictionary import ASSIGNMENTS, FILES
from vqagen.human.export.rows import answer_rows, read_rows
from vqagen.human.links.people import Participant, pseudonym
from vqagen.human.links.secret import load_secret
from vqagen.human.store import sqlite
from vqagen.human.store.lock import study_lock
from vqagen.human.store.opening import ANSWERS, open_store
from vqagen.human.study.item import CHECK, INSTRUCTED
from vqagen.human.study.serving import SERVING_FILE
from vqagen.human.study.study import Study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return make_answered(tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study with answers, which no test of this file changes."""
    return make_answered(tmp_path_factory.mktemp("answered"))


@pytest.fixture
def vqagen_(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.chdir(tmp_path)
    return Commands(capsysbinary)


def reader(study: Study, place: str | Path = "") -> Store:
    return open_store(place or study.folder / ANSWERS, study.id, create=False, read_only=True)


def kept(study: Study, place: str | Path = "") -> object:
    """Return all that a store holds."""
    store = reader(study, place)
    try:
        return content(store)
    finally:
        store.close()


# Status -------------------------------------------------------------------------------------------------------------


def test_the_status_counts_slots_systems_and_flags(study: Study) -> None:
    """Of six raters, two are done, one works, one is late and two have withdrawn."""
    found = study_status(study.folder, now=START + 10 * 60_000)

    slots = len(study.tasks) * 3
    assert (found.slots.planned, found.slots.complete, found.slots.active, found.slots.free) == (slots, 2, 1, slots - 3)
    assert (found.raters, found.expired, found.withdrawn) == (6, 1, 2)
    real = [row for task in study.tasks.values() for row in task.trials if study.items[row.item].use == "real"]
    assert sum(planned for _, planned in found.systems.values()) == 3 * len(real)
    assert found.systems.keys() == {"ours", "theirs"}
    assert found.flags["partial"] == 3
    assert found.flags["webdriver"] == 1
    assert [(lease.rater, lease.answers) for lease in found.leases] == [(RATERS[2], 2)]
    assert found.remaining == (slots - 2) * (9 * 60_000)


def test_a_watched_study_is_shown_until_it_is_complete(
    study: Study, vqagen_: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []

    def wait(seconds: float) -> None:
        looks.append(1)
        if len(looks) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(human_status.time, "sleep", wait)
    ran = vqagen_("human status study --json --watch")

    assert ran.code == 130
    assert [json.loads(line)["raters"] for line in ran.out.splitlines()] == [6, 6]


# Forgetting ---------------------------------------------------------------------------------------------------------


def files_of(study: Study) -> bytes:
    return b"".join(file.read_bytes() for file in study.folder.rglob("*") if file.is_file())


@pytest.mark.parametrize("id", ["Person0", "id/Person0", RATERS[0]])
def test_a_forgotten_person_is_nowhere_in_the_study(study: Study, vqagen_: Commands, id: str) -> None:
    """By the id, with its platform, or by pseudonym. A new export has nothing either; others stay."""
    ran = vqagen_.done(f"human store forget study {id}")
    vqagen_.done("human export study --out answers --include-ids --events")

    everything = files_of(study) + b"".join(file.read_bytes() for file in Path("answers").iterdir())
    assert everything.count(b"Person0") == 0
    assert everything.count(RATERS[0].encode()) == 0
    assert everything.count(b"Person1") > 0
    assert "1 rater forgotten" in ran.err


def test_a_person_whose_id_was_not_kept_is_found_by_the_secret(study: Study, vqagen_: Commands) -> None:
    rater = pseudonym(load_secret(study.folder), Participant("prolific", "Unkept"))
    store = open_store(study.folder / ANSWERS, study.id, create=False)
    claimed(store, rater, *study.tasks, slots=3, now=START, person="")
    store.close()

    vqagen_.done("human store forget study Unkept")

    assert rater.encode() not in files_of(study)


def test_forgetting_beside_a_reader_says_how_to_empty_the_log(
    study: Study, vqagen_: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To forget the same person again is a mistake: nobody has the id any more."""
    monkeypatch.setattr(sqlite, "PATIENCE", 10)
    watching = reader(study)
    ran = vqagen_("human store forget study Person0")
    watching.close()

    assert (ran.code, "run `vqagen human store reclaim`" in ran.err) == (3, True)
    assert b"Person0" in files_of(study)
    vqagen_.done("human store reclaim study")
    assert b"Person0" not in files_of(study)


def test_nobody_is_forgotten_if_one_id_is_unknown(study: Study, vqagen_: Commands) -> None:
    before = kept(study)

    ran = vqagen_("human store forget study Person0 Nobody Nothing")

    assert (ran.code, "has the id Nobody, Nothing; nothing was deleted" in ran.err) == (2, True)
    assert kept(study) == before


# Reclaiming, backups, copies ----------------------------------------------------------------------------------------


def test_reclaiming_frees_the_slots_of_late_raters(study: Study, vqagen_: Commands) -> None:
    """Their leases are of 2023."""
    assert "1 slot freed" in vqagen_.done("human store reclaim study").err
    assert study_status(study.folder).expired == 2


def test_a_backup_is_a_store_with_all_that_was_there(study: Study, vqagen_: Commands) -> None:
    """Made beside a running server; it serves in place of the store."""
    before = kept(study)
    with study_lock(study.folder):
        vqagen_.done("human store backup study --out backup.sqlite")
    for file in study.folder.glob("answers.sqlite*"):
        file.unlink()
    Path("backup.sqlite").rename(study.folder / ANSWERS)

    assert kept(study) == before
    assert (study.folder / ANSWERS).stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in Path().iterdir() if "part" in file.name) == []


def test_a_backup_never_replaces_the_store(study: Study, vqagen_: Commands) -> None:
    before = kept(study)
    Path("there.sqlite").write_text("mine")

    for line in ("--out study/answers.sqlite --force", "--out there.sqlite", "--out study", "--out none/b.sqlite"):
        assert vqagen_(f"human store backup study {line}").code == 2, line

    assert kept(study) == before
    assert Path("there.sqlite").read_text() == "mine"


def test_a_study_says_where_its_answers_are(study: Study, vqagen_: Commands) -> None:
    """All commands read the copy then."""
    before = study_status(study.folder, now=START)
    vqagen_.done("human store backup study --out study/copy.sqlite")
    (study.folder / ANSWERS).unlink()
    (study.folder / SERVING_FILE).write_text('{"store": "sqlite:copy.sqlite"}')

    assert study_status(study.folder, now=START) == before
    assert vqagen_.done("human store forget study Person0").err.startswith("1 ")


# Exports -------------------------------------------------------------------------------------------------------------


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_an_export_has_a_row_for_each_stored_answer(made: Study, vqagen_: Commands) -> None:
    ran = vqagen_.done(f"human export {made.folder} --out answers")

    rows = list(read_rows("answers"))
    store = open_store(made.folder / ANSWERS, made.id, create=False, read_only=True)
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
        assert (row.gold_value is None) == (row.use != INSTRUCTED)


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
    assert all(f"| {column.name} |" in page for column in (*ANSWER_COLUMNS, *ASSIGNMENTS))
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


# Mistakes ------------------------------------------------------------------------------------------------------------

MISTAKES = [
    ("store forget none Person0", 3, "study folder none does not exist"),
    ("store forget study", 2, "missing ID"),
    ("store reclaim study Person0", 2, "reclaim takes no ID, found Person0"),
    ("store backup study", 2, "missing --out"),
    ("store reclaim study --out a.sqlite", 2, "reclaim has no --out"),
    ("export none --out answers", 3, "study folder none does not exist"),
    ("export study --out missing/answers", 3, "missing does not exist"),
    ("export study --out answers --store none.sqlite", 3, "no answers at none.sqlite"),
    ("export study --out answers --store http://x", 2, "unknown store"),
    ("export study --out answers --store text.txt", 3, "not a database"),
    ("export study --out answers --store other.sqlite", 3, f"answers of study {STUDY}, not of "),
    ("status study --store redis://:key@127.0.0.1:1/0", 3, "cannot open redis://:…@127.0.0.1:1/0"),
]


def test_a_mistake_is_reported(study: Study, vqagen_: Commands) -> None:
    """A study that is served is not changed by others."""
    Path("text.txt").write_text("no database " * 100)
    open_store("other.sqlite", STUDY, create=True).close()
    wrong = []
    for line, code, message in MISTAKES:
        ran = vqagen_(f"human {line}")
        if ran.code != code or message not in ran.err:
            wrong.append((line, ran))
    with study_lock(study.folder):
        for line in ("forget study Person0", "reclaim study"):
            ran = vqagen_(f"human store {line}")
            if ran.code != 3 or "is in use by process" not in ran.err:
                wrong.append((line, ran))

    assert wrong == []
