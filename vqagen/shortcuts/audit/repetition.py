"""Repetition: scenes that are the same, and questions that are in a training file too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from vqagen.score.gold.census import text_hash
from vqagen.shortcuts.audit.items import AuditFile, AuditItem
from vqagen.world.loading import SceneSource


@dataclass(frozen=True)
class SceneFacts:
    """What an audit knows of a scene."""

    content: int
    """A hash of its objects, in whatever order they are listed."""
    size: int
    """The number of its objects."""
    values: frozenset[str]
    """The values of its objects."""


def read_scene_facts(source: SceneSource) -> list[SceneFacts]:
    """Return the facts of each scene of a source, in order."""
    return [_facts(record) for record in source.records()]


def _facts(record: Mapping[str, Any]) -> SceneFacts:
    found = record.get("objects")
    objects = [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []
    written = sorted(orjson.dumps(each, option=orjson.OPT_SORT_KEYS).decode() for each in objects)
    values = frozenset(value for each in objects for value in each.values() if isinstance(value, str))
    return SceneFacts(text_hash("\n".join(written)), len(objects), values)


@dataclass(frozen=True)
class Repetition:
    """How often an audit found the same again."""

    scenes: int = 0
    """Scenes that are asked about, if scenes were given; else 0."""
    repeated_scenes: int = 0
    """Scenes of those that repeat an earlier one."""
    questions: int = 0
    """Questions that were compared with a training file; 0 without one."""
    same_text: int = 0
    same_program: int = 0
    same_program_and_scene: int = 0
    same_scene: int = 0
    """Questions about a scene of the training file."""

    @property
    def repeated_share(self) -> float:
        """The share of scenes that repeat another."""
        return self.repeated_scenes / self.scenes if self.scenes else 0.0

    @property
    def overlap(self) -> float:
        """The share of questions whose program and scene are in the training file."""
        return self.same_program_and_scene / self.questions if self.questions else 0.0


class Known:
    """The texts, programs and scenes of a file, as hashes."""

    def __init__(self, file: AuditFile, scenes: list[SceneFacts] | None) -> None:
        self.texts = {text_hash(item.clue.text) for item in file.items}
        self.programs = {_program(item) for item in file.items}
        self.scenes = {_scene(item, scenes) for item in file.items}
        self.both = {(_program(item), _scene(item, scenes)) for item in file.items}


def repetition(
    file: AuditFile, scenes: list[SceneFacts] | None, train: Known | None, train_has_scenes: bool
) -> Repetition:
    """Return the repetition in a file. Scenes are compared by their objects if both sides have them, else by image."""
    asked = {item.scene for item in file.items if item.scene is not None} if scenes else set()
    contents = {scenes[place].content for place in asked} if scenes else set()
    if train is None:
        return Repetition(len(asked), len(asked) - len(contents))
    own = scenes if train_has_scenes else None
    same = Counter(name for item in file.items for name in _shared(item, own, train))
    return Repetition(len(asked), len(asked) - len(contents), len(file.items), **same)


def _shared(item: AuditItem, scenes: list[SceneFacts] | None, train: Known) -> Iterator[str]:
    program, scene = _program(item), _scene(item, scenes)
    if text_hash(item.clue.text) in train.texts:
        yield "same_text"
    if program in train.programs:
        yield "same_program"
    if scene in train.scenes:
        yield "same_scene"
    if (program, scene) in train.both:
        yield "same_program_and_scene"


def _program(item: AuditItem) -> int:
    """Return a hash of the program; of the text, where there is no program."""
    if item.program is None:
        return text_hash(f"{item.history}\n{item.clue.text}")
    return text_hash(repr([(node.function, node.inputs, node.values) for node in item.program]))


def _scene(item: AuditItem, scenes: list[SceneFacts] | None) -> int:
    if scenes is not None and item.scene is not None:
        return scenes[item.scene].content
    return text_hash(item.image)
