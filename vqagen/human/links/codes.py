"""Texts that the secret makes of an assignment: its completion code, and the bearer of its session."""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Iterable

from vqagen.human.links.secret import Secret, signed_bytes, url_text
from vqagen.human.study.trial import Task

CODE_LENGTH = 10
"""Characters of base32: 50 bits, which nobody guesses."""
ATTEMPTS = 50
"""Raters who may have had a slot one after the other, for which codes are looked up without a store."""
LONGEST_BEARER = 120
_ASSIGNMENT = re.compile(r"[0-9a-f]{10}-[0-9]{1,6}-[0-9]{1,6}")


def completion_code(secret: Secret, study: str, assignment: str) -> str:
    """Return the code that a rater gets when all answers are stored."""
    return base64.b32encode(secret.mac("code", f"{study}/{assignment}"))[:CODE_LENGTH].decode()


def assignments_of_codes(
    codes: Iterable[str], secret: Secret, study: str, tasks: Iterable[Task], slots: int
) -> dict[str, str]:
    """Return the assignment of each code that this study issued. No store is needed: codes follow from the secret."""
    spellings = {code: spelled(code) for code in codes}
    asked, found = frozenset(spellings.values()), {}
    for task in tasks:
        for slot in range(slots):
            for attempt in range(ATTEMPTS):
                assignment = f"{task.id}-{slot}-{attempt}"
                code = completion_code(secret, study, assignment)
                if code in asked:
                    found[code] = assignment
    return {code: found[spelling] for code, spelling in spellings.items() if spelling in found}


def spelled(code: str) -> str:
    """Return a code as it is issued: people type spaces, hyphens and small letters."""
    return re.sub(r"[\s-]", "", code).upper()


def session_bearer(secret: Secret, study: str, assignment: str) -> str:
    """Return what a page sends with each request about its assignment."""
    return url_text(assignment.encode() + secret.mac("session", f"{study}/{assignment}"))


def assignment_of_bearer(bearer: str, secret: Secret, study: str) -> str | None:
    """Return the assignment of a session, or None for a text that `session_bearer` did not return."""
    content = signed_bytes(bearer) if len(bearer) <= LONGEST_BEARER else None
    if content is None or not _ASSIGNMENT.fullmatch(content[0]):
        return None
    right = session_bearer(secret, study, content[0])
    return content[0] if hmac.compare_digest(right.encode(), bearer.encode()) else None
