"""The rules for sampling scenes of a domain: its attributes, and the `sampling` section of its metadata.

Restrictions say which values an object may have beside its other values. The JSON Schema of metadata finds faults of
form, `_RulesReader` faults of meaning; all are reported. `pictures.looks` reads the `render` section likewise.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

from vqagen.errors import BadInput, Problem, UsageError, unknown
from vqagen.files.parsing import show_path
from vqagen.files.schema import content_of, malformed, without
from vqagen.world.attribute import Attribute, Recorded, row_reader
from vqagen.world.camera import CameraRules, Vector, dot, seen_directions
from vqagen.world.domain import Domain
from vqagen.world.scene import THRESHOLD

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
    random_relations: Mapping[str, tuple[float, bool]]
    """Relation that does not follow from positions -> the probability that it holds for a pair, and whether for the
    pair in both orders."""
    directions: Mapping[str, Vector]
    restrict: tuple[Restriction, ...]
    conditions: Mapping[str, tuple[Restriction, ...]]
    """Name of a condition -> the restrictions that it adds to `restrict`."""
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
    min_visible_share: float = 0.0
    relation_threshold: float = THRESHOLD

    @classmethod
    def from_domain(cls, domain: Domain, condition: str | None = None) -> SamplingRules:
        """Return the rules of a domain or, if given, those of one of its conditions.

        Raises BadInput with every mistake in its `sampling` section, and UsageError for an unknown condition.
        """
        reader = _RulesReader(domain)
        rules = reader.rules()
        if not condition:
            return rules
        if condition not in rules.conditions:
            raise UsageError(f"{domain.source}: {unknown('condition', condition, list(rules.conditions))}")
        restrict = (*rules.restrict, *rules.conditions[condition])
        return replace(rules, restrict=restrict, draw_order=reader.draw_order(restrict))

    def least_pixels(self, width: int) -> float:
        """Return `min_visible_pixels` for pictures of a width in place of the camera's own."""
        return self.min_visible_pixels * (width / self.camera.width) ** 2

    def scaled(self, width: int) -> SamplingRules:
        """Return the rules for pictures of a width in place of the camera's own."""
        seen = self.camera.at(self.camera.position).scaled(width)
        camera = replace(self.camera, focal_pixels=seen.focal_pixels, width=seen.width, height=seen.height)
        return replace(self, camera=camera, min_visible_pixels=math.ceil(self.least_pixels(width)))

    def keeps(self, scene: Mapping[str, Any]) -> bool:
        """True if no object of a scene record breaks a restriction, such as those of a condition."""
        rows = {key: row_reader(attribute)(scene["objects"], scene)[1] for key, attribute in self.attributes.items()}
        things = [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
        return all(rule.keeps(looks) for looks in things for rule in self.restrict)

    @cached_property
    def relation_directions(self) -> Mapping[str, Vector]:
        """The directions of the relations that follow from positions."""
        spatial = [relation for relation in self.relations if relation not in self.random_relations]
        return {relation: self.directions[relation] for relation in spatial}

    @cached_property
    def margin_axes(self) -> tuple[tuple[float, float], ...]:
        """The axes on the ground along which the margin holds: each once, as left and right have the same."""
        axes: list[tuple[float, float]] = []
        for x, y, _ in self.relation_directions.values():
            if (x, y) != (0, 0) and (x, y) not in axes and (-x, -y) not in axes:
                axes.append((x, y))
        return tuple(axes)


_PLAIN = [field.name for field in fields(SamplingRules) if field.default is not MISSING]
"""Rules that are used as written."""


# Sections of metadata -------------------------------------------------------------------------------------------------


class SectionReader:
    """Reader of the section `name` of a domain's metadata, which has a definition of this name in the JSON Schema.

    A part of wrong form is reported and then read as if it were absent, so that the other parts are still checked.
    """

    def __init__(self, domain: Domain, name: str) -> None:
        """Raise BadInput if the section is no object."""
        self.domain, self.name = domain, name
        self.problems: list[Problem] = []
        given = domain.record.get(name, {})
        self.malformed = malformed(given, "metadata", name)
        for fault in chain.from_iterable(self.malformed.values()):
            self.report(show_path((name, *fault.place)), fault.message)
        if () in self.malformed:
            raise BadInput(self.problems)
        self.section: Mapping[str, Any] = without(given, self.malformed)
        self.attributes = {attribute.key: attribute for attribute in domain.attributes if attribute.compute is None}

    def report(self, place: str, message: str) -> None:
        """Note a mistake at a JSON path of the metadata."""
        self.problems.append(self.domain.problem(place, message))

    def is_known(self, kind: str, name: object, known: Sequence[str], place: str) -> bool:
        """Return whether a name is known; a mistake if not."""
        if name not in known:
            self.report(place, unknown(kind, name, known))
        return name in known

    def attribute(self, key: str, place: str) -> Attribute | None:
        """Return the attribute of an object key; a mistake if there is none."""
        return self.attributes[key] if self.is_known("attribute", key, list(self.attributes), place) else None

    def entries(self, part: str) -> Iterable[tuple[str, Any]]:
        """Return the entries of a part that is an object, without its comment."""
        return content_of(self.section.get(part)).items()

    def read_decided(self, name: str, default: Any) -> Decided[Any]:
        """Return the property that a part gives: one for all objects, or one for each value of an attribute."""
        given, place = self.section.get(name, default), f"{self.name}.{name}"
        if not isinstance(given, Mapping):
            return Decided(None, {None: given})
        by_value, attribute = content_of(given["values"]), self.attribute(given["attribute"], f"{place}.attribute")
        if attribute is None or attribute.multi:
            if attribute:
                message = f"attribute {attribute.key!r} has lists of values; it cannot decide"
                self.report(f"{place}.attribute", message)
            return Decided(None, {})
        for value in by_value:
            self.is_known("value", value, attribute.values, f"{place}.values.{value}")
        of_leaf: dict[Recorded, Any] = {None: default} if attribute.optional else {}
        for leaf in attribute.leaves:
            given_of = [by_value[value] for value in attribute.lineage[leaf] if value in by_value]
            if not given_of:
                self.report(f"{place}.values", f"nothing for value {leaf!r} of attribute {attribute.key!r}")
            of_leaf[leaf] = given_of[0] if given_of else default
        return Decided(attribute.key, of_leaf)


class _RulesReader(SectionReader):
    """Reader of the `sampling` section."""

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain, "sampling")

    def rules(self) -> SamplingRules:
        """Return the checked rules. Raises BadInput with all problems."""
        self._check_keys()
        camera = CameraRules(**{name: _frozen(value) for name, value in self.entries("camera")})
        plain = {name: _frozen(self.section[name]) for name in _PLAIN if name in self.section}
        for name in ("objects", "area"):
            if name in plain and plain[name][0] > plain[name][1]:
                self.report(f"sampling.{name}", "give the smaller number first")
        radius: Decided[float] = self.read_decided("radius", DEFAULT_RADIUS)
        solid: Decided[str] = self.read_decided("solid", DEFAULT_SOLID)
        random_relations = self._read_random_relations()
        directions = self._read_directions(camera, random_relations)
        missing, list_length = self._read_missing(), self._read_list_length()
        restrict = self._read_restrictions(self.section.get("restrict", ()), "restrict")
        conditions = {
            name: self._read_restrictions(listed, f"conditions.{name}") for name, listed in self.entries("conditions")
        }
        order = self.draw_order(restrict)
        for name, added in conditions.items():
            self.draw_order((*restrict, *added), f"conditions.{name}")
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
            conditions=conditions,
            radius=radius,
            solid=solid,
            camera=camera,
            **plain,
        )

    def _check_keys(self) -> None:
        """Report attributes that share a key, or have one that the sampler writes."""
        keys: list[str] = []
        for attribute in self.domain.attributes:
            key = attribute.key
            if attribute.compute is not None:
                continue
            if key.split(".")[0] in WRITTEN_KEYS or any(_collide(key, other) for other in keys):
                message = f"object key {key!r} is taken; give this type another `key`"
                self.report(f"types.{attribute.type}", message)
            keys.append(key)

    # Parts --------------------------------------------------------------------------------------------------------

    def _read_missing(self) -> dict[str, float]:
        missing = {key: DEFAULT_MISSING for key, attribute in self.attributes.items() if attribute.optional}
        for key, share in self.entries("missing"):
            place = f"sampling.missing.{key}"
            if self.attribute(key, place) and key not in missing:
                self.report(place, f"every object has a value of {key!r}; its type is not `optional`")
            missing[key] = share
        return missing

    def _read_list_length(self) -> dict[str, tuple[int, int]]:
        lists = {key: attribute for key, attribute in self.attributes.items() if attribute.multi}
        lengths = {key: (1, min(DEFAULT_MOST, len(attribute.leaves))) for key, attribute in lists.items()}
        for key, (least, most) in self.entries("list_length"):
            place, attribute = f"sampling.list_length.{key}", self.attribute(key, f"sampling.list_length.{key}")
            if attribute and not attribute.multi:
                self.report(place, f"objects have one value of {key!r}; its type is not `multi`")
            elif attribute:
                lowest, highest = 0 if attribute.optional else 1, len(attribute.leaves)
                if not lowest <= least <= most <= highest:
                    self.report(place, f"expected two numbers from {lowest} to {highest}, the smaller first")
            lengths[key] = (least, most)
        return lengths

    # Relations ----------------------------------------------------------------------------------------------------

    def _read_random_relations(self) -> dict[str, tuple[float, bool]]:
        relations = {}
        for name, rule in self.entries("relations"):
            place = f"sampling.relations.{name}"
            if name in self.domain.computed_relations:
                self.report(place, f"relation {name!r} is computed by a plug-in")
            else:
                self.is_known("relation", name, self.domain.recorded_relations, place)
            relations[name] = (rule["probability"], rule.get("symmetric", False))
        return relations

    def _read_directions(self, camera: CameraRules, random_relations: Collection[str]) -> Mapping[str, Vector]:
        try:
            directions = seen_directions(camera.at(camera.position))
        except ValueError:
            self.report("sampling.camera", "the camera has no level right; change its position, look_at or up")
            return {}
        if "directions" in self.section:
            directions = {name: _frozen(direction) for name, direction in self.entries("directions")}
        for name, direction in directions.items():
            if abs((length := math.sqrt(dot(direction, direction))) - 1) > 1e-3:
                self.report(f"sampling.directions.{name}", f"a direction has length 1, not {length:.6g}")
        is_misspelt = any(name not in self.domain.relations for name in random_relations)
        if is_misspelt or {("directions",), ("relations",)} & self.malformed.keys():
            return directions  # a missing direction may be among the misspelt
        for relation in self.domain.recorded_relations:
            if relation not in directions and relation not in random_relations:
                advice = 'give it one here, or {"probability": 0.5} under sampling.relations'
                self.report("sampling.directions", f"no direction for relation {relation!r}; {advice}")
        return directions

    # Restrictions -------------------------------------------------------------------------------------------------

    def _read_restrictions(self, rules: Sequence[Mapping[str, Any]], part: str) -> tuple[Restriction, ...]:
        return tuple(self._read_restriction(rule, f"sampling.{part}[{i}]") for i, rule in enumerate(rules))

    def _read_restriction(self, rule: Mapping[str, Any], place: str) -> Restriction:
        only = {}
        decider = self.attribute(rule["attribute"], f"{place}.attribute")
        for key, values in content_of(rule["only"]).items():
            here = f"{place}.only.{key}"
            only[key] = self._leaves(self.attribute(key, here), {f"{here}[{i}]": v for i, v in enumerate(values)})
        return Restriction(rule["attribute"], self._leaves(decider, {f"{place}.value": rule["value"]}), only)

    def _leaves(self, attribute: Attribute | None, values: Mapping[str, str]) -> tuple[str, ...]:
        """Return the leaves that make one of the values, which are by their places, true; unknown ones are reported."""
        leaves = dict[str, None]()
        for place, value in values.items() if attribute else ():
            if attribute and self.is_known("value", value, attribute.values, place):
                leaves |= dict.fromkeys(attribute.leaves_of(value))
        return tuple(leaves)

    def draw_order(self, restrict: Sequence[Restriction], part: str = "restrict") -> tuple[str, ...]:
        """Return the attributes, each after those that restrict it."""
        deciders = {key: [rule.attribute for rule in restrict if key in rule.only] for key in self.attributes}
        try:
            return tuple(TopologicalSorter(deciders).static_order())
        except CycleError as error:
            circle = ", ".join(error.args[1])
            self.report(f"sampling.{part}", f"attributes restrict each other in a circle: {circle}")
            return ()


def _collide(key: str, other: str) -> bool:
    """True if two keys cannot both be written: they are the same, or one leads through the value of the other."""
    return f"{key}.".startswith(f"{other}.") or f"{other}.".startswith(f"{key}.")


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class Restriction(NamedTuple):
    """A rule for objects whose `attribute` is one of `values`, or has one in its list.

    For each attribute in `only`, such an object takes one of the values listed there.
    """

    attribute: str
    values: tuple[str, ...]
    only: Mapping[str, tuple[str, ...]]

    def binds(self, looks: Mapping[str, Recorded]) -> bool:
        """True if the rule applies to an object with the values `looks`."""
        return any(value in self.values for value in _values_of(looks.get(self.attribute)))

    def keeps(self, looks: Mapping[str, Recorded]) -> bool:
        """True if an object with the values `looks` does not break the rule; a missing value breaks none."""
        if not self.binds(looks):
            return True
        return all(value in self.only[key] for key in self.only for value in _values_of(looks[key]))


def _values_of(recorded: Recorded) -> tuple[str, ...]:
    return (recorded,) if isinstance(recorded, str) else recorded or ()


def allowed(
    values: Sequence[str], key: str, looks: Mapping[str, Recorded], restrict: Iterable[Restriction]
) -> Sequence[str]:
    """Return the values of attribute `key` that an object with the values `looks` may take."""
    for rule in restrict:
        if key in rule.only and rule.binds(looks):
            values = [value for value in values if value in rule.only[key]]
    return values
