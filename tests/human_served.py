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

from vqagen.human.links.secret import Secret, load_secret
from vqagen.human.links.tokens import Link, sign_link
from vqagen.human.server.page_files import PageFiles
from vqagen.human.server.process import build_app
from vqagen.human.server.sessions import Sessions
from vqagen.human.server.settings import ServeSettings
from vqagen.human.store.committer import Committer
from vqagen.human.store.opening import ANSWERS, open_store
from vqagen.human.store.store import Store
from vqagen.human.study.study import Study

API = "/api/v1"
UNLIMITED = ServeSettings(client_rate=0)
ANSWER = {"value": 7, "rt_ms": 900, "shown_ms": 1200, "blur": 0, "idem": "key-1"}


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
    committer: Committer

    def token(self, task: str = "", slot: int | None = None, expires: int = 0) -> str:
        """Return the token of a link, for the first task unless another one is named."""
        return sign_link(Link(self.study.id, task or next(iter(self.study.tasks)), slot, expires), self.secret)

    def open_token(self) -> str:
        """Return the token of the link for any task."""
        return sign_link(Link(self.study.id), self.secret)

    async def consent(self, name: str, token: str = "") -> httpx.Response:
        """Let a participant consent."""
        body = {
            "token": token or self.token(),
            "participant": participant(name),
            "consent_version": self.study.texts.version,
            "agreed": True,
        }
        return await self.client.post(f"{API}/consent", json=body)

    async def session(self, name: str, token: str = "") -> Any:
        """Return where a participant is."""
        body = {"token": token or self.token(), "participant": participant(name)}
        return (await self.client.post(f"{API}/session", json=body)).json()

    async def enter(self, name: str, token: str = "") -> Rater:
        """Let a participant consent, who must get a place."""
        response = await self.consent(name, token)
        assert response.status_code == 201, response.text
        return Rater(self.client, response.json()["session"])


@dataclass
class Rater:
    """A session of a rater."""

    client: httpx.AsyncClient
    bearer: str

    @property
    def headers(self) -> Mapping[str, str]:
        """The header that names the session."""
        return {"Authorization": f"Bearer {self.bearer}"}

    async def trial(self) -> Any:
        """Return the next trial."""
        return (await self.client.get(f"{API}/trial", headers=self.headers)).json()

    async def answer(self, number: int, **changes: Any) -> httpx.Response:
        """Send an answer."""
        body = {**ANSWER, "idem": f"key-{number}", **changes}
        return await self.client.put(f"{API}/responses/{number}", json=body, headers=self.headers)

    async def post(self, path: str, body: Any = None) -> httpx.Response:
        """Send a request about the session."""
        return await self.client.post(f"{API}/{path}", json={} if body is None else body, headers=self.headers)

    async def answer_all(self) -> None:
        """Answer every trial."""
        while not (trial := await self.trial()).get("done"):
            assert (await self.answer(trial["number"])).status_code == 201


@asynccontextmanager
async def served(
    study: Study, settings: ServeSettings = UNLIMITED, opening: Any = None, **clock: Any
) -> AsyncIterator[Served]:
    """Yield a study whose application answers inside this process; `opening` opens another store than the study's."""
    secret = load_secret(study.folder)
    committer = Committer(opening or (lambda: stored(study)))
    try:
        app, sessions = await build_app(study, settings, secret, PageFiles(), committer, **clock)
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            yield Served(study, secret, client, sessions, committer)
    finally:
        committer.stop()


def stored(study: Study) -> Store:
    """Open the answers of a study."""
    return open_store(study.folder / ANSWERS, study.id, create=True)


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
