"""Files of JSON Lines of one type: all that is wrong in them is reported at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from msgspec import DecodeError, ValidationError
from msgspec.json import Decoder

from vqagen.errors import BadInput, Fault, Problem
from vqagen.json.stream import BYTE_ORDER_MARK
from vqagen.records.kind import RecordKind
from vqagen.records.source import RecordSource, mistake_in_line

Line = TypeVar("Line")
MOST_PROBLEMS = 20
_PLACED = re.compile(r"(?s)(.+?)(?: - at `\$\.?(.*)`)?")
"""A message of msgspec, and the path in the line."""


def read_lines(path: Path, kind: type[Line], fault: Callable[[Line], Fault | None] = lambda _: None) -> list[Line]:
    """Return the lines of a file. BadInput with all that is wrong, up to 20 problems, each with its line.

    `fault` says what is wrong with a line whose values have the right types.
    """
    decoder, found, problems = Decoder(kind), list[Line](), list[Problem]()
    for _, _, place, text in RecordSource(path, RecordKind("lines"), "lines", [path]).texts():
        line, wrong = text.removeprefix(BYTE_ORDER_MARK), None
        try:
            found.append(decoder.decode(line))
            wrong = fault(found[-1])
        except ValidationError as error:
            wrong = fault_of(error, kind)
        except (DecodeError, UnicodeDecodeError):
            message, column = mistake_in_line(line)
            wrong = str(column), message
        if wrong:
            problems.append(Problem(wrong[1], place, wrong[0]))
        if len(problems) == MOST_PROBLEMS:
            break
    if problems:
        raise BadInput(problems)
    return found


def fault_of(error: ValidationError, kind: Any) -> Fault:
    """Return where in a line its first wrong value is, and what was expected."""
    match = _PLACED.fullmatch(str(error))
    assert match is not None
    message, path = match[1], match[2] or ""
    if message.startswith("Invalid enum value"):  # which does not say the right ones
        known = get_args(get_type_hints(kind).get(path))
        message += f"; expected {', '.join(map(repr, known))}" if known else ""
    return path, message[0].lower() + message[1:]
