"""The section of `bench balance` about neighbours: what the other questions about an image tell of an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from bench_balance_data import Asked

from vqagen.items.groups import places_by, types_of
from vqagen.items.guessing import Guessing
from vqagen.shortcuts.predictors import NAMED, predict


def neighbour_figures(learned: Asked, tested: Asked) -> Mapping[str, float]:
    """Return what is guessed of an answer by words alone, and by the others too.

    `tree` learns from the phrases of a question's program; `others` also from the answers to the other questions about
    the image. Both are predictors of vqagen, which `stats` and `audit` show.
    """
    figures: dict[str, float] = {}
    own, others = (_accuracy(learned, tested, name) for name in ("tree", "others"))
    for kind in sorted(own, key=lambda kind: (kind != "", kind)):
        name = f", {kind}" if kind else ""
        figures |= {f"tree{name}": own[kind], f"others{name}": others[kind]}
    return figures


def _accuracy(learned: Asked, tested: Asked, predictor: str) -> dict[str, float]:
    """Return type -> share of the tested questions that a predictor answers, seed by seed; "" for all."""
    right, questions = Counter[str](), Counter[str]()
    for taught, asked in zip(learned.items, tested.items, strict=True):
        found = predict(NAMED[predictor], Guessing.across(taught, asked)).expected[-len(asked) :]
        for kind, places in {"": range(len(asked)), **places_by(types_of(asked))}.items():
            questions[kind] += len(places)
            right[kind] += float(found[places].sum())
    return {kind: right[kind] / questions[kind] for kind in questions}
