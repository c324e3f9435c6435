"""The routes of the server, as a Starlette application."""

from __future__ import annotations

import asyncio
import hashlib
import re
from contextlib import suppress
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from vqagen.errors import UsageError
from vqagen.human.server.requests import (
    NO_STORE,
    AnswerBody,
    Buckets,
    ConsentBody,
    EmptyBody,
    EventBody,
    Failure,
    SessionBody,
    network_of,
    read_body,
    reply,
)
from vqagen.human.server.sessions import Sessions
from vqagen.human.store.facts import StoreError
from vqagen.human.store.writer import Writer
from vqagen.human.study.images import StudyImage

PAGE = Path(__file__).parents[1] / "page"
SHELL = "shell.html"
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
READINESS_PATIENCE = 2.0
"""Seconds in which a store that is ready writes."""
BEAT_EVERY = 1.0
"""Seconds between two writes that find out whether the store is ready."""
_NUMBER = re.compile(r"[1-9][0-9]{0,5}")


class PageFiles:
    """All files of the page. Of a request, only names are looked up here: no path is ever built from it."""

    def __init__(self, folder: Path = PAGE) -> None:
        contents = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
        if SHELL not in contents:
            raise UsageError(f"the page is not complete: {folder / SHELL} is missing; install vqagen again")
        self.hash = hashlib.sha256(repr(contents).encode()).hexdigest()[:16]
        self.shell = contents[SHELL].replace(b"/static/@/", f"/static/{self.hash}/".encode())
        self.static = {
            (self.hash, name): (content, TYPES[Path(name).suffix])
            for name, content in contents.items()
            if Path(name).suffix in TYPES
        }
        """(hash, name) -> content and media type."""


class StudyApp:
    """Answers requests about one study."""

    def __init__(self, sessions: Sessions, page: PageFiles, writer: Writer, limits: Buckets) -> None:
        self._sessions, self._page, self._writer, self._limits = sessions, page, writer, limits
        self._beat: asyncio.Task[None] | None = None
        self._next_beat = 0.0

    def router(self) -> Router:
        """Return the routes. They raise what `Middleware` makes replies of."""
        api = "/api/v1"
        routes = [
            Route("/s/{token}", self.shell),
            Route("/static/{hash}/{name}", self.static),
            Route("/img/{opaque}", self.image),
            Route("/healthz", self.healthy),
            Route("/readyz", self.ready),
            Route(f"{api}/session", self.session, methods=["POST"]),
            Route(f"{api}/consent", self.consent, methods=["POST"]),
            Route(f"{api}/trial", self.trial),
            Route(f"{api}/responses/{{number}}", self.answer, methods=["PUT"]),
            Route(f"{api}/withdraw", self.withdraw, methods=["POST"]),
            Route(f"{api}/events", self.event, methods=["POST"]),
        ]
        return Router(routes, redirect_slashes=False)

    # The page -------------------------------------------------------------------------------------------------------

    async def shell(self, request: Request) -> Response:
        """Return the page. Its status says whether the link is valid; nothing else depends on the link."""
        status = 200
        try:
            self._sessions.link(request.path_params["token"])
        except Failure as failure:
            status = failure.status
        return Response(self._page.shell, status, NO_STORE, "text/html; charset=utf-8")

    async def static(self, request: Request) -> Response:
        """Return a script or the styles."""
        content, mime = self._page.static.get((request.path_params["hash"], request.path_params["name"]), (None, ""))
        if content is None:
            raise HTTPException(404)
        return Response(content, 200, {"Cache-Control": "public, max-age=31536000, immutable"}, mime)

    async def image(self, request: Request) -> Response:
        """Return an image of the study, if its file is still what the plan was made with."""
        image = self._sessions.shown.images.get(request.path_params["opaque"])
        content = await asyncio.to_thread(read_image, self._sessions.study.folder, image) if image else None
        if image is None or content is None:
            raise HTTPException(404)
        return Response(content, 200, {"Cache-Control": "private, max-age=86400, immutable"}, image.mime)

    async def healthy(self, request: Request) -> Response:
        """Return that the process answers."""
        return reply({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """Return that the store can be written, or 503. All who ask within a second share one write."""
        now = asyncio.get_running_loop().time()
        if self._beat is None or (self._beat.done() and now >= self._next_beat):
            self._beat, self._next_beat = asyncio.create_task(self._writer.beat()), now + BEAT_EVERY
            self._beat.add_done_callback(lambda beat: beat.cancelled() or beat.exception())  # nobody may wait for it
        try:
            async with asyncio.timeout(READINESS_PATIENCE):
                await asyncio.shield(self._beat)
        except TimeoutError:
            raise StoreError("the store does not answer") from None
        return reply({"status": "ready"})

    # The study ------------------------------------------------------------------------------------------------------

    async def session(self, request: Request) -> Response:
        """Return where a rater is. An id that no rater can have, such as `{{%PROLIFIC_PID%}}`, breaks a link."""
        try:
            body = await read_body(request, SessionBody)
        except Failure as failure:
            failure.more["texts"] = self._sessions.study.texts.of_gone()
            raise
        self._take(f"{body.token} {body.participant}")
        return reply(await self._sessions.session(body))

    async def consent(self, request: Request) -> Response:
        """Give a rater a place."""
        body = await read_body(request, ConsentBody)
        self._take(f"{body.token} {body.participant}")
        record, is_new = await self._sessions.consent(body, _network(request))
        return reply(record, 201 if is_new else 200)

    async def trial(self, request: Request) -> Response:
        """Return the next trial."""
        return reply(await self._sessions.trial(self._own(request)))

    async def answer(self, request: Request) -> Response:
        """Store an answer."""
        assignment, number = self._own(request), request.path_params["number"]
        if not _NUMBER.fullmatch(number):
            raise HTTPException(404)
        record, is_new = await self._sessions.answer(
            assignment, int(number), await read_body(request, AnswerBody), _network(request)
        )
        return reply(record, 201 if is_new else 200)

    async def withdraw(self, request: Request) -> Response:
        """Withdraw from an assignment."""
        assignment = self._own(request)
        await read_body(request, EmptyBody)
        return reply(await self._sessions.withdraw(assignment))

    async def event(self, request: Request) -> Response:
        """Keep what the page reports."""
        assignment = self._own(request)
        await self._sessions.event(assignment, await read_body(request, EventBody))
        return Response(None, 204, NO_STORE)

    def _own(self, request: Request) -> str:
        """Return the assignment that a request is about, which counts toward the limit of its rater."""
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        assignment = self._sessions.assignment_of(bearer if scheme.lower() == "bearer" else "")
        self._take(assignment)
        return assignment

    def _take(self, key: str) -> None:
        if not self._limits.take(key, asyncio.get_running_loop().time()):
            raise Failure(429, "too_many", "too many requests; wait a second")


def _network(request: Request) -> str:
    return network_of(request.client.host if request.client else "")


def read_image(folder: Path, image: StudyImage) -> bytes | None:
    """Return the content of an image; None if it is not what the study was made with."""
    with suppress(OSError):
        content = (folder / image.file).read_bytes()
        if hashlib.sha256(content).hexdigest() == image.sha256:
            return content
    return None
