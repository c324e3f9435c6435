"""Check the shape of a hand-edited document against a shipped JSON Schema; faults are in our own words.

`Findings` collects what is wrong or doubtful while a document is read, so that all of it is reported at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from vqagen.errors import BadInput, Fault, Problem, describe, nearest, unknown, warn
from vqagen.files.acceptance import is_integer, is_number, make_acceptance
from vqagen.files.diagnosis import Path
from vqagen.files.parsing import locate_path, show_path

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


def problem_in(source: str, path: str, message: str, text: str = "") -> Problem:
    """Return a problem at a JSON path of a document, with line and column if the document's `text` is given."""
    if not text:
        return Problem(message, source, path)
    return Problem(message, source, path, *locate_path(text, path))


class Findings:
    """Faults and doubts about the document `source`."""

    def __init__(self, source: str, text: str = "") -> None:
        self.source, self.text = source, text
        self.problems: list[Problem] = []
        self.doubts: list[Problem] = []

    def fault(self, path: str, message: str) -> None:
        """Note a fault."""
        self.problems.append(problem_in(self.source, path, message, self.text))

    def faults(self, faults: Iterable[ShapeFault]) -> None:
        """Note faults of form."""
        for fault in faults:
            self.fault(show_path(fault.place), fault.message)

    def doubt(self, path: str, message: str) -> None:
        """Note something that is accepted but probably unintended."""
        self.doubts.append(problem_in(self.source, path, message, self.text))

    def settle(self) -> None:
        """Warn of every doubt. Raises BadInput with every fault, if there is one."""
        for doubt in self.doubts:
            warn(doubt)
        if self.problems:
            raise BadInput(self.problems)

    def strange_keys(self, keys: Iterable[str], known: Sequence[str], path: str, only_close: bool = False) -> None:
        """Doubt keys that are not known; with `only_close` those that are nearly a known one."""
        for key in keys:
            if key not in known and not (only_close and nearest(key, known) is None):
                self.doubt(f"{path}.{key}".removeprefix("."), f"{unknown('key', key, known)} (it has no effect)")


# Documents of wrong form ----------------------------------------------------------------------------------------------


def malformed(document: object, schema: str, definition: str = "", depth: int = 1) -> dict[Path, list[ShapeFault]]:
    """Return the faults of form of a document by the part that has them: the first `depth` steps of their places.

    A part that is commented out may be of any form.
    """
    by_part: dict[Path, list[ShapeFault]] = {}
    try:
        for fault in shape_faults(document, schema, definition):
            if "comment" not in fault.place:
                by_part.setdefault(fault.place[:depth], []).append(fault)
    except RecursionError:
        by_part[()] = [ShapeFault((), "nested too deeply", False)]
    return by_part


def without(document: Any, parts: Collection[Path]) -> Any:
    """Return a document without these parts of it. In a list {} is left of a part: others keep their numbers."""
    if not parts:
        return document
    if () in parts:
        return {}
    inside = {key: {part[1:] for part in parts if part[0] == key} for key, *_ in parts}
    if isinstance(document, list):
        return [without(member, inside.get(i, ())) for i, member in enumerate(document)]
    return {key: without(value, inside.get(key, ())) for key, value in document.items() if (key,) not in parts}


def content_of(document: object) -> dict[str, Any]:
    """Return an object without its comment, where that is no content; {} for anything else."""
    entries = document.items() if isinstance(document, Mapping) else ()
    return {key: value for key, value in entries if key not in ("comment", "$schema")}
