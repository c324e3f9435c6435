"""Question files in: a document `{"info": …, "questions": […]}`, a list, or JSON Lines, each also packed; and Parquet.

They are streamed. Parquet is known by the suffix, the others by what they begin with.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vqagen.errors import BadInput, Problem, UsageError, describe
from vqagen.files.locations import Location
from vqagen.files.packing import unpacked_name
from vqagen.files.reading import open_as_it_is, unnamed_packing
from vqagen.json.stream import JsonReader, reading

Record = dict[str, Any]
QUESTION_KEYS = ("program", "question", "answer")
"""A question has at least one of these."""
JSON_COLUMNS = ("trace", "template_extra")
"""Columns of Parquet whose texts are JSON."""
COLUMNS_SUFFIX = ".parquet"
LINES_SUFFIXES = (".jsonl", ".ndjson")
"""Of names that say JSON Lines: of these there may be none."""
PARQUET_BEGINS = b"PAR1"


def read_questions(path: Location) -> Iterator[Record]:
    """Every question record of a file, in order. A text that breaks raises BadInput with its place."""
    for found in read_entries(path):
        if isinstance(found, Problem):
            raise BadInput([found])
        yield found


def read_entries(path: Location) -> Iterator[Record | Problem]:
    """The same, but what is no object is given as a problem, and what follows it is read."""
    if not path.is_file():
        raise UsageError(f"questions not found: {path}")
    if holds_columns(path):
        from vqagen.records.parquet import read_records

        yield from read_records(path, QUESTION_KEYS, JSON_COLUMNS)
        return
    with reading(path) as reader:
        for number, value in enumerate(_values(path, reader)):
            if isinstance(value, dict):
                yield value
            else:
                expected = f"expected a question object, found {describe(value)}"
                yield Problem(expected, str(path), f"questions[{number}]")


def holds_columns(path: Location) -> bool:
    """Whether a file holds columns, or has a name that says so."""
    if path.name.lower().endswith(COLUMNS_SUFFIX):
        return True
    with open_as_it_is(path) as file:
        return file.read(len(PARQUET_BEGINS)) == PARQUET_BEGINS


def _values(path: Location, reader: JsonReader) -> Iterator[object]:
    opening = reader.peek()
    if opening == b"[":
        yield from elements(reader, "questions")
        _end(reader)
    elif not opening and unpacked_name(path.name).lower().endswith(LINES_SUFFIXES):
        return
    elif opening != b"{":
        packing = unnamed_packing(path)
        if packing:
            raise _fault(path, "", f"compressed: give the file a name that ends in {packing}")
        found = repr(opening.decode("latin-1")) if opening else "an empty file"
        raise _fault(path, "", f"not questions: expected JSON that begins with '{{' or '[', found {found}")
    elif _is_document(path):
        yield from _document(path, reader)
        _end(reader)
    else:
        number = 0
        while reader.peek():
            reader.path = f"questions[{number}]"
            yield reader.value()
            number += 1


def _is_document(path: Location) -> bool:
    """Whether the object that a file begins with holds the questions, and is not the first of them."""
    keys = []
    with reading(path) as reader:
        for key in reader.members():
            keys.append(key)
            if key == "questions":
                return True
    if not any(key in QUESTION_KEYS for key in keys):
        found = ", ".join(repr(key) for key in keys[:12]) + (", …" if len(keys) > 12 else "")
        expected = "expected the key 'questions' (a list of questions) or 'program' (one question)"
        raise _fault(path, "", f"{expected}; found {found or 'an empty object'}")
    return False


def _document(path: Location, reader: JsonReader) -> Iterator[object]:
    for key in reader.members():
        if key == "questions":
            if reader.peek() != b"[":
                raise _fault(path, "questions", f"expected a list of questions, found {describe(reader.value())}")
            yield from elements(reader, key)


def elements(reader: JsonReader, path: str) -> Iterator[object]:
    """The elements of the list that comes next, which has a JSON path."""
    reader.take(b"[")
    if reader.peek() == b"]":
        reader.take(b"]")
        return
    for _ in reader.rest_of_list(path):
        yield reader.value()


def _end(reader: JsonReader) -> None:
    reader.path = ""
    reader.take_end()


def _fault(path: Location, place: str, message: str) -> BadInput:
    return BadInput([Problem(message, str(path), place)])
