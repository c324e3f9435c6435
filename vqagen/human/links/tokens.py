"""Tokens: the signed part of a link, which says what its owner may do in which study and until when."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass

from vqagen.human.links.secret import Secret, signed_bytes, url_text

VERSION = 1
LONGEST = 200
"""Characters of a token that is looked at."""
_PAYLOAD = re.compile(
    r"(?P<version>[0-9]{1,3})\.(?P<key>[0-9]{1,3})\.(?P<study>[0-9a-f]{16})\.(?P<task>[0-9a-f]{10}|-)"
    r"\.(?P<slot>[0-9]{1,6}|-)\.(?P<expires>[0-9]{1,12})"
)


@dataclass(frozen=True, slots=True)
class Link:
    """Permission to take part: in one slot (a personal link), in any slot of a task, or in any task (`task` is "")."""

    study: str
    task: str = ""
    slot: int | None = None
    expires: int = 0
    """Seconds since 1970; 0 for never."""


class LinkRefused(Exception):
    """A token gives no permission: `is_gone` if it once did (expired, revoked, its key retired)."""

    def __init__(self, reason: str, *, is_gone: bool = False) -> None:
        super().__init__(reason)
        self.is_gone = is_gone


def sign(link: Link, secret: Secret) -> str:
    """Return the token of a link, signed with the newest key."""
    return _signed(link, secret, secret.newest)


def verify(token: str, study: str, secret: Secret, now: int) -> Link:
    """Return the link of a token at a time in seconds. Raise LinkRefused for a text that `sign` did not return."""
    content = signed_bytes(token) if len(token) <= LONGEST else None
    parts = _PAYLOAD.fullmatch(content[0]) if content else None
    if parts is None:
        raise LinkRefused("the link is incomplete or was changed")
    link = Link(
        parts["study"],
        "" if parts["task"] == "-" else parts["task"],
        None if parts["slot"] == "-" else int(parts["slot"]),
        int(parts["expires"]),
    )
    number = int(parts["key"])
    if int(parts["version"]) == VERSION and secret.link_mac(number, "") is None:
        raise LinkRefused("the key of the link is retired", is_gone=True)
    if not hmac.compare_digest(_signed(link, secret, number).encode(), token.encode()):
        raise LinkRefused("the link is incomplete or was changed")
    if link.study != study:
        raise LinkRefused("the link is for another study")
    if link.expires and now >= link.expires:
        raise LinkRefused("the link has expired", is_gone=True)
    return link


def _signed(link: Link, secret: Secret, key: int) -> str:
    slot = "-" if link.slot is None else link.slot
    payload = f"{VERSION}.{key}.{link.study}.{link.task or '-'}.{slot}.{link.expires}"
    code = secret.link_mac(key, payload)
    return "" if code is None else url_text(payload.encode() + code)
