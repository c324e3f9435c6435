"""What scenes tell an audit: what is repeated, and which options the scene shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import orjson

from vqagen.items.guessing import Floats
from vqagen.items.table import NONE, Codes, Items
from vqagen.world.loading import SceneSource


class SceneFacts(NamedTuple):
    """What an audit knows of a scene."""

    content: bytes
    """Its objects, in one order however they are listed."""
    size: int
    values: frozenset[str]
    """The values of its objects."""


def read_scene_facts(source: SceneSource) -> list[SceneFacts]:
    """Return the facts of each scene of a source, in order."""
    return [_facts(record) for record in source.records()]


def _facts(record: Mapping[str, Any]) -> SceneFacts:
    found = record.get("objects")
    objects = [thing for thing in found if isinstance(thing, Mapping)] if isinstance(found, list) else []
    written = sorted(orjson.dumps(thing, option=orjson.OPT_SORT_KEYS) for thing in objects)
    values = frozenset(value for thing in objects for value in thing.values() if isinstance(value, str))
    return SceneFacts(b"\n".join(written), len(objects), values)


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


def repetition(
    items: Items,
    scenes: Sequence[SceneFacts] | None,
    train: Items | None = None,
    train_scenes: Sequence[SceneFacts] | None = None,
) -> Repetition:
    """Return the repetition in a file. Scenes are compared by their objects if both sides have them, else by image."""
    asked = set() if scenes is None else set(_places(items).tolist()) - {NONE}
    contents = {scenes[place].content for place in asked} if scenes else set()
    repeated = len(asked) - len(contents)
    if train is None:
        return Repetition(len(asked), repeated)
    are_known = scenes is not None and train_scenes is not None
    ours = _keys(items, scenes if are_known else None)
    theirs = _keys(train, train_scenes if are_known else None)
    same = {
        name: len(items) - sum(key not in known for key in ours[name])
        for name, known in ((n, set(theirs[n])) for n in ours)
    }
    return Repetition(len(asked), repeated, len(items), **same)


def _keys(items: Items, scenes: Sequence[SceneFacts] | None) -> dict[str, list[Any]]:
    """Return what is compared of each item: its text, its program (else what was said until then), and its scene."""
    learning = items.learning
    texts, histories, programs = learning.texts, learning.histories, learning.programs
    places = range(len(items))
    asked = [programs.at(place) or (histories.at(place), texts.at(place)) for place in places]
    about = [items.images.at(place) for place in places]
    if scenes is not None:
        found = _places(items).tolist()
        about = [image if at == NONE else scenes[at].content for image, at in zip(about, found, strict=True)]
    return {
        "same_text": [texts.at(place) for place in places],
        "same_program": asked,
        "same_scene": about,
        "same_program_and_scene": list(zip(asked, about, strict=True)),
    }


def _places(items: Items) -> Codes:
    """Return the index of each item's scene; NONE where it is unknown."""
    places = items.learning.places
    return np.array([*places.values, NONE], dtype=np.int32)[places.codes]


def visible_options(items: Items, scenes: Sequence[SceneFacts]) -> Floats:
    """Return how likely one of the options is right that the scene shows; NaN for an item of which it shows none.

    It shows the values of its objects, and numbers up to that of its objects.
    """
    scores = np.full(len(items), np.nan)
    for place, at in enumerate(_places(items).tolist()):
        options = items.options.at(place)
        if at == NONE or options is None or options.right is None:
            continue
        seen = [_is_visible(option, scenes[at]) for option in options.texts]
        if any(seen):
            scores[place] = seen[options.right] / sum(seen)
    return scores


def _is_visible(option: str, scene: SceneFacts) -> bool:
    return int(option) <= scene.size if option.isdecimal() else option in scene.values
