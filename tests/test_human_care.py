"""Care of the answers of a study: backups that can be used, and people who are forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Commands
from human_stores import open_desk
from study_files import make_study

from vqagen.errors import InputWarning
from vqagen.human.links.people import Participant, pseudonym
from vqagen.human.links.secret import load_secret
from vqagen.human.store import sqlite
from vqagen.human.store.care import forget
from vqagen.human.store.opening import ANSWERS, load_roster, open_log, read_facts, study_lock
from vqagen.human.study.study import Study

NAMES = ("ann", "bob", "eve")


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study in which three people have begun, and one of them has withdrawn."""
    study = make_study(tmp_path, raters_per_item=3)
    secret, desk = load_secret(study.folder), open_desk(study.folder / ANSWERS, study.id)
    for name in NAMES:
        made = desk.claim(pseudonym(secret, Participant("id", name)), *study.tasks, slots=3, person=f"{name}-person")
        desk.answer(made.assignment, 1)
    desk.withdraw(made.assignment)
    desk.log.close()
    return study


@pytest.fixture
def vqagen_(capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    return Commands(capsysbinary)


def test_a_backup_is_a_log_with_all_facts(study: Study, vqagen_: Commands, tmp_path: Path) -> None:
    """Also while the study is served; numbers of facts stay, so that the server goes on behind them."""
    out = tmp_path / "backup.sqlite"
    with study_lock(study.folder):
        ran = vqagen_.done(f"human store backup {study.folder} --out {out}")

    assert ran.err == f"6 facts in {out}\n"
    assert read_facts(out, study.id) == read_facts(study.folder / ANSWERS, study.id)
    assert [number for number, _ in read_facts(out, study.id)] == [1, 2, 3, 4, 5, 7]
    assert out.stat().st_mode & 0o777 == 0o600
    open_log(out, study.id).close()


def test_a_backup_replaces_only_what_it_may(study: Study, vqagen_: Commands, tmp_path: Path) -> None:
    out = tmp_path / "backup.sqlite"
    out.write_text("precious")
    command = f"human store backup {study.folder} --out"
    refused = [vqagen_(f"{command} {name}") for name in (out, f"{study.folder / ANSWERS} --force", tmp_path, "no/x")]

    assert [ran.code for ran in refused] == [2, 2, 3, 3]
    assert out.read_text() == "precious"
    vqagen_.done(f"{command} {out} --force")
    assert len(read_facts(out, study.id)) == 6
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []


@pytest.mark.parametrize("name", ["ann", "id/ann", "ann-person", "pseudonym"])
def test_a_person_is_forgotten_by_any_of_their_names(study: Study, vqagen_: Commands, name: str) -> None:
    rater = pseudonym(load_secret(study.folder), Participant("id", "ann"))
    ran = vqagen_.done(f"human store forget {study.folder} {rater if name == 'pseudonym' else name}")

    roster = load_roster(study.folder / ANSWERS, study.id)
    assert "1 rater forgotten, 2 facts deleted\n" in ran.err
    assert rater not in {each.rater for each in roster.assignments.values()}
    assert sorted(person for _, person in roster.people.values()) == ["bob-person", "eve-person"]
    assert b"ann-person" not in (study.folder / ANSWERS).read_bytes()


def test_nobody_is_forgotten_if_one_name_is_unknown_or_the_study_is_served(study: Study, vqagen_: Commands) -> None:
    before = read_facts(study.folder / ANSWERS, study.id)
    unknown = vqagen_(f"human store forget {study.folder} ann nobody none")
    with study_lock(study.folder):
        busy = vqagen_(f"human store forget {study.folder} ann")

    assert (unknown.code, busy.code) == (2, 3)
    assert "has the id nobody, none; nothing was deleted" in unknown.err
    assert "is in use by process" in busy.err
    assert read_facts(study.folder / ANSWERS, study.id) == before


def test_a_reader_that_keeps_deleted_answers_in_a_file_is_warned_of(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE", 0.01)
    reader = open_log(study.folder / ANSWERS, study.id, read_only=True)
    assert isinstance(reader, sqlite.SqliteLog)
    reader._connection.execute("BEGIN")
    reader._value("SELECT count(*) FROM entry")

    with pytest.warns(InputWarning, match="another process reads it; until that ends, .*-wal keeps what was deleted"):
        assert forget(study.folder, ["ann"]) == (1, 2)
    reader.close()


WRONG = [
    ("backup study", "missing --out"),
    ("backup study ann --out x", "backup takes no ID, found ann"),
    ("forget study", "missing ID"),
    ("forget study ann --out x", "forget has no --out"),
]


def test_an_action_says_what_it_lacks_or_would_not_use(vqagen_: Commands) -> None:
    for line, message in WRONG:
        ran = vqagen_(f"human store {line}")
        assert (ran.code, message in ran.err) == (2, True), ran.err
