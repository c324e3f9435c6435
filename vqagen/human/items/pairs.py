"""Items of two texts about a scene: comparisons, and checks with a text that a program proves to be untrue.

A proof is text, such as `program [["scene"],["filter_color","red"],["filter_shape","cube"],["count"]] gives 0`: each
step is a function of our programs with its values, and takes the result of the step before. It stands in `gold.reason`,
and anyone can run it on the scene again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec.structs import replace

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import Location
from vqagen.files.records import RecordKind, open_records
from vqagen.human.study.checks import CORRECT, DISTRACTOR
from vqagen.human.study.item import CHECK, LENGTH_DIFFERENCE, REFERENCE, Candidate, Gold, Item, length_difference
from vqagen.items.scene_lookup import QuestionFault, records_with_scenes
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Node, Program
from vqagen.plugin import Undefined
from vqagen.rng import shuffled, stream
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
    """Returns the proof that the text is untrue of a scene; None if nothing plain to see makes it so."""


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


# Proofs --------------------------------------------------------------------------------------------------------------


Steps = tuple[tuple[str, ...], ...]
"""A function and its values, for each step."""


def absence(values: Mapping[str, str], scene: Scene, catalogue: Catalogue) -> str | None:
    """Prove that no object of a scene has all of these values, {attribute: value}; None if some object has."""
    filters = tuple((f"filter_{attribute}", value) for attribute, value in values.items())
    return none_left((("scene",), *filters), scene, catalogue)


def none_left(steps: Steps, scene: Scene, catalogue: Catalogue) -> str | None:
    """Prove that steps leave no object of a scene; None if they leave one, or cannot be run on it."""
    counted = (*steps, ("count",))
    shown = json.dumps(counted, ensure_ascii=False, separators=(",", ":"))
    return f"program {shown} gives 0" if result_of(counted, scene, catalogue) == 0 else None


def result_of(steps: Steps, scene: Scene, catalogue: Catalogue) -> object:
    """Return the result of the last step; None if there is none in this scene, or the steps are no program."""
    nodes = tuple(Node(step[0], (at - 1,) if at else (), step[1:]) for at, step in enumerate(steps))
    try:
        return Program(nodes, catalogue).run(scene)
    except (BadInput, Undefined):
        return None


def chain_to(program: Program, last: int) -> Steps | None:
    """Return the steps of a program up to a node; None if they are no chain, such as two sets that are joined."""
    steps: list[tuple[str, ...]] = []
    at = last
    while True:
        node = program.nodes[at]
        steps.append((node.function, *node.values))
        if not node.inputs:
            return tuple(reversed(steps))
        if len(node.inputs) > 1:
            return None
        (at,) = node.inputs
