"""Question files in: a document `{"info": …, "questions": […]}`, a list, or JSON Lines; each also `.gz`. Streamed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.world.domain import describe
from vqagen.world.json_stream import JsonReader, reading

Record = dict[str, Any]


def read_questions(path: Path) -> Iterator[Record]:
    """Every question record of a file, in order. A text that breaks raises BadInput with its place."""
    if not path.is_file():
        raise UsageError(f"questions not found: {path}")
    with reading(path) as reader:
        for number, value in enumerate(_values(path, reader)):
            if not isinstance(value, dict):
                raise _fault(path, f"questions[{number}]", f"expected a question object, found {describe(value)}")
            yield value


def _values(path: Path, reader: JsonReader) -> Iterator[object]:
    opening = reader.peek()
    if opening == b"[":
        yield from _elements(reader)
    elif opening != b"{":
        raise _fault(path, "", "not questions: expected JSON that begins with { or [")
    elif (first := _first_key(path)) in ("info", "questions"):
        yield from _document(path, reader)
    elif first is None:
        raise _fault(path, "", "no questions: the object is empty")
    else:
        while reader.peek():
            yield reader.value()


def _first_key(path: Path) -> str | None:
    """The key that a file begins with: a document's is not one of a question's."""
    with reading(path) as reader:
        reader.take(b"{")
        return None if reader.peek() == b"}" else next(reader.rest_of_object())


def _document(path: Path, reader: JsonReader) -> Iterator[object]:
    reader.take(b"{")
    found = False
    for key in reader.rest_of_object():
        if key == "questions":
            found = True
            if reader.peek() != b"[":
                raise _fault(path, "questions", f"expected a list of questions, found {describe(reader.value())}")
            yield from _elements(reader)
    if not found:
        raise _fault(path, "", "no key 'questions'")


def _elements(reader: JsonReader) -> Iterator[object]:
    reader.take(b"[")
    if reader.peek() == b"]":
        reader.take(b"]")
        return
    for _ in reader.rest_of_list("questions"):
        yield reader.value()


def _fault(path: Path, place: str, message: str) -> BadInput:
    return BadInput([Problem(message, str(path), place)])
