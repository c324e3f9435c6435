"""JSON as people write it by hand: with comments, commas behind the last item, and keys written twice.

A clean text is read by Python's parser at once. Only if that refuses are comments (`// …`, `/* … */`, `# …`, `-- …`)
and commas before a closing bracket blanked out with as many spaces, so that every place stays where it was, and the
rest is read again.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from vqagen.files.diagnosis import NOT_USABLE, Mistake, find_mistake
from vqagen.files.text import TOKEN, Path, repeated_keys

_VISIBLE = re.compile(r"[^\r\n]")


class Oddity(NamedTuple):
    """Something in a text that is accepted, and that its author should know of."""

    message: str
    offset: int
    path: Path = ()


class Read(NamedTuple):
    """The value of a text, and its oddities in reading order."""

    value: Any
    oddities: tuple[Oddity, ...] = ()


class BrokenJson(Exception):
    """A text is not JSON, even without its comments and spare commas."""

    def __init__(self, mistake: Mistake) -> None:
        super().__init__(mistake.message)
        self.mistake = mistake


def read_tolerantly(text: str) -> Read:
    """The value of a hand-edited text. Raises BrokenJson."""
    comments, commas = [], []
    try:
        value, is_repeating = _strictly(text)
    except (ValueError, RecursionError):
        comments, commas = _comments(text), _commas(text)
        text = _blanked(text, comments + commas)
        value, is_repeating = _strictly_or_diagnosed(text)
    oddities = [*_counted("a comment, which JSON does not have, is skipped", comments)]
    oddities += _counted("a comma behind the last item, which JSON does not allow, is skipped", commas)
    if is_repeating:
        oddities += (
            Oddity(f"the key {path[-1]!r} is written twice in one object; the first one is lost", offset, path)
            for path, offset in repeated_keys(text)
        )
    return Read(value, tuple(sorted(oddities, key=lambda oddity: oddity.offset)))


def _counted(message: str, spans: list[tuple[int, int]]) -> Iterator[Oddity]:
    """One oddity for all of a kind, at the first of them."""
    if spans:
        more = f" (and {len(spans) - 1:,} more in this file)" if len(spans) > 1 else ""
        yield Oddity(message + more, spans[0][0])


def _strictly_or_diagnosed(text: str) -> tuple[Any, bool]:
    try:
        return _strictly(text)
    except RecursionError:
        raise BrokenJson(Mistake("nested too deeply", _deepest(text), NOT_USABLE)) from None
    except ValueError as error:
        raise BrokenJson(find_mistake(text) or Mistake(str(error), 0)) from None


def _strictly(text: str) -> tuple[Any, bool]:
    """The value of a JSON text, and whether an object in it has a key twice."""
    is_repeating = False

    def to_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal is_repeating
        members = dict(pairs)
        is_repeating |= len(members) < len(pairs)
        return members

    value = json.JSONDecoder(object_pairs_hook=to_object, parse_float=_finite, parse_constant=_finite).decode(text)
    if "\\u" in text:
        json.dumps(value, ensure_ascii=False).encode()  # half a character could not be written again
    return value, is_repeating


def _finite(number: str) -> float:
    if math.isfinite(value := float(number)):
        return value
    raise ValueError(number)


def _comments(text: str) -> list[tuple[int, int]]:
    """(start, end) of each comment. One that is never closed is a mistake, and left for the parser to find."""
    spans = [match.span() for match in TOKEN.finditer(text) if match["comment"]]
    return [(start, end) for start, end in spans if not _is_open(text, start, end)]


def _is_open(text: str, start: int, end: int) -> bool:
    return text.startswith("/*", start) and not (end - start >= 4 and text.endswith("*/", start, end))


def _commas(text: str) -> list[tuple[int, int]]:
    """(start, end) of each comma that stands between a value and a closing bracket."""
    spans: list[tuple[int, int]] = []
    before, comma = "", -1
    for match in TOKEN.finditer(text):
        piece = match[0]
        if match["comment"] or piece.isspace():  # such as a no-break space
            continue
        if piece in "]}" and comma >= 0:
            spans.append((comma, comma + 1))
        comma = match.start() if piece == "," and before not in ("", ",", "[", "{", ":") else -1
        before = piece
    return spans


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    pieces, done = [], 0
    for start, end in sorted(spans):
        pieces += [text[done:start], _VISIBLE.sub(" ", text[start:end])]
        done = end
    return "".join(pieces) + text[done:]


def _deepest(text: str) -> int:
    """The offset of the bracket of a text that is nested most deeply."""
    depth = most = offset = 0
    for match in TOKEN.finditer(text):
        depth += (match[0] in ("[", "{")) - (match[0] in ("]", "}"))
        if depth > most:
            most, offset = depth, match.start()
    return offset
