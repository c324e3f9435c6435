"""Fields that the scene of a question decides: its size, and how many values of each attribute are in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vqagen.errors import BadInput, Problem, counted
from vqagen.score.gold.item import FieldValue
from vqagen.score.scene_lookup import QuestionFault, SceneNames
from vqagen.world.loading import SceneSource

SIZE = "scene_size"
NO_SCENE: Mapping[str, FieldValue] = {}
_PLACES = ("pixel_coords", "3d_coords", "rotation", "bbox", "mask", "id")
"""Keys of an object that are no attributes."""


class SceneFields:
    """The fields of all scenes of a source. Scenes are read twice, and no scene is kept."""

    def __init__(self, source: SceneSource) -> None:
        self._source, self._names = source, SceneNames(source)
        known: dict[tuple[tuple[str, FieldValue], ...], Mapping[str, FieldValue]] = {}
        self._of_place: list[Mapping[str, FieldValue]] = []
        for record in source.records():
            fields = dict(scene_fields(record))
            self._of_place.append(known.setdefault(tuple(fields.items()), fields))
        self._lost: list[str] = []
        self._lost_questions = 0

    def of(self, record: Mapping[str, Any], index: int) -> Mapping[str, FieldValue]:
        """Return the fields of the scene that a record is about; none, and a fault, if there is no such scene."""
        place = self._names.place_of(record)
        if isinstance(place, QuestionFault):
            self._lost_questions += 1
            if len(self._lost) < 3:
                self._lost.append(f"{place.problem} (record {index})")
            return NO_SCENE
        return self._of_place[place]

    def finish(self) -> None:
        """Raise BadInput if scenes were missing."""
        if self._lost_questions:
            message = f"no scene for {counted(self._lost_questions, 'record')}: {'; '.join(self._lost)}"
            raise BadInput([Problem(message, str(self._source.path))])


def scene_fields(scene: Mapping[str, Any]) -> Iterator[tuple[str, FieldValue]]:
    """Yield the name and the value of each field: `scene_size`, `scene_colors`, …"""
    objects = [each for each in scene.get("objects") or () if isinstance(each, Mapping)]
    yield SIZE, len(objects)
    values: dict[str, set[str]] = {}
    for each in objects:
        for name, value in each.items():
            if isinstance(value, str) and name not in _PLACES:
                values.setdefault(name, set()).add(value)
    for name in sorted(values):
        yield f"scene_{name}s", len(values[name])
