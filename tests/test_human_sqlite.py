"""The SQLite store: safe on the disk, refused when it is not ours, and without a trace of what is deleted."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from human_stores import STUDY, claim, claimed, content, one, submit

from vqagen.errors import InputWarning
from vqagen.human.store import lock, sqlite_schema
from vqagen.human.store.lock import study_lock
from vqagen.human.store.opening import open_store
from vqagen.human.store.sqlite import SqliteStore
from vqagen.human.store.sqlite_schema import MIGRATIONS, migrate
from vqagen.human.store.store import Forget, StoreError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The place of a store that does not exist yet."""
    return tmp_path / "answers.sqlite"


def opened(path: Path) -> SqliteStore:
    store = open_store(path, STUDY, create=True)
    assert isinstance(store, SqliteStore)
    return store


def pragma(store: SqliteStore, name: str) -> object:
    return store._connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_a_commit_waits_for_the_disk(path: Path) -> None:
    """`synchronous` 2 is FULL. Read again after writes: they must not change it."""
    store = opened(path)
    claimed(store, "a")
    safe = {"synchronous": 2, "journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 5_000, "secure_delete": 1}

    assert {name: pragma(store, name) for name in safe} == safe
    store.close()


def test_a_store_is_for_its_owner_alone(path: Path) -> None:
    """It holds the ids of people; the log of the database gets the same leave."""
    store = opened(path)
    claimed(store, "a")

    assert {file.stat().st_mode & 0o777 for file in path.parent.glob("answers.sqlite*")} == {0o600}
    store.close()


BROKEN_RULES = [
    "INSERT INTO assignment VALUES ('t-0-9', 't', 0, 'z', 'claimed', '', 0, 0, NULL)",
    "INSERT INTO assignment VALUES ('t-1-9', 't', 1, 'a', 'claimed', '', 0, 0, NULL)",
    "INSERT INTO assignment VALUES ('t-2-0', 't', 2, 'z', 'lost', '', 0, 0, NULL)",
    "INSERT INTO assignment VALUES ('t-2-0', 't', 2, 'z', 'complete', '', 0, 0, NULL)",
    "INSERT INTO answer VALUES ('t-0-0', 1, 6, 0, 0, 0, 0, '')",
    "INSERT INTO answer VALUES ('t-0-0', 2, 6, 0, 0, 0, 0, 't-0-0/1')",
    "INSERT INTO answer VALUES ('t-0-0', 2, 'six', 0, 0, 0, 0, '')",
    "INSERT INTO answer VALUES ('t-9-9', 1, 6, 0, 0, 0, 0, '')",
    "INSERT OR REPLACE INTO study VALUES (2, 'other')",
    "UPDATE answer SET value = 6",
    "UPDATE event SET detail = ''",
    "DELETE FROM assignment",
]


def test_the_database_itself_keeps_the_rules(path: Path) -> None:
    """One holder of a slot, one assignment of a task for a rater, one answer to a trial, which never changes."""
    store = opened(path)
    claimed(store, "a")
    one(store, submit("t-0-0", 1, 5))
    before = content(store)

    for statement in BROKEN_RULES:
        with pytest.raises(sqlite3.IntegrityError):
            store._connection.execute(statement)
    assert content(store) == before
    store.close()


def test_a_forgotten_rater_is_in_no_file(path: Path) -> None:
    """Neither in the database nor in its log; others still are."""
    store = opened(path)
    for rater in ("forgotten-rater", "other-rater"):
        made = claimed(store, rater, person=f"{rater}-id", consent=f"{rater}-consent")
        store.apply([submit(made.id, trial, 5, idem=f"{rater}-{trial}") for trial in range(1, 200)])
    one(store, Forget(("forgotten-rater",), 3))

    kept = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert kept.count(b"forgotten") == 0
    assert kept.count(b"other-rater-id") == 1
    store.close()


def write_other_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()


def write_newer_store(path: Path) -> None:
    opened(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def write_damaged_store(path: Path) -> None:
    store = opened(path)
    store.apply([claim(f"rater{number}", slots=500) for number in range(500)])
    store.close()
    content = bytearray(path.read_bytes())
    content[20_000:40_000] = b"\xff" * 20_000
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (write_other_database, "database of another program"),
        (write_newer_store, "newer vqagen"),
        (write_damaged_store, "damaged.*restore a backup"),
        (lambda path: path.write_bytes(b"not a database at all" * 100), "not a database"),
        (lambda path: path.mkdir(), "cannot open"),
    ],
    ids=["other", "newer", "damaged", "text", "folder"],
)
def test_a_file_that_is_no_sound_store_is_refused(path: Path, write: Callable[[Path], None], message: str) -> None:
    write(path)

    with pytest.raises(StoreError, match=rf"{path}.*{message}|{message}.*{path}"):
        opened(path)


def test_the_message_about_damaged_text_quotes_nothing_that_is_stored(path: Path) -> None:
    """It would show answers, and control characters, in a terminal."""
    store = opened(path)
    made = claimed(store, "a")
    store.close()
    with sqlite3.connect(path) as connection:
        detail = "CAST(x'1B5B33' || x'FF' || 'secret' AS TEXT)"
        connection.execute(
            f"INSERT INTO event (assignment, kind, detail, time) VALUES (?, 'x', {detail}, 1)", (made.id,)
        )
    connection.close()

    with pytest.raises(StoreError, match=r"^cannot read .*: the file is damaged; restore a backup of it$"):
        list(opened(path).events())


def test_an_old_store_is_brought_to_the_newest_version(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answers stay; reading alone changes no file."""
    store = opened(path)
    claimed(store, "a")
    before = content(store)
    store.close()
    newer = (*MIGRATIONS, "ALTER TABLE person ADD COLUMN note TEXT;")
    monkeypatch.setattr("vqagen.human.store.sqlite.MIGRATIONS", newer)
    monkeypatch.setattr("vqagen.human.store.sqlite.migrate", lambda to, version: migrate(to, version, newer))

    with pytest.raises(StoreError, match="old version"):
        open_store(path, STUDY, create=False, read_only=True)
    renewed = opened(path)

    assert content(renewed) == before
    assert sqlite_schema.version_of(renewed._connection) == 2
    renewed.close()


# The lock -----------------------------------------------------------------------------------------------------------


def test_a_second_process_is_refused_with_the_id_of_the_first(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from vqagen.human.store.lock import study_lock\n"
        "with study_lock(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    first = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert first.stdout is not None
    assert first.stdout.readline() == b"held\n"

    with pytest.raises(StoreError, match=rf"in use by process {first.pid}\b") as raised, study_lock(tmp_path):
        pass

    assert raised.value.exit_code == 3
    first.kill()
    first.communicate()
    with study_lock(tmp_path):
        assert (tmp_path / lock.LOCK).read_text().strip().isdigit()


def test_a_network_file_system_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda1 / ext4 rw 0 0\nserver:/home {tmp_path} nfs4 rw 0 0\n")

    assert lock._file_system(tmp_path, mounts) == "nfs4"
    assert lock._file_system(Path("/"), mounts) == "ext4"
    monkeypatch.setattr(lock, "_file_system", lambda folder: "nfs4")
    with pytest.warns(InputWarning, match="network file system"), study_lock(tmp_path):
        pass
