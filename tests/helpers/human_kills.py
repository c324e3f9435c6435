"""Raters who answer a real server while it is killed, and a ledger of what it acknowledged to them."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx
from commands import start
from human_served import ANSWER, API
from ports import free_port
from redis_servers import RedisServer
from study_files import make_study
from waiting import PATIENCE

from vqagen.human.store.facts import ANSWERS, Claimed, Submitted
from vqagen.human.store.opening import open_log, read_facts
from vqagen.human.store.study_state import COMPLETE, EXPIRED, StudyState
from vqagen.human.study.study import load_study
from vqagen.human.tokens import Link, load_secret, sign_link


def make_large_study(folder: Path) -> Path:
    """Make a study that no run of raters completes, and return its folder."""
    systems = ("a", "b", "c", "d")
    return make_study(folder, images=60, systems=systems, trials_per_task=25, raters_per_item=250).folder


@dataclass
class Ledger:
    """What raters sent, and what was acknowledged to them."""

    sent: dict[tuple[str, int], int] = field(default_factory=dict)
    answers: dict[tuple[str, int], int] = field(default_factory=dict)
    """(Person, trial) -> acknowledged value."""
    consents: set[str] = field(default_factory=set)
    completed: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    """Replies that no rater should get."""


@dataclass
class Rater:
    """A person who sends each request until it is acknowledged, always the same."""

    client: httpx.AsyncClient
    token: str
    person: str
    ledger: Ledger
    random: Random

    async def take_part(self, is_over: Callable[[], bool]) -> None:
        """Consent and answer all trials, or until it is over."""
        who = {"token": self.token, "participant": {"platform": "id", "id": self.person}}
        session = await self.until_done("POST", "session", who)
        more = {"consent_version": session["consent_version"], "agreed": True}
        session = await self.until_done("POST", "consent", {**who, **more})
        self.ledger.consents.add(self.person)
        trial = session["trial"]
        while not trial.get("done") and not is_over():
            place = self.person, trial["number"]
            value = self.ledger.sent[place] = 1 + int(self.random.random() * 9)
            answer = {**ANSWER, "value": value, "ticket": trial["ticket"]}
            reply = await self.until_done("PUT", f"responses/{place[1]}", answer, session["session"])
            self.ledger.answers[place] = value
            trial = reply["next"]
        if trial.get("done"):
            assert trial["code"], trial
            self.ledger.completed.add(self.person)

    async def until_done(self, method: str, path: str, body: Any, bearer: str = "") -> Any:
        """Send a request until it is acknowledged; a server that is not there, or busy, is asked again."""
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with suppress(httpx.TransportError):
                reply = await self.client.request(method, f"{API}/{path}", json=body, headers=headers)
                if reply.status_code in (200, 201):
                    return reply.json()
                if reply.status_code != 503:
                    self.ledger.wrong.append(f"{method} {path} of {self.person}: {reply.status_code} {reply.text}")
                    raise AssertionError(self.ledger.wrong[-1])
            await asyncio.sleep(0.25)
        raise AssertionError(f"{method} {path} was never acknowledged")


@dataclass
class Server:
    """A process that serves a study on one port, and is started again when it was killed."""

    study: Path
    port: int
    store: str = ""
    process: subprocess.Popen[bytes] | None = None
    starts: list[float] = field(default_factory=list)
    """Seconds from each start until it was ready."""

    def start(self) -> None:
        """Start the process and wait until raters can come."""
        store = f"--store {self.store}" if self.store else ""
        began = time.monotonic()
        self.process = start(f"human serve {self.study} --port {self.port} --client-rate 0 {store}")
        assert self.process.stderr is not None
        line = self.process.stderr.readline().decode()
        assert "serving" in line, line + self.process.stderr.read().decode()
        self.starts.append(time.monotonic() - began)

    def kill(self) -> None:
        """End the process at once."""
        assert self.process is not None
        self.process.kill()
        self.process.communicate()


@dataclass
class Result:
    """What a run of kills came to."""

    store: str
    kills: int
    redis_kills: int
    acknowledged: int
    faults: list[str]
    slowest_start: float


def run_kills(
    folder: Path, *, kills: int, clients: int, least: int, seed: int = 0, redis: RedisServer | None = None
) -> Result:
    """Let raters answer while the server is killed at random moments; compare its store with their ledger.

    It ends after so many kills and acknowledged answers. Every fourth time, Redis is killed in place of the server.
    """
    study = make_large_study(folder)
    server = Server(study, free_port(), redis.url if redis else "")
    token = sign_link(Link(load_study(study).id), load_secret(study))
    ledger, random = Ledger(), Random(seed)
    server.start()
    try:
        redis_kills = asyncio.run(_answer_and_kill(server, redis, ledger, random, token, kills, clients, least))
    finally:
        server.kill()
    faults = ledger.wrong + list(differences(study, server.store, ledger))
    shown = "redis" if redis else "sqlite"
    return Result(shown, kills, redis_kills, len(ledger.answers), faults, max(server.starts))


async def _answer_and_kill(
    server: Server,
    redis: RedisServer | None,
    ledger: Ledger,
    random: Random,
    token: str,
    kills: int,
    clients: int,
    least: int,
) -> int:
    """Return how often Redis was killed."""
    is_over, people, redis_kills = asyncio.Event(), iter(range(10**6)), 0

    async def client(number: int) -> None:
        while not is_over.is_set():
            rater = Rater(web, token, f"p{next(people)}", ledger, Random(f"{number}"))
            await rater.take_part(is_over.is_set)

    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", timeout=20, limits=limits) as web:
        tasks = [asyncio.create_task(client(number)) for number in range(clients)]
        for number in range(kills):
            await _wait(tasks, 0.3 + random.random())
            if redis is not None and number % 4 == 3:
                redis.kill()
                await _wait(tasks, 0.2 * random.random())
                await asyncio.to_thread(redis.start)
                redis_kills += 1
            else:
                server.kill()
                await asyncio.to_thread(server.start)
        while len(ledger.answers) < least:
            await _wait(tasks, 0.1)
        is_over.set()
        await asyncio.gather(*tasks)
    return redis_kills


async def _wait(tasks: list[asyncio.Task[None]], seconds: float) -> None:
    """Wait, and raise what a rater found wrong."""
    done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    for task in done:
        task.result()


def differences(study: Path, store: str, ledger: Ledger) -> Iterator[str]:
    """Yield every difference between what was acknowledged and what is stored.

    A consent whose reply was lost is sent again, and given another place: the first one has expired without an answer.
    """
    place, id = store or study / ANSWERS, load_study(study).id
    open_log(place, id).close()  # checks the file
    facts = read_facts(place, id)
    study_state = StudyState(facts)
    assignments = {study_state.people[each.rater][1]: each for each in study_state.assignments.values()}
    stored = {(person, trial): each.value for person, of in assignments.items() for trial, each in of.answers.items()}
    answered = Counter((each.assignment, each.trial) for _, each in facts if isinstance(each, Submitted))
    void = {each.id for each in study_state.assignments.values() if each.state == EXPIRED and not each.answers}
    claimed = Counter(each.rater for _, each in facts if isinstance(each, Claimed) and each.assignment not in void)
    yield from (f"lost: {place}" for place in ledger.answers if place not in stored)
    yield from (f"changed: {place}" for place, value in stored.items() if ledger.sent.get(place) != value)
    yield from (f"doubled: {place}" for place, times in answered.items() if times != 1)
    yield from (f"doubled: claim of {rater}" for rater, times in claimed.items() if times != 1)
    yield from (f"lost: consent of {person}" for person in ledger.consents if person not in assignments)
    yield from (f"lost: end of {person}" for person in ledger.completed if assignments[person].state != COMPLETE)
