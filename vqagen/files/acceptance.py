"""A quick test that a document has the shape of a schema: `jsonschema` is asked only where it says no.

`jsonschema` takes 70 ms to import and 500 ms for the shipped templates, most of the start of a run. Here each keyword
of a schema becomes a function, once: {"type": "array", "minItems": 2} becomes "is a list" and "if a list, has at least
two". As in JSON Schema, a keyword says nothing about values of other types.
"""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Test = Callable[[Any], bool]
Schema = Mapping[str, Any]
TestOf = Callable[[Any], Test]
"""Makes the test of a part of a schema."""


def is_integer(value: object) -> bool:
    """True for a whole number that arithmetic can take; JSON Schema takes 1.0 for one, and a list index it is not."""
    return type(value) is int and abs(value) < sys.float_info.max


def is_number(value: object) -> bool:
    """True for a number that arithmetic can take."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < sys.float_info.max


def make_acceptance(schema: Schema, definition: str = "") -> Test:
    """Return the test of a schema or of one of its definitions. It accepts nothing that `jsonschema` refuses.

    KeyError for a keyword that no shipped schema uses.
    """
    made: dict[str, Test] = {}

    def test_of(part: Schema | bool) -> Test:
        if isinstance(part, bool):
            return lambda value: part
        tests = [KEYWORDS[keyword](part, test_of) for keyword in part if keyword not in _SILENT]
        if "$ref" in part:
            tests.append(referring_to(part["$ref"].removeprefix("#/$defs/")))
        return tests[0] if len(tests) == 1 else lambda value: _all_accept(tests, value)

    def referring_to(name: str) -> Test:
        def accepts(value: Any) -> bool:  # made when it is needed: a definition may refer to itself
            if name not in made:
                made[name] = test_of(schema["$defs"][name])
            return made[name](value)

        return accepts

    return test_of(schema["$defs"][definition] if definition else schema)


def _all_accept(tests: Sequence[Test], value: Any) -> bool:
    for test in tests:  # noqa: SIM110 (a generator would take half as long again, and this is most of what is done)
        if not test(value):
            return False
    return True


_SILENT = {"description", "title", "$schema", "$defs", "$ref", "then", "else"}
"""Keywords that ask for nothing by themselves, and references, which are followed."""
_TYPES: Mapping[str, Test] = {
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
    "integer": is_integer,
    "number": is_number,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}


def _type(part: Schema, test_of: TestOf) -> Test:
    if isinstance(part["type"], str):
        return _TYPES[part["type"]]
    tests = [_TYPES[name] for name in part["type"]]
    return lambda value: any(test(value) for test in tests)


def _properties(part: Schema, test_of: TestOf) -> Test:
    tests = {key: test_of(each) for key, each in part["properties"].items()}

    def accepts(value: Any) -> bool:
        if isinstance(value, dict):
            for key, each in value.items():
                if key in tests and not tests[key](each):
                    return False
        return True

    return accepts


def _additional_properties(part: Schema, test_of: TestOf) -> Test:
    known, test = part.get("properties", {}), test_of(part["additionalProperties"])
    return lambda value: (
        not isinstance(value, dict) or all(test(each) for key, each in value.items() if key not in known)
    )


def _items(part: Schema, test_of: TestOf) -> Test:
    test = test_of(part["items"])
    return lambda value: not isinstance(value, list) or all(map(test, value))


def _required(part: Schema, test_of: TestOf) -> Test:
    keys = set(part["required"])
    return lambda value: not isinstance(value, dict) or value.keys() >= keys


def _enum(part: Schema, test_of: TestOf) -> Test:
    words = part["enum"]
    return lambda value: isinstance(value, str) and value in words


def _pattern(part: Schema, test_of: TestOf) -> Test:
    search = re.compile(part["pattern"]).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def _any_of(part: Schema, test_of: TestOf) -> Test:
    tests = [test_of(each) for each in part["anyOf"]]
    return lambda value: any(test(value) for test in tests)


def _if(part: Schema, test_of: TestOf) -> Test:
    condition, then, otherwise = (test_of(part.get(key, True)) for key in ("if", "then", "else"))
    return lambda value: (then if condition(value) else otherwise)(value)


def _unique_items(part: Schema, test_of: TestOf) -> Test:
    """Only texts are compared; lists of anything else are left to `jsonschema`."""
    return lambda value: (
        not isinstance(value, list) or (all(isinstance(each, str) for each in value) and len({*value}) == len(value))
    )


def _limit(keyword: str, applies: Test, measure: Callable[[Any], float], holds: Callable[[float, float], bool]) -> Any:
    def make(part: Schema, test_of: TestOf) -> Test:
        limit = part[keyword]
        return lambda value: not applies(value) or holds(measure(value), limit)

    return make


KEYWORDS: Mapping[str, Callable[[Schema, TestOf], Test]] = {
    "type": _type,
    "properties": _properties,
    "additionalProperties": _additional_properties,
    "items": _items,
    "required": _required,
    "enum": _enum,
    "pattern": _pattern,
    "anyOf": _any_of,
    "if": _if,
    "uniqueItems": _unique_items,
    "minItems": _limit("minItems", _TYPES["array"], len, operator.ge),
    "maxItems": _limit("maxItems", _TYPES["array"], len, operator.le),
    "minLength": _limit("minLength", _TYPES["string"], len, operator.ge),
    "minProperties": _limit("minProperties", _TYPES["object"], len, operator.ge),
    "maxProperties": _limit("maxProperties", _TYPES["object"], len, operator.le),
    "minimum": _limit("minimum", is_number, float, operator.ge),
    "maximum": _limit("maximum", is_number, float, operator.le),
    "exclusiveMinimum": _limit("exclusiveMinimum", is_number, float, operator.gt),
    "exclusiveMaximum": _limit("exclusiveMaximum", is_number, float, operator.lt),
}
"""Keyword -> what makes its test of a part of a schema that has it."""
