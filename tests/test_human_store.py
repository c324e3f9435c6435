"""The contract of stores, which both keep: what is claimed and answered first stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from human_stores import HOUR, STORES, STUDY, claim, claimed, content, one, submit
from redis_servers import RedisServer, redis_server

from vqagen.human.store.opening import open_store
from vqagen.human.store.store import (
    CLAIMED,
    COMPLETE,
    DIFFERENT,
    EXPIRED,
    NEW,
    SAME,
    WITHDRAWN,
    Answer,
    Assignment,
    Complete,
    Count,
    Ended,
    Forget,
    Log,
    NoSlot,
    NotActive,
    Person,
    Reclaim,
    Store,
    StoreError,
    Submitted,
    Withdraw,
)

Opens = Callable[..., Store]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis server for the tests of this file."""
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=STORES)
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opens]:
    """Opens the same store again and again, or another one; the options are those of `open_store`."""
    places = (str(tmp_path / "answers.sqlite"), str(tmp_path / "other.sqlite"))
    if request.param == "redis":
        server: RedisServer = request.getfixturevalue("server")
        places = (server.url, server.url.removesuffix("0") + "1")
        with server.client() as client:
            client.flushall()
    with ExitStack() as stack:

        def opens(study: str = STUDY, *, is_other: bool = False, **options: Any) -> Store:
            opened = open_store(places[is_other], study, **{"create": True, **options})
            stack.callback(opened.close)
            return opened

        yield opens


@pytest.fixture
def store(opens: Opens) -> Store:
    """An empty store."""
    return opens()


# Claims -------------------------------------------------------------------------------------------------------------


def test_a_claim_takes_the_lowest_free_slot_of_the_first_task(store: Store) -> None:
    ids = [claimed(store, rater, "s", "t").id for rater in "abcd"]

    assert ids == ["s-0-0", "s-1-0", "t-0-0", "t-1-0"]
    assert one(store, claim("e", "s", "t")) == NoSlot(is_limit=False)


def test_a_claim_says_when_it_was_made_and_ends(store: Store) -> None:
    made = claimed(store, "a", now=5)

    assert made == Assignment("t-0-0", "t", 0, "a", CLAIMED, "c0", 5, 5 + HOUR, None)
    assert store.assignment("t-0-0") == made
    assert store.assignment("t-1-0") is None


def test_claims_of_one_batch_take_each_slot_once(store: Store) -> None:
    outcomes = store.apply([claim(f"r{number}", slots=10) for number in range(100)])

    assert [each.id for each in outcomes if isinstance(each, Assignment)] == [f"t-{slot}-0" for slot in range(10)]
    assert outcomes.count(NoSlot(is_limit=False)) == 90


def test_a_rater_who_asks_again_has_the_same_assignment(store: Store) -> None:
    first = claimed(store, "a", "s", "t")

    assert claimed(store, "a", "s", "t", now=9) == first
    assert len(list(store.assignments())) == 1


@pytest.mark.parametrize("end", [Complete("t-0-0", 0, 9), Withdraw("t-0-0", keep_answers=True, now=9)])
def test_a_rater_who_has_ended_a_task_does_not_get_it_again(store: Store, end: Complete | Withdraw) -> None:
    claimed(store, "a")
    one(store, end)

    again = claimed(store, "a", now=10)

    assert (again.id, again.state, again.ended) == ("t-0-0", COMPLETE if isinstance(end, Complete) else WITHDRAWN, 9)


def test_a_rater_has_at_most_so_many_assignments(store: Store) -> None:
    """Withdrawn ones count, or a rater would see everything."""
    claimed(store, "a", "s", most=2)
    one(store, Withdraw("s-0-0", keep_answers=False, now=1))
    claimed(store, "a", "t", most=2)

    assert one(store, claim("a", "u", most=2)) == NoSlot(is_limit=True)


def test_a_personal_link_takes_its_own_slot_only(store: Store) -> None:
    assert claimed(store, "a", only_slot=1).id == "t-1-0"
    assert one(store, claim("b", only_slot=1)) == NoSlot(is_limit=False)
    assert claimed(store, "b").id == "t-0-0"


def test_the_slot_of_an_expired_lease_goes_to_the_next_rater(store: Store) -> None:
    """The one that ran out first, and only if no slot is free."""
    claimed(store, "a", now=0)
    assert claimed(store, "b", now=HOUR + 1).id == "t-1-0"

    assert claimed(store, "c", now=HOUR + 2).id == "t-0-1"
    assert one(store, claim("d", now=HOUR + 2)) == NoSlot(is_limit=False)
    assert [each.state for each in store.assignments()] == [EXPIRED, CLAIMED, CLAIMED]


def test_of_expired_leases_the_one_that_ran_out_first_ends(store: Store) -> None:
    """Not that of the lowest slot, nor that of the first task."""
    for rater, task, now in (("a", "s", 20), ("b", "s", 10), ("c", "t", 0)):
        claimed(store, rater, task, slots=2, now=now)

    taken = [claimed(store, rater, "s", "t", slots=2, now=HOUR + 30).id for rater in "defg"]
    assert taken == ["t-1-0", "t-0-1", "s-1-1", "s-0-1"]


def test_a_rater_whose_time_ran_out_continues_if_the_slot_is_free(store: Store) -> None:
    claimed(store, "a")
    one(store, submit("t-0-0", 1, 5))
    one(store, Reclaim(HOUR))

    again = claimed(store, "a", now=HOUR + 1)

    assert (again.id, again.state, again.expires, again.ended) == ("t-0-0", CLAIMED, 2 * HOUR + 1, None)
    assert [answer.value for answer in store.answers("t-0-0")] == [5]


def test_a_rater_whose_slot_was_taken_stays_expired(store: Store) -> None:
    claimed(store, "a", slots=1)
    claimed(store, "b", slots=1, now=HOUR)

    assert claimed(store, "a", slots=1, now=HOUR + 1).state == EXPIRED


def test_the_slot_of_a_withdrawn_rater_is_free(store: Store) -> None:
    claimed(store, "a")
    one(store, Withdraw("t-0-0", keep_answers=True, now=1))

    assert claimed(store, "b").id == "t-0-1"


def test_the_person_behind_a_rater_is_kept_apart(store: Store) -> None:
    """No id is kept where none is given."""
    claimed(store, "b", person="P1")
    claimed(store, "a", person="")

    assert list(store.people()) == [Person("b", "id", "P1")]
    assert [each.rater for each in store.assignments()] == ["b", "a"]
    assert [each.id for each in store.assignments("a")] == ["t-1-0"]


# Answers ------------------------------------------------------------------------------------------------------------


def test_the_first_answer_stays(store: Store) -> None:
    claimed(store, "a")
    writes = [submit("t-0-0", 1, value, idem=idem) for value, idem in ((5, "x"), (5, "x"), (5, "y"), (6, "x"))]

    assert store.apply(writes) == [Submitted(NEW, 5), Submitted(SAME, 5), Submitted(SAME, 5), Submitted(DIFFERENT, 5)]
    assert list(store.answers()) == [Answer("t-0-0", 1, 5, 900, 1_000, 0, 1, "x")]


def test_fifty_equal_answers_are_one_row(store: Store) -> None:
    claimed(store, "a")

    kinds = [each.kind for each in store.apply([submit("t-0-0", 1, 5)] * 50) if isinstance(each, Submitted)]

    assert kinds == [NEW] + [SAME] * 49
    assert len(list(store.answers())) == 1


def test_a_key_belongs_to_one_answer(store: Store) -> None:
    """An empty one is none."""
    claimed(store, "a")
    claimed(store, "b")
    writes = [submit("t-0-0", 1, 5, idem="x"), submit("t-0-0", 2, 5, idem="x"), submit("t-1-0", 1, 6, idem="x")]
    writes += [submit("t-0-0", trial, 7, idem="") for trial in (3, 4)]

    assert store.apply(writes) == [
        *(Submitted(NEW, 5), Submitted(DIFFERENT, 5), Submitted(NEW, 6)),
        *(Submitted(NEW, 7), Submitted(NEW, 7)),
    ]


def test_every_attempt_to_answer_is_an_event(store: Store) -> None:
    claimed(store, "a")
    store.apply([submit("t-0-0", 1, 5), submit("t-0-0", 1, 5, now=2), submit("t-0-0", 1, 6, now=3)])
    one(store, Complete("t-0-0", 1, 4))
    one(store, submit("t-0-0", 2, 7, now=5))

    kinds = ["claim", "answer_new", "answer_same", "answer_different", "complete", "answer_refused"]
    detail = '{"trial":1,"value":6,"rt_ms":900,"shown_ms":1000,"blur":0,"idem":"t-0-0/1"}'
    events = list(store.events())
    assert [each.kind for each in events] == kinds
    assert [(each.number, each.assignment, each.time) for each in events] == [(n, "t-0-0", n - 1) for n in range(1, 7)]
    assert (events[3].detail, events[5].detail) == (detail, COMPLETE)


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (Complete("t-0-0", 0, 1), COMPLETE),
        (Withdraw("t-0-0", keep_answers=True, now=1), WITHDRAWN),
        (Reclaim(HOUR), EXPIRED),
        (Forget(("a",), 1), ""),
    ],
    ids=["complete", "withdrawn", "expired", "forgotten"],
)
def test_only_a_claimed_assignment_takes_answers(store: Store, end: Complete, state: str) -> None:
    claimed(store, "a")
    one(store, end)

    assert one(store, submit("t-0-0", 1, 5)) == NotActive(state)
    assert list(store.answers()) == []


def test_answers_are_sorted_by_assignment_and_trial(store: Store) -> None:
    claimed(store, "a")
    claimed(store, "b")
    store.apply([submit(f"t-{slot}-0", trial, 5) for slot, trial in ((1, 2), (0, 11), (1, 1), (0, 2))])

    places = [("t-0-0", 2), ("t-0-0", 11), ("t-1-0", 1), ("t-1-0", 2)]
    assert [(each.assignment, each.trial) for each in store.answers()] == places
    assert [each.trial for each in store.answers("t-1-0")] == [1, 2]


# Ends ---------------------------------------------------------------------------------------------------------------


def test_an_assignment_is_complete_when_every_trial_is_answered(store: Store) -> None:
    made = claimed(store, "a")
    store.apply([submit(made.id, trial, 5) for trial in (1, 3)])

    assert one(store, Complete(made.id, 4, 9)) == Ended(made, missing=(2, 4))
    store.apply([submit(made.id, trial, 5) for trial in (2, 4)])
    ended = one(store, Complete(made.id, 4, 9))
    assert isinstance(ended, Ended)
    assert (ended.assignment.state, ended.assignment.ended, ended.missing) == (COMPLETE, 9, ())
    assert one(store, Complete(made.id, 4, 10)) == ended


@pytest.mark.parametrize("keep", [True, False])
def test_withdrawing_deletes_the_answers_unless_they_are_kept(store: Store, keep: bool) -> None:
    """From the log too: it has every attempt to answer."""
    made = claimed(store, "a")
    store.apply([submit(made.id, 1, 5), Log(made.id, "focus", "", 2)])

    ended = one(store, Withdraw(made.id, keep, 3))

    assert isinstance(ended, Ended)
    assert (ended.assignment.state, ended.assignment.ended) == (WITHDRAWN, 3)
    assert len(list(store.answers())) == keep
    kinds = ["claim", *(["answer_new"] if keep else []), "focus", "withdraw"]
    assert [each.kind for each in store.events()] == kinds
    assert one(store, Withdraw(made.id, keep, 4)) == ended


def test_a_complete_assignment_cannot_be_withdrawn(store: Store) -> None:
    made = claimed(store, "a")
    one(store, Complete(made.id, 0, 1))

    assert one(store, Withdraw(made.id, keep_answers=False, now=2)) == NotActive(COMPLETE)


def test_a_rater_whose_time_ran_out_can_still_withdraw(store: Store) -> None:
    made = claimed(store, "a")
    store.apply([submit(made.id, 1, 5), Reclaim(HOUR)])

    assert isinstance(one(store, Withdraw(made.id, keep_answers=False, now=2 * HOUR)), Ended)
    assert list(store.answers()) == []


@pytest.mark.parametrize("write", [Complete("t-0-0", 1, 1), Withdraw("t-0-0", True, 1), Log("t-0-0", "focus", "", 1)])
def test_what_does_not_exist_is_not_changed(store: Store, write: Complete) -> None:
    assert one(store, write) == NotActive("")
    assert list(store.events()) == []


def test_reclaiming_ends_every_lease_that_ran_out(store: Store) -> None:
    for number, rater in enumerate("abcd"):
        claimed(store, rater, slots=4, now=number)
    one(store, Complete("t-0-0", 0, 5))

    assert one(store, Reclaim(HOUR + 2)) == Count(2)
    assert [each.state for each in store.assignments()] == [COMPLETE, EXPIRED, EXPIRED, CLAIMED]
    assert one(store, Reclaim(HOUR + 2)) == Count(0)


def test_forgetting_deletes_all_about_a_rater(store: Store) -> None:
    """Others keep theirs, and no assignment ever has the id of a forgotten one."""
    for rater in "ab":
        made = claimed(store, rater)
        store.apply([submit(made.id, 1, 5), Log(made.id, "focus", "", 2)])
    before = content(store)

    assert one(store, Forget(("a", "unknown"), 3)) == Count(1 + 1 + 1 + 3)

    after = content(store)
    assert [each.rater for each in after["assignments"]] == ["b"]
    assert after["people"] == [Person("b", "id", "person-b")]
    assert after["answers"] == [each for each in before["answers"] if each.assignment == "t-1-0"]
    assert [each for each in after["events"] if each.assignment] == [
        each for each in before["events"] if each.assignment == "t-1-0"
    ]
    assert claimed(store, "c").id == "t-0-1"
    assert one(store, Forget(("a",), 3)) == Count(0)


# Stores -------------------------------------------------------------------------------------------------------------


def test_a_store_is_opened_again_with_all_it_had(opens: Opens) -> None:
    store = opens()
    claimed(store, "a")
    store.apply([submit("t-0-0", 1, 5)])
    before = content(store)
    store.close()

    assert content(opens(create=False)) == before


def test_a_reader_sees_one_state_and_changes_nothing(opens: Opens) -> None:
    store = opens()
    claimed(store, "a")
    reader = opens(create=False, read_only=True)
    store.apply([claim("b"), submit("t-0-0", 1, 5), Complete("t-0-0", 1, 2)])

    assert [each.state for each in (*reader.assignments(), *reader.assignments("a"))] == [CLAIMED, CLAIMED]
    assert [getattr(reader.assignment(id), "state", "") for id in ("t-0-0", "t-1-0")] == [CLAIMED, ""]
    assert list(reader.answers("t-0-0")) == list(reader.assignments("b")) == []
    assert [each.id for each in opens(create=False, read_only=True).assignments()] == ["t-0-0", "t-1-0"]
    with pytest.raises(StoreError, match="reading only"):
        reader.apply([claim("c")])


def test_a_store_never_shows_answers_of_another_study(opens: Opens) -> None:
    """A file has one study; a Redis server may have several."""
    claimed(opens(), "a")

    with pytest.raises(StoreError, match=rf"answers of study {STUDY}, not of ffff|no answers at redis"):
        opens("ffff", create=False)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_store_is_made_only_if_asked_for(opens: Opens, read_only: bool) -> None:
    with pytest.raises(StoreError, match="no answers at"):
        opens(create=False, read_only=read_only)


def test_all_rows_can_be_written_into_another_store(opens: Opens) -> None:
    """Events keep their numbers, and slots the count of their attempts."""
    store = opens()
    for rater in "abc":
        claimed(store, rater, slots=3)
    store.apply([submit("t-1-0", 1, 5), Forget(("a",), 3), Withdraw("t-2-0", False, 4)])
    copy = opens(is_other=True)

    copy.restore([row for rows in content(store).values() for row in rows])

    assert content(copy) == content(store)
    assert claimed(copy, "d") == claimed(store, "d")
    assert content(copy) == content(store)


@pytest.mark.parametrize("text", ["", "é", "\x00", "'; DROP TABLE answer; --", "💩" * 100, 'a\\u0000\n"', "nil"])
def test_texts_come_back_as_they_were(store: Store, text: str) -> None:
    claimed(store, "a", person=f"P{text}", consent=text)
    store.apply([Log("t-0-0", "note", text, 1), submit("t-0-0", 1, 5, idem=text)])

    assert [each.person for each in store.people()] == [f"P{text}"]
    assert [each.consent for each in store.assignments()] == [text]
    assert [each.idem for each in store.answers()] == [text]
    assert [each.detail for each in store.events() if each.kind == "note"] == [text]


def test_large_numbers_come_back_as_they_were(store: Store) -> None:
    """Times are milliseconds since 1970, and a page may send any time it took."""
    largest = 2**53
    claimed(store, "a", now=largest - HOUR)
    one(store, submit("t-0-0", 1, 5, rt_ms=largest, shown_ms=largest, blur=largest, now=largest))

    assert list(store.answers()) == [Answer("t-0-0", 1, 5, largest, largest, largest, largest, "t-0-0/1")]
    assert [each.expires for each in store.assignments()] == [largest]
