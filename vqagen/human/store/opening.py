"""Opening the log of a study: its lock, and where it is. A file is SQLite, redis:// and rediss:// are Redis.

In SQLite there is one writer; what was appended is on the disk when `append` returns.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from vqagen.errors import Problem, UsageError, warn
from vqagen.human.settings import STRICT
from vqagen.human.store.facts import LOCK, LOST, Fact, Log, StoreError, decoded, hide_password

_REMOTE = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "gluster", "lustre", "beegfs", "gpfs", "fuse.sshfs", "fuse.s3fs")
"""Beginnings of the names of file systems on other machines."""
PATIENCE = 5.0
"""Seconds until a file that another process uses counts as locked."""
APPLICATION, VERSION = 0x76716148, 2
"""`PRAGMA application_id` marks a file as ours, and `user_version` has the version of its tables."""
_FULL = 2
"""`PRAGMA synchronous`: each commit waits for the disk."""
_SAFE = """
PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA secure_delete = ON;
"""
_TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE study (id TEXT NOT NULL, beats INTEGER NOT NULL);
CREATE TABLE entry (number INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TRIGGER entry_stays BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'an entry never changes'); END;
PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};
"""
_HINTS = {
    "full": "free some space; everything that was acknowledged is safe",
    "malformed": "the file is damaged; restore a backup of it",
    "not a database": "name another file, or restore a backup of it",
    "readonly": "give the user of this process leave to write the file and its folder",
    "unable to open": "the folder must exist and be writable for the user of this process",
    "No such file": "the folder must exist",
    "locked": "another process writes it; end that process",
    "UNIQUE": "another process writes it; end that process",
}
"""Part of SQLite's message -> what to do."""


def open_log(
    store: str | Path, study: str, *, create: bool = False, read_only: bool = False, durability: str = STRICT
) -> Log:
    """Open the log of a study at a path, `sqlite:PATH` or `redis[s]://…`; `create` makes one that does not exist.

    StoreError if it is of another study, damaged, unreachable, or (Redis, strict) not safe.
    """
    if is_redis(store):
        from vqagen.human.store.redis import RedisLog

        return RedisLog(str(store), study, create=create, read_only=read_only, is_strict=durability == STRICT)
    return SqliteLog(sqlite_path(store), study, create=create, read_only=read_only)


def read_facts(store: str | Path, study: str) -> list[tuple[int, Fact]]:
    """Return all facts of a study with their numbers, beside a server that is writing too: as of one moment."""
    with closing(open_log(store, study, read_only=True)) as log:
        return list(log.facts())


def is_redis(store: str | Path) -> bool:
    """True for the address of a Redis server."""
    return str(store).startswith(("redis://", "rediss://"))


def sqlite_path(store: str | Path) -> Path:
    """Return the path of an SQLite file.

    >>> sqlite_path("sqlite:answers.sqlite"), sqlite_path("sqlite:///var/study/answers.sqlite")
    (PosixPath('answers.sqlite'), PosixPath('/var/study/answers.sqlite'))
    """
    text = str(store)
    if "://" in text and not text.startswith("sqlite://"):
        raise UsageError(f"unknown store {hide_password(text)}; give a path, sqlite:PATH, redis://… or rediss://…")
    return Path(text.removeprefix("sqlite://").removeprefix("sqlite:"))


@contextmanager
def study_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a study. Raise StoreError with the process that holds it already."""
    if (system := _file_system(folder)).startswith(_REMOTE):
        message = f"lies on a network file system ({system}), where answers can be lost: keep studies on a local disk"
        warn(Problem(message, str(folder)))
    with (folder / LOCK).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            message = f"{folder} is in use by process {file.read().strip() or 'unknown'}, which serves or changes it"
            raise StoreError(f"{message}; end that process first, or wait until it is done") from None
        except OSError as error:  # some network file systems have no locks
            message = f"cannot be locked ({error.strerror}): take care that no other process serves this study"
            warn(Problem(message, str(folder)))
        file.truncate(0)
        print(os.getpid(), file=file, flush=True)
        yield


def _file_system(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """Return the type of the file system of a folder; "" where the system does not say."""
    with suppress(OSError):
        lines = [line.encode().decode("unicode_escape").split(" ") for line in mounts.read_text("utf-8").splitlines()]
        resolved = folder.resolve()
        return max((len(line[1]), line[2]) for line in lines if resolved.is_relative_to(line[1]))[1]
    return ""


# SQLite ---------------------------------------------------------------------------------------------------------------


class SqliteLog:
    """Facts of a study in a file. One that is read only sees what was acknowledged, beside a live server too."""

    def __init__(self, path: Path, study: str, *, create: bool, read_only: bool = False) -> None:
        self._path = path
        if not path.exists() and not create:
            raise StoreError(f"no answers at {path}: the study was not served yet, or {LOST}")
        create = create and not (path.exists() and path.stat().st_size == 0)  # no log of ours ever is
        with self._explained("open"):
            self._connection = _connect(path, read_only)
            try:
                self._check(study, create, read_only)
            except BaseException:
                self.close()
                raise

    def _check(self, study: str, create: bool, read_only: bool) -> None:
        """Raise StoreError if what is written or read could be wrong; make the tables of a new file."""
        if not read_only:
            mode = self._value("PRAGMA journal_mode = WAL")
            self._connection.executescript(_SAFE)
            if (mode, level := self._value("PRAGMA synchronous")) != ("wal", _FULL):
                raise StoreError(f"{self._path} cannot be written safely here (journal {mode}, synchronous {level})")
        if (faults := self._value("PRAGMA quick_check(1)")) != "ok":
            raise StoreError(f"{self._path} is damaged ({faults.splitlines()[-1]}); restore a backup of it")
        version = self._value("PRAGMA user_version")
        is_empty = not version and not self._value("SELECT count(*) FROM sqlite_master")
        if is_empty and not create:
            raise StoreError(
                f"{self._path} is empty: its answers were lost; restore a backup, or delete it to begin anew"
            )
        if is_empty:
            self._connection.executescript(f"{_TABLES} INSERT INTO study VALUES ('{study}', 0); COMMIT;")
        elif self._value("PRAGMA application_id") != APPLICATION:
            raise StoreError(f"{self._path} is a database of another program; name another file")
        elif version != VERSION:
            way = "an older vqagen; name another file" if version < VERSION else "a newer vqagen; install that version"
            raise StoreError(f"{self._path} was written by {way}")
        if (owner := self._value("SELECT min(id) FROM study")) != study:
            raise StoreError(f"{self._path} has the answers of study {owner}, not of {study}; name another file")

    def append(self, entries: Sequence[tuple[int, bytes]], erase: Sequence[int] = ()) -> None:
        """Do all in one transaction. What was deleted is not left in SQLite's own log either."""
        with self._explained("write"), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT INTO entry VALUES (?, ?)", entries)
            self._connection.executemany("DELETE FROM entry WHERE number = ?", ((number,) for number in erase))
        if erase:
            self._empty_log()

    def facts(self) -> Iterator[tuple[int, Fact]]:
        """Read all at once."""
        with self._explained("read"):
            rows = self._connection.execute("SELECT number, body FROM entry ORDER BY number").fetchall()
        return decoded(rows, self._path)

    def purge(self) -> None:
        """Write the file anew and empty SQLite's own log beside it."""
        with self._explained("write"):
            self._connection.execute("VACUUM")
        self._empty_log()

    def _empty_log(self) -> None:
        with self._explained("write"):
            if self._value("PRAGMA wal_checkpoint(TRUNCATE)"):
                message = f"another process reads it; until that ends, {self._path}-wal keeps what was deleted"
                warn(Problem(message, str(self._path)))

    def beat(self) -> None:
        """Count the calls."""
        with self._explained("write"):
            self._connection.execute("UPDATE study SET beats = beats + 1")

    def close(self) -> None:
        """Close the file. SQLite's own log is merged into it if nobody else reads it."""
        self._connection.close()

    def _value(self, query: str) -> Any:
        """Return the first value of the first row."""
        return self._connection.execute(query).fetchone()[0]

    @contextmanager
    def _explained(self, job: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            hint = next((f"; {hint}" for part, hint in _HINTS.items() if part in str(error)), "")
            raise StoreError(f"cannot {job} {self._path}: {error}{hint}") from None


def _connect(path: Path, read_only: bool) -> sqlite3.Connection:
    mode = "rw"
    if read_only:  # SQLite needs a file for its log, unless nobody can write
        is_writable = os.access(path.absolute().parent, os.W_OK) or Path(f"{path}-wal").exists()
        mode = "ro" if is_writable else "ro&immutable=1"
    elif not path.exists():
        path.touch(0o600)  # it holds the ids of people
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=PATIENCE)
