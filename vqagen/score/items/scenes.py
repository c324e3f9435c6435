"""Fields that the scene of an item decides: its size, and how many values of each attribute are in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vqagen.errors import BadInput, Problem, counted
from vqagen.score.items.table import NONE, Codes, Column
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
        fields = [_fields(record) for record in source.records()]
        names = sorted({name for each in fields for name in each})
        self._columns = {name: Column.of(each.get(name) for each in fields) for name in names}
        """Of each field the column of all scenes."""
        self._lost: list[str] = []

    def find(self, record: Mapping[str, Any], index: int) -> int:
        """Return the index of the scene that a record is about; NONE, and a fault, if there is no such scene."""
        place = self._names.place_of(record)
        if not isinstance(place, QuestionFault):
            return place
        self._lost.append(f"{place.problem} (record {index})")
        return NONE

    def column(self, places: Sequence[int]) -> Column:
        """Return the column of the scenes at these indexes. BadInput if scenes were missing."""
        if self._lost:
            message = f"no scene for {counted(len(self._lost), 'record')}: {'; '.join(self._lost[:_SHOWN])}"
            raise BadInput([Problem(message, str(self._source.path))])
        return Column(np.array(places, dtype=np.int32), tuple(range(len(self._names))))

    def fields(self, places: Codes) -> dict[str, Column]:
        """Return the fields of items that are about the scenes of these indexes."""
        return {name: column.spread(places) for name, column in self._columns.items()}


def _fields(scene: Mapping[str, Any]) -> dict[str, int]:
    """Return the value of each field: `scene_size`, `scene_colors`, …"""
    objects = [each for each in scene.get("objects") or () if isinstance(each, Mapping)]
    values = defaultdict[str, set[str]](set)
    for each in objects:
        for name, value in each.items():
            if isinstance(value, str) and name not in _PLACES:
                values[name].add(value)
    return {SIZE: len(objects), **{f"scene_{name}s": len(found) for name, found in values.items()}}
