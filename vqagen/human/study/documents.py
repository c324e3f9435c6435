"""Files that people write by hand: read, with every mistake in them located."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from vqagen.errors import BadInput, Fault, Problem, describe
from vqagen.files.locations import Location
from vqagen.json.parsing import parse_json, read_text
from vqagen.json.text import locate


def read_document(path: Location, faults: Callable[[dict[str, Any]], Iterable[Fault]]) -> dict[str, Any]:
    """Read an object of JSON. BadInput with all `faults` of it."""
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
