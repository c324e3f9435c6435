"""Places in a JSON text, for errors that point into hand-edited files: positions, paths, excerpts.

A path is written as in errors: `templates[3].nodes[2].type`, or `[3].nodes` where the document is a list. The text may
have what hand-edited files have beyond JSON: comments, and commas behind the last item (see `parsing`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from json import JSONDecoder
from typing import NamedTuple

Path = tuple[str | int, ...]

WIDEST = 100
"""Columns of an excerpt."""

_read = JSONDecoder().raw_decode
_UNQUOTED = r"(?:[\w.+]|-(?!-(?!\d)))"
"""A character of a number or word; two hyphens begin a comment, unless a digit follows."""
TOKEN = re.compile(
    rf"""
    (?P<comment>//[^\r\n]*+|\#[^\r\n]*+|--(?!\d)[^\r\n]*+|/\*(?s:.*?)(?:\*/|\Z))  # never closed, it is the rest
    |(?P<text>"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{{4}})[^"\\\x00-\x1f]*)*")
    |(?P<broken>"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*"?)  # a text that JSON does not have; never closed, it is a line
    |(?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?!{_UNQUOTED}))
    |(?P<word>(?:true|false|null)(?!{_UNQUOTED}))
    |(?P<mark>[{{}}\[\],:])
    |(?P<wrong>{_UNQUOTED}+|[^ \t\r\n])
    """,
    re.VERBOSE,
)
"""A token of a text that people write by hand; white space is no token. No possessive quantifier of a group stands
here: the first releases of Python 3.11 match those wrongly."""
_STEP_END = re.compile(r"(?!\A)(?=[.\[])|\Z")
_OUTSIDE, _FIRST = -1, "[0]"
"""The document is the first member of what is outside of it."""


class Position(NamedTuple):
    """A place in a text, counted from 1."""

    line: int
    column: int


def position_at(text: str, offset: int) -> Position:
    """The line and column of a character."""
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


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
    shown = "".join(each if each.isprintable() else " " for each in f"{left}{before}{behind}{right}")
    return f"{shown}\n{' ' * _width(left + before)}^"


def _width(text: str) -> int:
    """Columns on a terminal: an accent of its own takes none, an East Asian character two."""
    wide = sum(unicodedata.east_asian_width(each) in "WF" for each in text)
    return len(text) + wide - sum(unicodedata.combining(each) > 0 for each in text)


def show_path(path: Path) -> str:
    """A path as text.

    >>> show_path(("templates", 3, "text"))
    'templates[3].text'
    """
    return "".join(map(_show_step, path)).removeprefix(".")


def _show_step(step: str | int) -> str:
    return f"[{step}]" if isinstance(step, int) else f".{step}"


def locate(text: str, path: str) -> Position:
    """Where the value at `path` starts in JSON `text`; the nearest enclosing value where the path ends early.

    A key may hold a dot or a bracket: of the keys that a path may name, the longest is taken.
    """
    starts = _starts(text)
    at = starts.get((_OUTSIDE, _FIRST), 0)
    rest = path if path.startswith("[") or not path else f".{path}"
    while rest:
        ends = [match.end() for match in _STEP_END.finditer(rest)]
        found = next((end for end in reversed(ends) if (at, rest[:end]) in starts), 0)
        if not found:
            break
        at, rest = starts[at, rest[:found]], rest[found:]
    return position_at(text, at)


@lru_cache(maxsize=2)  # whoever points at one mistake of a file soon points at the next
def _starts(text: str) -> Mapping[tuple[int, str], int]:
    """(where an object or list starts, a step into it) -> where that member starts; of equal keys the last, as parsers
    keep it."""
    return {(member.inside, _show_step(member.step)): member.at for member in _members(text)}


def repeated_keys(text: str) -> Iterator[tuple[Path, int]]:
    """(path, offset) of each key that its object has already, in reading order."""
    above: dict[int, _Member] = {}
    seen: set[tuple[int, str | int]] = set()
    for member in _members(text):
        above[member.at] = member
        if (member.inside, member.step) in seen:
            yield _path(member, above), member.key_at
        seen.add((member.inside, member.step))


class _Member(NamedTuple):
    """A value in a text: offsets of the object or list that it is in, of its key (if it has one) and of itself."""

    inside: int
    step: str | int
    key_at: int
    at: int


def _path(member: _Member, above: Mapping[int, _Member]) -> Path:
    steps: list[str | int] = []
    while member.inside != _OUTSIDE:
        steps.append(member.step)
        member = above[member.inside]
    return tuple(reversed(steps))


def _members(text: str) -> Iterator[_Member]:
    """Every value of a text, in reading order. A loop, so that no depth is too deep."""
    inside: list[int] = [_OUTSIDE]
    steps: list[str | int] = [0]
    key_at, previous = 0, ""
    for match in TOKEN.finditer(text):
        token, at, step = match[0], match.start(), steps[-1]
        if match["comment"]:
            continue
        if token in "]}":
            inside.pop()
            steps.pop()
        elif token == "," and isinstance(step, int):
            steps[-1] = step + 1
        elif match["text"] and isinstance(step, str) and previous in ("{", ","):
            steps[-1], key_at = str(_read(token)[0]), at
        elif token not in ",:":
            yield _Member(inside[-1], step, key_at, at)
            if token in "[{":
                inside.append(at)
                steps.append(0 if token == "[" else "")
        previous = token
