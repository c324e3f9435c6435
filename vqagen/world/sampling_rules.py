"""The rules by which scenes of a domain are sampled, read from its metadata with every mistake reported.

The schema finds mistakes of form, `_Reader` those of meaning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import product
from typing import Any, Generic, NamedTuple, TypeVar, cast

from jsonschema import Draft202012Validator, TypeChecker, ValidationError, validators

from vqagen.errors import BadInput, Problem, unknown
from vqagen.world.camera import CameraRules, Vector, dot
from vqagen.world.relations import THRESHOLD, seen_directions
from vqagen.world.solids import KINDS

T = TypeVar("T")

RELATION_TYPE = "Relation"
"""The type whose values are relations; every other type with values is an attribute."""

DEFAULT_RADIUS = 0.5
DEFAULT_SOLID = "sphere"
MOST_PIXELS = 10_000
"""Widest and highest image; visibility is counted pixel by pixel."""
"""What every object is where metadata do not say; other defaults stand with `SamplingRules` and `CameraRules`."""

WRITTEN_KEYS = ("3d_coords", "rotation", "pixel_coords")
"""What the sampler writes of every object beside its attributes, which may not use these keys."""


class Decided(NamedTuple, Generic[T]):
    """Something that follows from the value of one attribute or, without an attribute, is the same for every object."""

    attribute: str | None
    values: Mapping[str | None, T]

    def of(self, looks: Mapping[str, str]) -> T:
        """What is decided for an object with these attribute values."""
        return self.values[looks[self.attribute] if self.attribute is not None else None]


class Restriction(NamedTuple):
    """Objects whose `attribute` is `value` take, for each attribute of `only`, one of the values listed there."""

    attribute: str
    value: str
    only: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class SamplingRules:
    """All that decides how scenes of a domain are drawn: the `sampling` section of its metadata, checked.

    Keys that the section leaves out have the values given here. `attributes` maps object keys to values in the order
    of the metadata; in `draw_order` those come first that restrict others. `directions` may hold more than the
    `relations`. `source` names the metadata in messages.
    """

    source: str
    attributes: Mapping[str, tuple[str, ...]]
    draw_order: tuple[str, ...]
    relations: tuple[str, ...]
    directions: Mapping[str, Vector]
    restrict: tuple[Restriction, ...]
    radius: Decided[float]
    solid: Decided[str]
    camera: CameraRules
    objects: tuple[int, int] = (3, 10)
    area: tuple[float, float] = (-3.0, 3.0)
    min_distance: float = 0.25
    margin: float = 0.4
    tries_per_object: int = 50
    restarts_per_scene: int = 2000
    min_visible_pixels: int = 200
    relation_threshold: float = THRESHOLD

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any], source: str) -> SamplingRules:
        """The rules of a domain; BadInput lists every mistake in its `types` and its `sampling` section."""
        return _Reader(metadata, source).rules()

    def allowed(self, key: str, looks: Mapping[str, str]) -> Sequence[str]:
        """The values of attribute `key` open to an object that already has the values `looks`."""
        return _allowed(self.attributes[key], key, looks, self.restrict)


def _list(items: Mapping[str, Any], least: int, most: int | None = None) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least, **({} if most is None else {"maxItems": most})}


def _keys(properties: Mapping[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    known = {"comment": {}, **properties}
    return {"type": "object", "properties": known, "required": list(required), "additionalProperties": False}


def _decided(fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Schema of one value for all objects, or of one for each value of an attribute."""
    values = {"type": "object", "additionalProperties": fixed}
    by_attribute = _keys({"attribute": {"type": "string"}, "values": values}, ("attribute", "values"))
    return {**by_attribute, **fixed, "type": [fixed["type"], "object"]}


_NUMBER = {"type": "number"}
_STRING = {"type": "string"}
_POSITIVE = {"type": "number", "exclusiveMinimum": 0}
_NOT_NEGATIVE = {"type": "number", "minimum": 0}
_COUNT = {"type": "integer", "minimum": 1}
_SIDE = {**_COUNT, "maximum": MOST_PIXELS}
_NAMES = {**_list(_STRING, least=1), "uniqueItems": True}
_VECTOR = _list(_NUMBER, 3, 3)
_TYPE = {**_NAMES, "type": ["null", "array", "object"], "properties": {"values": _NAMES, "key": _STRING}}
_PLAIN = {
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
_CAMERA = {
    **dict.fromkeys(("position", "look_at", "up"), _VECTOR),
    "jitter": _NOT_NEGATIVE,
    "focal_pixels": _POSITIVE,
    "width": _SIDE,
    "height": _SIDE,
}
_ONLY = {"type": "object", "minProperties": 1, "additionalProperties": _NAMES}
_RESTRICTION = _keys({"attribute": _STRING, "value": _STRING, "only": _ONLY}, ("attribute", "value", "only"))
_SAMPLING = _keys(
    {
        **_PLAIN,
        "radius": _decided(_POSITIVE),
        "solid": _decided(_STRING),
        "directions": {"type": "object", "properties": {"comment": {}}, "additionalProperties": _VECTOR},
        "camera": _keys(_CAMERA),
        "restrict": {"type": "array", "items": _RESTRICTION},
    }
)
_TYPES = {"type": "object", "properties": {"comment": {}}, "additionalProperties": _TYPE}
_SCHEMA = {"properties": {"types": _TYPES, "sampling": _SAMPLING}, "required": ["types"]}


def _is_finite(_: TypeChecker, value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(_: TypeChecker, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_Validator = validators.extend(  # type: ignore[no-untyped-call]  # its stub has no types
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many({"number": _is_finite, "integer": _is_whole}),
)


class _Reader:
    """Turns metadata into rules and collects every mistake on the way.

    A part whose form is wrong is reported and then read as if it were absent, so that the others are still checked.
    """

    def __init__(self, metadata: Mapping[str, Any], source: str) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.malformed: set[tuple[str | int, ...]] = set()
        for error in _Validator(_SCHEMA).iter_errors(metadata):
            self._report_form(error)
        self.types = self._members(metadata, "types")
        self.section = self._members(metadata, "sampling", only_sound=True)
        self.attributes = self._read_attributes()

    def rules(self) -> SamplingRules:
        """The checked rules, or BadInput with all problems."""
        plain = {name: _frozen(self.section[name]) for name in _PLAIN if name in self.section}
        for name in ("objects", "area"):
            if name in plain and plain[name][0] > plain[name][1]:
                self._report("give the smaller number first", "sampling", name)
        radius: Decided[float] = self._read_decided("radius", DEFAULT_RADIUS)
        solid: Decided[str] = self._read_decided("solid", DEFAULT_SOLID)
        for kind in solid.values.values():
            self._check_known("solid", kind, list(KINDS), "sampling", "solid")
        camera = self._read_camera()
        relations = _values(self.types.get(RELATION_TYPE))
        directions = self._read_directions(camera, relations)
        restrict = tuple(self._read_restriction(*numbered) for numbered in enumerate(self.section.get("restrict", [])))
        order = self._read_draw_order(restrict)
        if self.problems:
            raise BadInput(self.problems)
        return SamplingRules(
            source=self.source,
            attributes=self.attributes,
            draw_order=order,
            relations=relations,
            directions=directions,
            restrict=restrict,
            radius=radius,
            solid=solid,
            camera=camera,
            **plain,
        )

    def _report(self, message: str, *place: str | int) -> None:
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
        self.problems.append(Problem(message, self.source, path.removeprefix(".")))

    def _report_form(self, error: ValidationError) -> None:
        place = tuple(error.absolute_path)
        if error.validator == "additionalProperties":
            known = list(cast(Mapping[str, Any], error.schema)["properties"])
            for name in cast(Mapping[str, Any], error.instance):
                self._check_known("key", name, known, *place, name)
        else:
            self.malformed.add(place[:2])
            self._report(error.message, *place)

    def _check_known(self, kind: str, name: object, known: Sequence[str], *place: str | int) -> None:
        if name not in known:
            self._report(unknown(kind, name, known), *place)

    def _members(self, metadata: Mapping[str, Any], part: str, only_sound: bool = False) -> dict[str, Any]:
        members = metadata.get(part)
        unusable = {"comment"} | {place[-1] for place in self.malformed if only_sound and place[:1] == (part,)}
        return {} if not isinstance(members, dict) else {k: v for k, v in members.items() if k not in unusable}

    def _read_attributes(self) -> dict[str, tuple[str, ...]]:
        """Values by object key. A malformed type has a key but no values; what names its values goes unchecked."""
        attributes: dict[str, tuple[str, ...]] = {}
        for name, entry in self.types.items():
            malformed = ("types", name) in self.malformed
            values = () if malformed else _values(entry)
            if name == RELATION_TYPE or not (values or malformed):
                continue
            key = str(entry.get("key", name.lower())) if isinstance(entry, dict) else name.lower()
            if key in attributes or key in WRITTEN_KEYS:
                self._report(f"the object key {key!r} is taken already; give this type another `key`", "types", name)
            attributes[key] = values
        return attributes

    def _values_of(self, key: str, *place: str | int) -> tuple[str, ...]:
        """The values of an attribute; an unknown one is reported, and has none."""
        self._check_known("attribute", key, list(self.attributes), *place)
        return self.attributes.get(key, ())

    def _check_value(self, value: str, values: Sequence[str], *place: str | int) -> None:
        if values:
            self._check_known("value", value, values, *place)

    def _read_decided(self, name: str, default: float | str) -> Decided[Any]:
        given = self.section.get(name, default)
        if not isinstance(given, dict):
            return Decided(None, {None: given})
        key, by_value = given["attribute"], given["values"]
        known = self._values_of(key, "sampling", name, "attribute")
        for value in by_value:
            self._check_value(value, known, "sampling", name, "values", value)
        for value in known:
            if value not in by_value:
                self._report(f"nothing for value {value!r} of attribute {key!r}", "sampling", name, "values")
        return Decided(key, by_value)

    def _read_camera(self) -> CameraRules:
        given = self.section.get("camera", {})
        return CameraRules(**{name: _frozen(given[name]) for name in _CAMERA if name in given})

    def _read_directions(self, camera: CameraRules, relations: Sequence[str]) -> Mapping[str, Vector]:
        try:
            directions = seen_directions(camera.at(camera.position))
        except ValueError:
            self._report("position, look_at and up leave the camera without a level right", "sampling", "camera")
            return {}
        if "directions" in self.section:
            given = self.section["directions"]
            directions = {name: _frozen(direction) for name, direction in given.items() if name != "comment"}
        for name, direction in directions.items():
            if abs((length := math.sqrt(dot(direction, direction))) - 1) > 1e-3:
                self._report(f"a direction has length 1, not {length:.6g}", "sampling", "directions", name)
        for relation in relations:
            if relation not in directions and ("sampling", "directions") not in self.malformed:
                self._report(f"no direction for relation {relation!r}", "sampling", "directions")
        return directions

    def _read_restriction(self, number: int, rule: Mapping[str, Any]) -> Restriction:
        place = ("sampling", "restrict", number)
        known = self._values_of(rule["attribute"], *place, "attribute")
        self._check_value(rule["value"], known, *place, "value")
        for key, values in rule["only"].items():
            known = self._values_of(key, *place, "only", key)
            for position, value in enumerate(values):
                self._check_value(value, known, *place, "only", key, position)
        only = {key: tuple(values) for key, values in rule["only"].items()}
        return Restriction(rule["attribute"], rule["value"], only)

    def _read_draw_order(self, restrict: Sequence[Restriction]) -> tuple[str, ...]:
        """The attributes, each after those that restrict it."""
        deciders = {key: [rule.attribute for rule in restrict if key in rule.only] for key in self.attributes}
        try:
            order = tuple(TopologicalSorter(deciders).static_order())
        except CycleError as error:
            circle = ", ".join(error.args[1])
            self._report(f"attributes restrict each other in a circle: {circle}", "sampling", "restrict")
            return ()
        for key, deciding in deciders.items():
            self._check_values_left(key, list(dict.fromkeys(deciding)), restrict)
        return order

    def _check_values_left(self, key: str, deciding: Sequence[str], restrict: Sequence[Restriction]) -> None:
        for values in product(*(self.attributes.get(decider, ()) for decider in deciding)):
            looks = dict(zip(deciding, values, strict=True))
            if self.attributes[key] and not _allowed(self.attributes[key], key, looks, restrict):
                named = ", ".join(f"{decider} {value}" for decider, value in looks.items())
                self._report(f"no value of {key!r} is left for {named}", "sampling", "restrict")


def _allowed(
    values: Sequence[str], key: str, looks: Mapping[str, str], restrict: Sequence[Restriction]
) -> Sequence[str]:
    """Those of the values of attribute `key` that are open to an object that already has the values `looks`."""
    for rule in restrict:
        if key in rule.only and looks.get(rule.attribute) == rule.value:
            values = [value for value in values if value in rule.only[key]]
    return values


def _values(entry: object) -> tuple[str, ...]:
    """The values a type lists, in either form of writing it."""
    listed = entry.get("values") if isinstance(entry, dict) else entry
    return tuple(listed) if isinstance(listed, list) else ()


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
