"""A scene, compiled once into sets of objects (ints, see `bits`), and never changed afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vqagen.bits import Objects, first_n, indexes
from vqagen.plugin import PlugInError
from vqagen.world.domain import Domain, Recorded
from vqagen.world.faults import image_index_fault, raise_faults
from vqagen.world.recorded import adjacency

NAMED = 10
"""Objects that the text of a scene names."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture's objects, 0 .. size - 1.

    having[attribute][value] — the objects that have the value, alone or in a list, or that have a member of the group
    if the value is a group. Every value of the domain has an entry.
    values[attribute][i] — the value of object i, or None; of a list-valued attribute a tuple in the domain's order.
    related[relation][i] — the objects that stand in *relation* to object i ("left of i"). A relation that the scene
    does not give has no entry: it is unknown, not empty.
    start — the result of a program's `scene` step: all objects, or the set that `started_from` was given.
    """

    index: int
    record: Mapping[str, Any] = field(repr=False)
    size: int
    everything: Objects
    start: Objects
    having: Mapping[str, Mapping[str, Objects]] = field(repr=False)
    values: Mapping[str, Sequence[Recorded]] = field(repr=False)
    related: Mapping[str, Sequence[Objects]] = field(repr=False)

    def started_from(self, objects: Objects) -> Scene:
        """Return the same scene for programs that begin with `objects` in place of all objects.

        Relations still reach every object; `seen` hides objects.
        """
        return replace(self, start=objects & self.everything)

    def seen(self, visible: Objects | None = None, related: Mapping[str, Sequence[Objects]] | None = None) -> Scene:
        """Return a view: only `visible` objects exist for programs, and `related` replaces relation tables.

        Objects keep their indexes, so results in a view can be compared with those in the whole scene. For another
        viewer's left and right, give `related={"left": scene.related["right"], "right": scene.related["left"]}`;
        other relations keep their tables.
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

    def __repr__(self) -> str:
        more = "" if self.size <= NAMED else f"; {self.size - NAMED} more"
        return f"Scene({self.index}, {self.describe(self.everything & first_n(NAMED))}{more})"

    def describe(self, objects: Objects) -> str:
        """Return the objects by their values, for people: "large red cube; small blue sphere"."""
        return "; ".join(self._described(i) for i in indexes(objects)) or "nothing"

    def _described(self, i: int) -> str:
        found = [row[i] for row in self.values.values()]
        said = " ".join(value if isinstance(value, str) else " and ".join(value) for value in found if value)
        return said or "object without values"

    @property
    def image(self) -> str:
        """The file name of the image; "" if the record has none."""
        return str(self.record.get("image_filename") or "")


def compile_scene(record: Mapping[str, Any], domain: Domain, index: int = 0, source: str = "scene") -> Scene:
    """Compile one scene record. `index` is its absolute place in the input; `source` names the input in errors.

    Raises BadInput with every fault of the record: source, scene index, JSON path, expected value.
    """
    having: dict[str, dict[str, Objects]] = {}
    values: dict[str, list[Recorded]] = {}
    try:
        objects = record["objects"]
        if not isinstance(objects, list):
            raise TypeError("objects must be a list")
        for name, read in domain.readers:
            having[name], values[name] = read(objects, record)
        related = adjacency(record, domain)
        if image_index_fault(record.get("image_index")):
            raise ValueError("image_index is no number of a picture")
        _check_tables(related, len(objects))
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, PlugInError) as error:
        raise_faults(record, domain, index, source, error)
    everything = first_n(len(objects))
    return Scene(index, record, len(objects), everything, everything, having, values, related)


def _check_tables(related: Mapping[str, Sequence[Objects]], size: int) -> None:
    """Raise an error for a table of the wrong length, an index out of range, or an object related to itself."""
    everything = first_n(size)
    for table in related.values():
        if len(table) != size:
            raise ValueError("relation table of the wrong length")
        bit = 1
        for objects in table:
            if objects & ~everything or objects & bit:
                raise IndexError("relation to an object that is not there, or to itself")
            bit <<= 1
