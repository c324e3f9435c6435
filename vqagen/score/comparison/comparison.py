"""A comparison: models with predictions for the same questions, over all questions and in groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from vqagen.errors import BadInput, Problem, counted
from vqagen.score.comparison.paired_tests import ModelDifference, paired_difference
from vqagen.score.intervals import Interval, Numbers, cluster_interval, holm
from vqagen.score.scoring.columns import NONE
from vqagen.score.scoring.evaluation import GIVEN, Evaluation, name_of

NARROW = frozenset(("answer_type", "family", "program_length", "depth", "scene_size"))
"""Fields that an evaluation groups by and a comparison does not, unless they are asked for: most have many groups."""


class Model(NamedTuple):
    """One model over all questions."""

    name: str
    accuracy: float
    interval: Interval
    correct: float
    missing: int
    faults: str = ""
    """Its duplicate and unknown predictions, and answers that are no options; "" if there are none."""


class Pair(NamedTuple):
    """Two models over all questions."""

    first: str
    second: str
    difference: ModelDifference
    corrected_p: float
    """By Holm, over all pairs of models."""


class GroupPair(NamedTuple):
    """Two models in one group of questions."""

    field: str
    name: str
    first: str
    second: str
    n: int
    first_accuracy: float
    second_accuracy: float
    difference: ModelDifference
    corrected_p: float
    """By Holm, over all groups of the comparison."""


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison."""

    questions: int
    """Questions that are compared."""
    images: int
    left_out: int
    """Questions that are not compared, because a model has no prediction and `missing` is skip."""
    models: tuple[Model, ...]
    pairs: tuple[Pair, ...]
    groups: tuple[GroupPair, ...]

    def to_record(self) -> dict[str, Any]:
        """Return what the tables leave out, for JSON."""
        return {
            "questions": self.questions,
            "images": self.images,
            "left_out": self.left_out,
        }


def compare_evaluations(evaluations: Mapping[str, Evaluation], fields: Sequence[str] = ()) -> Comparison:
    """Compare models by their evaluations on one gold file, in groups of `fields` and of crosses (`category*depth`).

    Without `fields`, groups are those of an evaluation, but for the NARROW ones.

    Questions that an evaluation leaves out are left out for all. Raises BadInput if two models answered no question
    in common, and UsageError for a field that the questions do not have.
    """
    _check_overlap(evaluations)
    first = next(iter(evaluations.values()))
    shared = np.logical_and.reduce([evaluation.is_counted for evaluation in evaluations.values()])
    kept = np.flatnonzero(shared)
    if not len(kept):
        raise BadInput([Problem(f"no question is answered by all of {', '.join(evaluations)}", first.gold.name)])
    scores = {name: evaluation.correct[kept] for name, evaluation in evaluations.items()}
    images = first.images[kept]
    chosen = fields or [name for name in first.groups if name not in NARROW]
    whole = {name: evaluation.correct for name, evaluation in evaluations.items()}
    return Comparison(
        len(kept),
        len(np.unique(images)),
        len(shared) - len(kept),
        tuple(_model(name, scores[name], images, evaluation) for name, evaluation in evaluations.items()),
        _pairs(scores, images),
        _corrected([group for field in chosen for group in _groups(first, whole, shared, field)]),
    )


def _check_overlap(evaluations: Mapping[str, Evaluation]) -> None:
    """Raise BadInput for all pairs of models that answered no question in common."""
    answered = {name: each.codes[GIVEN] != NONE for name, each in evaluations.items()}
    problems = []
    for (one, ours), (other, theirs) in combinations(answered.items(), 2):
        if not (ours & theirs).any():
            numbers = f"{counted(int(ours.sum()), 'question')} and {counted(int(theirs.sum()), 'question')}"
            message = f"no question is answered by both {one} and {other}, which answer {numbers}"
            problems.append(Problem(message, next(iter(evaluations.values())).gold.name))
    if problems:
        raise BadInput(problems)


def _model(name: str, scores: Numbers, images: Numbers, evaluation: Evaluation) -> Model:
    interval = cluster_interval(scores, images)
    counts = {fault: getattr(evaluation.coverage, fault) for fault in ("duplicate", "unknown", "not_an_option")}
    faults = ", ".join(f"{number:,} {fault.replace('_', ' ')}" for fault, number in counts.items() if number)
    return Model(name, float(scores.mean()), interval, float(scores.sum()), evaluation.coverage.missing, faults)


def _pairs(scores: Mapping[str, Numbers], images: Numbers) -> tuple[Pair, ...]:
    """Compare each model with each later one."""
    names = list(combinations(scores, 2))
    found = [paired_difference(scores[one], scores[other], images) for one, other in names]
    corrected = holm([difference.p for difference in found])
    return tuple(
        Pair(one, other, difference, p) for (one, other), difference, p in zip(names, found, corrected, strict=True)
    )


def _groups(evaluation: Evaluation, scores: Mapping[str, Numbers], shared: Numbers, field: str) -> Iterator[GroupPair]:
    """Yield the first model compared with each other one, in each group of a field or of a cross of fields."""
    first, *others = scores
    for values, places in evaluation.members(field, shared):
        images = evaluation.images[places]
        for other in others:
            one, two = scores[first][places], scores[other][places]
            difference = paired_difference(one, two, images)
            means = float(one.mean()), float(two.mean())
            yield GroupPair(field, name_of(values), first, other, len(places), *means, difference, difference.p)


def _corrected(groups: Sequence[GroupPair]) -> tuple[GroupPair, ...]:
    """Return the groups with their p corrected for the number of all."""
    corrected = holm([group.difference.p for group in groups])
    return tuple(group._replace(corrected_p=p) for group, p in zip(groups, corrected, strict=True))
