"""Diagnosis of a text that is not JSON: its first mistake, in the words of people who write JSON by hand."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import NamedTuple

from vqagen.files.text import TOKEN, position_at

NOT_JSON, NOT_USABLE = "not valid JSON", "not usable JSON"
MOST_DIGITS = 4300
"""Python reads no longer whole number: reading takes time in the square of the digits."""

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


class _Opened(NamedTuple):
    """A bracket that waits for the one that closes it."""

    bracket: str
    offset: int


def find_mistake(text: str) -> Mistake | None:
    """Return the first place where a text breaks the grammar of JSON, or else holds a value that cannot be read."""
    return _Grammar(text).mistake() or _unusable(text)


# What may follow -----------------------------------------------------------------------------------------------------

_VALUE, _FIRST_ITEM, _KEY, _FIRST_KEY, _COLON, _NEXT = "value", "first item", "key", "first key", "colon", "next"
"""What is expected at a place. The first of a list or object may also be its closing bracket."""


class _Grammar:
    """The grammar of JSON, walked token by token up to the first that cannot stand where it stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.open: list[_Opened] = []
        self.expected = _VALUE
        self.previous = _Token("", "", 0)

    def mistake(self) -> Mistake | None:
        """The first mistake, or None."""
        for match in TOKEN.finditer(self.text):
            token = _Token(match.lastgroup or "", match[0], match.start())
            if not self.step(token):
                return self.diagnose(token)
            self.previous = token
        if self.expected == _NEXT and not self.open:
            return None
        return Mistake(self.cut_off(), len(self.text.rstrip()))

    def step(self, token: _Token) -> bool:
        """Go over a token; False if it cannot stand here."""
        kind, text = token.kind, token.text
        if self.open and text == _CLOSER[self.open[-1].bracket] and self.expected in (_FIRST_ITEM, _FIRST_KEY, _NEXT):
            self.open.pop()
            self.expected = _NEXT
        elif self.expected in (_VALUE, _FIRST_ITEM) and kind in ("text", "number", "word"):
            self.expected = _NEXT
        elif self.expected in (_VALUE, _FIRST_ITEM) and text in _KIND:
            self.open.append(_Opened(text, token.offset))
            self.expected = _FIRST_ITEM if text == "[" else _FIRST_KEY
        elif self.expected in (_KEY, _FIRST_KEY) and kind == "text":
            self.expected = _COLON
        elif self.expected == _COLON and text == ":":
            self.expected = _VALUE
        elif self.expected == _NEXT and text == "," and self.open:
            self.expected = _KEY if self.open[-1].bracket == "{" else _VALUE
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
        if self.expected in (_COLON, _NEXT) and self.continues_text(token):
            message = (
                f"{token.text!r} follows a text at once: a '\"' is missing, or one inside a text is not written \\\""
            )
            return Mistake(message, token.offset)
        explain: Callable[[_Token], str] = {
            _VALUE: self.no_value,
            _FIRST_ITEM: self.no_value,
            _KEY: self.no_key,
            _FIRST_KEY: self.no_key,
            _COLON: self.no_colon,
            _NEXT: self.no_separator,
        }[self.expected]
        return Mistake(explain(token), token.offset)

    def continues_text(self, token: _Token) -> bool:
        """True if a token looks as if the text before it was closed too early."""
        kind, text, offset = self.previous
        is_word = token.kind in ("wrong", "word", "number") and (token.text[0].isalnum() or token.text[0] in "_\\")
        return is_word and kind == "text" and offset + len(text) == token.offset

    def innermost(self) -> str:
        """The innermost open bracket, in words."""
        bracket, offset = self.open[-1]
        place = position_at(self.text, offset)
        return f"the {_KIND[bracket]} opened at line {place.line}, column {place.column}"

    def cut_off(self) -> str:
        if self.open:
            return f"the file ends, but {self.innermost()} is not closed"
        return "there is nothing in the file"

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
        if not self.open:
            return self.no_end(text)
        closer = _CLOSER[self.open[-1].bracket]
        if token.kind in ("text", "number", "word") or text in _KIND:
            return "a comma is missing before this"
        if text == ":" and closer == "]":
            return f"only the keys of an object take ':'; is the ']' of {self.innermost()} missing?"
        if text in _CLOSER.values():
            return f"expected ',' or {closer!r}, found {text!r}; {self.innermost()} is not closed"
        return f"expected ',' or {closer!r}, found {text!r}"

    def no_end(self, text: str) -> str:
        if text in _CLOSER.values():
            return f"this {text!r} closes nothing"
        return f"expected the end of the file, found {text!r}; several values go into a list, [ … ]"


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


def _unusable(text: str) -> Mistake | None:
    """The first text or number that follows the grammar, and yet cannot be read or written again."""
    for match in TOKEN.finditer(text):
        message = ""
        if match.lastgroup == "number":
            message = _number_fault(match[0])
        elif match.lastgroup == "text":
            message = _half_character(match[0])
        if message:
            return Mistake(message, match.start(), NOT_USABLE)
    return None


def _number_fault(number: str) -> str:
    if number.lstrip("-").isdigit():
        return f"a whole number of {len(number):,} digits" if len(number) > MOST_DIGITS else ""
    return f"the number {number[:30]} is too large" if math.isinf(float(number)) else ""


def _half_character(quoted: str) -> str:
    try:
        json.loads(quoted).encode()
    except UnicodeEncodeError as error:
        return f"\\u{ord(error.object[error.start]):04x} alone is half a character"
    return ""
