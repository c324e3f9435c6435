"""Comparison of models that answered the same questions, over all questions and in groups.

Each pair of models has the difference of their accuracies, with an interval and a p that are robust to several
questions about one image, and McNemar's exact test. `only_first` and `only_second` are the questions that only one of
two models got right: all others say nothing about which of them is better.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from vqagen.errors import BadInput, Problem, UsageError, counted
from vqagen.extras import needed
from vqagen.items.table import NONE
from vqagen.report.table import COUNT, NUMBER, SHARE, TEXT, Column, Report, Reported, Table, columns, nonempty
from vqagen.report.writers import interval_figure
from vqagen.score.evaluate import evaluate_items
from vqagen.score.evaluation import WRONG, Evaluation, EvaluationSettings
from vqagen.score.intervals import (
    Numbers,
    cluster_interval,
    clustered_mean,
    holm,
    quantile,
    student_test,
    wilson,
)
from vqagen.score.items import Source as Questions, read_items
from vqagen.score.matching import Coverage
from vqagen.score.predictions.reading import Source as Answers, read_predictions, require_predictions
from vqagen.score.tables import GIVEN, OVERALL

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
    mcnemar: float
    """The p of McNemar's exact test."""
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
        ours = columns(model=TEXT, correct=COUNT, accuracy=SHARE, low=SHARE, high=SHARE, missing=COUNT)
        names = ("first", "second")
        in_groups = names if len(self.models) > 2 else ()  # the two are named above
        of_groups = ("field", "group", *in_groups, "n", "first accuracy", "second accuracy", *_TESTED)
        tables = (
            Table("models", "Models", ours, self.models),
            _table("pairs", "Differences: second minus first", self.pairs, (*names, *_TESTED, *_DISCORDANT)),
            _table("groups", "Groups", self.groups, of_groups),
        )
        facts = {"questions": self.questions, "images": self.images, "left_out": self.left_out}
        return Report("Comparison", self._head(), nonempty(tables), facts, figures=(interval_figure(tables[0]),))

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


_COLUMNS: Mapping[str, tuple[str, str]] = {
    **{name: (name, TEXT) for name in ("field", "group", "first", "second")},
    "n": ("n", COUNT),
    "first accuracy": ("first_accuracy", SHARE),
    "second accuracy": ("second_accuracy", SHARE),
    "difference": ("mean", SHARE),
    "low": ("low", SHARE),
    "high": ("high", SHARE),
    "p": ("p", NUMBER),
    "p Holm": ("corrected_p", NUMBER),
    "only first": ("only_first", COUNT),
    "only second": ("only_second", COUNT),
    "McNemar p": ("mcnemar", NUMBER),
    "detectable": ("detectable", SHARE),
}
"""Column of a table of differences -> the field of a Difference, and the form of its cells."""
_TESTED = ("difference", "low", "high", "p", "p Holm")
_DISCORDANT = ("only first", "only second", "McNemar p", "detectable")


def _table(key: str, title: str, differences: Sequence[Difference], names: Sequence[str]) -> Table:
    rows = tuple(tuple(getattr(row, _COLUMNS[name][0]) for name in names) for row in differences)
    return Table(key, title, tuple(Column(name, _COLUMNS[name][1]) for name in names), rows)


Group = tuple[tuple[str, str], Numbers]
"""The field and the name of a group, and the places of its questions."""


def compare_evaluations(evaluations: Mapping[str, Evaluation], fields: Sequence[str] = ()) -> Comparison:
    """Compare models by their evaluations on the same items, in groups of `fields` and of crosses (`category*depth`).

    Without `fields`, groups are those of an evaluation, but for the NARROW ones. Questions that an evaluation leaves
    out are left out for all. BadInput if two models answered no question in common, and UsageError for a field that the
    questions do not have.
    """
    _check_overlap(evaluations)
    asked, names = next(iter(evaluations.values())), list(evaluations)
    shared = np.logical_and.reduce([evaluation.is_counted for evaluation in evaluations.values()])
    kept = np.flatnonzero(shared)
    if not len(kept):
        raise BadInput([Problem(f"no question is answered by all of {', '.join(names)}", asked.items.name)])

    def differences(groups: Iterable[Group], pairs: Sequence[tuple[str, str]]) -> tuple[Difference, ...]:
        """Compare pairs of models in groups, with p corrected for the number of all."""
        correct = {name: evaluation.correct for name, evaluation in evaluations.items()}
        found = [
            difference((*group, *pair), correct[pair[0]][at], correct[pair[1]][at], asked.clusters[at])
            for group, at in groups
            for pair in pairs
        ]
        corrected = holm([tested.p for tested in found])
        return tuple(tested._replace(corrected_p=p) for tested, p in zip(found, corrected, strict=True))

    return Comparison(
        len(kept),
        len(np.unique(asked.items.images.codes[kept])),
        len(shared) - len(kept),
        tuple(_model(name, evaluation, kept) for name, evaluation in evaluations.items()),
        {name: faults for name, evaluation in evaluations.items() if (faults := _faults(evaluation.coverage))},
        differences([((OVERALL, OVERALL), kept)], list(combinations(names, 2))),
        differences(_groups(asked, fields, shared), [(names[0], other) for other in names[1:]]),
    )


def _model(name: str, evaluation: Evaluation, kept: Numbers) -> Model:
    """Return the accuracy of a model over the questions that are kept, with its interval."""
    correct = evaluation.correct[kept]
    low, high = cluster_interval(correct, evaluation.clusters[kept])
    return Model(name, float(correct.sum()), float(correct.mean()), low, high, evaluation.coverage.missing)


def _faults(coverage: Coverage) -> str:
    """Return the numbers of faulty predictions as text."""
    counts = {fault: getattr(coverage, fault) for fault in _FAULTS}
    return ", ".join(f"{number:,} {fault.replace('_', ' ')}" for fault, number in counts.items() if number)


def _check_overlap(evaluations: Mapping[str, Evaluation]) -> None:
    """Raise BadInput for all pairs of models that answered no question in common."""
    answered = {name: evaluation.items.fields[GIVEN].codes != NONE for name, evaluation in evaluations.items()}
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
    test = mcnemar(only_first, only_second)
    if estimate.error > 1e-12:  # false for NaN too
        (low, high), p = student_test(estimate, _WHAT)
        detectable = _detectable(apart, estimate.error)
    else:  # no error would claim certainty: so many images may hide a share of others that Wilson allows
        _, hidden = wilson(0, estimate.clusters)
        (low, high), p, detectable = (estimate.mean - hidden, estimate.mean + hidden), 1.0, None
    if detectable is None or only_first + only_second < FEW_DISCORDANT:
        p = test
    means = float(first.mean()), float(second.mean()), estimate.mean
    bounds = max(-1.0, low), min(1.0, high)
    return Difference(*names, len(apart), *means, *bounds, p, p, only_first, only_second, test, detectable)


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the p of McNemar's exact test of two models; 1 if no question tells them apart."""
    discordant = only_first + only_second
    if discordant == 0:
        return 1.0
    fewer = needed("scipy.special", "stats", _WHAT).bdtr(min(only_first, only_second), discordant, 0.5)
    return min(1.0, 2 * float(fewer))  # scipy.stats has the test too, and takes a second to load


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
    coordinates: str = "",
) -> Comparison:
    """Compare the predictions of two or more models for the same questions.

    The predictions of each are a file, records or a dict of id -> answer. A model is called by the name of its file, or
    by its whole path if names are equal. Groups are the values of the fields `group_by` and of crosses such as
    `category*depth`, by default those of an evaluation that are few. `prediction_key` is the key of the predictions in
    records whose names leave it open; `coordinates` as in `evaluate`. Raises BadInput if a model has no prediction for
    the questions, or if no question has a prediction of all models where `missing` is "skip".
    """
    if len(predictions) < 2:
        raise UsageError("one prediction file alone: give two or more to compare")
    settings = EvaluationSettings(preset=normalise, missing=missing, coordinates=coordinates)
    for source in predictions:
        require_predictions(source, prediction_key)
    items = read_items(questions, split=split, mode=mode)
    answers = [read_predictions(source, items.kind, prediction_key) for source in predictions]
    names = _names([given.name or "predictions" for given in answers])
    evaluations = {name: evaluate_items(items, given, settings) for name, given in zip(names, answers, strict=True)}
    return compare_evaluations(evaluations, group_by)


def _names(paths: Sequence[str]) -> list[str]:
    """Return the file names without endings; whole paths if two are equal, and numbers if these are equal too."""
    short = [PurePath(path).name for path in paths]
    while any(name.endswith(ENDINGS) and name not in ENDINGS for name in short):
        short = [name.rpartition(".")[0] if name.endswith(ENDINGS) else name for name in short]
    if len(set(short)) == len(short):
        return short
    return list(paths) if len(set(paths)) == len(paths) else [f"{path} ({i + 1})" for i, path in enumerate(paths)]
