"""Scenes of a file or folder: found, read and compiled. `records.source` shows the layouts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import orjson

from vqagen.errors import BadInput, Problem, VqagenError, describe
from vqagen.files.discovery import open_records
from vqagen.files.kind import RecordKind
from vqagen.files.locations import Location
from vqagen.files.source import RecordSource
from vqagen.files.stream import BYTE_ORDER_MARK
from vqagen.world.domain import Domain
from vqagen.world.scene import Scene, compile_scene

SCENES = RecordKind("scenes", own_keys=("objects",), may_be_empty=False)

SceneSource = RecordSource
"""Records of the kind `SCENES`."""


@dataclass(frozen=True, slots=True)
class SceneText:
    """One scene as it stands in its file: sent to another process, which reads it."""

    noun: ClassVar[str] = "scene"
    index: int
    text: bytes
    place: str
    """What errors call the place that the scene comes from."""

    def __str__(self) -> str:
        """The scene, for people."""
        with suppress(orjson.JSONDecodeError, AttributeError):
            if image := orjson.loads(self.text).get("image_filename"):
                return f"scene {self.index} ({image})"
        return f"scene {self.index} (of no image)"


class UnreadableScene(VqagenError):
    """The text of a scene is broken. Only its file shows where: see `RecordSource.raise_unreadable`."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def find_scenes(path: Location | str) -> SceneSource:
    """Find the scenes at a local path or URL; see `open_records`."""
    return open_records(path, SCENES)


def scene_texts(source: SceneSource, start: int = 0, count: int = 0) -> Iterator[SceneText]:
    """Yield scenes unread, from `start` on, `count` of them or (0) all. Whoever takes them calls `read_scene`."""
    return (SceneText(index, text, place) for index, _, place, text in source.texts(start, count))


def given_scene_texts(records: Iterable[Mapping[str, Any]], start: int = 0, count: int = 0) -> Iterator[SceneText]:
    """Yield scene records as texts, from the `start`-th on, `count` of them or (0) all.

    Raises BadInput for a record that JSON cannot hold.
    """
    chosen = islice(records, start, start + count if count else None)
    return (_given(record, index) for index, record in enumerate(chosen, start))


def _given(record: Mapping[str, Any], index: int) -> SceneText:
    place = "given scenes"
    try:
        return SceneText(index, orjson.dumps(record, option=orjson.OPT_SERIALIZE_NUMPY), place)
    except TypeError as error:
        raise BadInput([Problem(f"not a JSON value: {error}", place, SCENES.path(index))]) from None


def read_scene(scene: SceneText) -> dict[str, Any]:
    """The record that a text says. Raises UnreadableScene, or BadInput for JSON that is not an object."""
    try:
        record = orjson.loads(scene.text.removeprefix(BYTE_ORDER_MARK))
    except orjson.JSONDecodeError:
        raise UnreadableScene(scene.index) from None
    if not isinstance(record, dict):
        expected = f"expected a scene object, found {describe(record)}"
        raise BadInput([Problem(expected, scene.place, SCENES.path(scene.index))])
    return record


def load_scenes(
    source: SceneSource | Location | str, domain: Domain, start: int = 0, count: int = 0
) -> Iterator[Scene]:
    """Yield compiled scenes from `start` on, `count` of them or (0) all.

    BadInput ends it at the first faulty scene, with every fault of that scene.
    """
    found = source if isinstance(source, RecordSource) else find_scenes(source)
    entries = found.entries(start, count)
    return (compile_scene(record, domain, index, place) for index, record, place in entries)
