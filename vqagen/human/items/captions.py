"""Items of captions: those of systems against a reference or against each other, and checks with untrue captions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, cycle
from typing import Any

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import Location
from vqagen.human.items.pairs import FAMILY, TEMPLATE, ReadText, Record, checks, compared, records_about_scenes
from vqagen.human.items.proof import absence
from vqagen.human.items.settings import ItemSettings
from vqagen.human.study.item import REFERENCE, SYSTEM, Candidate, Item, Role
from vqagen.language.catalogue import Catalogue
from vqagen.rng import shuffled, stream
from vqagen.tasks.dialog.dialog_files import DIALOGS
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene

HUMAN_LIKE = "reference"
"""The source of the captions that systems are compared with."""
Captions = dict[str, list[ReadText]]
"""The captions of a scene by their source, the reference first."""


def captions_of_scenes(
    files: Mapping[str, Location], scenes: SceneSource, catalogue: Catalogue
) -> list[tuple[Scene, Captions]]:
    """Return the scenes that the dialogs of every source are about, with their captions."""
    about: dict[int, Scene] = {}
    found: dict[str, dict[int, list[Record]]] = {name: {} for name in files}
    for name, file in files.items():
        for record, scene in records_about_scenes(file, DIALOGS, scenes, catalogue.domain):
            about[scene.index] = scene
            found[name].setdefault(scene.index, []).append(record)
    shared = sorted(set(about).intersection(*found.values()))
    if not shared:
        listed = " and ".join(map(str, files.values()))
        raise BadInput([Problem(f"no scene has {DIALOGS.key} in {listed}", str(scenes.path))])
    return [
        (about[place], {name: captions_of(found[name][place], name, catalogue) for name in files}) for place in shared
    ]


def captions_of(records: Sequence[Record], source: str, catalogue: Catalogue) -> list[ReadText]:
    """Return the different captions of dialogs. BadInput for dialogs without the arguments of their captions."""
    role: Role = REFERENCE if source == HUMAN_LIKE else SYSTEM
    found: dict[str, ReadText] = {}
    for record in records:
        match record:
            case {"caption": {"text": str(text), "label": str(label), "program": {"args": dict(arguments)}}}:
                candidate = Candidate(text, source, role, meta={"label": label})
                found.setdefault(text, ReadText(candidate, partial(_disproof, arguments, catalogue)))
            case _:
                message = f"expected {DIALOGS.key} in vqagen's own format, with caption.program; make them so"
                raise BadInput([Problem(message, source)])
    return list(found.values())


def _disproof(arguments: Mapping[str, Any], catalogue: Catalogue, scene: Scene) -> str | None:
    """Prove that a scene lacks an object that a caption names; None if it has all of them.

    A caption can be untrue in other ways too, such as by a number. Only a thing that is not there at all is plain to
    see, so only that makes a check.
    """
    named = [arguments.get(key) or {} for key in ("values", "subject_value", "anchor_value")]
    if "attribute" in arguments:
        named.append({arguments["attribute"]: arguments["value"]})
    proofs = (absence(values, scene, catalogue) for values in named if values)
    return next(filter(None, proofs), None)


def caption_items(about: Sequence[tuple[Scene, Captions]], settings: ItemSettings) -> Iterator[Item]:
    """Yield the comparisons of each system with the reference, or without one of each two systems; then the checks."""
    for scene, captions in about:
        yield from _comparisons(scene, captions, settings)
    texts = [next(iter(captions.values())) for _, captions in about]
    yield from checks([scene for scene, _ in about], texts, texts, settings.seed)


def _comparisons(scene: Scene, captions: Captions, settings: ItemSettings) -> Iterator[Item]:
    systems = [name for name in captions if name != HUMAN_LIKE]
    has_reference = HUMAN_LIKE in captions
    for first, second in (
        [(HUMAN_LIKE, name) for name in systems] if has_reference else combinations(sorted(systems), 2)
    ):
        rng = stream(settings.seed, f"human/items/captions/{first}/{second}", scene.index)
        drawn = zip(shuffled(rng, captions[first]), cycle(shuffled(rng, captions[second])), strict=False)
        pairs = [(one.candidate, other.candidate) for one, other in drawn]
        different = [(one, other) for one, other in pairs if one.text != other.text]
        for one, other in different[: settings.per_image]:
            yield compared(scene, one, other, {TEMPLATE: other.meta["label"], FAMILY: "caption"})
