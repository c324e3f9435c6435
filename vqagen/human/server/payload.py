"""Bodies of requests: read strictly, so that nothing but what the page sends has an effect."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vqagen.human.links.people import PARTICIPANT_ID, PLATFORMS, Participant
from vqagen.human.links.tokens import TOKEN

LARGEST_BODY = 4096
"""Bytes of a body."""
DEEPEST = 3
"""Objects and lists inside each other."""
LONGEST_TIME = 7 * 24 * 3_600_000
"""Milliseconds that a rater may look at a trial."""
_ID = re.compile(PARTICIPANT_ID)
_KIND = re.compile(r"[a-z][a-z0-9_]{0,31}")
KINDS_OF_STORE = (
    *("claim", "answer_new", "answer_same", "answer_different", "answer_refused"),
    *("complete", "withdraw", "expire", "forget"),
)
"""Kinds of events that no page may report: the store writes them itself."""
_TOKEN = re.compile(TOKEN)
_VERSION = re.compile(r"[0-9a-f]{1,64}")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters, and halves of characters."""

Rule = Callable[[object], str]
"""The fault of a value, or ""."""


class Invalid(Exception):
    """A body that is refused: the status and the reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def read_body(content: bytes, rules: Mapping[str, Rule], optional: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON object of a body, whose keys are exactly those of `rules`. Raise Invalid with every mistake.

    A body that is no JSON object is 400, one with other keys or values 422.
    """
    body = _parsed(content)
    if not isinstance(body, dict):
        raise Invalid(400, "the body must be a JSON object")
    if _is_too_deep(body):
        raise Invalid(400, "the body is nested too deeply")
    faults = ["there are unknown keys"] if body.keys() - rules.keys() else []
    for key, rule in rules.items():
        if key in body:
            fault = rule(body[key])
            faults += [f"{key} {fault}"] if fault else []
        elif key not in optional:
            faults.append(f"{key} is missing")
    if faults:
        raise Invalid(422, "; ".join(faults))
    return body


def _parsed(content: bytes) -> object:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise Invalid(400, "the body is not UTF-8") from None
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Invalid(400, "the body is not JSON with each key once") from None


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _is_too_deep(value: object, deepest: int = DEEPEST) -> bool:
    """True if objects and lists are nested deeper. Looks no further: Python ends at 1,000 calls inside each other."""
    if not isinstance(value, dict | list):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return not deepest or any(_is_too_deep(each, deepest - 1) for each in inside)


# Rules --------------------------------------------------------------------------------------------------------------


def whole_number(least: int, largest: int) -> Rule:
    """Return the rule of a whole number within limits. True and 1.0 are none."""

    def check(value: object) -> str:
        if type(value) is int and least <= value <= largest:
            return ""
        return f"must be a whole number from {least} to {largest}"

    return check


def matching(pattern: re.Pattern[str], meaning: str) -> Rule:
    """Return the rule of a text that matches a pattern as a whole."""

    def check(value: object) -> str:
        return "" if isinstance(value, str) and pattern.fullmatch(value) else f"must be {meaning}"

    return check


def plain_text(longest: int) -> Rule:
    """Return the rule of a text without control characters."""

    def check(value: object) -> str:
        is_plain = isinstance(value, str) and len(value) <= longest and not _CONTROL.search(value)
        return "" if is_plain else f"must be text of at most {longest} characters"

    return check


def is_true(value: object) -> str:
    """Return what is wrong with a value that must be true."""
    return "" if value is True else "must be true"


def a_participant(value: object) -> str:
    """Return what is wrong with `{"platform", "id"}`."""
    is_known = (
        isinstance(value, dict)
        and value.keys() == {"platform", "id"}
        and value["platform"] in PLATFORMS
        and isinstance(value["id"], str)
        and _ID.fullmatch(value["id"])
    )
    platforms = ", ".join(PLATFORMS)
    return "" if is_known else f"must have a platform ({platforms}) and an id of 1 to 64 letters, digits, _ and -"


def an_event(value: object) -> str:
    """Return what is wrong with the kind of an event of a page."""
    is_kind = isinstance(value, str) and _KIND.fullmatch(value) and value not in KINDS_OF_STORE
    return "" if is_kind else "must be a short name in small letters"


SESSION: Mapping[str, Rule] = {"token": matching(_TOKEN, "the token of a link"), "participant": a_participant}
CONSENT: Mapping[str, Rule] = {
    **SESSION,
    "consent_version": matching(_VERSION, "the version of the consent text"),
    "agreed": is_true,
}
EVENT: Mapping[str, Rule] = {"kind": an_event, "detail": plain_text(200)}
NOTHING: Mapping[str, Rule] = {}
_TIME = whole_number(0, LONGEST_TIME)


def answer_rules(least: int, largest: int) -> Mapping[str, Rule]:
    """Return the rules of an answer on a scale."""
    return {
        "value": whole_number(least, largest),
        "rt_ms": _TIME,
        "shown_ms": _TIME,
        "blur": whole_number(0, 100_000),
        "idem": matching(_ID, "1 to 64 letters, digits, _ and -"),
    }


def participant_of(body: Mapping[str, Any]) -> Participant | None:
    """Return the participant of a checked body; None if it names nobody."""
    given = body.get("participant")
    return None if given is None else Participant(given["platform"], given["id"])
