"""Whatever raters do at once, the store holds what must be true of it: checked by code that shares nothing with it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import cast

import pytest
from human_invariants import broken_rules
from human_served import Rater, Served, served, stored
from study_files import make_study

from vqagen.human.links.codes import assignment_of_bearer
from vqagen.human.store.store import CLAIMED, COMPLETE, EXPIRED, WITHDRAWN, Answer, Assignment, Event, Store
from vqagen.human.study.study import load_study


class Crowd:
    """Raters who do anything at any time, and what the server acknowledged."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.now = 1_000_000.0
        self.acknowledged: dict[tuple[str, int], int] = {}
        self.statuses: Counter[int] = Counter()

    async def person(self, place: Served, name: str) -> None:
        """Take part, in one of many ways."""
        tokens = [place.open_token(), *map(place.token, place.study.tasks)]
        for _ in range(2):
            await asyncio.sleep(self.rng.random() / 20)
            response = await place.consent(name, self.rng.choice(tokens))
            self.statuses[response.status_code] += 1
            if response.status_code < 300:
                bearer = response.json()["session"]
                assignment = assignment_of_bearer(bearer, place.secret, place.study.id)
                assert assignment is not None
                await self.work(Rater(place.client, bearer), assignment)

    async def work(self, rater: Rater, assignment: str) -> None:
        """Answer some or all trials, some of them twice at once or with another value; then end, or not."""
        numbers = list(range(1, 6))
        self.rng.shuffle(numbers)
        for number in numbers[: self.rng.choice([2, 5, 5])]:
            await asyncio.gather(
                *(self.answer(rater, assignment, number) for _ in range(self.rng.choice([1, 1, 2, 3])))
            )
            self.now += self.rng.choice([0, 1, 60, 900])
        await rater.post(self.rng.choice(["complete", "complete", "withdraw", "events"]))

    async def answer(self, rater: Rater, assignment: str, number: int) -> None:
        """Answer a trial."""
        value = self.rng.choice([3, 3, 7])
        response = await rater.answer(number, value=value, idem=f"k{number}")
        self.statuses[response.status_code] += 1
        if response.status_code in (200, 201):
            assert self.acknowledged.setdefault((assignment, number), value) == value


def states(store: Store) -> dict[str, str]:
    """Return the state of each assignment."""
    return {each.id: each.state for each in store.assignments()}


def known_states(place: Served) -> dict[str, str]:
    """Return the states that the server has in memory."""
    return {id: each.state for id, each in place.sessions._roster._by_id.items()}


@pytest.mark.quick(2)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("keep", [False, True])
def test_a_crowd_leaves_a_store_in_which_all_rules_hold(keep: bool, seed: int, tmp_path: Path) -> None:
    study = make_study(tmp_path, raters_per_item=3, seed=seed)
    serving = study.folder / "serving.json"
    serving.write_text(serving.read_text().replace('_answers": false', f'_answers": {str(keep).lower()}'))
    crowd = Crowd(seed)

    async def run() -> None:
        async with served(load_study(study.folder), clock=lambda: crowd.now) as place:
            await asyncio.gather(*(crowd.person(place, f"p{number % 25}") for number in range(40)))
            assert known_states(place) == await place.committer.read(states)

    asyncio.run(run())
    store = stored(study)

    assert broken_rules(study, store, crowd.acknowledged, kept=keep) == []
    assert len(crowd.acknowledged) > 40
    assert {200, 201, 409} <= set(crowd.statuses) <= {200, 201, 409}
    assert len(states(store)) > study.slots


class Held:
    """Rows as a store holds them, with a log of all answers."""

    def __init__(self, assignments: list[Assignment], answers: list[Answer]) -> None:
        self._assignments, self._answers = assignments, answers

    def assignments(self) -> list[Assignment]:
        return self._assignments

    def answers(self) -> list[Answer]:
        return self._answers

    def events(self) -> list[Event]:
        details = [(each.assignment, {"trial": each.trial, "value": each.value}) for each in self._answers]
        return [Event(n, id, "answer_new", json.dumps(detail), 0) for n, (id, detail) in enumerate(details)]


def test_the_rules_can_be_broken(tmp_path: Path) -> None:
    """Stores with faults are found faulty."""
    study = make_study(tmp_path)
    (task, *_), now = study.tasks, 5
    right = Assignment(f"{task}-0-0", task, 0, "ann", CLAIMED, "c", now, now + 9, None)
    acknowledged = {(right.id, 1): 3}

    def rules(assignments: list[Assignment], given: list[tuple[str, int, int]]) -> list[str]:
        answers = [Answer(id, trial, value, 9, 9, 0, stored=now) for id, trial, value in given]
        return broken_rules(study, cast(Store, Held(assignments, answers)), acknowledged)

    assert rules([right], [(right.id, 1, 3)]) == []
    faulty = {
        "changed": rules([right], [(right.id, 1, 4)]),
        "lost": rules([right], []),
        "no trial": rules([right], [(right.id, 1, 3), (right.id, 99, 3)]),
        "no value": rules([right], [(right.id, 1, 3), (right.id, 2, 10)]),
        "twice": rules([right], [(right.id, 1, 3), (right.id, 1, 3)]),
        "of nobody": rules([right], [(right.id, 1, 3), ("0-0-0", 1, 3)]),
        "held twice": rules([right, replace(right, id=f"{task}-0-1", rater="bob")], [(right.id, 1, 3)]),
        "one person twice": rules([right, replace(right, id=f"{task}-1-0", slot=1)], [(right.id, 1, 3)]),
        "complete": rules([replace(right, state=COMPLETE, ended=9)], [(right.id, 1, 3)]),
        "withdrawn": rules([replace(right, state=WITHDRAWN, ended=9)], [(right.id, 1, 3)]),
        "no end": rules([replace(right, state=EXPIRED)], [(right.id, 1, 3)]),
    }
    assert [name for name, found in faulty.items() if not found] == []
