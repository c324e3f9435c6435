"""The rules for sampling scenes of a domain: its attributes, and the `sampling` section of its metadata.

Restrictions say which values an object may have beside its other values. The JSON Schema of metadata finds faults of
form, `_RulesReader` faults of meaning; all are reported.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, Generic, NamedTuple, TypeVar

from vqagen.errors import BadInput, Problem, unknown
from vqagen.files.parsing import show_path
from vqagen.files.schema import shape_faults
from vqagen.world.attribute import Attribute, Recorded
from vqagen.world.camera import CameraRules, Vector, dot, seen_directions
from vqagen.world.domain import Domain
from vqagen.world.relations import THRESHOLD

T = TypeVar("T")

DEFAULT_RADIUS = 0.5
DEFAULT_SOLID = "sphere"
DEFAULT_MISSING = 0.25
DEFAULT_MOST = 3
"""Defaults: the body of objects, how often they lack an optional value, the most values of a list. The others stand in
`SamplingRules` and `CameraRules`."""

WRITTEN_KEYS = ("3d_coords", "rotation", "pixel_coords")
"""Keys that the sampler writes for every object; attributes may not use them."""


class Decided(NamedTuple, Generic[T]):
    """A property that one attribute decides; without an attribute, it is the same for every object."""

    attribute: str | None
    values: Mapping[Recorded, T]
    """Value of the attribute -> the property. None is the key of objects without a value, or of all objects."""

    def of(self, looks: Mapping[str, Recorded]) -> T:
        """Return the property of an object with these attribute values."""
        return self.values[looks[self.attribute] if self.attribute is not None else None]


class RandomRelation(NamedTuple):
    """A relation that does not follow from positions: it is drawn for each pair of objects, ordered or not."""

    probability: float
    is_symmetric: bool


@dataclass(frozen=True)
class SamplingRules:
    """The checked rules for drawing scenes of a domain.

    Keys that the section leaves out have the defaults given here. `attributes` are those that records hold, by object
    key in the order of the metadata; in `draw_order`, attributes that restrict others come first. `directions` may have
    more names than `relations`, some of which may be `random_relations`. `source` names the metadata in messages.
    """

    source: str
    attributes: Mapping[str, Attribute]
    draw_order: tuple[str, ...]
    missing: Mapping[str, float]
    """Optional attribute -> the probability that an object has no value."""
    list_length: Mapping[str, tuple[int, int]]
    """List-valued attribute -> the least and the most values of an object."""
    relations: tuple[str, ...]
    random_relations: Mapping[str, RandomRelation]
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
    def from_domain(cls, domain: Domain) -> SamplingRules:
        """Return the rules of a domain. Raises BadInput with every mistake in its `sampling` section."""
        return _RulesReader(domain).rules()

    @cached_property
    def relation_directions(self) -> Mapping[str, Vector]:
        """The directions of the relations that follow from positions."""
        spatial = [relation for relation in self.relations if relation not in self.random_relations]
        return {relation: self.directions[relation] for relation in spatial}

    @cached_property
    def free(self) -> Mapping[str, Sequence[str]]:
        """The values of attributes of which every object has exactly one, whatever else it has."""
        bound = {key for rule in self.restrict for key in rule.only} | {*self.missing, *self.list_length}
        return {
            key: attribute.leaves for key, attribute in self.attributes.items() if attribute.leaves and key not in bound
        }


_PLAIN = [field.name for field in fields(SamplingRules) if field.default is not MISSING]
"""Rules that are used as written."""
_CAMERA = [field.name for field in fields(CameraRules)]


class _RulesReader:
    """Reader of the rules in a domain's metadata, which collects every mistake.

    A part of wrong form is reported and then read as if it were absent, so that the other parts are still checked.
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.problems: list[Problem] = []
        given = domain.record.get("sampling", {})
        self.malformed: set[str | int] = set()
        for fault in shape_faults(given, "metadata", "sampling"):
            if "comment" in fault.place:  # a part that is commented out is of any form
                continue
            self._report(fault.message, "sampling", *fault.place)
            if fault.place and not fault.is_strange_key:
                self.malformed.add(fault.place[0])
        if not isinstance(given, Mapping):
            raise BadInput(self.problems)
        self.section: Mapping[str, Any] = given
        self.attributes = {each.key: each for each in domain.attributes if each.compute is None}

    def rules(self) -> SamplingRules:
        """Return the checked rules. Raises BadInput with all problems."""
        self._check_keys()
        camera = self._read_camera()
        plain = self._read_plain()
        radius: Decided[float] = self._read_decided("radius", DEFAULT_RADIUS)
        solid: Decided[str] = self._read_decided("solid", DEFAULT_SOLID)
        random_relations = self._read_random_relations()
        directions = self._read_directions(camera, random_relations)
        missing, list_length = self._read_missing(), self._read_list_length()
        restrict = tuple(self._read_restriction(*each) for each in enumerate(self._part("restrict", [])))
        order = self._read_draw_order(restrict, list_length)
        if self.problems:
            raise BadInput(self.problems)
        return SamplingRules(
            source=self.domain.source,
            attributes=self.attributes,
            draw_order=order,
            missing=missing,
            list_length=list_length,
            relations=self.domain.recorded_relations,
            random_relations=random_relations,
            directions=directions,
            restrict=restrict,
            radius=radius,
            solid=solid,
            camera=camera,
            **plain,
        )

    def _report(self, message: str, *place: str | int) -> None:
        self.problems.append(self.domain.problem(show_path(place), message))

    def _check_known(self, kind: str, name: object, known: Sequence[str], *place: str | int) -> bool:
        if name not in known:
            self._report(unknown(kind, name, known), *place)
        return name in known

    def _part(self, name: str, default: Any) -> Any:
        """Return a part of the section, or the default if it is absent or of wrong form."""
        return default if name in self.malformed else self.section.get(name, default)

    def _named(self, part: str) -> Iterator[tuple[str, Any]]:
        """Return the entries of a part that is an object, without its comment."""
        return ((name, entry) for name, entry in self._part(part, {}).items() if name != "comment")

    def _check_keys(self) -> None:
        """Report attributes that share a key."""
        keys: dict[str, str] = {}
        for attribute in self.domain.attributes:
            if attribute.compute is not None:
                continue
            key = attribute.key
            if key.split(".")[0] in WRITTEN_KEYS or any(_collide(key, other) for other in keys):
                message = f"object key {key!r} is taken; give this type another `key`"
                self._report(message, "types", attribute.type)
            keys[key] = attribute.type

    # Parts --------------------------------------------------------------------------------------------------------

    def _read_plain(self) -> dict[str, Any]:
        plain = {name: _frozen(self._part(name, None)) for name in _PLAIN if self._part(name, None) is not None}
        for name in ("objects", "area"):
            if name in plain and plain[name][0] > plain[name][1]:
                self._report("give the smaller number first", "sampling", name)
        return plain

    def _read_decided(self, name: str, default: float | str) -> Decided[Any]:
        given = self._part(name, default)
        if not isinstance(given, Mapping):
            return Decided(None, {None: given})
        place, key = ("sampling", name), given["attribute"]
        by_value = {value: decided for value, decided in given["values"].items() if value != "comment"}
        if not self._check_known("attribute", key, list(self.attributes), *place, "attribute"):
            return Decided(None, {})
        attribute = self.attributes[key]
        if attribute.multi:
            self._report(f"attribute {key!r} has lists of values; it cannot decide", *place, "attribute")
            return Decided(key, {})
        for value in by_value:
            self._check_known("value", value, attribute.values, *place, "values", value)
        of_leaf: dict[Recorded, Any] = {None: default} if attribute.optional else {}
        for leaf in attribute.leaves:
            said = [value for value in attribute.lineage[leaf] if value in by_value]
            if not said:
                self._report(f"nothing for value {leaf!r} of attribute {key!r}", *place, "values")
            of_leaf[leaf] = by_value[said[0]] if said else default
        return Decided(key, of_leaf)

    def _read_camera(self) -> CameraRules:
        given = self._part("camera", {})
        return CameraRules(**{name: _frozen(value) for name, value in given.items() if name in _CAMERA})

    def _read_missing(self) -> dict[str, float]:
        missing = {key: DEFAULT_MISSING for key, attribute in self.attributes.items() if attribute.optional}
        for key, share in self._named("missing"):
            place = ("sampling", "missing", key)
            if self._check_known("attribute", key, list(self.attributes), *place) and key not in missing:
                self._report(f"every object has a value of {key!r}; its type is not `optional`", *place)
            missing[key] = share
        return missing

    def _read_list_length(self) -> dict[str, tuple[int, int]]:
        lengths = {
            key: (1, min(DEFAULT_MOST, len(attribute.leaves)))
            for key, attribute in self.attributes.items()
            if attribute.multi
        }
        for key, (least, most) in self._named("list_length"):
            place = ("sampling", "list_length", key)
            if not self._check_known("attribute", key, list(self.attributes), *place):
                continue
            attribute = self.attributes[key]
            if not attribute.multi:
                self._report(f"objects have one value of {key!r}; its type is not `multi`", *place)
            elif not least <= most <= len(attribute.leaves):
                self._report(f"expected two numbers up to {len(attribute.leaves)}, the smaller first", *place)
            elif least == 0 and not attribute.optional:
                self._report(f"every object has a value of {key!r}; its type is not `optional`", *place)
            lengths[key] = (least, most)
        return lengths

    # Relations ----------------------------------------------------------------------------------------------------

    def _read_random_relations(self) -> dict[str, RandomRelation]:
        found = {}
        for name, rule in self._named("relations"):
            place = ("sampling", "relations", name)
            if name in self.domain.computed_relations:
                self._report(f"relation {name!r} is computed by a plug-in", *place)
            else:
                self._check_known("relation", name, self.domain.recorded_relations, *place)
            found[name] = RandomRelation(rule["probability"], rule.get("symmetric", False))
        return found

    def _read_directions(
        self, camera: CameraRules, random_relations: Mapping[str, RandomRelation]
    ) -> Mapping[str, Vector]:
        try:
            directions = seen_directions(camera.at(camera.position))
        except ValueError:
            self._report("the camera has no level right; change its position, look_at or up", "sampling", "camera")
            return {}
        if "directions" in self.section:
            directions = {name: _frozen(direction) for name, direction in self._named("directions")}
        for name, direction in directions.items():
            if abs((length := math.sqrt(dot(direction, direction))) - 1) > 1e-3:
                self._report(f"a direction has length 1, not {length:.6g}", "sampling", "directions", name)
        is_misspelt = any(name not in self.domain.relations for name in random_relations)
        if is_misspelt or {"directions", "relations"} & self.malformed:
            return directions  # a missing direction may be among the misspelt
        for relation in self.domain.recorded_relations:
            if relation not in {**directions, **random_relations}:
                advice = "give it one here, or a probability under sampling.relations"
                self._report(f"no direction for relation {relation!r}; {advice}", "sampling", "directions")
        return directions

    # Restrictions -------------------------------------------------------------------------------------------------

    def _read_restriction(self, number: int, rule: Mapping[str, Any]) -> Restriction:
        place = ("sampling", "restrict", number)
        bound = self._leaves_of(rule["attribute"], [rule["value"]], (*place, "attribute"), (*place, "value"))
        only = {}
        for key, values in rule["only"].items():
            if key != "comment":
                here = (*place, "only", key)
                only[key] = self._leaves_of(key, values, here, here)
        return Restriction(rule["attribute"], bound, only)

    def _leaves_of(
        self, key: str, values: Sequence[str], key_place: tuple[str | int, ...], place: tuple[str | int, ...]
    ) -> tuple[str, ...]:
        """Return the leaves that make one of the values true; an unknown value is reported at its place."""
        if not self._check_known("attribute", key, list(self.attributes), *key_place):
            return ()
        attribute, leaves = self.attributes[key], dict[str, None]()
        for i, value in enumerate(values):
            at = place if place != key_place else (*place, i)
            if self._check_known("value", value, attribute.values, *at):
                leaves |= dict.fromkeys(attribute.leaves_of(value))
        return tuple(leaves)

    def _read_draw_order(
        self, restrict: Sequence[Restriction], list_length: Mapping[str, tuple[int, int]]
    ) -> tuple[str, ...]:
        try:
            order = draw_order(self.attributes, restrict)
        except CycleError as error:
            circle = ", ".join(error.args[1])
            self._report(f"attributes restrict each other in a circle: {circle}", "sampling", "restrict")
            return ()
        for key, attribute in self.attributes.items():
            least = 0 if attribute.optional else list_length.get(key, (1, 1))[0]
            lack = f"no value of {key!r} is left" if least == 1 else f"fewer than {least} values of {key!r} are left"
            for case in dead_ends(key, least, self.attributes, restrict):
                self._report(f"{lack} for {case}", "sampling", "restrict")
        return order


def _collide(key: str, other: str) -> bool:
    """True if two keys cannot both be written: they are the same, or one leads through the value of the other."""
    return f"{key}.".startswith(f"{other}.") or f"{other}.".startswith(f"{key}.")


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


MOST_CASES = 10_000
"""Most combinations of values that are searched for one that leaves no value. Sampling reports the others."""


class Restriction(NamedTuple):
    """A rule for objects whose `attribute` is one of `values`, or has one in its list.

    For each attribute in `only`, such an object takes one of the values listed there.
    """

    attribute: str
    values: tuple[str, ...]
    only: Mapping[str, tuple[str, ...]]

    def binds(self, looks: Mapping[str, Recorded]) -> bool:
        """True if the rule applies to an object with the values `looks`."""
        found = looks.get(self.attribute)
        return found in self.values if isinstance(found, str) else any(value in self.values for value in found or ())


def allowed(
    values: Sequence[str], key: str, looks: Mapping[str, Recorded], restrict: Iterable[Restriction]
) -> Sequence[str]:
    """Return the values of attribute `key` that an object with the values `looks` may take."""
    for rule in restrict:
        if key in rule.only and rule.binds(looks):
            values = [value for value in values if value in rule.only[key]]
    return values


def draw_order(keys: Iterable[str], restrict: Sequence[Restriction]) -> tuple[str, ...]:
    """Return the attributes, each after those that restrict it. Raises CycleError if there is no such order."""
    deciders = {key: [rule.attribute for rule in restrict if key in rule.only] for key in keys}
    return tuple(TopologicalSorter(deciders).static_order())


def dead_ends(
    key: str, least: int, attributes: Mapping[str, Attribute], restrict: Sequence[Restriction]
) -> Iterator[str]:
    """Yield values of others, such as "shape cube, size large", that leave `key` fewer than `least` values."""
    cases: dict[tuple[str, ...], dict[str, Recorded]] = {attributes[key].leaves: {}}
    for decider in dict.fromkeys(rule.attribute for rule in restrict if key in rule.only):
        rules = [rule for rule in restrict if rule.attribute == decider]
        if decider not in attributes or len(cases) > MOST_CASES:
            return
        after: dict[tuple[str, ...], dict[str, Recorded]] = {}
        for left, looks in cases.items():
            for value in attributes[decider].leaves:
                still_left = tuple(allowed(left, key, {decider: value}, rules))
                after.setdefault(still_left, {**looks, decider: value})
        cases = after
    for left, looks in cases.items():
        if len(left) < least:
            yield ", ".join(f"{decider} {value}" for decider, value in looks.items())
