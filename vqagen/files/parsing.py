"""Hand-edited JSON files: their text, and its value with every mistake located.

People write comments, commas behind the last item, and keys twice. A clean text is read by Python's parser at once.
Only if that refuses are comments (`// …`, `/* … */`, `# …`, `-- …`) and commas before a closing bracket blanked out
with as many spaces, so that every place stays where it was, and the rest is read again.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from vqagen.errors import BadInput, Fault, Problem, describe, warn
from vqagen.files.diagnosis import NOT_USABLE, Mistake, find_mistake
from vqagen.files.locations import Location, open_bytes
from vqagen.files.packing import DAMAGE
from vqagen.files.text import TOKEN, Path, excerpt, locate, position_at, repeated_keys, show_path

_VISIBLE = re.compile(r"[^\r\n]")


def read_text(path: Location) -> str:
    """The whole file as UTF-8 text (a byte order mark is dropped)."""
    with open_bytes(path) as file:
        try:
            raw = file.read()
        except DAMAGE as error:
            raise BadInput([Problem(f"damaged or cut off: {error}", str(path))]) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8-sig", "replace")
        raise BadInput([Problem("not UTF-8 text", str(path), "", *position_at(before, len(before)))]) from None


def parse_json(text: str, source: str) -> Any:
    """The value of a hand-edited JSON text; `source` names it in errors.

    Comments, commas behind a last item and keys written twice are warned of and taken. Whoever
    points into the text afterwards does so with `text.locate`, which knows them too.
    """
    try:
        value, oddities = _read(text)
    except _Broken as error:
        message, offset, kind = error.args[0]
        place = position_at(text, offset)
        shown = excerpt(text, offset) if text.strip() else ""
        raise BadInput([Problem(f"{kind}: {message}", source, "", *place, shown)]) from None
    for message, offset, path in oddities:
        warn(Problem(message, source, show_path(path), *position_at(text, offset)))
    return value


def read_object(path: Location, faults: Callable[[dict[str, Any]], Iterable[Fault]]) -> dict[str, Any]:
    """Read a file that holds an object. BadInput with all `faults` of it."""
    text = read_text(path)
    document = parse_json(text, str(path))
    is_object = isinstance(document, dict)
    raise_located(
        faults(document) if is_object else [("", f"expected an object, found {describe(document)}")], text, path
    )
    return dict(document)


def raise_located(faults: Iterable[Fault], text: str, source: object = "") -> None:
    """Raise BadInput with the faults of a JSON text, each with its place; nothing if there is none."""
    problems = [Problem(message, str(source), place, *locate(text, place)) for place, message in faults]
    if problems:
        raise BadInput(problems)


# What people write beyond JSON ----------------------------------------------------------------------------------------


class _Oddity(NamedTuple):
    """Something in a text that is accepted, and that its author should know of."""

    message: str
    offset: int
    path: Path = ()


class _Broken(Exception):
    """A text is not JSON, even without its comments and spare commas. Its argument is the `Mistake`."""


def _read(text: str) -> tuple[Any, list[_Oddity]]:
    """Return the value of a hand-edited text, and its oddities in reading order. Raises _Broken."""
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
            _Oddity(f"the key {path[-1]!r} is written twice in one object; the first one is lost", offset, path)
            for path, offset in repeated_keys(text)
        )
    return value, sorted(oddities, key=lambda oddity: oddity.offset)


def _counted(message: str, spans: list[tuple[int, int]]) -> Iterator[_Oddity]:
    """One oddity for all of a kind, at the first of them."""
    if spans:
        more = f" (and {len(spans) - 1:,} more in this file)" if len(spans) > 1 else ""
        yield _Oddity(message + more, spans[0][0])


def _strictly_or_diagnosed(text: str) -> tuple[Any, bool]:
    try:
        return _strictly(text)
    except RecursionError:
        raise _Broken(Mistake("nested too deeply", _deepest(text), NOT_USABLE)) from None
    except ValueError as error:
        raise _Broken(find_mistake(text) or Mistake(str(error), 0)) from None


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
