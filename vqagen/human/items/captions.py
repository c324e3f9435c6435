"""Items of captions: those of systems against a reference or against each other, and checks with untrue captions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, cycle
from typing import Any

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import Location
from vqagen.human.items.pairs import FAMILY, TEMPLATE, ReadText, Record, absence, checks, compared, texts_about_scenes
from vqagen.human.items.settings import ItemSettings
from vqagen.human.study.item import REFERENCE, SYSTEM, Candidate, Item, Role, plain_text
from vqagen.language.catalogue import Catalogue
from vqagen.rng import shuffled, stream
from vqagen.tasks.record_files import DIALOGS
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
    by_file = {
        name: texts_about_scenes(file, DIALOGS, scenes, catalogue.domain, partial(_read, name, catalogue))
        for name, file in files.items()
    }
    first, *others = by_file.values()
    shared = [place for place in first if all(place in each for each in others)]
    if not shared:
        listed = " and ".join(map(str, files.values()))
        raise BadInput([Problem(f"no scene has {DIALOGS.key} in {listed}", str(scenes.path))])
    return [(first[place][0], {name: each[place][1] for name, each in by_file.items()}) for place in shared]


def _read(source: str, catalogue: Catalogue, record: Record) -> ReadText:
    """Return the caption of a dialog. BadInput if it is without its arguments."""
    match record:
        case {"caption": {"text": str(text), "label": str(label), "program": {"args": dict(arguments)}}}:
            role: Role = REFERENCE if source == HUMAN_LIKE else SYSTEM
            candidate = Candidate(text, source, role, meta={"label": label})
            return ReadText(candidate, partial(_disproof, arguments, catalogue))
    message = f"expected {DIALOGS.key} in vqagen's own format, with caption.program; make them so"
    raise BadInput([Problem(message, source)])


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
    against = [(HUMAN_LIKE, name) for name in systems] if HUMAN_LIKE in captions else combinations(sorted(systems), 2)
    for first, second in against:
        rng = stream(settings.seed, f"human/items/captions/{first}/{second}", scene.index)
        drawn = zip(shuffled(rng, captions[first]), cycle(shuffled(rng, captions[second])), strict=False)
        pairs = [(one.candidate, other.candidate) for one, other in drawn]
        different = [(one, other) for one, other in pairs if plain_text(one.text) != plain_text(other.text)]
        for one, other in different[: settings.per_image]:
            yield compared(scene, one, other, {TEMPLATE: other.meta["label"], FAMILY: "caption"})
