"""Fields that the scene of an item decides: its size, and how many values of each attribute are in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vqagen.errors import BadInput, Problem, counted
from vqagen.score.items.table import NONE, Codes, Column, FieldValue
from vqagen.score.scene_lookup import QuestionFault, SceneNames
from vqagen.world.loading import SceneSource

SIZE = "scene_size"
_PLACES = ("pixel_coords", "3d_coords", "rotation", "bbox", "mask", "id")
"""Keys of an object that are no attributes."""
_SHOWN = 3


class SceneFields:
    """The fields of all scenes of a source. Scenes are read twice, and no scene is kept."""

    def __init__(self, source: SceneSource) -> None:
        self._source, self._names = source, SceneNames(source)
        fields = [dict(_fields(record)) for record in source.records()]
        names = sorted({name for each in fields for name in each})
        self._columns = {name: Column.of(each.get(name) for each in fields) for name in names}
        """Of each field the column of all scenes."""
        self._lost: list[str] = []
        self._lost_records = 0

    def __len__(self) -> int:
        return len(self._names)

    def find(self, record: Mapping[str, Any], index: int) -> int:
        """Return the index of the scene that a record is about; NONE, and a fault, if there is no such scene."""
        place = self._names.place_of(record)
        if not isinstance(place, QuestionFault):
            return place
        self._lost_records += 1
        if len(self._lost) < _SHOWN:
            self._lost.append(f"{place.problem} (record {index})")
        return NONE

    def fields(self, places: Codes) -> dict[str, Column]:
        """Return the fields of items that are about the scenes of these indexes."""
        return {name: column.spread(places) for name, column in self._columns.items()}

    def finish(self) -> None:
        """Raise BadInput if scenes were missing."""
        if self._lost_records:
            message = f"no scene for {counted(self._lost_records, 'record')}: {'; '.join(self._lost)}"
            raise BadInput([Problem(message, str(self._source.path))])


def _fields(scene: Mapping[str, Any]) -> Iterator[tuple[str, FieldValue]]:
    """Yield the name and the value of each field: `scene_size`, `scene_colors`, …"""
    objects = [each for each in scene.get("objects") or () if isinstance(each, Mapping)]
    yield SIZE, len(objects)
    values: dict[str, set[str]] = {}
    for each in objects:
        for name, value in each.items():
            if isinstance(value, str) and name not in _PLACES:
                values.setdefault(name, set()).add(value)
    for name, found in values.items():
        yield f"scene_{name}s", len(found)
