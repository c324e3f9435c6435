"""The SQLite store: one file, one writer; a write is on the disk when `apply` returns."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import starmap
from pathlib import Path

from vqagen.human.store.sqlite_schema import MIGRATIONS, migrate, version_of
from vqagen.human.store.sqlite_writes import apply_write
from vqagen.human.store.store import (
    Answer,
    Assignment,
    Event,
    Forget,
    Outcome,
    Person,
    Row,
    SlotAttempts,
    StoreError,
    Write,
)

_ANSWERS = "SELECT assignment, trial, value, rt_ms, shown_ms, blur, stored, idem FROM answer"
_ASSIGNMENTS = "SELECT id, task, slot, rater, state, consent, claimed, expires, ended FROM assignment"
PATIENCE = 5_000
"""Milliseconds until a file that another process uses counts as locked."""
_FULL = 2
"""`PRAGMA synchronous`: each commit waits for the disk."""


class SqliteStore:
    """Answers of a study in an SQLite file. A read-only one sees the state at its opening, beside a live server too."""

    def __init__(self, path: Path, study: str, *, create: bool, read_only: bool = False) -> None:
        self._path, self._read_only = path, read_only
        if not path.exists() and (read_only or not create):
            raise StoreError(f"no answers at {path}: the study was not served yet, or its answers are elsewhere")
        try:
            self._connection = _connect_reader(path) if read_only else _connect_writer(path)
        except sqlite3.Error as error:
            raise self._failed("open", error) from None
        try:
            self._prepare(study, create)
        except BaseException as error:
            self._connection.close()
            if isinstance(error, sqlite3.Error):
                raise self._failed("open", error) from None
            raise

    def _prepare(self, study: str, create: bool) -> None:
        version = version_of(self._connection)
        if version < 0:
            raise StoreError(f"{self._path} is a database of another program; name another file")
        if version > len(MIGRATIONS):
            raise StoreError(f"{self._path} was written by a newer vqagen; install that version")
        if self._read_only and version < len(MIGRATIONS):
            raise StoreError(f"{self._path} has an old version; run `vqagen human serve` or `reclaim` once to renew it")
        if not self._read_only:
            (found,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise StoreError(f"{self._path} is damaged ({found.splitlines()[-1]}); restore a backup of it")
            migrate(self._connection, version)
            if create and self._connection.execute("SELECT id FROM study").fetchone() is None:
                self._connection.execute("INSERT INTO study VALUES (1, ?)", (study,))
        else:
            self._connection.execute("BEGIN")  # one state for all that is read
        row = self._connection.execute("SELECT id FROM study").fetchone()
        if row is None or row[0] != study:
            other = "no study" if row is None else f"study {row[0]}"
            raise StoreError(f"{self._path} has the answers of {other}, not of {study}; name another file")

    def apply(self, writes: Sequence[Write]) -> list[Outcome]:
        """Do all writes in one transaction. A failure leaves none of them."""
        if self._read_only:
            raise StoreError(f"{self._path} was opened for reading only")
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            outcomes = [apply_write(self._connection, write) for write in writes]
            self._connection.execute("COMMIT")
            if any(isinstance(write, Forget) for write in writes):
                self._erase()
        except BaseException as error:
            self._roll_back()
            if isinstance(error, sqlite3.Error):
                raise self._failed("write", error) from None
            raise
        return outcomes

    def _erase(self) -> None:
        """Write the file anew and empty its log, so that nothing deleted is left in either."""
        self._connection.execute("VACUUM")
        (is_busy, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if is_busy:
            message = f"another process reads {self._path}, so its log {self._path}-wal keeps what was deleted"
            raise StoreError(
                f"{message}; end that process, and run `vqagen human store reclaim`, which empties the log"
            )

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def restore(self, rows: Iterable[Row]) -> None:
        """Add rows as they are to an empty store, in one transaction."""
        tables = {Assignment: "assignment", Answer: "answer", Event: "event", Person: "person", SlotAttempts: "slot"}
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("PRAGMA defer_foreign_keys = ON")
            for row in rows:
                values = [getattr(row, name) for name in row.__slots__]
                if isinstance(row, Event):
                    values[1] = row.assignment or None
                self._connection.execute(
                    f"INSERT INTO {tables[type(row)]} VALUES ({','.join('?' * len(values))})", values
                )
            self._connection.execute("COMMIT")
        except BaseException as error:
            self._roll_back()
            if isinstance(error, sqlite3.Error):
                raise self._failed("write", error) from None
            raise

    def assignment(self, id: str) -> Assignment | None:
        """Return one assignment."""
        return next(starmap(Assignment, self._rows(f"{_ASSIGNMENTS} WHERE id = ?", id)), None)

    def assignments(self) -> Iterator[Assignment]:
        """Yield all assignments, sorted by id."""
        return starmap(Assignment, self._rows(f"{_ASSIGNMENTS} ORDER BY id"))

    def answers(self, assignment: str | None = None) -> Iterator[Answer]:
        """Yield the answers of one assignment or of all, sorted by assignment and trial."""
        if assignment is None:
            return starmap(Answer, self._rows(f"{_ANSWERS} ORDER BY assignment, trial"))
        return starmap(Answer, self._rows(f"{_ANSWERS} WHERE assignment = ? ORDER BY trial", assignment))

    def events(self) -> Iterator[Event]:
        """Yield the log."""
        found = self._rows("SELECT number, coalesce(assignment, ''), kind, detail, time FROM event ORDER BY number")
        return starmap(Event, found)

    def people(self) -> Iterator[Person]:
        """Yield who the raters are, sorted by rater."""
        return starmap(Person, self._rows("SELECT rater, platform, person FROM person ORDER BY rater"))

    def attempts(self) -> Iterator[SlotAttempts]:
        """Yield how often each slot was taken, sorted by task and slot."""
        return starmap(SlotAttempts, self._rows("SELECT task, slot, attempts FROM slot ORDER BY task, slot"))

    def _rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """Return all rows at once: none of them changes while they are used."""
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._failed("read", error) from None

    def close(self) -> None:
        """Close the file. The log is merged into it if nobody else reads it."""
        self._connection.close()

    def _failed(self, job: str, error: sqlite3.Error) -> StoreError:
        known = {
            "full": "free some space; everything that was acknowledged is safe",
            "malformed": "the file is damaged; restore a backup of it",
            "not a database": "name another file, or restore a backup of it",
            "readonly": "give the user of this process leave to write the file and its folder",
            "unable to open": "the folder must exist and be writable for the user of this process",
            "locked": "another process writes it; end that process",
        }
        if "decode" in str(error):  # the message would quote what is stored
            return StoreError(f"cannot {job} {self._path}: the file is damaged; restore a backup of it")
        hint = next((f"; {hint}" for part, hint in known.items() if part in str(error)), "")
        return StoreError(f"cannot {job} {self._path}: {error}{hint}")


def _connect_writer(path: Path) -> sqlite3.Connection:
    if not path.exists():
        try:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))  # it holds the ids of people
        except OSError as error:
            raise StoreError(f"cannot create {path}: {error.strerror}") from None
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.executescript(
            "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;"
            f"PRAGMA foreign_keys = ON; PRAGMA busy_timeout = {PATIENCE}; PRAGMA secure_delete = ON;"
        )
        (level,) = connection.execute("PRAGMA synchronous").fetchone()
        if mode != "wal" or level != _FULL:
            raise StoreError(f"{path} cannot be written safely here (journal {mode}, synchronous {level})")
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_reader(path: Path) -> sqlite3.Connection:
    """Open without leave to write. A log that cannot be opened and does not exist is done without."""
    uri = path.absolute().as_uri()
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, isolation_level=None)
    try:
        connection.execute(f"PRAGMA busy_timeout = {PATIENCE}")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        connection.close()
        if Path(f"{path}-wal").exists() or not isinstance(error, sqlite3.OperationalError):
            raise
        connection = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True, isolation_level=None)
    return connection
