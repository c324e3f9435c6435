"""Where in a JSON text a path stands, for errors that point into hand-edited files.

A path is written as in errors: `templates[3].nodes[2].type`, or `[3].nodes` where the document is a list.
"""

from __future__ import annotations

import re
from json import JSONDecoder
from typing import NamedTuple

Path = tuple[str | int, ...]
_read = JSONDecoder().raw_decode
_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"[^\s,\]}]+")
_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')
_STEP = re.compile(r"\[(\d+)\]|\.?([^.\[\]]+)")


class Position(NamedTuple):
    """A place in a text, counted from 1."""

    line: int
    column: int


def show_path(path: Path) -> str:
    """A path as text.

    >>> show_path(("templates", 3, "text"))
    'templates[3].text'
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def read_path(text: str) -> Path:
    """The inverse of `show_path` (keys that hold a dot or a bracket cannot be told apart)."""
    return tuple(int(index) if index else key for index, key in _STEP.findall(text))


def locate(text: str, path: str) -> Position:
    """Where the value at `path` starts in valid JSON `text`; the nearest enclosing value where the path ends early."""
    offset = _find(text, _skip(text, 0), read_path(path))
    return Position(text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _find(text: str, at: int, path: Path) -> int:
    for step in path:
        starts = [start for key, start, _ in _members(text, at) if key == step]
        if not starts:
            return at
        at = starts[-1]  # of a key that is written twice, parsers keep the last
    return at


def _members(text: str, at: int) -> list[tuple[str | int, int, int]]:
    """(key or index, start, end) of each member of the object or list at `at`; nothing for a scalar."""
    if text[at] not in "{[":
        return []
    is_object = text[at] == "{"
    members: list[tuple[str | int, int, int]] = []
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        key: str | int = len(members)
        if is_object:
            key, at = _read(text, at)
            at = _skip(text, _skip(text, at) + 1)
        end = _end(text, at)
        members.append((key, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return members


def _end(text: str, at: int) -> int:
    """Where the value that starts at `at` ends. A loop, so that no depth is too deep."""
    if text[at] not in '"{[':
        match = _SCALAR.match(text, at)
        return match.end() if match else at + 1
    depth = 0
    for match in _MARK.finditer(text, at):
        depth += (match[0] in ("{", "[")) - (match[0] in ("}", "]"))
        if depth == 0:
            return match.end()
    return len(text)
