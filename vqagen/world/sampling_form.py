"""The form of a domain's `sampling` section, as a JSON Schema. What it means is read in `sampling_rules`."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from vqagen.errors import unknown
from vqagen.json.schema import sentence

if TYPE_CHECKING:
    from jsonschema import ValidationError

Place = tuple[str | int, ...]

MOST_PIXELS = 10_000
"""Widest and highest image; visibility is counted pixel by pixel."""


def form_faults(section: object) -> Iterator[tuple[Place, str, bool]]:
    """(place, what is wrong there, whether the value itself is unusable and not only has an unknown key)."""
    for error in _validator().iter_errors(section):
        place = tuple(error.absolute_path)
        if error.validator == "additionalProperties":
            yield from (((*place, name), message, False) for name, message in _unknown_keys(error))
        else:
            yield place, sentence(error), True


def _unknown_keys(error: ValidationError) -> Iterator[tuple[str, str]]:
    known = list(cast(Mapping[str, Any], error.schema)["properties"])
    for name in cast(Mapping[str, Any], error.instance):
        if name not in known:
            yield name, unknown("key", name, known)


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator, validators  # 70 ms to import, and only sampling needs it

    types = Draft202012Validator.TYPE_CHECKER.redefine_many({"number": _is_finite, "integer": _is_whole})
    extend: Any = validators.extend  # it has no types
    return extend(Draft202012Validator, type_checker=types)(SAMPLING)


def _is_finite(_: object, value: object) -> bool:
    """Whole numbers too large for the arithmetic of places are no numbers here."""
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < sys.float_info.max
    return isinstance(value, float) and math.isfinite(value)


def _is_whole(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _list(items: Mapping[str, Any], least: int, most: int | None = None) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least, **({} if most is None else {"maxItems": most})}


def _keys(properties: Mapping[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    known = {"comment": {}, **properties}
    return {"type": "object", "properties": known, "required": list(required), "additionalProperties": False}


def _by_name(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"comment": {}}, "additionalProperties": schema}


def _decided(fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Schema of one value for all objects, or of one for each value of an attribute."""
    by_attribute = _keys({"attribute": {"type": "string"}, "values": _by_name(fixed)}, ("attribute", "values"))
    return {**by_attribute, **fixed, "type": [fixed["type"], "object"]}


_NUMBER = {"type": "number"}
_STRING = {"type": "string"}
_POSITIVE = {"type": "number", "exclusiveMinimum": 0}
_NOT_NEGATIVE = {"type": "number", "minimum": 0}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_COUNT = {"type": "integer", "minimum": 1}
_SIDE = {**_COUNT, "maximum": MOST_PIXELS}
_NAMES = {**_list(_STRING, least=1), "uniqueItems": True}
_VECTOR = _list(_NUMBER, 3, 3)
PLAIN = {
    "objects": _list(_COUNT, 2, 2),
    "area": _list(_NUMBER, 2, 2),
    "min_distance": _NOT_NEGATIVE,
    "margin": _NOT_NEGATIVE,
    "tries_per_object": _COUNT,
    "restarts_per_scene": _COUNT,
    "min_visible_pixels": {"type": "integer", "minimum": 0},
    "relation_threshold": _NOT_NEGATIVE,
}
"""Rules that hold as they are written."""
CAMERA = {
    **dict.fromkeys(("position", "look_at", "up"), _VECTOR),
    "jitter": _NOT_NEGATIVE,
    "focal_pixels": _POSITIVE,
    "width": _SIDE,
    "height": _SIDE,
}
_RESTRICTION = _keys(
    {"attribute": _STRING, "value": _STRING, "only": {**_by_name(_NAMES), "minProperties": 1}},
    ("attribute", "value", "only"),
)
_RANDOM_RELATION = _keys({"probability": _SHARE, "symmetric": {"type": "boolean"}}, ("probability",))
SAMPLING = _keys(
    {
        **PLAIN,
        "radius": _decided(_POSITIVE),
        "solid": _decided(_STRING),
        "directions": _by_name(_VECTOR),
        "relations": _by_name(_RANDOM_RELATION),
        "missing": _by_name(_SHARE),
        "list_length": _by_name(_list({"type": "integer", "minimum": 0}, 2, 2)),
        "camera": _keys(CAMERA),
        "restrict": {"type": "array", "items": _RESTRICTION},
    }
)
"""The schema of the section."""
