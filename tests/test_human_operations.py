"""The care of a study's answers: status, forgetting, reclaiming, backups, copies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Commands
from human_answered import RATERS, START, make_answered
from human_stores import HOUR, claimed, content
from redis_servers import redis_server

from vqagen.calls.human_answers import study_status
from vqagen.cli import human_status
from vqagen.human.links.people import Participant, pseudonym
from vqagen.human.links.secret import load_secret
from vqagen.human.simulation.served_copy import copy_study
from vqagen.human.status import format_status
from vqagen.human.store import sqlite
from vqagen.human.store.lock import study_lock
from vqagen.human.store.opening import ANSWERS, open_store
from vqagen.human.store.store import Store
from vqagen.human.study.serving import SERVING_FILE
from vqagen.human.study.study import Study, load_study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return make_answered(tmp_path)


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


def test_a_lease_that_ran_out_is_overdue(study: Study) -> None:
    found = study_status(study.folder, now=START + 2 * HOUR)

    assert (found.slots.active, found.slots.overdue) == (0, 1)
    assert "ran out" in format_status(found)


def test_the_status_of_a_study_without_answers_is_empty(study: Study, vqagen_: Commands) -> None:
    for file in study.folder.glob("answers.sqlite*"):
        file.unlink()

    out = vqagen_.done("human status study").out.decode()

    assert f"0 of {len(study.tasks) * 3} slots complete (0 %)" in out
    assert "complete in: unknown" in out


def test_the_status_is_read_beside_a_server(study: Study, vqagen_: Commands) -> None:
    """It takes no lock, and writes nothing."""
    store = open_store(study.folder / ANSWERS, study.id, create=False)
    with study_lock(study.folder):
        claimed(store, "late", *study.tasks, slots=3, now=START)
        record = json.loads(vqagen_.done("human status study --json").out)

    assert record["raters"] == 7
    assert record["tasks"].keys() == study.tasks.keys()
    assert record["slots"]["free"] == record["slots"]["planned"] - 4
    store.close()


def test_the_status_is_the_same_from_redis(study: Study, vqagen_: Commands, tmp_path: Path) -> None:
    with redis_server(tmp_path / "redis") as server:
        vqagen_.done(f"human copy-store study {server.url}")

        now = START + HOUR
        assert study_status(study.folder, server.url, now=now) == study_status(study.folder, now=now)


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
    ran = vqagen_.done(f"human forget study {id}")
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

    vqagen_.done("human forget study Unkept")

    assert rater.encode() not in files_of(study)


def test_forgetting_beside_a_reader_says_how_to_empty_the_log(
    study: Study, vqagen_: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To forget the same person again is a mistake: nobody has the id any more."""
    monkeypatch.setattr(sqlite, "PATIENCE", 10)
    watching = reader(study)
    ran = vqagen_("human forget study Person0")
    watching.close()

    assert (ran.code, "end that process, and run `vqagen human reclaim`" in ran.err) == (4, True)
    assert b"Person0" in files_of(study)
    vqagen_.done("human reclaim study")
    assert b"Person0" not in files_of(study)


def test_nobody_is_forgotten_if_one_id_is_unknown(study: Study, vqagen_: Commands) -> None:
    before = kept(study)

    ran = vqagen_("human forget study Person0 Nobody Nothing")

    assert (ran.code, "has the id Nobody, Nothing; nothing was deleted" in ran.err) == (2, True)
    assert kept(study) == before


# Reclaiming, backups, copies ----------------------------------------------------------------------------------------


def test_reclaiming_frees_the_slots_of_late_raters(study: Study, vqagen_: Commands) -> None:
    """Their leases are of 2023."""
    assert "1 slot freed" in vqagen_.done("human reclaim study").err
    assert study_status(study.folder).expired == 2


def test_a_backup_is_a_store_with_all_that_was_there(study: Study, vqagen_: Commands) -> None:
    """Made beside a running server; it serves in place of the store."""
    before = kept(study)
    with study_lock(study.folder):
        vqagen_.done("human backup study --out backup.sqlite")
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
        assert vqagen_(f"human backup study {line}").code == 2, line

    assert kept(study) == before
    assert Path("there.sqlite").read_text() == "mine"


def test_a_store_is_copied_only_into_an_empty_one(study: Study, vqagen_: Commands) -> None:
    vqagen_.done("human copy-store study copy.sqlite")
    before = kept(study, "copy.sqlite")
    again = vqagen_("human copy-store study copy.sqlite")

    assert (again.code, "has answers already" in again.err) == (4, True)
    assert kept(study, "copy.sqlite") == before == kept(study)
    vqagen_.done("human copy-store copy.sqlite third.sqlite")
    assert kept(study, "third.sqlite") == before


def test_raters_go_on_in_a_copy(study: Study, vqagen_: Commands, tmp_path: Path) -> None:
    """The copy and its source do the same from then on."""
    stores = []
    with redis_server(tmp_path / "redis") as server:
        vqagen_.done(f"human copy-store study {server.url}")
        for place in (server.url, study.folder / ANSWERS):
            store = open_store(place, study.id, create=False)
            claimed(store, "new", *study.tasks, slots=3, now=START)
            stores.append(content(store))
            store.close()

    assert stores[0] == stores[1]


def test_a_study_says_where_its_answers_are(study: Study, vqagen_: Commands) -> None:
    """All commands read the copy then; a rehearsal has a store of its own."""
    before = study_status(study.folder, now=START)
    vqagen_.done("human copy-store study study/copy.sqlite")
    (study.folder / ANSWERS).unlink()
    (study.folder / SERVING_FILE).write_text('{"store": "sqlite:copy.sqlite"}')

    assert study_status(study.folder, now=START) == before
    assert vqagen_.done("human forget study Person0").err.startswith("1 ")
    assert copy_study(load_study(study.folder), study.folder.parent / "rehearsal").serving.store == ""


@pytest.mark.parametrize(
    "line", ["forget study Person0", "reclaim study", "copy-store study copy.sqlite", "copy-store other.sqlite study"]
)
def test_a_study_that_is_served_is_not_changed_by_others(study: Study, vqagen_: Commands, line: str) -> None:
    open_store("other.sqlite", study.id, create=True).close()
    with study_lock(study.folder):
        ran = vqagen_(f"human {line}")

    assert (ran.code, "is in use by process" in ran.err) == (4, True)


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("copy-store none.sqlite copy.sqlite", 4, "no answers at none.sqlite"),
        ("copy-store redis://127.0.0.1:1/0 copy.sqlite", 2, "name the folder of one with --study"),
        ("copy-store study copy.sqlite --study none", 2, "study folder none holds no study.json"),
        ("copy-store redis://:key@127.0.0.1:1/0 copy.sqlite --study study", 4, "cannot open redis://:…@127.0.0.1:1/0"),
        ("forget none Person0", 2, "study folder none does not exist"),
        ("status study --store redis://127.0.0.1:1/0", 4, "cannot open redis://127.0.0.1:1/0"),
    ],
)
def test_a_mistake_is_reported(study: Study, vqagen_: Commands, line: str, code: int, message: str) -> None:
    ran = vqagen_(f"human {line}")

    assert (ran.code, message in ran.err) == (code, True), ran.err
