"""Check the shape of a hand-edited document against a shipped JSON Schema; faults are in our own words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from vqagen.errors import Fault, describe, nearest, unknown
from vqagen.files.acceptance import is_integer, is_number, make_acceptance
from vqagen.files.diagnosis import Path
from vqagen.files.parsing import show_path

_FOLDER = FilePath(__file__).parents[1] / "schemas"
_SUFFIX = ".schema.json"
_KINDS = {
    "array": "a list",
    "object": "an object",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def schema_names() -> tuple[str, ...]:
    """The documents that a schema is shipped for, in alphabetical order."""
    return tuple(sorted(path.name.removesuffix(_SUFFIX) for path in _FOLDER.glob(f"*{_SUFFIX}")))


def schema_text(name: str) -> str:
    """A shipped schema as it stands in its file."""
    return (_FOLDER / f"{name}{_SUFFIX}").read_text("utf-8")


class ShapeFault(NamedTuple):
    """A place where a document does not have the shape of a schema, and what is wrong there."""

    place: Path
    message: str
    is_strange_key: bool
    """True for a key that may not be there, which leaves the rest of the document usable."""


def schema_faults(document: object, name: str, definition: str = "") -> Iterator[Fault]:
    """Yield each place where a document does not have the shape of the schema `name`, and what is wrong there."""
    return ((show_path(fault.place), fault.message) for fault in shape_faults(document, name, definition))


def shape_faults(document: object, name: str, definition: str = "") -> list[ShapeFault]:
    """Return the faults of a document or, with a `definition` of the schema, of such a part of one.

    They come in reading order; `jsonschema` finds them in an order that may change from run to run.
    """
    if _acceptance(name, definition)(document):
        return []
    found = list[ShapeFault]()
    for error in _validator(name, definition).iter_errors(document):
        place = tuple(error.absolute_path)
        if error.validator == "additionalProperties":
            known = list(error.schema.get("properties", ()))
            strange = [key for key in error.instance if key not in known]
            found += [ShapeFault((*place, key), unknown("key", key, known), True) for key in strange]
        else:
            found.append(ShapeFault(place, _SENTENCES[error.validator](error), False))
    return sorted(dict.fromkeys(found), key=lambda fault: _reading_order(document, fault.place))


def _reading_order(document: Any, path: Path) -> list[int]:
    """Return what sorts as the places of a document are read."""
    place = []
    for step in path:
        place.append(step if isinstance(step, int) else list(document).index(step))
        document = document[step]
    return place


@cache
def _acceptance(name: str, definition: str) -> Callable[[object], bool]:
    return make_acceptance(json.loads(schema_text(name)), definition)


@cache
def _validator(name: str, definition: str) -> Any:
    """Return what validates documents of a schema, or such parts of them as one of its definitions describes."""
    from jsonschema import Draft202012Validator, validators  # 70 ms to import, and `--help` needs none of it

    kinds: dict[str, Any] = {
        "integer": lambda _, value: is_integer(value),
        "number": lambda _, value: is_number(value),
    }
    extend: Any = validators.extend  # it has no types
    validator = extend(Draft202012Validator, type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(kinds))
    schema: dict[str, Any] = json.loads(schema_text(name))
    part = {**schema["$defs"][definition], "$defs": schema["$defs"]} if definition else schema
    return validator(part)


def _wrong_type(error: Any) -> str:
    allowed = error.validator_value
    kinds = [allowed] if isinstance(allowed, str) else allowed
    return f"expected {_either([_KINDS[kind] for kind in kinds])}, found {describe(error.instance)}"


def _either(options: Sequence[str]) -> str:
    """The options in a sentence.

    >>> _either(["null", "text", "a list"])
    'null, text or a list'
    """
    *most, last = options
    return f"{', '.join(most)} or {last}" if most else last


def _missing_keys(error: Any) -> str:
    """One sentence for all keys that an object lacks, each with the given key that may have been meant for it."""
    wanted = error.validator_value
    strange = [key for key in error.instance if key not in wanted]
    return "; ".join(f"missing key {key!r}{_instead(key, strange)}" for key in wanted if key not in error.instance)


def _instead(key: str, strange: Sequence[str]) -> str:
    close = nearest(key, strange)
    return f" (found {close!r})" if close else ""


def _missing_either(error: Any) -> str:
    """Of keys that stand for each other one is needed: name the one that is misspelt, or all where none is."""
    wanted, given = [branch["required"][0] for branch in error.validator_value], list(error.instance)
    instead = [f"{key!r}{_instead(key, given)}" for key in wanted if nearest(key, given)]
    return f"missing key {instead[0] if instead else _either([repr(key) for key in wanted])}"


def _wrong_word(error: Any) -> str:
    words = error.validator_value
    close = nearest(error.instance, words) if isinstance(error.instance, str) else None
    hint = f"; did you mean {close!r}?" if close else ""
    return f"expected {_either([repr(word) for word in words])}, found {describe(error.instance)}{hint}"


def _found(expected: str) -> Callable[[Any], str]:
    """A sentence that names the limit of its keyword."""
    return lambda error: f"expected {expected.format(error.validator_value)}, found {describe(error.instance)}"


_SENTENCES: dict[object, Callable[[Any], str]] = {
    "type": _wrong_type,
    "required": _missing_keys,
    "anyOf": _missing_either,
    "enum": _wrong_word,
    "pattern": lambda error: f"expected {error.schema['title']}, found {describe(error.instance)}",
    "minItems": _found("a list of at least {}"),
    "maxItems": _found("a list of at most {}"),
    "uniqueItems": lambda error: "something is listed twice",
    "minLength": _found("some text"),
    "minimum": _found("{} or more"),
    "maximum": _found("{} or less"),
    "exclusiveMinimum": _found("more than {}"),
    "exclusiveMaximum": _found("less than {}"),
    "minProperties": lambda error: f"expected an object with at least {error.validator_value} key, found none",
    "maxProperties": _found("a list"),
}
"""A sentence for each keyword that the shipped schemas use (`anyOf`: for keys of which one is needed)."""
