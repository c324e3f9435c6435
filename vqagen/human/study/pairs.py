"""Comparisons from captions: each system's caption against a human one, and two human ones against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vqagen.errors import BadInput, Problem, counted
from vqagen.human.study.humanr_files import Captions
from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import (
    COMPARE,
    FIT,
    LENGTH_DIFFERENCE,
    REAL,
    REFERENCE,
    SYSTEM,
    Candidate,
    Item,
    Scale,
    length_difference,
)
from vqagen.human.study.item_record import identified
from vqagen.human.study.texts import Texts
from vqagen.rng import shuffled, stream

HUMAN, HUMANS = "human", ("human1", "human2")


def comparisons(
    captions: Captions, images: Mapping[str, StudyImage], texts: Texts, seed: int, human_human: bool
) -> Iterator[Item]:
    """Yield the comparisons of each image in `images`: at most one of two people, then one of each system.

    A human caption is drawn for each comparison; one that equals the system's caption only if there is no other.
    """
    for name in sorted(images):
        order = shuffled(stream(seed, f"human/captions/{images[name].sha256}/{name}"), range(len(captions.human[name])))
        human = [_human(name, captions.human[name], place, HUMAN) for place in order]
        if human_human and len(order) > 1:
            pair = [_human(name, captions.human[name], place, who) for place, who in zip(order, HUMANS, strict=False)]
            yield _comparison(pair, images[name], texts)
        for number, (system, written) in enumerate(captions.systems.items()):
            drawn = human[number % len(human) :] + human[: number % len(human)]
            chosen = next((each for each in drawn if each.text != written[name]), drawn[0])
            candidate = Candidate(f"{name}#system={system}", written[name], system, SYSTEM)
            yield _comparison([chosen, candidate], images[name], texts)


def _human(image: str, written: Sequence[str], place: int, source: str) -> Candidate:
    return Candidate(f"{image}#human={place}", written[place], source, REFERENCE)


def _comparison(candidates: Sequence[Candidate], image: StudyImage, texts: Texts) -> Item:
    prompt, scale = texts["item_prompt"], scale_of(texts)
    strata = {LENGTH_DIFFERENCE: length_difference(*(each.text for each in candidates))}
    item = Item("", COMPARE, REAL, FIT, prompt, scale, image.id, tuple(candidates), strata=strata)
    return identified(item, image.sha256)


def scale_of(texts: Texts) -> Scale:
    """Return HUMANr's scale from 1 to 9 with the study's words."""
    return Scale(left=texts["item_left"], middle=texts["item_middle"], right=texts["item_right"])


def raise_no_pairs(captions: Captions, file: str) -> None:
    """Raise BadInput if no image has two human captions to compare."""
    if not any(len(each) > 1 for each in captions.human.values()):
        images = counted(len(captions.human), "image")
        message = f"none of {images} has two different human captions, which --human-human compares; leave it out"
        raise BadInput([Problem(message, file)])
