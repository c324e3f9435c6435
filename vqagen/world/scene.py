"""A scene, compiled once into sets of objects (ints, see `bits`), and never changed afterwards.

A record may give relations in any of these forms, all of which become tables:

* adjacency: `{"left": [[1, 2], [], [1]]}` — row i lists what is left of object i (the CLEVR form);
* a list: `[{"type": "left", "indexes": [[1, 2], [], [1]]}]`;
* keyed by object id: `{"left": {"a": ["b", "c"], "c": ["b"]}}`, where objects have an `id` (or their index as text);
* absent: computed from `directions` and each object's `3d_coords`, where the record has them.

A relation of a plug-in is always computed, even if the record gives it too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from vqagen.bits import Objects, first_n, indexes, union_of
from vqagen.errors import BadInput, Problem, describe
from vqagen.plugin import PlugInError, Record
from vqagen.world.domain import Domain, Recorded, ViewMargins

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
    margins — what is too close to call from a point of view.
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
    margins: ViewMargins = field(repr=False)

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
        recorded = [row[i] for row in self.values.values()]
        words = " ".join(value if isinstance(value, str) else " and ".join(value) for value in recorded if value)
        return words or "object without values"

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
        related = _adjacency(record, domain)
        if image_index_fault(record.get("image_index")):
            raise ValueError("image_index is no number of a picture")
        _check_tables(related, len(objects))
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, PlugInError) as error:
        from vqagen.world.faults import raise_faults  # few runs meet a faulty scene

        raise_faults(record, domain, index, source, error)
    everything = first_n(len(objects))
    return Scene(index, record, len(objects), everything, everything, having, values, related, domain.margins)


def image_index_fault(number: object) -> str:
    """Return the sentence for an `image_index` that is no number of a picture; "" if it is one, or text, or missing."""
    if number is None or isinstance(number, str) or (type(number) is int and number >= 0):
        return ""
    return f"expected a whole number from 0 on, text or null; found {describe(number)}"


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


# Relations ----------------------------------------------------------------------------------------------------------

THRESHOLD = 0.2
"""Least offset that counts, in world units; measured on the released scenes (see `relation_lists`)."""


def relation_lists(
    positions: Sequence[Sequence[float]], directions: Mapping[str, Sequence[float]], threshold: float = THRESHOLD
) -> dict[str, list[list[int]]]:
    """Return `lists[relation][i]`: the objects that stand in *relation* to object i, ascending ("j is left of i").

    A relation holds if the offset from i to j is more than `threshold` along its direction. With 0.2 these are exactly
    the relations of the 1,000 released train scenes of Johnson et al. 2017.
    """
    return {relation: _in_direction(positions, direction, threshold) for relation, direction in directions.items()}


def _in_direction(
    positions: Sequence[Sequence[float]], direction: Sequence[float], threshold: float
) -> list[list[int]]:
    along_x, along_y, along_z = direction[0], direction[1], direction[2]

    def offset(here: Sequence[float], there: Sequence[float]) -> float:
        return (there[0] - here[0]) * along_x + (there[1] - here[1]) * along_y + (there[2] - here[2]) * along_z

    return [
        [j for j, other in enumerate(positions) if j != i and offset(position, other) > threshold]
        for i, position in enumerate(positions)
    ]


def _adjacency(record: Record, domain: Domain) -> dict[str, list[Objects]]:
    """Return the tables of the domain's relations that the record gives or that follow from positions, then plug-ins'.

    A relation that is neither given nor computable is left out. A scene of fewer than two objects has empty tables of
    all relations. Malformed input raises one of the built-in errors; `faults` then finds the place.
    """
    objects, given = record["objects"], _given(record)
    bit_of = _bit_of(len(objects))
    related: dict[str, list[Objects]] = {}
    for relation in domain.recorded_relations:
        rows = given.get(relation)
        if rows is not None:
            related[relation] = _table(_in_order(rows, objects) if isinstance(rows, Mapping) else rows, bit_of)
        elif len(objects) < 2:
            related[relation] = [0] * len(objects)
    if len(related) < len(domain.recorded_relations):
        related |= _from_positions(record, [name for name in domain.recorded_relations if name not in related])
    for relation, holds in domain.computed_relations.items():
        related[relation] = [
            union_of(j for j, thing in enumerate(objects) if j != i and holds(thing, anchor, record))
            for i, anchor in enumerate(objects)
        ]
    return related


def _table(rows: Sequence[Sequence[Any]], bit_of: Mapping[int, Objects]) -> list[Objects]:
    # Not of ints: compiled code would turn true into 1 before its type is asked for.
    if not {type(j) for row in rows for j in row}.isdisjoint((bool, float)):  # true and 1.0 would pass for 1
        raise TypeError("an object index that is no whole number")
    table = []
    for row in rows:
        members = 0
        for j in row:
            members |= bit_of[j]
        table.append(members)
    return table


@lru_cache(maxsize=64)
def _bit_of(size: int) -> dict[int, Objects]:
    """Return object index -> its bit. A look-up rejects negative and huge indexes, which `1 << j` would take."""
    return {i: 1 << i for i in range(size)}


def _given(record: Record) -> Mapping[str, Any]:
    """Return rows by relation name. Raises ValueError for a relation that the list form lists twice."""
    given = record.get("relationships") or {}
    if isinstance(given, Mapping):
        return given
    by_type = {entry["type"]: entry["indexes"] for entry in given}
    if len(by_type) != len(given):
        raise ValueError("a relation is listed twice")
    return by_type


def _in_order(rows: Mapping[str, Any], objects: Sequence[Record]) -> list[list[int]]:
    """Return rows that are keyed by object id in the order of objects, with ids turned into indexes."""
    index_of = {str(record.get("id", i)): i for i, record in enumerate(objects)}
    if len(index_of) != len(objects):
        raise ValueError("two objects have the same id")
    in_order: list[list[int]] = [[] for _ in objects]
    for name, members in rows.items():
        in_order[index_of[name]] = [index_of[str(member)] for member in members]
    return in_order


def _from_positions(record: Record, names: Sequence[str]) -> dict[str, list[Objects]]:
    directions, objects = record.get("directions") or {}, record["objects"]
    known = {name: directions[name] for name in names if directions.get(name) is not None}
    if not known or any(entry.get("3d_coords") is None for entry in objects):
        return {}
    positions = [entry["3d_coords"] for entry in objects]
    if any(isinstance(number, bool) for position in positions for number in position):
        raise TypeError("a coordinate that is no number")
    lists = relation_lists(positions, known)
    return {name: [union_of(row) for row in rows] for name, rows in lists.items()}


FARTHEST = 1e6
"""Pixels that a place may be away from the picture."""


def pixels_of(record: Mapping[str, Any]) -> list[tuple[float, float]] | None:
    """Return the pixel of each object of a scene record, its `pixel_coords`; None if any object has none.

    Raises BadInput for what is no pixel.
    """
    pixels = []
    for number, thing in enumerate(record["objects"]):
        if not (given := thing.get("pixel_coords")):
            return None
        is_list = isinstance(given, list | tuple) and len(given) >= 2
        if not is_list or not all(isinstance(each, int | float) and abs(each) < FARTHEST for each in given[:2]):
            message = f"expected the pixel of an object, such as [212, 140, 9.8], found {describe(given)}"
            raise BadInput([Problem(message, str(record.get("image_filename")), f"objects[{number}].pixel_coords")])
        pixels.append((given[0], given[1]))
    return pixels


def boxes_of(record: Mapping[str, Any]) -> list[list[int]] | None:
    """Return the box of each object of a scene record, [] where nothing of it can be seen; None if any has none.

    Raises BadInput for what is no box in the picture.
    """
    things, size, image = record["objects"], picture_size(record), str(record.get("image_filename"))
    faults = [box_fault(box, size) if (box := thing.get("box")) else "" for thing in things]
    if any(faults):
        raise BadInput(Problem(why, image, f"objects[{number}].box") for number, why in enumerate(faults) if why)
    return [thing["box"] or [] for thing in things] if all("box" in thing for thing in things) else None


def picture_size(record: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the width and height of the picture of a scene record; None if its camera does not say it.

    Raises BadInput for what is no size.
    """
    match record.get("camera") or {}:
        case {"width": int(width), "height": int(height)}:
            return width, height
        case Mapping() as camera if not {"width", "height"} <= camera.keys():
            return None
    message = "expected whole numbers as the width and the height of the picture"
    raise BadInput([Problem(message, str(record.get("image_filename")), "camera")])


def box_fault(given: Any, size: tuple[int, int] | None = None) -> str:
    """Return why something is no box in a picture of a size; "" if it is one.

    >>> box_fault([1, 2, 30, 4000]), box_fault([1, 2, 30, 4000], (480, 320))
    ('', 'the box [1, 2, 30, 4000] lies outside of the picture, which has 480 x 320 pixels')
    """
    is_box = isinstance(given, list | tuple) and len(given) == 4 and not {*map(type, given)} - {int, float}
    if not is_box or not (given[0] < given[2] and given[1] < given[3]):
        return f"expected a box such as [180, 110, 244, 171], found {given!r:.60}"
    is_inside = min(given) >= 0 and (not size or (given[2] <= size[0] and given[3] <= size[1]))
    known = f", which has {size[0]} x {size[1]} pixels" if size else ""
    return "" if is_inside else f"the box {list(given)} lies outside of the picture{known}"
