"""Serving studies in tests: the application inside this process, and what a page sends to it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from commands import start

from vqagen.human.server.app import PageFiles
from vqagen.human.server.process import build_app
from vqagen.human.server.sessions import Sessions
from vqagen.human.settings import ServeSettings
from vqagen.human.store.facts import ANSWERS, Log
from vqagen.human.store.opening import open_log
from vqagen.human.store.study_state import Assignment
from vqagen.human.store.writer import Writer
from vqagen.human.study.study import Study
from vqagen.human.tokens import Link, Secret, load_secret, sign_link

API = "/api/v1"
UNLIMITED = ServeSettings(client_rate=0)
ANSWER = {"value": 7, "rt_ms": 900, "shown_ms": 1200, "blur": 0}
"""An answer, but for its ticket."""


def participant(name: str) -> dict[str, str]:
    """Return a participant as a page sends it."""
    return {"platform": "prolific", "id": name}


@dataclass
class Served:
    """A study whose application answers."""

    study: Study
    secret: Secret
    client: httpx.AsyncClient
    sessions: Sessions
    writer: Writer

    def token(self, task: str = "", **more: Any) -> str:
        """Return the token of a link, for the first task unless another one is named."""
        return sign_link(Link(self.study.id, task or next(iter(self.study.tasks)), **more), self.secret)

    def open_token(self, **more: Any) -> str:
        """Return the token of the link for any task."""
        return sign_link(Link(self.study.id, **more), self.secret)

    async def consent(self, name: str, token: str = "", **more: Any) -> httpx.Response:
        """Let a participant consent."""
        asked = {"token": token or self.token(), "participant": participant(name), **more}
        return await self.client.post(
            f"{API}/consent", json={**asked, "consent_version": self.study.texts.version, "agreed": True}
        )

    async def session(self, name: str, token: str = "", **more: Any) -> Any:
        """Return where a participant is."""
        body = {"token": token or self.token(), "participant": participant(name), **more}
        return (await self.client.post(f"{API}/session", json=body)).json()

    async def enter(self, name: str, token: str = "") -> Rater:
        """Let a participant consent, who must get a place."""
        response = await self.consent(name, token)
        assert response.status_code == 201, response.text
        return Rater(self.client, response.json()["session"], response.json()["trial"])

    async def assignments(self) -> list[Assignment]:
        """Return all assignments."""
        return list((await self.writer.study_state()).assignments.values())


@dataclass
class Rater:
    """A session of a rater."""

    client: httpx.AsyncClient
    bearer: str
    next: Any
    """The next trial, or the end."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The header that names the session."""
        return {"Authorization": f"Bearer {self.bearer}"}

    async def trial(self) -> Any:
        """Return the next trial."""
        return (await self.client.get(f"{API}/trial", headers=self.headers)).json()

    async def answer(self, trial: Any = None, **changes: Any) -> httpx.Response:
        """Send an answer to a trial, by default to the next one."""
        trial = trial or self.next
        body = {**ANSWER, "ticket": trial["ticket"], **changes}
        response = await self.client.put(f"{API}/responses/{trial['number']}", json=body, headers=self.headers)
        self.next = response.json().get("next", self.next)
        return response

    async def post(self, path: str, body: Any = None) -> httpx.Response:
        """Send a request about the session."""
        return await self.client.post(f"{API}/{path}", json={} if body is None else body, headers=self.headers)

    async def answer_all(self) -> Any:
        """Answer every trial; return the end."""
        while not self.next.get("done"):
            assert (await self.answer()).status_code == 201
        return self.next


@asynccontextmanager
async def served(
    study: Study, settings: ServeSettings = UNLIMITED, opening: Any = None, **clock: Any
) -> AsyncIterator[Served]:
    """Yield a study whose application answers inside this process; `opening` opens another log than the study's."""
    secret = load_secret(study.folder)
    writer = Writer(opening or (lambda: opened(study)))
    try:
        app, sessions = build_app(study, settings, secret, PageFiles(), writer, **clock)
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            yield Served(study, secret, client, sessions, writer)
    finally:
        await writer.close()


def opened(study: Study) -> Log:
    """Open the log of a study."""
    return open_log(study.folder / ANSWERS, study.id, create=True)


@contextmanager
def serving(study: Path, options: str = "") -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Yield a process that serves a study, and its address."""
    process = start(f"human serve {study} --port 0 {options}")
    try:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        found = re.search(r"at (http\S+);", line)
        assert found, line + process.stderr.read().decode()
        yield process, found[1]
    finally:
        process.kill()
        process.communicate()
