"""Comparisons from captions: each system's caption against a human one, and two human ones against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import (
    LENGTH_DIFFERENCE,
    REFERENCE,
    SYSTEM,
    Candidate,
    Item,
    Role,
    identified,
    length_difference,
)
from vqagen.human.study.texts import Texts
from vqagen.rng import shuffled, stream

HUMAN, HUMANS = "human", ("human1", "human2")


def comparisons(
    images: Mapping[str, StudyImage],
    human: Mapping[str, Sequence[str]],
    systems: Mapping[str, Mapping[str, str]],
    texts: Texts,
    seed: int,
    *,
    human_human: bool = False,
) -> Iterator[Item]:
    """Yield the comparisons of each image: at most one of two people, then one of each system.

    A human caption is drawn for each comparison; one that equals the system's caption only if there is no other.
    """
    for name, image in sorted(images.items()):
        order = shuffled(stream(seed, f"human/captions/{image.sha256}/{name}"), list(dict.fromkeys(human[name])))
        pairs: list[list[tuple[str, str, Role]]] = []
        if human_human and len(order) > 1:
            pairs.append([(text, who, REFERENCE) for text, who in zip(order, HUMANS, strict=False)])
        for number, (system, captions) in enumerate(systems.items()):
            drawn = [*order[number % len(order) :], *order[: number % len(order)]]
            chosen = next((each for each in drawn if each != captions[name]), drawn[0])
            pairs.append([(chosen, HUMAN, REFERENCE), (captions[name], system, SYSTEM)])
        for pair in pairs:
            candidates = tuple(Candidate(*each, str(place)) for place, each in enumerate(pair, 1))
            longer = length_difference(*(each.text for each in candidates))
            item = Item(image=name, candidates=candidates, strata={LENGTH_DIFFERENCE: longer})
            yield identified(texts.worded(item), image.sha256)
