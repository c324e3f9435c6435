"""Servers of studies under abuse: wrong requests, curious raters and clients that never finish."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock

import pytest
from human_requests import Wire, wrong_requests
from human_served import ANSWER, API, UNLIMITED, Rater, Served, participant, served
from study_files import fill_words, make_study, write_caption_files
from test_human_serve import serving
from uvicorn.server import ServerState

from vqagen.human.server.app import PAGE, PageFiles
from vqagen.human.server.process import LEAST_TAKEN, LONGEST_REQUEST, TimedConnection, uvicorn_config
from vqagen.human.settings import PlanSettings
from vqagen.human.store.facts import ANSWERS
from vqagen.human.store.opening import read_facts
from vqagen.human.study.making import make_caption_tasks
from vqagen.human.study.study import Study
from vqagen.human.tokens import Link, load_secret, sign_link

REQUESTS = 10_000
INSIDE = re.compile(rb'Traceback|File "|\.py\b|/tmp|/usr|site-packages|starlette|uvicorn|sqlite', re.IGNORECASE)
"""What no reply says: where and in what the server is written."""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study of a few tasks for two raters each."""
    return make_study(tmp_path, raters_per_item=2)


@pytest.mark.slow
def test_wrong_requests_change_nothing_and_learn_nothing(study: Study) -> None:
    """Among them the seven that ended HUMANr's server. The process serves on, and no reply is a fault of the server."""
    token = sign_link(Link(study.id, next(iter(study.tasks))), load_secret(study.folder))
    with serving(study.folder, "--client-rate 0") as (_, url):
        wire = Wire(int(url.rpartition(":")[2]))
        who = {"token": token, "participant": participant("ann")}
        consent = {**who, "consent_version": study.texts.version, "agreed": True}
        made = json.loads(wire.post("consent", consent).body)
        before, given = read_facts(study.folder / ANSWERS, study.id), (made["session"], made["trial"]["ticket"])
        for method, request in wrong_requests(Random(10), REQUESTS, *given, token, study.texts.version):
            reply = wire.send(request, method)
            shown = request[:200]
            assert reply.status < 500, (shown, reply)
            assert reply.status != 201, shown
            assert not INSIDE.search(reply.body), (shown, reply)
            assert study.folder.name.encode() + b"/" not in reply.body, (shown, reply)
        after = read_facts(study.folder / ANSWERS, study.id)
        alive = wire.send(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
        wire.close()

    assert alive.status == 200
    assert after == before


# Curious raters -------------------------------------------------------------------------------------------------------

SHOWN_KEYS = {"kind", "image", "prompt", "texts", "scale", "form", "history"}
TRIAL_KEYS = SHOWN_KEYS | {"number", "total", "answered", "use", "next_image", "ticket", "lease_ms"}
PRACTICE_KEYS = SHOWN_KEYS | {"expected", "feedback_right", "feedback_wrong"}


@pytest.fixture
def marked(tmp_path: Path) -> Study:
    """A study whose sources have names that stand nowhere else."""
    files = write_caption_files(tmp_path, 12, ("zebra-model", "walrus-model"))
    for name, file in files.items():
        file.write_text(file.read_text().replace(name, "or so"))
    settings = PlanSettings(trials_per_task=6, imc_per_task=1, human_human=True)
    inputs = tmp_path / "human.json", files, tmp_path / "images"
    return fill_words(make_caption_tasks(tmp_path / "study", *inputs, settings)[0])


@pytest.mark.anyio
async def test_nothing_that_a_rater_can_fetch_reveals_the_plan_or_another_rater(marked: Study) -> None:
    """Everything is fetched: the page, its files, all replies, images, and names of files that a server might show."""
    fetched: list[tuple[str, bytes]] = []

    async def keep(place: Served, method: str, path: str, **more: Any) -> Any:
        response = await place.client.request(method, path, **more)
        fetched.append((f"{method} {path}", response.content + str(response.headers).encode()))
        return response

    async def crawl(place: Served) -> None:
        other = await place.enter("other-person", place.open_token())
        await other.answer(value=9)
        for token in [place.token(task) for task in marked.tasks]:
            who = {"token": token, "participant": participant("curious")}
            await keep(place, "GET", f"/s/{token}")
            session = (await keep(place, "POST", f"{API}/session", json=who)).json()
            assert all(trial.keys() == PRACTICE_KEYS for trial in session["practice"])
            consent = {**who, "consent_version": session["consent_version"], "agreed": True}
            made = (await keep(place, "POST", f"{API}/consent", json=consent)).json()
            rater = Rater(place.client, made["session"], made["trial"])
            await answer_all(place, rater)
            await keep(place, "POST", f"{API}/session", json=who)
        for file in PAGE.iterdir():
            await keep(place, "GET", f"/static/{PageFiles().hash}/{file.name}")
        names = [str(file.relative_to(marked.folder)) for file in marked.folder.rglob("*") if file.is_file()]
        for path in [*names, "data/comparison_tasks.json", "study", "plan", "admin", "docs", "openapi.json", ".lock"]:
            for prefix in ("/", "/static/", f"/static/{PageFiles().hash}/", "/img/", "/data/", "/img/..%2f", "/s/../"):
                response = await keep(place, "GET", prefix + path)
                assert response.status_code in (403, 404), prefix + path

    async def answer_all(place: Served, rater: Rater) -> None:
        while not (trial := (await keep(place, "GET", f"{API}/trial", headers=rater.headers)).json()).get("done"):
            assert trial.keys() == TRIAL_KEYS
            if trial["image"]:
                assert (await keep(place, "GET", trial["image"]["url"])).status_code == 200
            for value in (99, 5, 5, 4):
                body = {**ANSWER, "value": value, "ticket": trial["ticket"]}
                await keep(place, "PUT", f"{API}/responses/{trial['number']}", json=body, headers=rater.headers)

    async with served(marked) as place:
        await crawl(place)
        people = (await place.writer.study_state()).people
        forbidden = {
            **dict.fromkeys(("zebra-model", "walrus-model"), "a system"),
            **dict.fromkeys(marked.images, "the name of an image file"),
            **dict.fromkeys(marked.items, "an item"),
            **{image.sha256: "a file" for image in marked.images.values()},
            "other-person": "another rater",
            **dict.fromkeys(people, "a pseudonym"),
            **{key.hex(): "the secret" for key in place.secret},
        }
        found = {(name, what) for name, text in fetched for word, what in forbidden.items() if word.encode() in text}
        assert found == set()
        assert len(fetched) > 200


# Clients that never finish --------------------------------------------------------------------------------------------


def client_of(transport: Mock) -> TimedConnection:
    """Return the server's end of a new connection, at second 100."""
    loop = Mock()
    loop.time.return_value = 100.0
    loop.create_task.side_effect = lambda work, **_: [work.close(), Mock()][1]
    client = TimedConnection(uvicorn_config(Mock(), UNLIMITED), ServerState(), {}, loop)
    client.connection_made(transport)
    return client


@pytest.mark.parametrize(
    ("received", "is_awaited"),
    [
        (b"", True),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", True),
        (b"PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\n{", True),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", False),
    ],
)
def test_a_client_that_sends_half_a_request_is_cut_off(received: bytes, is_awaited: bool) -> None:
    """Now and then a byte more gives it no more time (slowloris)."""
    transport = Mock()
    transport.get_write_buffer_size.return_value = 0
    client = client_of(transport)
    for place in range(len(received)):
        client.loop.time.return_value += 0.01  # type: ignore[attr-defined]
        client.data_received(received[place : place + 1])

    client.close_if_slow(100 + LONGEST_REQUEST - 1)
    assert not transport.abort.called
    client.close_if_slow(100 + LONGEST_REQUEST)
    assert transport.abort.called == is_awaited


@pytest.mark.parametrize(("taken", "is_closed"), [(LEAST_TAKEN, False), (LEAST_TAKEN - 1, True)])
def test_only_a_client_that_takes_next_to_nothing_is_cut_off(taken: int, is_closed: bool) -> None:
    """An image of many megabytes takes minutes on a slow line; it was cut off after one."""
    transport = Mock()
    client = client_of(transport)
    client.awaited_since = None
    for minute in range(4):
        transport.get_write_buffer_size.return_value = 9_000_000 - minute * taken
        client.close_if_slow(60.0 * minute)

    assert transport.abort.called == is_closed
