"""Items of two texts about a scene: comparisons, and checks with a text that a program proves to be untrue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec.structs import replace

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import Location
from vqagen.files.records import RecordKind, open_records
from vqagen.human.study.checks import CORRECT, DISTRACTOR
from vqagen.human.study.item import CHECK, LENGTH_DIFFERENCE, REFERENCE, Candidate, Gold, Item, length_difference
from vqagen.rng import shuffled, stream
from vqagen.score.scene_lookup import QuestionFault, records_with_scenes
from vqagen.world.domain import Domain
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene

SCENE_SIZE, PROGRAM_LENGTH, TEMPLATE, FAMILY = "scene_size", "program_length", "template", "family"
"""Strata of items: objects of the scene, steps of the program, template and kind of the text that is measured."""
_HELD, _SHOWN = 1000, 20
"""Records whose scenes are read at once; mistakes that are shown."""
Record = Mapping[str, Any]


@dataclass(frozen=True)
class ReadText:
    """A text of a file."""

    candidate: Candidate
    disprove: Callable[[Scene], str | None]
    """Returns the proof that the text is untrue of a scene (see `proof`); None if nothing plain to see makes it so."""


AnyText = TypeVar("AnyText", bound=ReadText)


def records_about_scenes(
    file: Location, kind: RecordKind, scenes: SceneSource, domain: Domain
) -> list[tuple[Record, Scene]]:
    """Return the records of a file with their scenes. BadInput for a missing scene or picture."""
    found, problems = list[tuple[Record, Scene]](), list[Problem]()
    for at, record, scene in records_with_scenes(open_records(file, kind).records(), scenes, domain, _HELD):
        if isinstance(scene, Scene) and scene.image:
            found.append((record, scene))
            continue
        unnamed = "image_filename of its scene is missing: raters see the picture of this name"
        message = scene.problem if isinstance(scene, QuestionFault) else unnamed
        problems.append(Problem(message, str(file), kind.path(at)))
    if problems:
        raise BadInput(problems[:_SHOWN])
    return found


def texts_about_scenes(
    file: Location, kind: RecordKind, scenes: SceneSource, domain: Domain, read: Callable[[Record], AnyText]
) -> dict[int, tuple[Scene, list[AnyText]]]:
    """Return each scene that records are about, by its index and in order, with its different texts."""
    found: dict[int, tuple[Scene, dict[str, AnyText]]] = {}
    for record, scene in records_about_scenes(file, kind, scenes, domain):
        text = read(record)
        found.setdefault(scene.index, (scene, {}))[1].setdefault(text.candidate.text, text)
    return {index: (found[index][0], list(found[index][1].values())) for index in sorted(found)}


def compared(scene: Scene, first: Candidate, second: Candidate, strata: Mapping[str, str | int], **more: Any) -> Item:
    """Return the comparison of two texts; `strata` are those of the second one, `more` further fields of the item."""
    longer = length_difference(first.text, second.text)
    strata = {**strata, SCENE_SIZE: scene.size, LENGTH_DIFFERENCE: longer}
    return Item(image=scene.image, candidates=(first, second), strata=dict(strata), **more)


def checks(
    scenes: Sequence[Scene], right: Sequence[Sequence[ReadText]], texts: Sequence[Sequence[ReadText]], seed: int
) -> Iterator[Item]:
    """Yield the check about each scene: a right text of its own beside one of another scene that is untrue of it."""
    for at, scene in enumerate(scenes):
        rng = stream(seed, "human/items/checks", scene.index)
        own = shuffled(rng, right[at])[:1]
        others = shuffled(rng, [place for place in range(len(scenes)) if place != at])
        wrong = (
            (other.candidate, proof)
            for place in others
            for other in shuffled(rng, texts[place])
            if (proof := other.disprove(scene))
        )
        for text, (other, proof) in zip(own, wrong, strict=False):
            correct = replace(text.candidate, source=CORRECT, role=REFERENCE, id="1")
            distractor = replace(other, source=DISTRACTOR, role=REFERENCE, id="2")
            gold = Gold(better="1", reason=proof)
            yield compared(scene, correct, distractor, {}, use=CHECK, dimension=CHECK, gold=gold)
