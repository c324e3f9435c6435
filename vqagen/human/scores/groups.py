"""Groups of answers by a field: a stratum such as the template, or the image, item, rater, task or side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vqagen.errors import UsageError, unknown
from vqagen.human.answers import AnswerRow
from vqagen.human.scores.clusters import Estimate, two_way_interval
from vqagen.human.scores.samples import Pairing, Sampler, by_pairing

MOST_VALUES = 8
"""A number with more values is grouped by its quarters."""
MISSING = "(none)"
OWN_FIELDS: Mapping[str, Callable[[AnswerRow], str]] = {
    "image": lambda row: row.image or MISSING,
    "item": lambda row: row.item,
    "rater": lambda row: row.rater,
    "task": lambda row: row.task,
    "state": lambda row: row.state,
    "side": lambda row: "second right" if row.second_on_right else "second left",
}
"""Fields that all answers have; a stratum of the same name comes first."""


class GroupScore(NamedTuple):
    """The score of one pairing in a group."""

    field: str
    value: str
    pairing: Pairing
    estimate: Estimate


def group_scores(rows: Sequence[AnswerRow], sampler: Sampler, fields: Sequence[str]) -> list[GroupScore]:
    """Return the scores of all pairings in all groups, fields in the order given. UsageError for unknown fields."""
    strata = sorted({name for row in rows for name in row.strata})
    known = [*strata, *(name for name in OWN_FIELDS if name not in strata)]
    faults = [f"--by: {unknown('field', field, known)}" for field in fields if field not in known]
    if faults and rows:
        raise UsageError("\n".join(faults))
    return [found for field in fields if rows for found in _of_field(rows, sampler, field)]


def _of_field(rows: Sequence[AnswerRow], sampler: Sampler, field: str) -> list[GroupScore]:
    labels, groups = _labels(rows, field), dict[str, list[AnswerRow]]()
    for label, row in zip(labels, rows, strict=True):
        groups.setdefault(label, []).append(row)
    return [
        GroupScore(field, label, pairing, two_way_interval(sampler.sample(of_pairing)))
        for label, of_label in groups.items()
        for pairing, of_pairing in by_pairing(of_label).items()
    ]


def _labels(rows: Sequence[AnswerRow], field: str) -> list[str]:
    """Return the name of the group of each answer."""
    if not any(field in row.strata for row in rows):
        return list(map(OWN_FIELDS[field], rows))
    values = [row.strata.get(field) for row in rows]
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(set(numbers)) > MOST_VALUES and len(numbers) == sum(value is not None for value in values):
        return _quarters(values)
    return [MISSING if value is None else str(value) for value in values]


def _quarters(values: Sequence[str | int | float | None]) -> list[str]:
    """Return the quarter of each number, named by its bounds."""
    numbers = np.array([value for value in values if value is not None], float)
    ends = np.quantile(numbers, [0, 0.25, 0.5, 0.75, 1])
    inner = ends[1:-1]
    names = [f"{low:g} to {high:g}" for low, high in pairwise(ends)]
    return [
        MISSING if value is None else names[int(np.searchsorted(inner, float(value), side="left"))] for value in values
    ]
