"""Items of captions: those of systems against a reference or against each other, and checks with untrue captions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from vqagen.human.items.made import FAMILY, FITTING, TEMPLATE, Said, check, comparison
from vqagen.human.items.material import Caption, SceneTexts, captions_of
from vqagen.human.items.proof import Proof, absence
from vqagen.human.items.settings import ItemSettings
from vqagen.human.study.item import REFERENCE, SYSTEM, Item
from vqagen.language.catalogue import Catalogue
from vqagen.rng import shuffled, stream
from vqagen.world.scene import Scene

HUMAN_LIKE = "reference"
"""The source of the captions that systems are compared with."""


def named_things(caption: Caption) -> Iterator[Mapping[str, str]]:
    """Yield {attribute: value} of each object, or kind of object, that a caption says is there."""
    given = caption.arguments
    for key in ("values", "subject_value", "anchor_value"):
        if given.get(key):
            yield given[key]
    if "attribute" in given:
        yield {given["attribute"]: given["value"]}


def disproof(caption: Caption, scene: Scene, catalogue: Catalogue) -> Proof | None:
    """Prove that a scene lacks an object that a caption names; None if it has all of them.

    A caption can be untrue in other ways too, such as by a number. Only a thing that is not there at all is plain to
    see, so only that makes a check.
    """
    return next(
        (proof for things in named_things(caption) if (proof := absence(things, scene, catalogue)) is not None), None
    )


def caption_items(
    scenes: Sequence[SceneTexts],
    names: Sequence[str],
    has_reference: bool,
    catalogue: Catalogue,
    settings: ItemSettings,
) -> Iterator[Item]:
    """Yield the items of captions. `names` are the sources of the records of each scene, the reference first."""
    captions = [
        [captions_of(records, name) for name, records in zip(names, each.records, strict=True)] for each in scenes
    ]
    for about, of_sources in zip(scenes, captions, strict=True):
        by_name = dict(zip(names, of_sources, strict=True))
        yield from _comparisons(about, by_name, has_reference, settings)
    truths = [of_sources[0] for of_sources in captions]
    for at, about in enumerate(scenes):
        yield from _checks(about, at, truths, catalogue, settings)


def _comparisons(
    about: SceneTexts, captions: Mapping[str, Sequence[Caption]], has_reference: bool, settings: ItemSettings
) -> Iterator[Item]:
    """Yield the comparisons about one scene: of each system with the reference, or of each two systems."""
    names = list(captions)
    pairs = [(names[0], name) for name in names[1:]] if has_reference else list(combinations(sorted(names), 2))
    for first, second in pairs:
        rng = stream(settings.seed, f"human/items/captions/{first}/{second}", about.scene.index)
        options = [
            (one, other)
            for one, other in zip(
                shuffled(rng, captions[first]), _cycled(shuffled(rng, captions[second])), strict=False
            )
            if one.text != other.text
        ]
        role = REFERENCE if has_reference else SYSTEM
        for one, other in options[: settings.per_image]:
            strata = {TEMPLATE: other.label, FAMILY: "caption"}
            said = Said(one.text, first, role, _facts(one)), Said(other.text, second, SYSTEM, _facts(other))
            yield comparison(about, *said, FITTING, strata)


def _cycled(captions: Sequence[Caption]) -> Iterator[Caption]:
    while captions:
        yield from captions


def _facts(caption: Caption) -> dict[str, object]:
    return {"label": caption.label}


def _checks(
    about: SceneTexts, at: int, truths: Sequence[Sequence[Caption]], catalogue: Catalogue, settings: ItemSettings
) -> Iterator[Item]:
    """Yield the check about one scene: one of its captions beside an untrue caption of another scene."""
    rng = stream(settings.seed, "human/items/checks", about.scene.index)
    right = shuffled(rng, truths[at])[:1]
    others = shuffled(rng, [place for place in range(len(truths)) if place != at])
    wrong = untrue_captions((caption for place in others for caption in shuffled(rng, truths[place])), about, catalogue)
    for own, (other, proof) in zip(right, wrong, strict=False):
        correct = Said(own.text, "", meta=_facts(own))
        yield check(about, correct, Said(other.text, "", meta=_facts(other)), proof)


def untrue_captions(
    captions: Iterator[Caption], about: SceneTexts, catalogue: Catalogue
) -> Iterator[tuple[Caption, Proof]]:
    """Yield the captions that are untrue of a scene, each with its proof."""
    for caption in captions:
        proof = disproof(caption, about.scene, catalogue)
        if proof is not None:
            yield caption, proof
