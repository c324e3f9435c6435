"""Figures of `bench balance` about pairs: what is told by all that stands around a question, and by the other picture.

Beside the words of a question there are its place in the file, how many questions its image has, and where its partner
is. Whoever knows that two questions are a pair may also ask which of the two pictures is the fuller one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Record = Mapping[str, Any]
TRUTHS = {"no": 0.0, "yes": 1.0, "False": 0.0, "True": 1.0}


class Placed(NamedTuple):
    """A question of a pair, and all that is known of it without reading it."""

    kind: str
    answer: str
    number: float
    """The answer as a number: 0 or 1 for no and yes; not a number for a value."""
    pair: Any
    questions: int
    """Questions about its image."""
    rank: int
    """Its place among these, from 0."""
    is_first: bool
    """True if it stands before its partner in the file."""
    distance: int
    """How many scenes after its own its partner's is."""
    objects: int
    """Objects in its picture."""


Cue = Callable[[Placed], Hashable]
ALONE: Mapping[str, Cue] = {
    "questions per image": lambda one: one.questions,
    "first or second of its pair": lambda one: one.is_first,
    "rank in its image": lambda one: one.rank,
    "distance of its partner": lambda one: one.distance // 25,
}
"""What a question may be guessed by that is not read."""
BETWEEN: Mapping[str, Callable[[Placed], float]] = {
    "the fuller picture": lambda one: one.objects,
    "the picture with more questions": lambda one: one.questions,
    "the first": lambda one: -one.rank,
}
"""What the greater answer of a pair, yes or the larger number, may be guessed by."""


def place_figures(
    learned: Sequence[Sequence[Record]], tested: Sequence[Sequence[Record]], objects: Mapping[int, int]
) -> dict[str, float]:
    """Return name -> figure of two lists of files of pairs: guesses learn from the first, all else is of the second.

    `objects`: scene index -> objects in the scene, of the second.
    """
    known = [one for records in learned for one in _placed(records, {})]
    placed = [one for number, records in enumerate(tested) for one in _placed(records, objects, number)]
    figures = dict(_per_image(placed, objects))
    for name, cue in ALONE.items():
        for kind, gain in sorted(_gains(known, placed, cue).items()):
            figures[f"{name}, {kind}, above majority"] = gain
    for name, score in BETWEEN.items():
        for kind, share in sorted(_shares_of_pairs(placed, score).items()):
            figures[f"{name}, {kind}"] = share
    figures["pairs of unequally many objects"] = _unequal(placed)
    return figures


def _placed(records: Sequence[Record], objects: Mapping[int, int], file: int = 0) -> Iterator[Placed]:
    """Yield the questions whose partner is in the file too."""
    by_pair: defaultdict[Any, list[int]] = defaultdict(list)
    for at, record in enumerate(records):
        by_pair[record["pair"]].append(at)
    counts = Counter(record["scene_index"] for record in records)
    seen = Counter[int]()
    for at, record in enumerate(records):
        scene, answer, both = record["scene_index"], record["answer"], by_pair[record["pair"]]
        seen[scene] += 1
        if len(both) == 2:
            other = records[sum(both) - at]
            number = TRUTHS.get(str(answer), float(answer) if str(answer).isdigit() else float("nan"))
            yield Placed(
                record["question_type"],
                str(answer),
                number,
                (file, record["pair"]),
                counts[scene],
                seen[scene] - 1,
                at == both[0],
                other["scene_index"] - scene,
                objects.get(scene, 0),
            )


def _per_image(placed: Sequence[Placed], objects: Mapping[int, int]) -> Iterator[tuple[str, float]]:
    """Yield how many questions images have, those without any among them, and whether that goes with their objects."""
    sizes = np.array([(one.objects, one.questions) for one in placed if not one.rank])
    if not len(sizes):
        return
    counts = sizes[:, 1]
    yield "questions per image, least", int(counts.min()) if len(counts) % len(objects) == 0 else 0
    yield "questions per image, most", int(counts.max())
    yield "questions per image, standard deviation", float(counts.std())
    varies = counts.std() > 0 and sizes[:, 0].std() > 0
    yield "questions per image, correlation with objects", float(np.corrcoef(sizes.T)[0, 1]) if varies else 0.0


def _gains(known: Sequence[Placed], placed: Sequence[Placed], cue: Cue) -> dict[str, float]:
    """Return question type -> how much oftener the most frequent answer of a cue is right than that of the type."""
    by_kind: dict[Hashable, Counter[str]] = defaultdict(Counter)
    by_cue: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for one in known:
        by_kind[one.kind][one.answer] += 1
        by_cue[one.kind, cue(one)][one.answer] += 1
    gained, asked = Counter[str](), Counter[str]()
    for one in placed:
        usual = _most(by_kind[one.kind])
        told = _most(by_cue[one.kind, cue(one)]) or usual
        asked[one.kind] += 1
        gained[one.kind] += (told == one.answer) - (usual == one.answer)
    return {kind: gained[kind] / asked[kind] for kind in asked}


def _most(answers: Counter[str]) -> str:
    return max(sorted(answers), key=answers.__getitem__, default="")


def _shares_of_pairs(placed: Sequence[Placed], score: Callable[[Placed], float]) -> dict[str, float]:
    """Return question type -> share of pairs whose greater answer has the greater score; equal scores count half."""
    right, pairs = Counter[str](), Counter[str]()
    for one, other in _pairs(placed):
        if one.number == one.number:
            greater, less = (one, other) if one.number > other.number else (other, one)
            by = score(greater) - score(less)
            right[one.kind] += 0.5 if by == 0 else float(by > 0)
            pairs[one.kind] += 1
    return {kind: right[kind] / pairs[kind] for kind in pairs}


def _unequal(placed: Sequence[Placed]) -> float:
    unequal = [one.objects != other.objects for one, other in _pairs(placed)]
    return sum(unequal) / len(unequal) if unequal else 0.0


def _pairs(placed: Sequence[Placed]) -> Iterator[tuple[Placed, Placed]]:
    first: dict[Any, Placed] = {}
    for one in placed:
        other = first.setdefault(one.pair, one)
        if other is not one:
            yield other, one
