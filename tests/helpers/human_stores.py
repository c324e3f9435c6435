"""A study's log with its state, without a server: what raters do, in one call each."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vqagen.human.store.facts import Claimed, Fact, Log, Noted, Submitted
from vqagen.human.store.opening import open_log
from vqagen.human.store.study_state import Grant, Receipt, StudyState

STUDY = "0123456789abcdef"
HOUR = 3_600_000


@dataclass
class Desk:
    """A log that is written, and the state that follows from it. Tasks have two slots of three trials."""

    log: Log
    study_state: StudyState = field(default_factory=StudyState)

    def claim(self, rater: str, *tasks: str, now: int = 0, slots: int = 2, trials: int = 3, **more: Any) -> Grant:
        """Let a rater consent."""
        person = more.get("person", f"person-{rater}")
        wish = Claimed(now, "", rater, 0, "c0", now + more.get("lease", HOUR), "id", person)
        given = dict.fromkeys(tasks or ("t",), trials)
        link = tasks[0] if len(tasks) == 1 else ""
        grant = self.study_state.claim(wish, given, slots, more.get("only"), more.get("most", 9), link)
        self.commit(*grant.facts)
        return grant

    def answer(self, assignment: str, trial: int, value: int | str = 5, now: int = 1, **more: int) -> Receipt:
        """Let a rater answer a trial."""
        times = {"rt_ms": 900, "shown_ms": 1_000, "server_ms": 1_100, "expires": now + HOUR}
        receipt = self.study_state.submit(Submitted(now, assignment, trial, value, **{**times, **more}))
        self.commit(*receipt.facts)
        return receipt

    def withdraw(self, assignment: str, now: int = 1, *, keep_answers: bool = False) -> None:
        """Let a rater withdraw."""
        facts, numbers = self.study_state.withdraw(
            self.study_state.assignments[assignment], now, keep_answers=keep_answers
        )
        self.log.append(self.study_state.take(facts), numbers)

    def note(self, assignment: str, kind: str, detail: str = "", now: int = 1) -> None:
        """Let a page report something."""
        self.commit(Noted(now, assignment, kind, detail))

    def forget(self, *raters: str, now: int = 1) -> None:
        """Forget raters, as the command does: the state is read again afterwards."""
        facts, numbers = self.study_state.forget(raters, now)
        self.log.append(self.study_state.take(facts), numbers)
        self.log.purge()
        self.study_state = StudyState(self.log.facts())

    def commit(self, *facts: Fact) -> None:
        """Append facts."""
        self.log.append(self.study_state.take(facts))


def open_desk(place: str | Path, study: str = STUDY, **options: Any) -> Desk:
    """Open the log of a study, which is made if it does not exist."""
    log = open_log(place, study, **{"create": True, **options})
    return Desk(log, StudyState(log.facts()))


class Faulty:
    """Opens a log that can be made to wait or to fail, and notes how it was used."""

    def __init__(self, path: Path, study: str = STUDY) -> None:
        self.path, self.study = path, study
        self.failure: Exception | None = None
        self.is_late = False
        """True if what fails is done all the same."""
        self.gate, self.is_writing = threading.Event(), threading.Event()
        self.gate.set()
        self.batches: list[int] = []
        self.opened = self.beats = 0

    def __call__(self) -> Log:
        self.opened += 1
        log = open_log(self.path, self.study, create=True)
        append, beat = log.append, log.beat

        def faulty_append(entries: Sequence[tuple[int, bytes]], erase: Sequence[int] = ()) -> None:
            self.is_writing.set()
            self.gate.wait()
            self.batches.append(len(entries))
            if self.failure is None or self.is_late:
                append(entries, erase)
            if self.failure:
                raise self.failure

        def faulty_beat() -> None:
            self.beats += 1
            if self.failure:
                raise self.failure
            beat()

        log.append, log.beat = faulty_append, faulty_beat  # type: ignore[method-assign]
        return log
