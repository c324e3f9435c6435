"""Items of captions: those of systems against a reference or against each other, and checks with untrue captions.

A check has a right caption and one that a program proves to be untrue. The proof is text, such as
`program [["scene"],["filter_color","red"],["filter_shape","cube"],["count"]] gives 0`: each step is a function of our
programs with its values, and takes the result of the step before. It stands in `gold.reason`, and anyone can run it on
the scene again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, cycle
from typing import Any

from msgspec.structs import replace

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import Location
from vqagen.files.records import RecordKind, open_records
from vqagen.human.items.settings import ItemSettings
from vqagen.human.study.checks import CORRECT, DISTRACTOR
from vqagen.human.study.item import (
    CHECK,
    LENGTH_DIFFERENCE,
    REFERENCE,
    SYSTEM,
    Candidate,
    GoldValue,
    Role,
    StudyItem,
    length_difference,
    plain_text,
)
from vqagen.items.scene_lookup import QuestionFault, records_with_scenes
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Node, Program
from vqagen.plugin import Undefined
from vqagen.rng import shuffled, stream
from vqagen.tasks.record_files import DIALOGS
from vqagen.world.domain import Domain
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene

SCENE_SIZE, PROGRAM_LENGTH, TEMPLATE, FAMILY = "scene_size", "program_length", "template", "family"
"""Strata of items: objects of the scene, steps of the program, template and kind of the text that is measured."""
HUMAN_LIKE = "reference"
"""The source of the captions that systems are compared with."""
_HELD, _SHOWN = 1000, 20
"""Records whose scenes are read at once; mistakes that are shown."""
Caption = tuple[Candidate, list[Mapping[str, str]]]
"""A caption, and the values of each object that it names, such as `{"color": "red", "shape": "cube"}`."""
Captions = dict[str, list[Caption]]
"""The captions of a scene by their source, the reference first."""


def records_about_scenes(
    file: Location, kind: RecordKind, scenes: SceneSource, domain: Domain
) -> list[tuple[Mapping[str, Any], Scene]]:
    """Return the records of a file with their scenes. BadInput for a missing scene or picture."""
    found, problems = list[tuple[Mapping[str, Any], Scene]](), list[Problem]()
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


def captions_of_scenes(
    files: Mapping[str, Location], scenes: SceneSource, catalogue: Catalogue
) -> list[tuple[Scene, Captions]]:
    """Return the scenes that the dialogs of every source are about, in order, with their different captions."""
    about: dict[int, Scene] = {}
    texts: dict[int, dict[str, dict[str, Caption]]] = {}
    for source, file in files.items():
        for record, scene in records_about_scenes(file, DIALOGS, scenes, catalogue.domain):
            about[scene.index] = scene
            caption = _read(source, record)
            texts.setdefault(scene.index, {}).setdefault(source, {}).setdefault(caption[0].text, caption)
    shared = [index for index in sorted(texts) if len(texts[index]) == len(files)]
    if not shared:
        listed = " and ".join(map(str, files.values()))
        raise BadInput([Problem(f"no scene has {DIALOGS.key} in {listed}", str(scenes.path))])
    return [(about[index], {source: [*of.values()] for source, of in texts[index].items()}) for index in shared]


def _read(source: str, record: Mapping[str, Any]) -> Caption:
    """Return the caption of a dialog. BadInput if it is without its arguments."""
    match record:
        case {"caption": {"text": str(text), "label": str(label), "program": {"args": dict(arguments)}}}:
            role: Role = REFERENCE if source == HUMAN_LIKE else SYSTEM
            named = [arguments.get(key) or {} for key in ("values", "subject_value", "anchor_value")]
            if "attribute" in arguments:
                named.append({arguments["attribute"]: arguments["value"]})
            return Candidate(text, source, role, meta={"label": label}), [values for values in named if values]
    message = f"expected {DIALOGS.key} in vqagen's own format, with caption.program; make them so"
    raise BadInput([Problem(message, source)])


def caption_items(
    about: Sequence[tuple[Scene, Captions]], catalogue: Catalogue, settings: ItemSettings
) -> Iterator[StudyItem]:
    """Yield the comparisons of each system with the reference, or without one of each two systems; then the checks."""
    for scene, captions in about:
        yield from _comparisons(scene, captions, settings)
    yield from _checks([(scene, next(iter(captions.values()))) for scene, captions in about], catalogue, settings.seed)


def _comparisons(scene: Scene, captions: Captions, settings: ItemSettings) -> Iterator[StudyItem]:
    systems = [name for name in captions if name != HUMAN_LIKE]
    against = [(HUMAN_LIKE, name) for name in systems] if HUMAN_LIKE in captions else combinations(sorted(systems), 2)
    for first, second in against:
        rng = stream(settings.seed, f"human/items/captions/{first}/{second}", scene.index)
        drawn = zip(shuffled(rng, captions[first]), cycle(shuffled(rng, captions[second])), strict=False)
        pairs = [(one, other) for (one, _), (other, _) in drawn]
        different = [(one, other) for one, other in pairs if plain_text(one.text) != plain_text(other.text)]
        for one, other in different[: settings.per_image]:
            yield _compared(scene, one, other, {TEMPLATE: other.meta["label"], FAMILY: "caption"})


def _compared(scene: Scene, first: Candidate, second: Candidate, strata: Mapping[str, str], **more: Any) -> StudyItem:
    """Return the comparison of two texts; `strata` are those of the second one, `more` further fields of the item."""
    longer = length_difference(first.text, second.text)
    return StudyItem(
        image=scene.image,
        candidates=(first, second),
        strata={**strata, SCENE_SIZE: scene.size, LENGTH_DIFFERENCE: longer},
        **more,
    )


def _checks(about: Sequence[tuple[Scene, list[Caption]]], catalogue: Catalogue, seed: int) -> Iterator[StudyItem]:
    """Yield the check about each scene: a caption of its own beside one of another scene that is untrue of it."""
    for at, (scene, captions) in enumerate(about):
        rng = stream(seed, "human/items/checks", scene.index)
        right = shuffled(rng, captions)[:1]
        others = shuffled(rng, [place for place in range(len(about)) if place != at])
        wrong = (
            (candidate, proof)
            for place in others
            for candidate, named in shuffled(rng, about[place][1])
            if (proof := disproof(named, scene, catalogue))
        )
        for (text, _), (other, proof) in zip(right, wrong, strict=False):
            correct = replace(text, source=CORRECT, role=REFERENCE, id="1")
            distractor = replace(other, source=DISTRACTOR, role=REFERENCE, id="2")
            gold = GoldValue(better="1", reason=proof)
            yield _compared(scene, correct, distractor, {}, use=CHECK, dimension=CHECK, gold=gold)


def disproof(named: Sequence[Mapping[str, str]], scene: Scene, catalogue: Catalogue) -> str | None:
    """Prove that a scene lacks an object that a caption names by these values; None if it has all of them.

    A caption can be untrue in other ways too, such as by a number. Only a thing that is not there at all is plain to
    see, so only that makes a check.
    """
    for values in named:
        steps = [("scene",), *((f"filter_{attribute}", value) for attribute, value in values.items()), ("count",)]
        nodes = tuple(Node(step[0], (at - 1,) if at else (), step[1:]) for at, step in enumerate(steps))
        try:
            number = Program(nodes, catalogue).run(scene)
        except (BadInput, Undefined):  # the scene's domain may lack the attribute
            continue
        if number == 0:
            return f"program {json.dumps(steps, ensure_ascii=False, separators=(',', ':'))} gives 0"
    return None
