"""The tables of the SQLite store, and the steps from each version of them to the next."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

APPLICATION = 0x76716148
"""Marks a file as a store of vqagen (`PRAGMA application_id`)."""

_FIRST = """
CREATE TABLE study (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    id TEXT NOT NULL
);
CREATE TABLE slot (
    task TEXT NOT NULL,
    slot INTEGER NOT NULL CHECK (slot >= 0),
    attempts INTEGER NOT NULL CHECK (attempts > 0),
    PRIMARY KEY (task, slot)
) WITHOUT ROWID;
CREATE TABLE assignment (
    id TEXT NOT NULL PRIMARY KEY,
    task TEXT NOT NULL,
    slot INTEGER NOT NULL CHECK (slot >= 0),
    rater TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('claimed', 'complete', 'expired', 'withdrawn')),
    consent TEXT NOT NULL,
    claimed INTEGER NOT NULL CHECK (typeof(claimed) = 'integer'),
    expires INTEGER NOT NULL CHECK (typeof(expires) = 'integer'),
    ended INTEGER CHECK ((ended IS NULL) = (state = 'claimed')),
    UNIQUE (rater, task)
) WITHOUT ROWID;
CREATE UNIQUE INDEX assignment_holds_slot ON assignment (task, slot) WHERE state IN ('claimed', 'complete');
CREATE INDEX assignment_lease ON assignment (expires) WHERE state = 'claimed';
CREATE TABLE answer (
    assignment TEXT NOT NULL REFERENCES assignment (id),
    trial INTEGER NOT NULL CHECK (typeof(trial) = 'integer'),
    value INTEGER NOT NULL CHECK (typeof(value) = 'integer'),
    rt_ms INTEGER NOT NULL,
    shown_ms INTEGER NOT NULL,
    blur INTEGER NOT NULL,
    stored INTEGER NOT NULL,
    idem TEXT NOT NULL,
    PRIMARY KEY (assignment, trial)
) WITHOUT ROWID;
CREATE UNIQUE INDEX answer_idem ON answer (assignment, idem) WHERE idem <> '';
CREATE TRIGGER answer_stays BEFORE UPDATE ON answer BEGIN SELECT RAISE(ABORT, 'an answer never changes'); END;
CREATE TABLE event (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    assignment TEXT REFERENCES assignment (id),
    kind TEXT NOT NULL,
    detail TEXT NOT NULL,
    time INTEGER NOT NULL
);
CREATE INDEX event_assignment ON event (assignment);
CREATE TRIGGER event_stays BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'an event never changes'); END;
CREATE TABLE person (
    rater TEXT NOT NULL PRIMARY KEY,
    platform TEXT NOT NULL,
    person TEXT NOT NULL
) WITHOUT ROWID;
"""

MIGRATIONS: tuple[str, ...] = (_FIRST,)
"""`MIGRATIONS[n]` brings the tables from version n (0: an empty file) to version n + 1."""


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of the tables; 0 for an empty file, -1 for a database of another program."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application == APPLICATION:
        return int(version)
    return -1 if tables or version or application else 0


def migrate(connection: sqlite3.Connection, version: int, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring the tables from `version` to the newest, in one transaction each step."""
    for number, statements in enumerate(migrations[version:], version + 1):
        marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {number};"
        try:
            connection.executescript(f"BEGIN IMMEDIATE; {statements} {marks} COMMIT;")
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
