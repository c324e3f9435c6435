"""The log in SQLite: safe on the disk, refused when it is not ours, and without a trace of what is deleted."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from depth import fewer
from human_stores import STUDY, open_desk

from vqagen.errors import InputWarning
from vqagen.human.store import opening
from vqagen.human.store.facts import StoreError
from vqagen.human.store.opening import SqliteLog, open_log, study_lock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The place of a log that does not exist yet."""
    return tmp_path / "answers.sqlite"


def test_a_commit_waits_for_the_disk(path: Path) -> None:
    """`synchronous` 2 is FULL. Read again after writes: they must not change it. Only the owner reads the files."""
    desk = open_desk(path)
    desk.claim("a")
    assert isinstance(desk.log, SqliteLog)
    safe = {"synchronous": 2, "journal_mode": "wal", "busy_timeout": 5_000, "secure_delete": 1}

    assert {name: desk.log._value(f"PRAGMA {name}") for name in safe} == safe
    assert {file.stat().st_mode & 0o777 for file in path.parent.glob("answers.sqlite*")} == {0o600}
    desk.log.close()


def test_the_database_itself_keeps_entries_as_they_are(path: Path) -> None:
    desk = open_desk(path)
    desk.claim("a")
    assert isinstance(desk.log, SqliteLog)

    for statement in ("UPDATE entry SET body = ''", "INSERT INTO entry VALUES (1, '')"):
        with pytest.raises(sqlite3.IntegrityError):
            desk.log._connection.execute(statement)


def test_what_raters_took_back_is_in_no_file(path: Path) -> None:
    """Neither in the database nor in SQLite's log, also while it is open; the answers of others still are."""
    desk = open_desk(path)
    for rater in ("forgotten", "withdrawn", "other"):
        desk.claim(rater, slots=9, trials=999)
    for trial in range(1, fewer(300, 100)):
        for slot, rater in enumerate(("forgotten", "withdrawn", "other")):
            desk.answer(f"t-{slot}-0", trial, f"{rater}-answer-{trial}")
    desk.withdraw("t-1-0")

    def kept() -> bytes:
        return b"".join(file.read_bytes() for file in path.parent.iterdir())

    assert [kept().count(b"%b-answer-1" % rater) > 0 for rater in (b"forgotten", b"withdrawn", b"other")] == [
        *(True, False, True)
    ]
    desk.forget("forgotten")
    assert (kept().count(b"forgotten"), kept().count(b"person-other")) == (0, 1)
    desk.log.close()


def write_other_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()


def write_version(path: Path, version: int) -> None:
    open_desk(path).log.close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


def write_damaged(path: Path) -> None:
    desk = open_desk(path)
    for number in range(300):
        desk.claim(f"rater{number}", slots=500)
    desk.log.close()
    content = bytearray(path.read_bytes())
    content[20_000:40_000] = b"\xff" * 20_000
    path.write_bytes(content)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("write", "message"),
    [
        (write_other_database, "database of another program"),
        (lambda path: write_version(path, 1), "older vqagen; name another file"),
        (lambda path: write_version(path, 99), "newer vqagen"),
        (write_damaged, "damaged.*restore a backup"),
        (lambda path: path.write_bytes(b"not a database at all" * 100), "not a database"),
        (lambda path: path.mkdir(), "cannot open"),
    ],
    ids=["other", "older", "newer", "damaged", "text", "folder"],
)
def test_a_file_that_is_no_sound_log_is_refused(path: Path, write: Callable[[Path], None], message: str) -> None:
    write(path)

    with pytest.raises(StoreError, match=rf"{path}.*{message}|{message}.*{path}"):
        open_log(path, STUDY, create=True)


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot open \S+/no/answers.sqlite: .*the folder must exist"):
        open_log(tmp_path / "no" / "answers.sqlite", STUDY, create=True)


def test_the_message_about_a_damaged_entry_quotes_nothing_that_is_stored(path: Path) -> None:
    """It would show answers, and control characters, in a terminal."""
    open_desk(path).log.close()
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO entry VALUES (1, x'1B5B33FF')")
    connection.close()

    with pytest.raises(StoreError, match=r"^\S+ is damaged at entry 1; restore a backup of it$"):
        list(open_log(path, STUDY).facts())


# The lock -----------------------------------------------------------------------------------------------------------


def test_a_second_process_is_refused_with_the_id_of_the_first(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from vqagen.human.store.opening import study_lock\n"
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
        assert (tmp_path / opening.LOCK).read_text().strip().isdigit()


def test_a_network_file_system_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda1 / ext4 rw 0 0\nserver:/home {tmp_path} nfs4 rw 0 0\n")

    assert opening._file_system(tmp_path, mounts) == "nfs4"
    assert opening._file_system(Path("/"), mounts) == "ext4"
    monkeypatch.setattr(opening, "_file_system", lambda folder: "nfs4")
    with pytest.warns(InputWarning, match="network file system"), study_lock(tmp_path):
        pass
