"""The shape of a hand-edited document, checked against a shipped JSON Schema. Faults are told in our own words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vqagen.errors import describe, nearest
from vqagen.jsontext import show_path

if TYPE_CHECKING:
    from jsonschema import ValidationError

SCHEMAS = Path(__file__).parent / "schemas"
_KINDS = {"array": "a list", "object": "an object", "string": "text", "integer": "a whole number"}


def schema_faults(document: object, schema: str) -> Iterator[tuple[str, str]]:
    """(JSON path, what is wrong) for each place where a document does not have the shape of a schema."""
    for error in _validator(schema).iter_errors(document):
        sentence = _SENTENCES.get(error.validator)
        yield show_path(tuple(error.absolute_path)), sentence(error) if sentence else error.message


@cache
def _validator(schema: str) -> Any:
    from jsonschema import Draft202012Validator, validators  # 70 ms to import, and `--help` needs none of it

    # JSON Schema takes 1.0 for an integer; a list index it is not.
    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    extend: Any = validators.extend  # it has no types
    validator = extend(Draft202012Validator, type_checker=types)
    return validator(json.loads((SCHEMAS / f"{schema}.schema.json").read_text("utf-8")))


def _wrong_type(error: ValidationError) -> str:
    allowed: Any = error.validator_value
    kinds = [allowed] if isinstance(allowed, str) else allowed
    return f"expected {' or '.join(_KINDS[kind] for kind in kinds)}, found {describe(error.instance)}"


def _missing_keys(error: ValidationError) -> str:
    """One sentence for all keys that an object lacks, each with the given key that may have been meant for it."""
    given: Any = error.instance
    wanted: Any = error.validator_value
    strange = [key for key in given if key not in wanted]
    return "; ".join(f"missing key {key!r}{_instead(key, strange)}" for key in wanted if key not in given)


def _instead(key: str, strange: list[str]) -> str:
    close = nearest(key, strange)
    return f" (found {close!r})" if close else ""


def _wrong_pattern(error: ValidationError) -> str:
    schema: Any = error.schema
    return f"expected {schema['description']}, found {describe(error.instance)}"


_SENTENCES: dict[object, Callable[[ValidationError], str]] = {
    "type": _wrong_type,
    "required": _missing_keys,
    "minItems": lambda error: f"expected a list of at least {error.validator_value}, found {describe(error.instance)}",
    "minLength": lambda error: f"expected some text, found {describe(error.instance)}",
    "minimum": lambda error: f"expected {error.validator_value} or more, found {describe(error.instance)}",
    "pattern": _wrong_pattern,
    "maxProperties": lambda error: f"expected a list, found {describe(error.instance)}",
}
"""A sentence for each keyword that the shipped schemas use."""
