"""Hand-edited JSON files: their text, and its value with every mistake located."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from vqagen.errors import BadInput, Fault, Problem, describe, warn
from vqagen.files.locations import Location
from vqagen.files.packing import DAMAGE
from vqagen.files.reading import open_bytes
from vqagen.files.text import excerpt, locate, position_at, show_path
from vqagen.files.tolerant import BrokenJson, read_tolerantly


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

    Comments, commas behind a last item and keys written twice are warned of and taken (see `json_tolerance`). Whoever
    points into the text afterwards does so with `jsontext.locate`, which knows them too.
    """
    try:
        value, oddities = read_tolerantly(text)
    except BrokenJson as error:
        message, offset, kind = error.mistake
        place = position_at(text, offset)
        shown = excerpt(text, offset) if text.strip() else ""
        raise BadInput([Problem(f"{kind}: {message}", source, "", *place, shown)]) from None
    for message, offset, path in oddities:
        warn(Problem(message, source, show_path(path), *position_at(text, offset)))
    return value


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
    problems = [Problem(message, str(source), place, *locate(text, place)) for place, message in faults]
    if problems:
        raise BadInput(problems)
