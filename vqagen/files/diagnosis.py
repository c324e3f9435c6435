"""Scan of a JSON text that people write: where its values stand, what is written beyond JSON, and its first mistake.

Beyond JSON are comments (`// …`, `/* … */`, `# …`, `-- …`), commas behind the last item, and keys written twice. A
mistake is told in the words of people who write JSON by hand.
"""

from __future__ import annotations

import json
import math
import re
from functools import cached_property
from typing import NamedTuple

Path = tuple[str | int, ...]
"""A place in a document: `("templates", 3, "text")`."""

NOT_JSON, NOT_USABLE = "not valid JSON", "not usable JSON"
MOST_DIGITS = 4300
"""Python reads no longer whole number: reading takes time in the square of the digits."""

_read_key = json.JSONDecoder().raw_decode
_UNQUOTED = r"(?:[\w.+]|-(?!-(?!\d)))"
"""A character of a number or word; two hyphens begin a comment, unless a digit follows."""
TOKEN = rf"""(?x)
    (?P<comment>//[^\r\n]*+|\#[^\r\n]*+|--(?!\d)[^\r\n]*+|/\*(?s:.*?)(?:\*/|\Z))  # never closed, it is the rest
    |(?P<text>"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{{4}})[^"\\\x00-\x1f]*)*")
    |(?P<broken>"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*"?)  # a text that JSON does not have; never closed, it is a line
    |(?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?!{_UNQUOTED}))
    |(?P<word>(?:true|false|null)(?!{_UNQUOTED}))
    |(?P<mark>[{{}}\[\],:])
    |(?P<wrong>{_UNQUOTED}+|[^ \t\r\n])
    """
"""A token of a text that people write by hand; white space is no token. No possessive quantifier of a group stands
here: the first releases of Python 3.11 match those wrongly."""
_TEXT_SO_FAR = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*)*')
_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{0,3}|[^\x00-\x1f])")
_LINE_END = re.compile(r"\\?(?:[\r\n]|\Z)")
_KIND = {"{": "object", "[": "list"}
_CLOSER = {"{": "}", "[": "]"}
_QUOTES = "'`\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2032\u2033"
_WORDS = {"true": "true", "false": "false", "null": "null", "none": "null", "nil": "null", "undefined": "null"}
_NO_NUMBERS = {"nan", "inf", "infinity"}


class Mistake(NamedTuple):
    """A mistake, and the offset of its character. `kind` is NOT_JSON, NOT_USABLE if it is JSON nevertheless."""

    message: str
    offset: int
    kind: str = NOT_JSON


class _Token(NamedTuple):
    kind: str
    """The name of a group of `TOKEN`."""
    text: str
    offset: int


class Position(NamedTuple):
    """A place in a text, counted from 1."""

    line: int
    column: int


def position_at(text: str, offset: int) -> Position:
    """The line and column of a character."""
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


# What may follow -----------------------------------------------------------------------------------------------------

_VALUE, _FIRST_ITEM, _KEY, _FIRST_KEY, _COLON, _NEXT = "value", "first item", "key", "first key", "colon", "next"
"""What is expected at a place. The first of a list or object may also be its closing bracket."""
_OUTSIDE = -1


class Scan:
    """A text, walked token by token up to the first that cannot stand where it stands. A loop: no depth is too deep."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.values: list[tuple[int, str | int, int]] = []
        """In reading order: the offset of the object or list that a value is in, the step into it, its own offset."""
        self.comments: list[tuple[int, int]] = []
        """Start and end of each. One that is never closed is a mistake."""
        self.commas: list[tuple[int, int]] = []
        """Start and end of each comma that stands between a value and a closing bracket."""
        self.repeated: list[tuple[int, str, int]] = []
        """The same of each key that its object has already."""
        self.deepest = 0
        """The offset of the bracket that is nested most deeply."""
        self.expected = _VALUE
        self.previous = _Token("", "", 0)
        # The brackets that wait for the one that closes them; for each, the step into it, and the keys so far.
        self.open: list[_Token] = []
        self.steps: list[str | int] = []
        self.keys: list[set[str]] = []
        self.mistake = self._walk()

    @cached_property
    def paths(self) -> dict[int, Path]:
        """Offset of each value -> its path, for a text that can be parsed: others may be nested too deeply."""
        paths: dict[int, Path] = {}
        for inside, step, offset in self.values:
            paths[offset] = () if inside == _OUTSIDE else (*paths[inside], step)
        return paths

    def _walk(self) -> Mistake | None:
        deepest = 0
        for match in re.finditer(TOKEN, self.text):
            token = _Token(match.lastgroup or "", match[0], match.start())
            is_open = token.text.startswith("/*") and (len(token.text) < 4 or not token.text.endswith("*/"))
            if token.kind == "comment" and not is_open:
                self.comments.append(match.span())
                continue
            if token.text in "]}" and self.previous.text == "," and self.expected in (_VALUE, _KEY):
                self.commas.append((self.previous.offset, self.previous.offset + 1))
                self.expected = _NEXT
            if not self._step(token):
                return self.diagnose(token)
            if len(self.open) > deepest:
                deepest, self.deepest = len(self.open), token.offset
            self.previous = token
        if self.expected == _NEXT and not self.open:
            return None
        unclosed = (
            f"the file ends, but {self.innermost()} is not closed" if self.open else "there is nothing in the file"
        )
        return Mistake(unclosed, self.previous.offset + len(self.previous.text))

    def _step(self, token: _Token) -> bool:
        """Go over a token; False if it cannot stand here."""
        kind, text = token.kind, token.text
        if self.open and text == _CLOSER[self.open[-1].text] and self.expected in (_FIRST_ITEM, _FIRST_KEY, _NEXT):
            for stack in (self.open, self.steps, self.keys):
                stack.pop()
            self.expected = _NEXT
        elif self.expected in (_VALUE, _FIRST_ITEM) and (kind in ("text", "number", "word") or text in _KIND):
            inside, step = (self.open[-1].offset, self.steps[-1]) if self.open else (_OUTSIDE, "")
            self.values.append((inside, step, token.offset))
            self.expected = _NEXT
            if text in _KIND:
                self.open.append(token)
                self.steps.append(0 if text == "[" else "")
                self.keys.append(set())
                self.expected = _FIRST_ITEM if text == "[" else _FIRST_KEY
        elif self.expected in (_KEY, _FIRST_KEY) and kind == "text":
            self.steps[-1] = key = str(_read_key(text)[0])
            if key in self.keys[-1]:
                self.repeated.append((self.open[-1].offset, key, token.offset))
            self.keys[-1].add(key)
            self.expected = _COLON
        elif self.expected == _COLON and text == ":":
            self.expected = _VALUE
        elif self.expected == _NEXT and text == "," and self.open:
            step = self.steps[-1]
            if isinstance(step, int):
                self.steps[-1] = step + 1
            self.expected = _VALUE if isinstance(step, int) else _KEY
        else:
            return False
        return True

    # What is wrong ---------------------------------------------------------------------------------------------------

    def diagnose(self, token: _Token) -> Mistake:
        """The mistake of a token that cannot stand here."""
        if token.kind == "broken":
            return _broken_text(self.text, token.offset)
        if self.text.startswith("/*", token.offset):
            return Mistake("this comment is never closed: '*/' is missing", token.offset)
        if token.text in _QUOTES:
            return Mistake(f'text and keys stand in double quotes, "…", not in {token.text}', token.offset)
        is_word = token.kind in ("wrong", "word", "number") and (token.text[0].isalnum() or token.text[0] in "_\\")
        is_adjacent = self.previous.kind == "text" and self.previous.offset + len(self.previous.text) == token.offset
        if self.expected in (_COLON, _NEXT) and is_word and is_adjacent:  # the text before it was closed too early
            message = (
                f"{token.text!r} follows a text at once: a '\"' is missing, or one inside a text is not written \\\""
            )
            return Mistake(message, token.offset)
        explain = {_COLON: self.no_colon, _NEXT: self.no_separator, _KEY: self.no_key, _FIRST_KEY: self.no_key}
        return Mistake(explain.get(self.expected, self.no_value)(token), token.offset)

    def innermost(self) -> str:
        """The innermost open bracket, in words."""
        place = position_at(self.text, self.open[-1].offset)
        return f"the {_KIND[self.open[-1].text]} opened at line {place.line}, column {place.column}"

    def no_value(self, token: _Token) -> str:
        text, small = token.text, token.text.lower().lstrip("+-")
        if text in (",", *_CLOSER.values()):
            return f"a value is missing before this {text!r}"
        if small in _WORDS:
            return f"JSON writes {_WORDS[small]}, found {text}"
        if small in _NO_NUMBERS:
            return f"JSON has no {text}; write a number, or null"
        if text[0] in "+-." or text[0].isdigit():
            return f"{text} is not a number as JSON writes it{_as_number(text)}"
        if text[0].isalpha() or text[0] == "_":
            return f'text stands in double quotes: "{text}"'
        return f"expected a value, found {text!r}"

    def no_key(self, token: _Token) -> str:
        text = token.text
        if text == ",":
            return "a comma too many" if self.previous.text == "," else "a key is missing before this ','"
        if text == ":":
            return "a key is missing before this ':'"
        if token.kind in ("number", "word") or text[0].isalnum() or text[0] == "_":
            return f'a key stands in double quotes: "{text}"'
        missing = f"; is the '}}' of {self.innermost()} missing?" if text in _KIND else ""
        return f"expected a key in double quotes, found {text!r}{missing}"

    def no_colon(self, token: _Token) -> str:
        key = self.previous.text
        if token.text in (",", *_CLOSER.values()):
            return f"the key {key} has no value: ':' and a value are missing before this {token.text!r}"
        return f"expected ':' between the key {key} and its value, found {token.text!r}"

    def no_separator(self, token: _Token) -> str:
        """After a value: of a list, of an object, or of the whole text."""
        text = token.text
        if not self.open and text in _CLOSER.values():
            return f"this {text!r} closes nothing"
        if not self.open:
            return f"expected the end of the file, found {text!r}; several values go into a list, [ … ]"
        closer = _CLOSER[self.open[-1].text]
        if token.kind in ("text", "number", "word") or text in _KIND:
            return "a comma is missing before this"
        if text == ":" and closer == "]":
            return f"only the keys of an object take ':'; is the ']' of {self.innermost()} missing?"
        if text in _CLOSER.values():
            return f"expected ',' or {closer!r}, found {text!r}; {self.innermost()} is not closed"
        return f"expected ',' or {closer!r}, found {text!r}"


def _as_number(text: str) -> str:
    """The way to write a number that JSON does not take as it stands; "" if that is not clear."""
    try:
        number = float(text)
    except ValueError:
        return ""
    is_short = math.isfinite(number) and number.is_integer() and abs(number) < 1e15
    return f"; is {int(number) if is_short else number} meant?"


def _broken_text(text: str, start: int) -> Mistake:
    """The mistake in a text in quotes that begins at `start`."""
    found = _TEXT_SO_FAR.match(text, start)
    at = found.end() if found else start
    breaking = text[at : at + 1]
    escape = _ESCAPE.match(text, at)
    if escape:
        escaped = escape[0].replace("\\", "\\\\", 1)
        return Mistake(f"JSON has no {escape[0]}; a backslash in a text is written \\\\, as in {escaped}", at)
    if _LINE_END.match(text, at):
        return Mistake("this text is not closed: '\"' is missing before the end of the line", start)
    name = {"\t": "a tab", "\\": "a backslash"}.get(breaking, "a control character")
    return Mistake(f"{name} inside a text is written {json.dumps(breaking)[1:-1]}", at)


def find_unusable(text: str) -> Mistake | None:
    """The first text or number that follows the grammar, and yet cannot be read or written again."""
    for match in re.finditer(TOKEN, text):
        token = match[0]
        if match["number"] and token.lstrip("-").isdigit() and len(token) > MOST_DIGITS:
            return Mistake(f"a whole number of {len(token):,} digits", match.start(), NOT_USABLE)
        if match["number"] and not token.lstrip("-").isdigit() and math.isinf(float(token)):
            return Mistake(f"the number {token[:30]} is too large", match.start(), NOT_USABLE)
        try:
            str(json.loads(token if match["text"] else "0")).encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(error.object[error.start]):04x} alone is half a character"
            return Mistake(half, match.start(), NOT_USABLE)
    return None
