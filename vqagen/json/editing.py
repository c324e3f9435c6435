"""Edit the text of hand-written JSON: only what changes is written anew; comments, order and layout stay.

    >>> print(edited('{"b": [1,  2], // two\\n "a": {}}', {"b": [1, 2, 3], "a": {}}))
    {"b": [1,  2,  3], // two
     "a": {}}

An object or list is taken apart into pieces, one for each member: the white space and comments before it, its key, its
value, and what stands behind it on its line. New members are laid out as their neighbors are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from vqagen.json.text import TOKEN
from vqagen.json.tolerant import read_tolerantly

WIDTH = 120
"""Columns that a new value fills before it is broken into lines."""
_STEP = "  "
_BLANK = " \t\r\n"


def edited(text: str, value: Any) -> str:
    """Return `text`, which must be JSON as `read_tolerantly` takes it, with its value changed to `value`."""
    old = read_tolerantly(text).value
    root = _read_node(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    new = text[: root.start] + _Writer(text, newline).written(root, old, value) + text[root.end :]
    assert _is_same(read_tolerantly(new).value, value), "the edited text says something else"
    return new


# Reading ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Node:
    """A value in a text: its place and, if it is an object or list, its members."""

    start: int
    end: int
    members: tuple[_Piece, ...] | None = None
    rest: int = 0
    """Where what stands between the last piece and the closing bracket starts."""


@dataclass(frozen=True)
class _Piece:
    """A member in a text. Its white space and comments start at `start`, and the next piece starts at `end`."""

    start: int
    key_at: int
    """Where the key or, in a list, the value starts."""
    step: str | int
    node: _Node
    comma: int
    """Where the comma behind the member stands; -1 if there is none."""
    end: int


class _Token(NamedTuple):
    text: str
    start: int
    end: int


def _read_node(text: str) -> _Node:
    """Return the tree of a text."""
    tokens = [_Token(match[0], match.start(), match.end()) for match in TOKEN.finditer(text) if not match["comment"]]
    root, after = _node(text, tokens, 0)
    assert after == len(tokens), "the text holds one value"
    return root


def _node(text: str, tokens: Sequence[_Token], at: int) -> tuple[_Node, int]:
    """Return the value whose first token has number `at`, and the number of the token behind it."""
    opening = tokens[at]
    if opening.text not in "[{":
        return _Node(opening.start, opening.end), at + 1
    members: list[_Piece] = []
    begin, at = opening.end, at + 1
    while tokens[at].text not in "]}":
        key_at, step = tokens[at].start, len(members)
        name: str | int = step
        if opening.text == "{":
            name, at = str(json.loads(tokens[at].text)), at + 2
        node, at = _node(text, tokens, at)
        comma = tokens[at].start if tokens[at].text == "," else -1
        at += comma >= 0
        end = _end_of_line(text, comma + 1 if comma >= 0 else node.end, tokens[at].start)
        members.append(_Piece(begin, key_at, name, node, comma, end))
        begin = end
    return _Node(opening.start, tokens[at].end, tuple(members), begin), at + 1


def _end_of_line(text: str, start: int, limit: int) -> int:
    """Return where comments end that stand on the same line behind a member."""
    newline = re.compile(r"\r?\n").search(text, start, limit)
    found = newline.start() if newline else start
    return found if text[start:found].strip(_BLANK) else start


# Comparing ----------------------------------------------------------------------------------------------------------


class _Kept(NamedTuple):
    """An old member (its number), and the key and value that it gets."""

    old: int
    step: str | int
    value: Any


class _Added(NamedTuple):
    """A new member."""

    step: str | int
    value: Any


def _canonical(value: Any) -> str:
    """Return one text for values that are the same in JSON: 1 and 1.0, but not 1 and true."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(key)}:{_canonical(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_canonical, value)) + "]"
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)


def _is_same(one: Any, other: Any) -> bool:
    """True for values with the same canonical text, which most of a document needs not: an edit takes half the time."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_is_same(each, other[key]) for key, each in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return (type(one) is type(other) and one == other) or _canonical(one) == _canonical(other)


def _changes(old: Any, new: Any) -> Iterator[_Kept | _Added]:
    """Yield the members of `new` in order: old ones, which may be renamed or changed, and added ones."""
    if isinstance(old, Mapping):
        steps, before, after = list(new), list(old), list(new)
    else:
        steps, before, after = list(range(len(new))), list(map(_canonical, old)), list(map(_canonical, new))
    for _, i, i_end, j, j_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        for number in range(j, j_end):
            kept, step = i + number - j, steps[number]
            yield _Kept(kept, step, new[step]) if kept < i_end else _Added(step, new[step])


# Writing ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Chunk:
    """A member as it is written: what stands before it, itself, and what stands before and behind its comma."""

    lead: str
    body: str
    before_comma: str = ""
    behind: str = ""


@dataclass(frozen=True)
class _Writer:
    """Writes values into a text."""

    text: str
    newline: str

    def written(self, node: _Node, old: Any, new: Any) -> str:
        """Return the text of a node whose value changes from `old` to `new`."""
        if _is_same(old, new):
            return self.text[node.start : node.end]
        is_same_kind = isinstance(old, Mapping) == isinstance(new, Mapping) and isinstance(new, dict | list)
        steps = [piece.step for piece in node.members or ()]
        if not is_same_kind or not steps or not new or (isinstance(old, Mapping) and steps != list(old)):
            text = self.text[node.start : node.end]
            width = max(WIDTH, len(text)) if "\n" not in text else WIDTH
            return self.formatted(new, self.indent_at(node.start), width)
        return self.text[node.start] + self.joined(node, old, new) + self.text[node.end - 1]

    def joined(self, node: _Node, old: Any, new: Any) -> str:
        """Return the members of an object or list whose value changes from `old` to `new`."""
        assert node.members is not None
        chunks: list[_Chunk] = []
        done, carried = 0, ""
        for change in _changes(old, new):
            if isinstance(change, _Kept):
                for dropped in node.members[done : change.old]:
                    carried += self.comments_before(dropped)
                chunk = self.kept(node.members[change.old], change, old)
                if change.old == 0 and chunks and not chunk.lead:
                    chunk = replace(chunk, lead=" ")
                chunks.append(self.with_comments(carried, chunk))
                done, carried = change.old + 1, ""
            else:
                chunks.append(self.added(change, node.members, min(done, len(node.members)), isinstance(old, Mapping)))
        for dropped in node.members[done:]:
            carried += self.comments_before(dropped)
        if not chunks[0].lead.strip(_BLANK) and "\n" not in chunks[0].lead:
            chunks[0] = replace(chunks[0], lead=self.lead_space(node.members[0]))
        *most, last = chunks
        pieces = [f"{each.lead}{each.body}{each.before_comma},{each.behind}" for each in most]
        rest = self.text[node.rest : node.end - 1]
        return "".join(pieces) + last.lead + last.body + last.before_comma + last.behind + carried + rest

    def kept(self, piece: _Piece, change: _Kept, old: Any) -> _Chunk:
        """Return an old member with its new key and value."""
        value = self.written(piece.node, old[piece.step], change.value)
        key_end = piece.key_at
        key = ""
        if isinstance(change.step, str) and change.step != piece.step:
            token = TOKEN.match(self.text, piece.key_at)
            assert token is not None
            key, key_end = _json(change.step), token.end()
        key += self.text[key_end : piece.node.start]
        behind = piece.comma if piece.comma >= 0 else piece.node.end
        before_comma = self.text[piece.node.end : behind]
        after = self.text[behind + (piece.comma >= 0) : piece.end]
        return _Chunk(self.text[piece.start : piece.key_at], key + value, before_comma, after)

    def added(self, change: _Added, members: Sequence[_Piece], done: int, is_object: bool) -> _Chunk:
        """Return a new member, laid out as the one before it (or behind it, if it is the first)."""
        neighbor = members[max(done - 1, 0)]
        lead = self.lead_space(neighbor)
        if "\n" not in lead and done:
            lead = lead or " "
        shown = [self.text[each.key_at : each.node.end] for each in members]
        widest = max((len(each) for each in shown if "\n" not in each), default=0)
        key = f"{_json(change.step)}: " if is_object else ""
        indent = self.indent_at(neighbor.key_at)
        return _Chunk(lead, key + self.formatted(change.value, indent, max(WIDTH, len(indent) + widest), len(key)))

    def lead_space(self, piece: _Piece) -> str:
        """Return the white space directly before a member, from the last line break on."""
        lead = self.text[piece.start : piece.key_at]
        space = lead[len(lead.rstrip(_BLANK)) :]
        return self.newline + space.rpartition("\n")[2] if "\n" in space else space

    def comments_before(self, piece: _Piece) -> str:
        """Return comments on lines of their own before a member that is dropped."""
        return self.text[piece.start : piece.key_at].rstrip(_BLANK)

    def with_comments(self, comments: str, chunk: _Chunk) -> _Chunk:
        """Return a member with the comments of dropped ones before it."""
        if not comments:
            return chunk
        lead = chunk.lead if "\n" in chunk.lead else self.newline + chunk.lead
        return replace(chunk, lead=comments + lead)

    def indent_at(self, offset: int) -> str:
        """Return the white space that the line of a place starts with."""
        line = self.text[self.text.rfind("\n", 0, offset) + 1 : offset]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def formatted(self, value: Any, indent: str, width: int, used: int = 0) -> str:
        """Return a new value: on one line if it fits or holds no objects; otherwise, as a table, one member a line."""
        line = _json(value)
        if not value or not isinstance(value, dict | list):
            return line
        fits = len(indent) + used + len(line) <= width
        if not _holds_objects(value) or (fits and not _is_table(value)):
            return line
        inner = indent + _STEP
        keys = [f"{_json(key)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
        members = [
            f"{inner}{key}{self.formatted(each, inner, width, len(key))}"
            for key, each in zip(keys, _each(value), strict=True)
        ]
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return f"{opening}{self.newline}{f',{self.newline}'.join(members)}{self.newline}{indent}{closing}"


def _holds_objects(value: Any) -> bool:
    """True if an object is inside of an object or list; a list of points, say, is never broken into lines."""
    inner = _each(value) if isinstance(value, dict | list) else []
    return any(isinstance(each, dict) or _holds_objects(each) for each in inner)


def _is_table(value: dict[str, Any] | list[Any]) -> bool:
    """True for an object of objects."""
    return isinstance(value, dict) and all(isinstance(each, dict) for each in value.values())


def _each(value: dict[str, Any] | list[Any]) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
