"""Hand-edited JSON files: their text, and its value with every mistake located.

People write comments, commas behind the last item, and keys twice. A clean text is read by Python's parser at once.
Only if that refuses are comments (`// …`, `/* … */`, `# …`, `-- …`) and commas before a closing bracket blanked out
with as many spaces, so that every place stays where it was, and the rest is read again.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from vqagen.errors import BadInput, Fault, Problem, describe, warn
from vqagen.files.diagnosis import NOT_USABLE, Mistake, Path, Position, Scan, find_unusable, position_at
from vqagen.files.locations import Location, open_bytes
from vqagen.files.packing import DAMAGE

WIDEST = 100
"""Columns of an excerpt."""
_COMMA = "a comma behind the last item, which JSON does not allow,"
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
    points into the text afterwards does so with `locate_path`, which knows them too.
    """
    scan = None
    try:
        value, is_repeating = _strictly(text)
    except (ValueError, RecursionError):
        scan = Scan(text)
        value, is_repeating = _without_oddities(scan, source)
    if scan is None and not is_repeating:
        return value
    scan = scan or Scan(text)
    oddities: list[tuple[int, str, Path]] = [
        (offset, f"the key {key!r} is written twice in one object; the first one is lost", (*scan.paths[inside], key))
        for inside, key, offset in scan.repeated
    ]
    for spans, what in ((scan.comments, "a comment, which JSON does not have,"), (scan.commas, _COMMA)):
        if spans:
            more = f" (and {len(spans) - 1:,} more in this file)" if len(spans) > 1 else ""
            oddities.append((spans[0][0], f"{what} is skipped{more}", ()))
    for offset, message, path in sorted(oddities, key=lambda oddity: oddity[0]):
        warn(Problem(message, source, show_path(path), *position_at(text, offset)))
    return value


def _without_oddities(scan: Scan, source: str) -> tuple[Any, bool]:
    """The value of a text without its comments and spare commas. BadInput with the first mistake."""
    pieces, done, text = [], 0, scan.text
    for start, end in sorted(scan.comments + scan.commas):
        pieces += [text[done:start], _VISIBLE.sub(" ", text[start:end])]
        done = end
    try:
        return _strictly("".join(pieces) + text[done:])
    except RecursionError:
        mistake = Mistake("nested too deeply", scan.deepest, NOT_USABLE)
    except ValueError as error:
        mistake = scan.mistake or find_unusable(text) or Mistake(str(error), 0)
    place, shown = position_at(text, mistake.offset), excerpt(text, mistake.offset) if text.strip() else ""
    raise BadInput([Problem(f"{mistake.kind}: {mistake.message}", source, "", *place, shown)])


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
    problems = [Problem(message, str(source), place, *locate_path(text, place)) for place, message in faults]
    if problems:
        raise BadInput(problems)


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


# Places ---------------------------------------------------------------------------------------------------------------


def excerpt(text: str, offset: int) -> str:
    """The line around a character, cut to WIDEST columns, and a caret under the character.

    >>> print(excerpt("[1,\\n 2 3]", 7))
     2 3]
       ^
    """
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[start : len(text) if end < 0 else end].rstrip()
    at = offset - start
    first = max(0, min(at - WIDEST // 2, len(line) - WIDEST))
    before, behind = line[first:at], line[at : first + WIDEST]
    left, right = "… " if first else "", " …" if len(line) > first + WIDEST else ""
    shown = "".join(character if character.isprintable() else " " for character in f"{left}{before}{behind}{right}")
    return f"{shown}\n{' ' * _width(left + before)}^"


def _width(text: str) -> int:
    """Columns on a terminal: an accent of its own takes none, an East Asian character two."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


def show_path(path: Path) -> str:
    """A path as text.

    >>> show_path(("templates", 3, "text"))
    'templates[3].text'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def locate_path(text: str, path: str) -> Position:
    """Where the value at `path` starts in JSON `text`; the nearest enclosing value where the path ends early.

    A path is written as in errors: `templates[3].nodes[2].type`, or `[3].nodes` where the document is a list.
    """
    starts = _starts(text)
    while path and path not in starts:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return position_at(text, starts.get(path, 0))


@lru_cache(maxsize=2)  # whoever points at one mistake of a file soon points at the next
def _starts(text: str) -> Mapping[str, int]:
    """Path -> where that value starts; of equal keys the last, as parsers keep it.

    A key may hold a dot or a bracket: of the keys that a path may name, the longest is taken, with the fewest steps.
    """
    starts = sorted(Scan(text).paths.items(), key=lambda start: -len(start[1]))
    return {show_path(path): offset for offset, path in starts}


# Writing --------------------------------------------------------------------------------------------------------------

WIDTH = 120
"""Columns that a value fills before it is broken into lines."""


def laid_out(document: Any) -> str:
    """Return the text of a document as people edit it: a value on one line if it fits, an object of objects as a table.

    >>> print(laid_out({"kinds": {"cup": {"art": [{"ring": [0, 1]}]}, "pin": {"sizes": [1, 2]}}}), end="")
    {
      "kinds": {
        "cup": {"art": [{"ring": [0, 1]}]},
        "pin": {"sizes": [1, 2]}
      }
    }
    """
    return _laid_out(document, "", 0) + "\n"


def _laid_out(value: Any, indent: str, used: int) -> str:
    """Return a value whose first line has `used` columns before it, besides the indentation."""
    line, inner = json.dumps(value, ensure_ascii=False), indent + "  "
    if isinstance(value, dict):
        members = [(f"{json.dumps(key, ensure_ascii=False)}: ", member) for key, member in value.items()]
    else:
        members = [("", element) for element in value] if isinstance(value, list) else []
    is_table = isinstance(value, dict) and all(isinstance(member, dict) for member in value.values())
    fits = len(indent) + used + len(line) <= WIDTH and not is_table
    if fits or not any(
        _holds_object(member) for _, member in members
    ):  # a list of points, say, is never broken into lines
        return line
    lines = ",\n".join(f"{inner}{key}{_laid_out(member, inner, len(key))}" for key, member in members)
    return f"{line[0]}\n{lines}\n{indent}{line[-1]}"


def _holds_object(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_holds_object, value)))
