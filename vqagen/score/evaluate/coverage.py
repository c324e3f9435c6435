"""Coverage: which items have a prediction, and what is wrong with predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from vqagen.errors import BadInput, Problem
from vqagen.files.fault_list import FaultList
from vqagen.score.answers.judging import AMBIGUOUS, NOT_AN_OPTION, PARSED, REFUSED
from vqagen.score.items.table import NONE, Codes, Column, Items
from vqagen.score.predictions.reading import Predictions, lowest

EXAMPLES = 3
"""Ids that are kept as examples of each fault."""
FAULTS = ("missing", "duplicate", "unknown", "not_an_option", "ambiguous", "refused")


class Coverage(NamedTuple):
    """Counts of questions and predictions."""

    questions: int
    predictions: int
    """Predictions in the file, duplicates among them."""
    answered: int
    """Questions with a prediction."""
    missing: int
    """Questions without one."""
    duplicate: int
    """Further predictions for a question that has one already. They change nothing if they are equal to the first;
    a question with different predictions is answered wrong."""
    unknown: int
    """Predictions for questions that the file does not have; each id counts once."""
    parsed: int
    """Questions whose prediction was understood."""
    ambiguous: int
    """Questions whose prediction names several answers, or which have different predictions."""
    refused: int
    """Questions whose prediction holds no answer."""
    not_an_option: int
    """Questions whose prediction names none of the options."""
    examples: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """Fault -> the first ids that have it, in the order of questions; of unknown and duplicate ids, the lowest."""

    def first_ids(self) -> str:
        """Return the first ids of each fault as text; "" without faults.

        >>> Coverage(9, 4, 4, 5, 0, 1, 4, 0, 0, 0, {"missing": ("0", "2", "3"), "unknown": ("12",)}).first_ids()
        'missing 0, 2, 3, …; unknown 12'
        """
        return "; ".join(f"{fault.replace('_', ' ')} {self.ids(fault)}" for fault in FAULTS if getattr(self, fault))

    def ids(self, fault: str) -> str:
        """Return the first ids that have a fault as text, with an ellipsis if there are more."""
        ids = self.examples.get(fault, ())
        return ", ".join(ids) + (", …" if getattr(self, fault) > len(ids) else "")


def match(items: Items, predictions: Predictions) -> Codes:
    """Return the code of the content of each item's prediction; NONE without one, CONFLICT if several differ.

    BadInput for no prediction, no item, two items with one id, and if no prediction is for any of the items.
    """
    if not predictions.total:
        raise BadInput([Problem("no predictions to score", predictions.name or items.name)])
    if not len(items):
        raise BadInput([Problem("no questions", items.name)])
    keys = np.array(getattr(items.ids, "numbers", items.ids))
    first = np.unique(keys, return_index=True)[1]
    if len(first) < len(keys):
        again = np.setdiff1d(np.arange(len(keys)), first).tolist()
        reject_items(items, again, "its id is that of an earlier question")
    content_of = predictions.by_id.get
    ids = map(str, range(len(items))) if predictions.is_in_order else items.ids
    contents = np.fromiter((content_of(id, NONE) for id in ids), dtype=np.int32, count=len(items))
    if (contents == NONE).all():
        theirs, ours = (", ".join(ids) for ids in (lowest(predictions.by_id, EXAMPLES), items.ids[:EXAMPLES]))
        place = f" in {predictions.name}" if predictions.name else ""
        message = f"no prediction{place} belongs to a question: predictions are for {theirs}; questions are {ours}"
        raise BadInput([Problem(message, items.name)])
    return contents


def coverage_of(items: Items, predictions: Predictions, statuses: Column) -> Coverage:
    """Return the coverage of predictions; `statuses` say how that for each item was understood, NONE without one."""
    missing = np.flatnonzero(statuses.codes == NONE)
    places = {status: np.flatnonzero(statuses.codes == code) for code, status in enumerate(statuses.values)}
    understood = places.pop(PARSED, missing[:0])
    answered, unknown = len(items) - len(missing), list[str]()
    if answered < len(predictions.by_id):
        asked = set(map(str, range(len(items))) if predictions.is_in_order else items.ids)
        unknown = [id for id in predictions.by_id if id not in asked]
    examples = {
        fault: tuple(items.ids[at] for at in found[:EXAMPLES].tolist())
        for fault, found in sorted({**places, "missing": missing}.items())
    }
    examples |= {"unknown": lowest(unknown, EXAMPLES), "duplicate": lowest(predictions.duplicated, EXAMPLES)}
    return Coverage(
        questions=len(items),
        predictions=predictions.total,
        answered=answered,
        missing=len(missing),
        duplicate=len(predictions.duplicated),
        unknown=len(unknown),
        parsed=len(understood),
        **{status: len(places.get(status, ())) for status in (AMBIGUOUS, REFUSED, NOT_AN_OPTION)},
        examples={fault: ids for fault, ids in examples.items() if ids},
    )


def reject_items(items: Items, places: Sequence[int], message: str) -> None:
    """Raise BadInput for the items at some places, of which the first are listed."""
    faults = FaultList(items.name, "question")
    for place in places:
        faults.add([("", message)], f"question {items.ids[place]}")
    faults.finish()
