"""Making items of texts about a scene: comparisons, and checks with a text that is proven untrue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from vqagen.human.items.material import SceneTexts
from vqagen.human.items.proof import Proof
from vqagen.human.study.checks import CORRECT, DISTRACTOR
from vqagen.human.study.item import (
    CHECK,
    COMPARE,
    FIT,
    LENGTH_DIFFERENCE,
    REAL,
    REFERENCE,
    SYSTEM,
    Candidate,
    Gold,
    Item,
    Scale,
    identified,
    length_difference,
)

SCENE_SIZE, PROGRAM_LENGTH, TEMPLATE, FAMILY = "scene_size", "program_length", "template", "family"
"""Strata of items: objects of the scene, steps of the program, template and kind of the text that is measured."""


class Judgement(NamedTuple):
    """The question that raters answer about two texts."""

    dimension: str
    prompt: str
    scale: Scale


FITTING = Judgement(FIT, "Which text fits the image better?", Scale())
CHECKING = Judgement(CHECK, FITTING.prompt, FITTING.scale)
NATURAL = Judgement(
    "naturalness",
    "Which question about the image is worded more naturally?",
    Scale(
        left="only the left question is natural",
        middle="both are equally natural",
        right="only the right question is natural",
    ),
)


@dataclass(frozen=True)
class Said:
    """A text with its source, and facts about it."""

    text: str
    source: str
    role: str = SYSTEM
    meta: Mapping[str, object] = field(default_factory=dict)


def comparison(
    about: SceneTexts, first: Said, second: Said, judged: Judgement, strata: Mapping[str, str | int | float]
) -> Item:
    """Return the comparison of two texts; `strata` are those of the second one."""
    more = {SCENE_SIZE: _size(about), LENGTH_DIFFERENCE: length_difference(first.text, second.text)}
    return _item(about, REAL, judged, first, second, None, {**strata, **more})


def check(about: SceneTexts, right: Said, wrong: Said, proof: Proof) -> Item:
    """Return the check of a text that is true of a scene beside one that is proven untrue of it."""
    gold = Gold(better=_id(about, 1), reason=str(proof))
    strata = {SCENE_SIZE: _size(about), LENGTH_DIFFERENCE: length_difference(right.text, wrong.text)}
    return _item(
        about,
        CHECK,
        CHECKING,
        Said(right.text, CORRECT, REFERENCE, right.meta),
        Said(wrong.text, DISTRACTOR, REFERENCE, wrong.meta),
        gold,
        strata,
    )


def _item(
    about: SceneTexts,
    use: str,
    judged: Judgement,
    first: Said,
    second: Said,
    gold: Gold | None,
    strata: Mapping[str, str | int | float],
) -> Item:
    """Return an item, with an id by its content and the name of its image."""
    candidates = tuple(
        Candidate(each.text, each.source, each.role, _id(about, number), dict(each.meta))
        for number, each in enumerate((first, second), 1)
    )
    made = Item(
        kind=COMPARE,
        use=use,
        dimension=judged.dimension,
        prompt=judged.prompt,
        scale=judged.scale,
        image=about.image,
        candidates=candidates,
        gold=gold,
        strata=dict(strata),
    )
    return identified(made, about.image)


def _id(about: SceneTexts, number: int) -> str:
    return f"{about.stem}/{number}"


def _size(about: SceneTexts) -> int:
    return len(about.scene.record["objects"])
