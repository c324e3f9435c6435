"""A scene, compiled once into sets of objects (ints, see `bits`). Nothing writes to it afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vqagen.bits import Objects, first_n, indexes
from vqagen.world.domain import Domain
from vqagen.world.faults import raise_faults
from vqagen.world.relation_forms import adjacency


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture's objects, 0 .. size - 1.

    having[attribute][value] — the objects with that value; every value of the domain has an entry.
    values[attribute][i] — object i's value.
    related[relation][i] — the objects that stand in *relation* to object i ("left of i"). A relation the scene says
    nothing about has no entry: it is unknown, not empty.
    start — what a program's `scene` step returns: all objects, unless it was started from another set.
    """

    index: int
    record: Mapping[str, Any] = field(repr=False)
    size: int
    everything: Objects
    start: Objects
    having: Mapping[str, Mapping[str, Objects]] = field(repr=False)
    values: Mapping[str, Sequence[str]] = field(repr=False)
    related: Mapping[str, Sequence[Objects]] = field(repr=False)

    def started_from(self, objects: Objects) -> Scene:
        """The same scene, but programs begin with `objects` in place of all of them.

        Relations still reach every object; `seen` hides what lies outside.
        """
        return replace(self, start=objects & self.everything)

    def seen(self, visible: Objects | None = None, related: Mapping[str, Sequence[Objects]] | None = None) -> Scene:
        """A view: only `visible` objects exist for programs, and `related` replaces the relation tables.

        Objects keep their indexes, so a view's results can be compared with the whole scene's. Another viewer's left
        and right are a view with `related={"left": scene.related["right"], "right": scene.related["left"]}`, merged
        over the scene's own tables.
        """
        shown = self.everything if visible is None else visible & self.everything
        tables = {**self.related, **(related or {})}
        return replace(
            self,
            everything=shown,
            start=self.start & shown,
            having={
                name: {value: objects & shown for value, objects in by_value.items()}
                for name, by_value in self.having.items()
            },
            related={name: [objects & shown for objects in table] for name, table in tables.items()},
        )

    def describe(self, objects: Objects) -> str:
        """For people: the objects by their values, such as "large red cube; small blue sphere"."""
        names = (" ".join(row[i] for row in self.values.values()) for i in indexes(objects))
        return "; ".join(names) or "nothing"

    @property
    def image(self) -> str:
        """The image's file name, or "" where the record gives none."""
        return str(self.record.get("image_filename") or "")


def compile_scene(record: Mapping[str, Any], domain: Domain, index: int = 0, source: str = "scene") -> Scene:
    """Compile one scene record. `index` is its absolute place in the input; `source` names the input in errors.

    Raises BadInput naming every fault of the record: source, scene index, JSON path, what was expected.
    """
    try:
        objects = record["objects"]
        if not isinstance(objects, list):
            raise TypeError("objects must be a list")
        having, values = _attribute_tables(objects, domain)
        related = adjacency(record, domain)
        _check_tables(related, len(objects))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        raise_faults(record, domain, index, source, error)
    everything = first_n(len(objects))
    return Scene(index, record, len(objects), everything, everything, having, values, related)


def _attribute_tables(
    objects: Sequence[Mapping[str, Any]], domain: Domain
) -> tuple[dict[str, dict[str, Objects]], dict[str, list[str]]]:
    having: dict[str, dict[str, Objects]] = {}
    values: dict[str, list[str]] = {}
    for attribute in domain.attributes:
        key = attribute.key
        row = [record[key] for record in objects]
        by_value = dict.fromkeys(attribute.values, 0)
        bit = 1
        for value in row:
            by_value[value] |= bit
            bit <<= 1
        having[attribute.name] = by_value
        values[attribute.name] = row
    return having, values


def _check_tables(related: Mapping[str, Sequence[Objects]], size: int) -> None:
    """Refuse a table of the wrong length, an index out of range, and an object related to itself."""
    everything = first_n(size)
    for table in related.values():
        if len(table) != size:
            raise ValueError("relation table of the wrong length")
        bit = 1
        for objects in table:
            if objects & ~everything or objects & bit:
                raise IndexError("relation to an object that is not there, or to itself")
            bit <<= 1
