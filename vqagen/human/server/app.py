"""The routes of the server, as a Starlette application."""

from __future__ import annotations

import asyncio
import hashlib
import re
from contextlib import suppress
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from vqagen.human.links.tokens import LONGEST
from vqagen.human.server.limits import Buckets
from vqagen.human.server.middleware import LOG
from vqagen.human.server.page_files import PageFiles
from vqagen.human.server.payload import (
    CONSENT,
    EVENT,
    LARGEST_BODY,
    NOTHING,
    SESSION,
    Invalid,
    answer_rules,
    participant_of,
    read_body,
)
from vqagen.human.server.replies import (
    FOREVER,
    INVALID,
    NO_STORE,
    NOT_FOUND,
    PRIVATE,
    TOO_MANY,
    UNAVAILABLE,
    Failure,
    error_reply,
    reply,
)
from vqagen.human.server.sessions import Sessions
from vqagen.human.store.committer import Committer
from vqagen.human.store.store import StoreError
from vqagen.human.study.images import StudyImage

READINESS_PATIENCE = 2.0
"""Seconds in which a store that is ready answers."""
COMPLAINT_EVERY = 30.0
"""Seconds between two lines of the log about a store that fails."""
_NUMBER = re.compile(r"[1-9][0-9]{0,5}")
_JSON = "application/json"
_NOT_HERE = Failure(404, NOT_FOUND, "there is nothing here")


class StudyApp:
    """Answers requests about one study."""

    def __init__(self, sessions: Sessions, page: PageFiles, committer: Committer, limits: Buckets) -> None:
        self._sessions = sessions
        self._page = page
        self._committer = committer
        self._limits = limits
        self._folder = sessions.study.folder
        self._silent_until = 0.0

    def starlette(self) -> Starlette:
        """Return the application."""
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
            Route(f"{api}/complete", self.complete, methods=["POST"]),
            Route(f"{api}/withdraw", self.withdraw, methods=["POST"]),
            Route(f"{api}/events", self.event, methods=["POST"]),
        ]
        handlers = {Failure: _failed, Invalid: _invalid, StoreError: self._unavailable, ClientDisconnect: _left}
        app = Starlette(routes=routes, exception_handlers={**handlers, HTTPException: _refused, Exception: _broken})
        app.router.redirect_slashes = False
        return app

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
        found = self._page.file(request.path_params["hash"], request.path_params["name"])
        if found is None:
            raise _NOT_HERE
        return Response(found.content, 200, FOREVER, found.mime)

    async def image(self, request: Request) -> Response:
        """Return an image of the study, if its file is still what the plan was made with."""
        image = self._sessions.shown.image(request.path_params["opaque"])
        content = await asyncio.to_thread(_read_image, self._folder, image) if image else None
        if image is None or content is None:
            raise _NOT_HERE
        return Response(content, 200, PRIVATE, image.mime)

    async def healthy(self, request: Request) -> Response:
        """Return that the process answers."""
        return reply({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """Return that the store can be read, or 503. A check writes nothing, so it does not see that a disk is full."""
        try:
            async with asyncio.timeout(READINESS_PATIENCE):
                await self._committer.read(lambda store: store.assignment(""))
        except TimeoutError:
            raise StoreError("the store does not answer") from None
        return reply({"status": "ready"})

    # The study ------------------------------------------------------------------------------------------------------

    async def session(self, request: Request) -> Response:
        """Return where a rater is. An id that no rater can have, such as `{{%PROLIFIC_PID%}}`, breaks a link."""
        content = await _body(request)
        try:
            body = read_body(content, SESSION, optional=["participant"])
        except Invalid as invalid:
            texts = self._sessions.study.texts.of_gone()
            raise Failure(invalid.status, INVALID, str(invalid), texts=texts) from None
        self._take(f"{body['token']} {body.get('participant')}")
        return reply(await self._sessions.session(self._sessions.rater(body["token"], participant_of(body))))

    async def consent(self, request: Request) -> Response:
        """Claim a slot."""
        body = read_body(await _body(request), CONSENT, optional=["participant"])
        self._take(f"{body['token']} {body.get('participant')}")
        rater = self._sessions.rater(body["token"], participant_of(body))
        record, is_new = await self._sessions.consent(rater, body["consent_version"])
        return reply(record, 201 if is_new else 200)

    async def trial(self, request: Request) -> Response:
        """Return the next trial."""
        work = self._sessions.work(self._bearer(request))
        return reply(await self._sessions.trial(work))

    async def answer(self, request: Request) -> Response:
        """Store an answer."""
        work = self._sessions.work(self._bearer(request))
        number = request.path_params["number"]
        if not _NUMBER.fullmatch(number):
            raise _NOT_HERE
        scale = self._sessions.trial_of(work, int(number)).item.scale
        body = read_body(await _body(request), answer_rules(scale.least, scale.largest))
        record, is_new = await self._sessions.answer(work, int(number), body)
        return reply(record, 201 if is_new else 200)

    async def complete(self, request: Request) -> Response:
        """End an assignment."""
        assignment = self._sessions.assignment(self._bearer(request))
        read_body(await _body(request), NOTHING)
        return reply(await self._sessions.complete(assignment))

    async def withdraw(self, request: Request) -> Response:
        """Withdraw from an assignment."""
        assignment = self._sessions.assignment(self._bearer(request))
        read_body(await _body(request), NOTHING)
        return reply(await self._sessions.withdraw(assignment))

    async def event(self, request: Request) -> Response:
        """Keep an event of an active assignment: what nobody needs must not fill the disk."""
        work = self._sessions.work(self._bearer(request))
        body = read_body(await _body(request), EVENT, optional=["detail"])
        await self._sessions.log(work.assignment, body["kind"], body.get("detail", ""))
        return Response(None, 204, NO_STORE)

    def _bearer(self, request: Request) -> str | None:
        """Return the session that a request is of, which counts toward the session's limit."""
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or len(bearer) > LONGEST:
            return None
        self._take(bearer)
        return bearer

    def _take(self, key: str) -> None:
        if self._limits.take(key, asyncio.get_running_loop().time()):
            raise Failure(429, TOO_MANY, "too many requests; wait a second")

    async def _unavailable(self, request: Request, error: Exception) -> Response:
        now = asyncio.get_running_loop().time()
        if now >= self._silent_until:
            self._silent_until = now + COMPLAINT_EVERY
            LOG.error("answers cannot be stored: %s", error)
        return error_reply(Failure(503, UNAVAILABLE, "answers cannot be stored at the moment; try again"))


async def _body(request: Request) -> bytes:
    """Return a body of JSON that is not too large."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        raise Failure(415, INVALID, "the body must be application/json")
    parts, size = [], 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size > LARGEST_BODY:
            raise Failure(413, INVALID, f"the body must have at most {LARGEST_BODY} bytes")
    return b"".join(parts)


def _read_image(folder: Path, image: StudyImage) -> bytes | None:
    with suppress(OSError):
        content = (folder / image.file).read_bytes()
        if hashlib.sha256(content).hexdigest() == image.sha256:
            return content
    return None


# Errors -------------------------------------------------------------------------------------------------------------


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, Failure)
    return error_reply(error)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, Invalid)
    return error_reply(Failure(error.status, INVALID, str(error)))


async def _left(request: Request, error: Exception) -> Response:
    return Response(None, 400)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        answer = error_reply(Failure(405, INVALID, "the method is not allowed here"))
        answer.headers.update(error.headers or {})
        return answer
    return error_reply(_NOT_HERE)


async def _broken(request: Request, error: Exception) -> Response:
    return error_reply(Failure(500, "error", "the server made a mistake"))
