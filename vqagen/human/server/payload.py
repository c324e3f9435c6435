"""Bodies of requests and replies. Requests are read strictly, so that nothing but what the page sends has an effect."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from vqagen.human.links.tokens import LONGEST, PARTICIPANT_ID, PLATFORMS, TOKEN

LARGEST_BODY = 16_384
"""Bytes of a body: the longest text that an item may ask for, in any script, and all else."""
NO_STORE = {"Cache-Control": "no-store"}
_CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
"""Control characters but for tabs and ends of lines, and halves of characters."""
Token = Annotated[str, Meta(pattern=rf"\A{TOKEN}\Z")]
Written = Annotated[str, Meta(pattern=rf"\A[^{_CONTROL}]*\Z")]
Milliseconds = Annotated[int, Meta(ge=0, le=7 * 24 * 3_600_000)]
Count = Annotated[int, Meta(ge=0, le=100_000)]

T = TypeVar("T")


class GivenParticipant(Struct, frozen=True, forbid_unknown_fields=True):
    """Who the address of the page says that its rater is."""

    platform: Annotated[str, Meta(pattern=rf"\A({'|'.join(PLATFORMS)})\Z")]
    id: Annotated[str, Meta(pattern=rf"\A{PARTICIPANT_ID}\Z")]


class SessionBody(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Asks where a rater is."""

    token: Token
    participant: GivenParticipant | None = None
    prolific_token: Annotated[str, Meta(max_length=4096)] | None = None
    """Parameters that Prolific signed."""
    bearer: Annotated[str, Meta(max_length=LONGEST)] | None = None
    """Of an assignment of before, kept by the page: it proves that its code may be shown again."""


class ConsentBody(SessionBody, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Asks for a place."""

    consent_version: Token
    agreed: bool


class AnswerBody(Struct, frozen=True, forbid_unknown_fields=True):
    """An answer to a trial, with the proof that the trial was shown."""

    value: int | Written
    rt_ms: Milliseconds
    shown_ms: Milliseconds
    blur: Count
    ticket: Token


class EventBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that the page reports; `number` is the trial that it concerns."""

    kind: Literal["webdriver", "reload", "comment", "problem"]
    detail: Annotated[Written, Meta(max_length=1000)] = ""
    number: Count = 0


class EmptyBody(Struct, frozen=True, forbid_unknown_fields=True):
    """Says nothing."""


class Failure(Exception):
    """A request that is answered with an error: a code for the page, and a sentence for people."""

    def __init__(self, status: int, code: str, message: str, **more: object) -> None:
        super().__init__(message)
        self.status, self.code, self.more = status, code, more


async def read_body(request: Request, kind: type[T]) -> T:
    """Return the content of a body. Raise Failure for one that is too large, no JSON, or has other keys or values."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Failure(415, "invalid", "the body must be application/json")
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > LARGEST_BODY:
            raise Failure(413, "invalid", f"the body must have at most {LARGEST_BODY} bytes")
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        raise Failure(422, "invalid", str(error)) from None
    except (msgspec.DecodeError, ValueError):
        raise Failure(400, "invalid", "the body is not JSON in UTF-8") from None


def reply(record: object, status: int = 200) -> Response:
    """Return a record as JSON."""
    return Response(msgspec.json.encode(record), status, NO_STORE, "application/json")
