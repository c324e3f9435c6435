"""The tables of a comparison, for every format of reports."""

from __future__ import annotations

import math
from typing import Any

from vqagen.errors import counted
from vqagen.score.comparison.comparison import Comparison, GroupPair, Pair
from vqagen.score.comparison.paired_tests import ModelDifference
from vqagen.score.report.table import COUNT, NUMBER, SHARE, TEXT, Cell, Report, Table, columns, nonempty

_DIFFERENCE = columns(difference=SHARE, low=SHARE, high=SHARE, p=NUMBER, p_Holm=NUMBER)
_MODELS = columns(model=TEXT, correct=COUNT, accuracy=SHARE, low=SHARE, high=SHARE, missing=COUNT)
_PAIRS = (
    *columns(first=TEXT, second=TEXT),
    *_DIFFERENCE,
    *columns(only_first=COUNT, only_second=COUNT, McNemar_p=NUMBER, detectable=SHARE),
)
_GROUPS = (
    *columns(field=TEXT, group=TEXT, first=TEXT, second=TEXT, n=COUNT, first_accuracy=SHARE, second_accuracy=SHARE),
    *_DIFFERENCE,
)


def comparison_report(comparison: Comparison) -> Report:
    """Return the report of a comparison: models, pairs of models, and groups."""
    models = tuple(
        (model.name, model.correct, model.accuracy, *model.interval, model.missing) for model in comparison.models
    )
    groups = tuple(map(_group_row, comparison.groups))
    group_columns = _GROUPS
    if len(comparison.models) == 2:  # the two are named above
        group_columns, groups = _without_models(_GROUPS), tuple(map(_without_models, groups))
    return Report(
        "Comparison",
        tuple(_head(comparison)),
        nonempty(
            [
                Table("models", "Models", _MODELS, models),
                Table("pairs", "Differences: second minus first", _PAIRS, tuple(map(_pair_row, comparison.pairs))),
                Table("groups", "Groups", group_columns, groups),
            ]
        ),
        comparison.to_record(),
    )


def _head(comparison: Comparison) -> list[str]:
    """Return the sentences that state what was compared, and how to read the columns."""
    about = f"{counted(comparison.questions, 'question')} about {counted(comparison.images, 'image')}"
    lines = [f"{about}; low and high are bounds of 95 % intervals"]
    faulty = [f"{model.name}: {model.faults}" for model in comparison.models if model.faults]
    lines += [f"faulty predictions (see vqagen evaluate): {'; '.join(faulty)}"] if faulty else []
    if comparison.left_out:
        left_out = counted(comparison.left_out, "question")
        lines.append(f"{left_out} left out: no prediction of at least one model")
    lines.append("p: of the difference, robust to questions about one image; exact McNemar if fewer than 10 differ")
    lines.append("detectable: the least difference that as many questions find with a probability of 80 %")
    return lines


def _pair_row(pair: Pair) -> tuple[Cell, ...]:
    difference = pair.difference
    return (
        pair.first,
        pair.second,
        *_difference_cells(difference, pair.corrected_p),
        difference.only_first,
        difference.only_second,
        difference.mcnemar,
        None if math.isnan(difference.detectable) else difference.detectable,
    )


def _group_row(group: GroupPair) -> tuple[Cell, ...]:
    return (
        group.field,
        group.name,
        group.first,
        group.second,
        group.n,
        group.first_accuracy,
        group.second_accuracy,
        *_difference_cells(group.difference, group.corrected_p),
    )


def _difference_cells(difference: ModelDifference, corrected_p: float) -> tuple[Cell, ...]:
    return difference.mean, *difference.interval, difference.p, corrected_p


def _without_models(cells: tuple[Any, ...]) -> tuple[Any, ...]:
    return cells[:2] + cells[4:]
