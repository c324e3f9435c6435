"""A JSON text too large to hold, read forward value by value.

The reader holds one value and a chunk of what follows. Where a value ends is guessed: elements of a list that begin
with the same key are parted by the same few bytes. A guess counts only if the text up to it is one whole value, so a
wrong one costs time and nothing else. Without a good guess the end is found by parsing the value with `json`, which
also tells where a broken one breaks.

`ijson` (its C backend) needs five times as long: 471 µs against 92 for a scene of 1.7 kB in a document of 20,000, on a
busy machine. It neither gives the text of a value, which workers and checksums take, nor its place in the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from typing import Any, BinaryIO

import orjson

from vqagen.errors import BadInput, Problem
from vqagen.files.diagnosis import Position
from vqagen.files.locations import Location, open_bytes
from vqagen.files.packing import DAMAGE

NOT_JSON = "not valid JSON"

CHUNK = 1 << 18
"""Bytes read at once."""

FIRST_TRY = 1 << 14
"""Bytes in which the end of a value is first looked for; doubled until it is found."""

LONGEST_TOKEN = 16
"""Where a text was cut inside a number, a word or an escape, parsing ends less than this before the cut."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NOT_SPACE = re.compile(rb"[^ \t\r\n]")
_SEPARATOR = re.compile(rb'[ \t\r\n]*,[ \t\r\n]*\{[ \t\r\n]*"[^"\\]*"')
_INSIDE_CHARACTER = bytes(range(0x80, 0xC0))
# Only the end of a value is wanted of it, and `len` takes any number of digits.
_DECODER = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=len)


class JsonFault(Exception):
    """The text is not JSON, or cannot be read. `offset` is the byte where, if it is known; `path` the JSON path."""

    def __init__(self, message: str, path: str = "", offset: int | None = None) -> None:
        super().__init__(message)
        self.message, self.path, self.offset = message, path, offset


class JsonReader:
    """Stands at a byte of a JSON text and moves forward, from `offset` on.

    `path` is the JSON path of the value that is being read, as far as the reader has come by it.
    """

    def __init__(self, file: BinaryIO, offset: int = 0) -> None:
        self.path, self._separator = "", b""
        self._file, self._buffer, self._at, self._before = file, b"", 0, offset
        try:
            file.seek(offset)
        except DAMAGE as error:
            raise damaged(error) from None
        self._more()
        if offset == 0 and self._buffer.startswith(BYTE_ORDER_MARK):
            self._at = len(BYTE_ORDER_MARK)

    @property
    def offset(self) -> int:
        """Bytes of the text before the place where the reader stands."""
        return self._before + self._at

    def fault(self, message: str, ahead: int = 0) -> JsonFault:
        """What is wrong here, or `ahead` bytes further on."""
        return JsonFault(message, self.path, self.offset + ahead)

    def peek(self) -> bytes:
        """Go to the next byte that is not white space, and show it; b"" at the end of the text."""
        while True:
            if found := _NOT_SPACE.search(self._buffer, self._at):
                self._at = found.start()
                return found.group()
            self._at = len(self._buffer)
            if not self._more():
                return b""

    def take(self, expected: bytes) -> bytes:
        """Step over the next byte that is not white space; it must be one of `expected`."""
        found = self.peek()
        if not found or found not in expected:
            wanted = " or ".join(repr(chr(byte)) for byte in expected)
            raise self.fault(f"expected {wanted}, found {_shown(found)}")
        self._at += 1
        return found

    def take_end(self) -> None:
        """Make sure that nothing follows."""
        if found := self.peek():
            raise self.fault(f"expected the end of the file, found {_shown(found)}")

    def value(self) -> Any:
        """Read the next value."""
        return self.value_and_text()[0]

    def value_and_text(self) -> tuple[Any, bytes]:
        """Read the next value; with its text, which costs nothing more."""
        if guessed := self._guessed_object():
            return guessed
        text = self._whole_value()
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise self.fault(*refusal(text, error)) from None
        self._step_over(text)
        return value, text

    def skip(self) -> None:
        """Pass over the next value; over a list, element by element."""
        if self.peek() != b"[":
            self.text()
            return
        self.take(b"[")
        for _ in self.rest_of_list(self.path):
            pass

    def members(self) -> Iterator[str]:
        """Each key of the object that comes next, which must be the outermost; see `rest_of_object`."""
        self.take(b"{")
        if self.peek() != b"}":
            yield from self.rest_of_object()
        else:
            self.take(b"}")

    def rest_of_list(self, path: str) -> Iterator[int]:
        """Yield the index of each element of the list at `path`, whose bracket the reader has just taken.

        An element is read by the caller or, where it is left alone, skipped.
        """
        if self.peek() == b"]":
            self.take(b"]")
            return
        index = 0
        while True:
            self.path = f"{path}[{index}]"
            self.peek()
            before = self.offset
            yield index
            if self.offset == before:
                self.text()
            if self.take(b",]") == b"]":
                return
            index += 1

    def rest_of_object(self) -> Iterator[str]:
        """The reader stands before a key of the outermost object: this key and each that follows.

        A value is read by the caller or, where it is left alone, skipped.
        """
        while True:
            if self.peek() != b'"':
                raise self.fault(f"expected a key in quotes, found {_shown(self.peek())}")
            self.path = key = self.value()
            self.take(b":")
            self.peek()
            before = self.offset
            yield key
            if self.offset == before:
                self.skip()
            if self.take(b",}") == b"}":
                return

    def text(self) -> bytes:
        """Step over the next value, and give its text. Its strings and numbers need not be such that can be read."""
        if guessed := self._guessed_object():
            return guessed[1]
        text = self._whole_value()
        self._step_over(text)
        return text

    def _guessed_object(self) -> tuple[Any, bytes] | None:
        """Read the next value, and its text, up to where its end is guessed; None where that is not one value."""
        if self.peek() != b"{" or not self._separator:
            return None
        end = self._buffer.find(self._separator, self._at)
        if end < 0 and self._more():
            end = self._buffer.find(self._separator, self._at)
        text = self._buffer[self._at : end + 1]
        with suppress(orjson.JSONDecodeError):  # no guess, a wrong one, or broken JSON: the slow way shows which
            value = orjson.loads(text)
            self._at += len(text)
            return value, text
        return None

    def _whole_value(self) -> bytes:
        """The text of the next value, which is parsed to find its end."""
        self.peek()
        size = FIRST_TRY
        while True:
            while len(self._buffer) - self._at < size and self._more():
                pass
            text = self._buffer[self._at : self._at + size]
            is_all = len(text) < size
            try:
                # As Latin-1 a byte is a character: ends are right, and what the strings say does not matter here.
                length = _DECODER.raw_decode(text.decode("latin-1"))[1]
            except json.JSONDecodeError as error:
                is_open = error.msg.startswith("Unterminated string")
                if is_all or not (is_open or error.pos + LONGEST_TOKEN > len(text)):
                    is_cut = is_all and (is_open or error.pos >= len(text.rstrip()))
                    raise self.fault("the file ends inside a value" if is_cut else error.msg, error.pos) from None
            except RecursionError:
                raise self.fault("nested too deeply") from None
            else:
                if is_all or length + LONGEST_TOKEN <= len(text):  # else it may go on
                    return text[:length]
            size *= 2

    def _step_over(self, text: bytes) -> None:
        """Go behind `text`, which comes next, and learn what parts it from an object that follows."""
        self._at += len(text)
        found = _SEPARATOR.match(self._buffer, self._at) if text.startswith(b"{") else None
        if found:
            self._separator = b"}" + found.group()

    def _more(self) -> bool:
        """Let go of what has been read and read on; False at the end of the text."""
        held = self._buffer[self._at :]
        try:
            chunk = self._file.read(max(CHUNK, len(held)))  # doubling, or a long value would be copied too often
        except DAMAGE as error:
            raise damaged(error, self.path, f" (behind byte {self._before + len(self._buffer)})") from None
        if not chunk:
            return False
        self._before += self._at
        self._buffer, self._at = held + chunk, 0
        return True


@contextmanager
def reading(path: Location, offset: int = 0) -> Iterator[JsonReader]:
    """A reader of the file's text (unpacked), from a byte on. Faults are raised as `reading_bytes` says."""
    with reading_bytes(path) as file:
        yield JsonReader(file, offset)


@contextmanager
def reading_bytes(path: Location) -> Iterator[BinaryIO]:
    """The open file. A JsonFault inside becomes BadInput with file, JSON path, line and column."""
    with open_bytes(path) as file:
        try:
            yield file
        except JsonFault as fault:
            if fault.offset is None:
                raise BadInput([Problem(fault.message, str(path), fault.path)]) from None
            with open_bytes(path) as again:
                place = position_of(again, fault.offset)
            raise BadInput([Problem(f"{NOT_JSON}: {fault.message}", str(path), fault.path, *place)]) from None


def members_of(path: Location, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the members of the object that a file holds, or holds under a key; nothing for another value."""
    with reading(path) as reader:
        if reader.peek() != b"{":
            return
        for name in reader.members():
            if not key:
                yield name, reader.value()
            elif name == key and isinstance(found := reader.value(), dict):
                yield from found.items()
        reader.take_end()


def damaged(error: Exception, path: str = "", place: str = "") -> JsonFault:
    """The fault of a file that cannot be read on; `error` is one of `DAMAGE`."""
    return JsonFault(f"damaged or cut off: {error}{place}", path)


def refusal(text: bytes, error: orjson.JSONDecodeError) -> tuple[str, int]:
    """Why orjson refused `text`, and at which byte of it."""
    try:
        text.decode()
    except UnicodeDecodeError as undecoded:
        return "not UTF-8 text", undecoded.start
    at = len(error.doc[: error.pos].encode())
    if text[at:].lstrip(b"-").startswith((b"NaN", b"Infinity")):
        return "NaN and Infinity are not numbers in JSON", at
    return error.msg, at


def mistake_in(text: bytes, whole: str) -> tuple[str, Position]:
    """Return why a text, a whole line or file, is not JSON, and where; one that is cut off, where it ends."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as error:
        message, at = refusal(text, error)
        if message == "unexpected end of data":
            message = f"the {whole} ends inside a value"
        return f"{NOT_JSON}: {message}", position_of(BytesIO(text), min(at, len(text.rstrip())))
    return NOT_JSON, Position(1, 1)


def position_of(file: BinaryIO, offset: int) -> Position:
    """Line and column of a byte, found by reading what comes before it."""
    line = column = 1
    while chunk := file.read(min(offset, CHUNK)):
        offset -= len(chunk)
        *lines, last = chunk.split(b"\n")
        line, column = line + len(lines), 1 if lines else column
        column += len(last.translate(None, _INSIDE_CHARACTER))
    return Position(line, column)


def _shown(found: bytes) -> str:
    return repr(found.decode("latin-1")) if found else "the end of the file"
