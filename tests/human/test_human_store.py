"""A study's log, and the state that follows from it: in SQLite and Redis, whatever raters do and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import pytest
from depth import fewer
from human_stores import HOUR, STUDY, Desk, open_desk
from hypothesis import HealthCheck, given, settings, strategies as st
from redis_servers import RedisServer, redis_server

from vqagen.human.store.facts import Claimed, Ended, Noted, Resumed, StoreError
from vqagen.human.store.opening import open_log, read_facts
from vqagen.human.store.study_state import CLAIMED, COMPLETE, EXPIRED, FULL, NEW, REFUSED, WAIT, Grant, StudyState

# Laws of the state ----------------------------------------------------------------------------------------------------

RATERS, TASKS, TRIALS = "abc", ("s", "t"), 2
"""One slot of s and two of t are given: few enough that raters meet."""
STEPS = 50


def random_steps(rng: Random) -> Iterator[tuple[Any, ...]]:
    """Yield what raters do. The clock jumps now and then, also back."""
    now = 0
    for _ in range(STEPS):
        now = rng.choice([now, now + 1, now + 1, rng.randrange(30)])
        name = rng.choice(["claim"] * 4 + ["answer"] * 6 + ["withdraw", "note", "forget"])
        which, rater = rng.randrange(4), rng.choice(RATERS)
        more: dict[str, tuple[Any, ...]] = {
            "claim": (rater, rng.choice([("s",), ("t",), TASKS])),
            "answer": (which, rng.randint(1, TRIALS), rng.choice([1, 2, "xyzzy", "plugh"])),
            "withdraw": (which, rng.random() < 0.5),
            "note": (which,),
            "forget": (rater,),
        }
        yield name, *more[name], now


def do(desk: Desk, step: tuple[Any, ...]) -> None:
    """Do a step at its time; `which` of the assignments it concerns is counted from the last one."""
    name, which, *more, now = step
    if name == "claim":
        desk.claim(which, *more[0], only=0 if more[0] == ("s",) else None, now=now, lease=5, trials=TRIALS)
    elif name == "forget":
        desk.forget(which, now=now)
    elif which < len(desk.study_state.assignments):
        id = list(desk.study_state.assignments)[-1 - which]
        if name == "answer":
            desk.answer(id, more[0], more[1], now, expires=now + 5)
        elif name == "withdraw":
            desk.withdraw(id, now, keep_answers=more[0])
        else:
            desk.note(id, "comment", f"words in {id}.", now)


def stated(study_state: StudyState) -> Any:
    """Return all that a state holds."""
    return (
        study_state.last,
        study_state.people,
        study_state._attempts,
        [asdict(each) for each in study_state.assignments.values()],
    )


class Witness:
    """Sees what raters do, and knows which of it must not happen."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        self.answers: dict[tuple[str, int], int | str] = {}

    def check(self, study_state: StudyState, step: tuple[Any, ...]) -> None:
        """Compare the state after a step with what was seen before."""
        for each in study_state.assignments.values():
            assert self.ids.setdefault(each.id, each.rater) == each.rater, "no id is used again"
            for trial, answer in each.answers.items():
                assert self.answers.setdefault((each.id, trial), answer.value) == answer.value, "no answer changes"
            assert (each.state == COMPLETE) == (len(each.answers) == TRIALS and each.state != EXPIRED)
        holders = [
            (each.task, each.slot)
            for each in study_state.assignments.values()
            if each.state == COMPLETE or (each.state == CLAIMED and each.answers)
        ]
        assert len(holders) == len(set(holders)), "no slot is held twice, at any time"
        assert step[0] != "forget" or all(each.rater != step[1] for each in study_state.assignments.values())


def test_the_state_follows_from_the_log_and_keeps_its_rules(tmp_path: Path) -> None:
    """Whatever raters do, at whatever time the clock says it is; what they took back is in no file.

    The quick run tries few examples, since each step waits for the disk.
    """

    @settings(max_examples=fewer(fewer(200)), derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.integers(0))
    def check(seed: int) -> None:
        for file in tmp_path.iterdir():
            file.unlink()
        desk, witness = open_desk(tmp_path / "log.sqlite"), Witness()
        for step in random_steps(Random(seed)):
            do(desk, step)
            witness.check(desk.study_state, step)
        live = stated(desk.study_state)
        kept = b"".join(file.read_bytes() for file in sorted(tmp_path.iterdir()))
        desk.log.close()

        assert stated(StudyState(read_facts(tmp_path / "log.sqlite", STUDY))) == live
        answers = [each.value for of in desk.study_state.assignments.values() for each in of.answers.values()]
        for word in ("xyzzy", "plugh"):
            assert (word in answers) == (word.encode() in kept)
        for id, each in desk.study_state.assignments.items():
            assert each.answer_entries or f"words in {id}.".encode() not in kept
        for rater in RATERS:
            is_known = any(each.rater == rater for each in desk.study_state.assignments.values())
            assert is_known or f"person-{rater}".encode() not in kept

    check()


def test_a_slot_is_held_by_who_answers_and_consent_alone_holds_nothing(tmp_path: Path) -> None:
    """So a program that consents under a thousand names closes no study."""
    desk = open_desk(tmp_path / "log.sqlite")
    ids = [desk.claim(f"r{number}", slots=1).assignment for number in range(5)]
    assert ids == [f"t-0-{number}" for number in range(5)]
    assert desk.answer("t-0-3", 1).kind == NEW

    assert [desk.study_state.assignments[id].state for id in ids] == [EXPIRED] * 3 + [CLAIMED, EXPIRED]
    assert desk.claim("late", slots=1, now=2) == Grant("", WAIT, retry=HOUR + 1)
    assert desk.answer("t-0-0", 1).kind == REFUSED
    for trial in (2, 3):
        desk.answer("t-0-3", trial)
    assert desk.claim("late", slots=1, now=2) == Grant("", FULL)
    assert desk.study_state.assignments["t-0-3"].state == COMPLETE


def test_a_late_answer_is_taken_unless_somebody_else_holds_the_slot(tmp_path: Path) -> None:
    desk = open_desk(tmp_path / "log.sqlite")
    ann = desk.claim("ann", slots=1).assignment
    desk.answer(ann, 1)
    late = 3 * HOUR
    bob = desk.claim("bob", slots=1, now=late).assignment
    assert desk.answer(ann, 2, now=late).kind == NEW
    assert desk.answer(bob, 1, now=late).kind == REFUSED

    bob = desk.claim("bob", slots=1, now=2 * late).assignment
    assert desk.answer(bob, 1, now=2 * late).kind == NEW
    assert desk.answer(ann, 3, now=2 * late).kind == REFUSED
    assert desk.claim("ann", slots=1, now=2 * late) == Grant(ann)
    assert desk.claim("ann", slots=1, now=3 * late).facts == (
        Resumed(3 * late, ann, 3 * late + HOUR),
        _ended(bob, late),
    )


def _ended(assignment: str, late: int) -> Ended:
    return Ended(3 * late, assignment, EXPIRED)


# Both logs ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis server for the tests of this file."""
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("redis", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a log is that does not exist yet."""
    if request.param == "sqlite":
        return str(tmp_path / "answers.sqlite")
    server: RedisServer = request.getfixturevalue("server")
    with server.client() as client:
        client.flushall()
    return server.url


@pytest.fixture
def opens(place: str) -> Iterator[Callable[..., Desk]]:
    """Opens the same log again and again."""
    with ExitStack() as stack:

        def opens(study: str = STUDY, **options: Any) -> Desk:
            desk = open_desk(place, study, **options)
            stack.callback(desk.log.close)
            return desk

        yield opens


def test_a_log_has_what_was_appended_and_not_erased(opens: Callable[..., Desk], place: str) -> None:
    """Also for a reader beside the writer; a sign of life is no fact."""
    desk = opens()
    desk.claim("a")
    for trial in (1, 2):
        desk.answer("t-0-0", trial, trial)
    desk.log.beat()
    before = read_facts(place, STUDY)
    desk.withdraw("t-0-0")

    assert [type(fact).__name__ for _, fact in before] == ["Claimed", "Submitted", "Submitted"]
    assert [number for number, _ in before] == [1, 2, 3]
    assert read_facts(place, STUDY) == list(desk.log.facts()) == [before[0], (4, Ended(1, "t-0-0", "withdrawn", False))]
    desk.log.close()
    assert list(opens(create=False).log.facts()) == read_facts(place, STUDY)


def test_a_second_writer_is_refused_with_all_that_it_wrote(opens: Callable[..., Desk], place: str) -> None:
    """Half of it would be facts about assignments that the log does not have."""
    first, second = opens(), opens()
    first.claim("a")
    facts = second.study_state.claim(Claimed(0, "", "b", 0, "c", 9), {"t": 3}, 2, None, 1).facts

    with pytest.raises(StoreError, match="another process writes"):
        second.commit(*facts, Noted(1, "t-0-0", "focus"))
    first.answer("t-0-0", 1)
    assert [number for number, _ in read_facts(place, STUDY)] == [1, 2]


def test_a_log_never_shows_answers_of_another_study(opens: Callable[..., Desk]) -> None:
    """A file has one study; a Redis server may have several."""
    opens().claim("a")

    with pytest.raises(StoreError, match=rf"answers of study {STUDY}, not of ffff|no answers at redis"):
        opens("ffff", create=False)


def test_a_log_is_made_only_if_asked_for(place: str) -> None:
    for read_only in (True, False):
        with pytest.raises(StoreError, match="no answers at"):
            open_log(place, STUDY, read_only=read_only)


def test_texts_and_numbers_come_back_as_they_were(opens: Callable[..., Desk], place: str) -> None:
    desk = opens()
    desk.claim("a", trials=99)
    texts: list[int | str] = ["é", "\x00", "'; DROP TABLE entry; --", "💩" * 100, 'a\\u0000\n"', "nil", 2**53, -1]
    for number, text in enumerate(texts, 1):
        desk.answer("t-0-0", number, text, now=2**53 - HOUR, rt_ms=2**53)

    answers = StudyState(read_facts(place, STUDY)).assignments["t-0-0"].answers
    assert [each.value for each in answers.values()] == texts
    assert answers == desk.study_state.assignments["t-0-0"].answers
