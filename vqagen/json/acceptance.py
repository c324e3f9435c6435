"""A JSON Schema compiled to functions that recognise a right document at once; they never say what is wrong.

Nearly every document is right: 90 templates take 4 ms here, and 150 with `jsonschema` and its import. So a
document is accepted here, or `jsonschema` decides. What is compiled is the schema file itself: whoever changes it
changes both. A function may refuse a right document (a keyword that it does not know, a number that is too large), but
accepts no wrong one; `tests/test_acceptance.py` compares both on thousands of spoiled documents.

`fastjsonschema` knows no draft after 7, and neither it nor `jsonschema-rs` has our whole numbers (1.0 is none).
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

Accepts = Callable[[Any], bool]
_Build = Callable[[Any, Mapping[str, Any], "_Definitions"], Accepts]


class _Definitions:
    """The definitions of a schema, each compiled when a reference to it is first met."""

    def __init__(self, written: Mapping[str, Any]) -> None:
        self._written = written
        self._compiled: dict[str, Accepts] = {}

    def accepts(self, reference: str) -> Accepts:
        """Return the function of a definition. One that refers to itself finds itself when it is called."""
        name = reference.removeprefix("#/$defs/")
        if name not in self._written:
            return _never
        if name not in self._compiled:
            self._compiled[name] = lambda value: self._compiled[name](value)
            self._compiled[name] = _compiled(self._written[name], self)
        return self._compiled[name]


def acceptor(schema: Mapping[str, Any]) -> Accepts:
    """Return a function that is true only of documents that have the shape of the schema."""
    return _compiled(schema, _Definitions(schema.get("$defs", {})))


def _compiled(schema: Any, definitions: _Definitions) -> Accepts:
    """Return the function of a schema. It looks up the checks of a value by the type of the value."""
    if not isinstance(schema, Mapping):
        return _always if schema is True else _never
    of_type = {kind: _all_of(list(_checks(schema, kind, definitions))) for kind in _allowed(schema)}
    return lambda value: of_type.get(type(value), _never)(value)


def _all_of(checks: Sequence[Accepts]) -> Accepts:
    return reduce(_both, checks) if checks else _always


def _both(first: Accepts, second: Accepts) -> Accepts:
    return lambda value: first(value) and second(value)


def _allowed(schema: Mapping[str, Any]) -> Iterator[type]:
    """Yield the types of values that a schema allows."""
    names = schema.get("type", list(_TYPES))
    for name in [names] if isinstance(names, str) else names:
        yield from _TYPES[name]


def _checks(schema: Mapping[str, Any], kind: type, definitions: _Definitions) -> Iterator[Accepts]:
    """Yield the checks that the keywords of a schema make of values of one type."""
    if kind in (int, float):
        yield _is_finite
    for keyword, limit in schema.items():
        if keyword in _KEYWORDS:
            kinds, build = _KEYWORDS[keyword]
            if kind in kinds:
                yield build(limit, schema, definitions)
        elif keyword == "enum":
            yield frozenset(each for each in limit if type(each) is kind is str).__contains__ if kind is str else _never
        elif keyword not in _WITHOUT_EFFECT:
            yield _never


def _items(limit: Any, _: Mapping[str, Any], definitions: _Definitions) -> Accepts:
    accepts = _compiled(limit, definitions)
    return lambda listed: all(map(accepts, listed))


def _members(_: Any, schema: Mapping[str, Any], definitions: _Definitions) -> Accepts:
    """Return the check of `properties` and `additionalProperties`, which say together what each key may hold."""
    of_key = {key: _compiled(inner, definitions) for key, inner in schema.get("properties", {}).items()}
    of_others = _compiled(schema.get("additionalProperties", True), definitions)

    return lambda members: all(of_key.get(key, of_others)(value) for key, value in members.items())


def _any_of(limit: Any, _: Mapping[str, Any], definitions: _Definitions) -> Accepts:
    branches = [_compiled(each, definitions) for each in limit]
    return lambda value: any(accepts(value) for accepts in branches)


def _conditional(condition: Any, schema: Mapping[str, Any], definitions: _Definitions) -> Accepts:
    """Return the check of `if`, `then` and `else`; the condition must be one that no right value is refused by here."""
    if not condition.keys() <= {"type", "required"}:
        return _never
    holds, then, otherwise = (
        _compiled(each, definitions) for each in (condition, schema.get("then", True), schema.get("else", True))
    )
    return lambda value: then(value) if holds(value) else otherwise(value)


def _pattern(limit: Any, _schema: Mapping[str, Any], _definitions: _Definitions) -> Accepts:
    search = re.compile(limit).search
    return lambda text: search(text) is not None


def _limit(test: Callable[[Any, Any], bool]) -> _Build:
    """Return what builds a check that compares a value with the keyword's limit."""
    return lambda limit, _schema, _definitions: lambda value: test(value, limit)


def _are_different_texts(listed: list[Any], is_wanted: bool) -> bool:
    return not is_wanted or (all(type(each) is str for each in listed) and len(set(listed)) == len(listed))


def _is_finite(number: float) -> bool:
    return abs(number) < sys.float_info.max if type(number) is int else math.isfinite(number)


def _always(_: Any) -> bool:
    return True


def _never(_: Any) -> bool:
    return False


_TYPES: dict[str, tuple[type, ...]] = {
    "array": (list,),
    "object": (dict,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
"""Name of a type -> types of values; a value of another type, such as a subclass of these, is not accepted here."""
_ALL = tuple(dict.fromkeys(kind for kinds in _TYPES.values() for kind in kinds))
_KEYWORDS: dict[str, tuple[tuple[type, ...], _Build]] = {
    "$ref": (_ALL, lambda limit, _, definitions: definitions.accepts(limit)),
    "anyOf": (_ALL, _any_of),
    "if": (_ALL, _conditional),
    "properties": ((dict,), _members),
    "additionalProperties": (
        (dict,),
        lambda limit, schema, known: _always if "properties" in schema else _members(limit, schema, known),
    ),
    "required": ((dict,), lambda limit, _schema, _definitions: frozenset(limit).issubset),
    "minProperties": ((dict,), _limit(lambda value, limit: len(value) >= limit)),
    "maxProperties": ((dict,), _limit(lambda value, limit: len(value) <= limit)),
    "items": ((list,), _items),
    "minItems": ((list,), _limit(lambda value, limit: len(value) >= limit)),
    "maxItems": ((list,), _limit(lambda value, limit: len(value) <= limit)),
    "uniqueItems": ((list,), _limit(_are_different_texts)),
    "minLength": ((str,), _limit(lambda value, limit: len(value) >= limit)),
    "pattern": ((str,), _pattern),
    "minimum": ((int, float), _limit(lambda value, limit: value >= limit)),
    "maximum": ((int, float), _limit(lambda value, limit: value <= limit)),
    "exclusiveMinimum": ((int, float), _limit(lambda value, limit: value > limit)),
}
"""Keyword -> the types of values that it is about, and what builds its check."""
_WITHOUT_EFFECT = {"$schema", "$defs", "title", "description", "type", "then", "else"}
