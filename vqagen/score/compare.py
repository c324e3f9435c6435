"""Comparison of models that answered the same questions, over all questions and in groups.

Each pair of models has the difference of their accuracies, with an interval and a p that are robust to several
questions about one image, and McNemar's exact test. `only_first` and `only_second` are the questions that only one of
two models got right: all others say nothing about which of them is better.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from vqagen.errors import BadInput, Problem, UsageError, counted
from vqagen.extras import needed
from vqagen.items.table import NONE
from vqagen.report.table import COUNT, NUMBER, SHARE, TEXT, Report, Reported, Table, columns, nonempty
from vqagen.report.writers import interval_figure
from vqagen.score.evaluate.evaluation import GIVEN, OVERALL, WRONG, Evaluation, EvaluationSettings, evaluate
from vqagen.score.intervals import (
    Numbers,
    clustered_mean,
    holm,
    quantile,
    student_test,
    wilson,
)
from vqagen.score.items import Source as Questions, read_items
from vqagen.score.predictions.reading import Source as Answers, read_predictions, require_predictions

NARROW = frozenset(("answer_type", "family", "program_length", "depth", "scene_size"))
"""Fields that an evaluation groups by and a comparison does not, unless they are asked for: most have many groups."""
FEW_DISCORDANT = 10
"""Questions that only one model got right, below which a normal approximation is not used."""
POWER = 0.8
"""Probability of finding a difference as large as the detectable one."""
_WHAT = "vqagen compare"
_FAULTS = ("duplicate", "unknown", "not_an_option")


class Model(NamedTuple):
    """One model over all questions."""

    name: str
    correct: float
    accuracy: float
    low: float
    high: float
    missing: int


class Difference(NamedTuple):
    """The accuracy of a second model minus that of a first one, in a group of questions."""

    field: str
    group: str
    first: str
    second: str
    n: int
    first_accuracy: float
    second_accuracy: float
    mean: float
    low: float
    high: float
    p: float
    """The probability of such a difference between equal models: by the cluster-robust error and Student's t, or
    McNemar's exact test if few questions are discordant."""
    corrected_p: float
    """By Holm, over all pairs of models, or over all groups."""
    only_first: int
    only_second: int
    mcnemar: float | None
    """The p of McNemar's exact test; None for soft scores, which are neither right nor wrong."""
    detectable: float | None
    """The least difference that as many questions find with a probability of 80 %; None without any discordant one."""


@dataclass(frozen=True, repr=False)
class Comparison(Reported):
    """The result of a comparison. It shows itself as its report does."""

    questions: int
    """Questions that are compared."""
    images: int
    left_out: int
    """Questions that are not compared, because a model has no prediction and `missing` is skip."""
    models: tuple[Model, ...]
    faults: Mapping[str, str]
    """Model -> its duplicate and unknown predictions, and answers that are no options, if there are any."""
    pairs: tuple[Difference, ...]
    """Each model with each later one, over all questions."""
    groups: tuple[Difference, ...]
    """The first model with each other one, in each group."""

    def report(self) -> Report:
        """Return the report: models, pairs of models, and groups."""
        difference = columns(difference=SHARE, low=SHARE, high=SHARE, p=NUMBER, p_Holm=NUMBER)
        ours = columns(model=TEXT, correct=COUNT, accuracy=SHARE, low=SHARE, high=SHARE, missing=COUNT)
        names = columns(first=TEXT, second=TEXT)
        pair_columns = columns(only_first=COUNT, only_second=COUNT, McNemar_p=NUMBER, detectable=SHARE)
        pairs = tuple((each.first, each.second, *each[7:]) for each in self.pairs)
        group_names = names if len(self.models) > 2 else ()  # the two are named above
        group_columns = (*columns(field=TEXT, group=TEXT), *group_names, *columns(n=COUNT), *_ACCURACIES, *difference)
        groups = tuple((*each[:2], *(each[2:4] if group_names else ()), *each[4:12]) for each in self.groups)
        tables = (
            Table("models", "Models", ours, self.models),
            Table("pairs", "Differences: second minus first", (*names, *difference, *pair_columns), pairs),
            Table("groups", "Groups", group_columns, groups),
        )
        facts = {"questions": self.questions, "images": self.images, "left_out": self.left_out}
        figures = (interval_figure(tables[0]),)
        return Report("Comparison", self._head(), nonempty(tables), facts, figures=figures)

    def _head(self) -> tuple[str, ...]:
        """Return the sentences that state what was compared, and how to read the columns."""
        about = f"{counted(self.questions, 'question')} about {counted(self.images, 'image')}"
        listed = "; ".join(f"{name}: {faults}" for name, faults in self.faults.items())
        left_out = f"{counted(self.left_out, 'question')} left out: no prediction of at least one model"
        return (
            f"{about}; low and high are bounds of 95 % intervals",
            *([f"faulty predictions (see vqagen evaluate): {listed}"] if listed else []),
            *([left_out] if self.left_out else []),
            "p: of the difference, robust to questions about one image; exact McNemar if fewer than 10 differ",
            "detectable: the least difference that as many questions find with a probability of 80 %",
        )


Group = tuple[tuple[str, str], Numbers]
"""The field and the name of a group, and the places of its questions."""
_ACCURACIES = columns(first_accuracy=SHARE, second_accuracy=SHARE)


def compare_evaluations(evaluations: Mapping[str, Evaluation], fields: Sequence[str] = ()) -> Comparison:
    """Compare models by their evaluations on the same items, in groups of `fields` and of crosses (`category*depth`).

    Without `fields`, groups are those of an evaluation, but for the NARROW ones. Questions that an evaluation leaves
    out are left out for all. BadInput if two models answered no question in common, and UsageError for a field that the
    questions do not have.
    """
    _check_overlap(evaluations)
    asked, names = next(iter(evaluations.values())), list(evaluations)
    shared = np.logical_and.reduce([each.is_counted for each in evaluations.values()])
    kept, images = np.flatnonzero(shared), asked.items.images
    if not len(kept):
        raise BadInput([Problem(f"no question is answered by all of {', '.join(names)}", asked.items.name)])

    correct = {name: each.correct for name, each in evaluations.items()}

    def differences(groups: Iterable[Group], pairs: Sequence[tuple[str, str]]) -> tuple[Difference, ...]:
        """Compare pairs of models in groups, with p corrected for the number of all."""
        found = [
            difference((*group, *pair), correct[pair[0]][at], correct[pair[1]][at], asked.clusters[at])
            for group, at in groups
            for pair in pairs
        ]
        corrected = holm([each.p for each in found])
        return tuple(each._replace(corrected_p=p) for each, p in zip(found, corrected, strict=True))

    rows = {name: replace(each, is_counted=shared).overall() for name, each in evaluations.items()}
    faults = {
        name: [
            f"{number:,} {fault.replace('_', ' ')}" for fault in _FAULTS if (number := getattr(each.coverage, fault))
        ]
        for name, each in evaluations.items()
    }
    return Comparison(
        len(kept),
        len(np.unique(images.codes[kept])),
        len(shared) - len(kept),
        tuple(Model(name, *row[2:6], evaluations[name].coverage.missing) for name, row in rows.items()),
        {name: ", ".join(own) for name, own in faults.items() if own},
        differences([((OVERALL, OVERALL), kept)], list(combinations(names, 2))),
        differences(_groups(asked, fields, shared), [(names[0], other) for other in names[1:]]),
    )


def _check_overlap(evaluations: Mapping[str, Evaluation]) -> None:
    """Raise BadInput for all pairs of models that answered no question in common."""
    answered = {name: each.items.fields[GIVEN].codes != NONE for name, each in evaluations.items()}
    problems = []
    for (one, ours), (other, theirs) in combinations(answered.items(), 2):
        if not (ours & theirs).any():
            numbers = f"{counted(int(ours.sum()), 'question')} and {counted(int(theirs.sum()), 'question')}"
            message = f"no question is answered by both {one} and {other}, which answer {numbers}"
            problems.append(Problem(message, next(iter(evaluations.values())).items.name))
    if problems:
        raise BadInput(problems)


def _groups(asked: Evaluation, fields: Sequence[str], shared: Numbers) -> Iterator[Group]:
    """Yield the groups of fields and of crosses that have questions."""
    for field in fields or [name for name in asked.groups if name not in NARROW]:
        column = asked.grouped(field)
        for code, values in enumerate(column.values):
            if len(places := np.flatnonzero(shared & (column.codes == code))):
                yield (field, ", ".join(map(str, values))), places


# Tests ----------------------------------------------------------------------------------------------------------------


def difference(names: tuple[str, str, str, str], first: Numbers, second: Numbers, clusters: Numbers) -> Difference:
    """Compare the scores of two models on the same questions, about the images `clusters`.

    `names` are the field, the group and the two models.
    """
    apart = second - first
    estimate = clustered_mean(apart, clusters)
    only_first, only_second = int(np.sum(apart < 0)), int(np.sum(apart > 0))
    is_binary = bool(np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all())
    test = mcnemar(only_first, only_second) if is_binary else None
    if estimate.error > 1e-12:  # false for NaN too
        (low, high), p = student_test(estimate, _WHAT)
        detectable = _detectable(apart, estimate.error)
    else:  # no error would claim certainty: so many images may hide a share of others that Wilson allows
        _, hidden = wilson(0, estimate.clusters)
        (low, high), p, detectable = (estimate.mean - hidden, estimate.mean + hidden), 1.0, None
    if test is not None and (detectable is None or only_first + only_second < FEW_DISCORDANT):
        p = test
    means = float(first.mean()), float(second.mean()), estimate.mean
    bounds = max(-1.0, low), min(1.0, high)
    return Difference(*names, len(apart), *means, *bounds, p, p, only_first, only_second, test, detectable)


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the p of McNemar's exact test of two models; 1 if no question tells them apart."""
    discordant = only_first + only_second
    if discordant == 0:
        return 1.0
    return float(needed("scipy.stats", "stats", _WHAT).binomtest(min(only_first, only_second), discordant).pvalue)


def _detectable(apart: Numbers, error: float) -> float:
    """Return the least difference that would be found: by the standard error that equal models would have.

    This error follows from the rate of discordant questions, and is enlarged as clusters enlarge that of the models.
    """
    single = float(np.std(apart, ddof=1)) / math.sqrt(len(apart))
    equal = math.sqrt(float(np.sum(apart**2))) / len(apart)
    return (quantile() + quantile(2 * POWER - 1)) * equal * (error / single if single > 0 else 1.0)


ENDINGS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".parquet", ".eval", ".gz", ".zst")
"""Endings of prediction files that are left out of a model's name."""


def compare(
    questions: Questions,
    *predictions: Answers,
    split: str = "",
    mode: str = "",
    group_by: Sequence[str] = (),
    normalise: str = "typed",
    missing: str = WRONG,
    prediction_key: str = "",
) -> Comparison:
    """Compare the predictions of two or more models for the same questions.

    The predictions of each are a file, records or a dict of id -> answer. A model is called by the name of its file, or
    by its whole path if names are equal. Groups are the values of the fields `group_by` and of crosses such as
    `category*depth`, by default those of an evaluation that are few. `prediction_key` is the key of the predictions in
    records whose names leave it open. Raises BadInput if a model has no prediction for the questions, or if no question
    has a prediction of all models where `missing` is "skip".
    """
    if len(predictions) < 2:
        raise UsageError("one prediction file alone: give two or more to compare")
    settings = EvaluationSettings(preset=normalise, missing=missing)
    for each in predictions:
        require_predictions(each, prediction_key)
    items = read_items(questions, split=split, mode=mode)
    answers = [read_predictions(each, items.kind, prediction_key) for each in predictions]
    names = _names([each.name or "predictions" for each in answers])
    evaluations = {name: evaluate(items, each, settings) for name, each in zip(names, answers, strict=True)}
    return compare_evaluations(evaluations, group_by)


def _names(paths: Sequence[str]) -> list[str]:
    """Return the file names without endings; whole paths if two are equal, and numbers if these are equal too."""
    short = [PurePath(path).name for path in paths]
    while any(name.endswith(ENDINGS) and name not in ENDINGS for name in short):
        short = [name.rpartition(".")[0] if name.endswith(ENDINGS) else name for name in short]
    if len(set(short)) == len(short):
        return short
    return list(paths) if len(set(paths)) == len(paths) else [f"{path} ({i + 1})" for i, path in enumerate(paths)]
