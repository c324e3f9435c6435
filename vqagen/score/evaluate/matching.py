"""Finds the prediction of each item by its id, and refuses ids that may be places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vqagen.errors import BadInput, FaultList, Problem, counted
from vqagen.score.items.table import NONE, Codes, Items
from vqagen.score.predictions.reading import Predictions, lowest

EXAMPLES = 3
"""Ids that are named as examples."""


def match(items: Items, predictions: Predictions) -> Codes:
    """Return the code of the content of each item's prediction; NONE without one, CONFLICT if several differ.

    BadInput for no prediction, no item, two items with one id, if no prediction is for any of the items, and where the
    ids of predictions may be places of items.
    """
    if not predictions.total:
        raise BadInput([Problem("no predictions to score", predictions.name or items.name)])
    if not len(items):
        raise BadInput([Problem("no questions", items.name)])
    if len(set(items.keys)) < len(items):
        first = {id: place for place, id in reversed([*enumerate(items.keys)])}
        again = [place for place, id in enumerate(items.keys) if first[id] != place]
        reject_items(items, again, "its id is that of an earlier question")
    if fault := (_order_fault if predictions.is_in_order else _place_fault)(items, predictions):
        raise BadInput([Problem(fault, predictions.name or items.name)])
    content_of = predictions.by_id.get
    ids = map(str, range(len(items))) if predictions.is_in_order else items.keys
    contents = np.fromiter((content_of(id, NONE) for id in ids), dtype=np.int32, count=len(items))
    if (contents == NONE).all():
        theirs, ours = (", ".join(ids) for ids in (lowest(predictions.by_id, EXAMPLES), items.ids[:EXAMPLES]))
        place = f" in {predictions.name}" if predictions.name else ""
        message = f"no prediction{place} belongs to a question: predictions are for {theirs}; questions are {ours}"
        other = "; questions of another split are" * (not predictions.by_id.keys().isdisjoint(items.others))
        raise BadInput([Problem(message + other, items.name)])
    return contents


def _order_fault(items: Items, predictions: Predictions) -> str:
    """Return why lines of answers cannot be those of the items; "" if there is one for each."""
    if predictions.total == len(items):
        return ""
    whole = "; they match the whole file: leave out --split" * (predictions.total == len(items) + len(items.others))
    counts = f"{counted(predictions.total, 'line')} for {counted(len(items), 'question')}"
    return f"{counts}: lines of answers need one line for each question, blank ones too{whole}"


def _place_fault(items: Items, predictions: Predictions) -> str:
    """Return why the ids of predictions may be places of the items; "" if they are ids for certain.

    Numbers from 0 or 1 on, of which some are no ids, are places. Under a key by which tools number rows, numbers are
    ids only where they are those of all items, or where the ids of items are their places in the whole file.
    """
    given, ids, total = [*predictions.by_id], items.keys, len(items) + len(items.others)
    if not all(id.isascii() and id.isdecimal() and len(id) < 19 for id in given):
        return ""
    first, last = min(map(int, given)), max(map(int, given))
    is_counted, are_places = last - first == len(given) - 1, ids == [*map(str, range(len(ids)))]
    hint = "give each prediction the id of its question, as question_index"
    if first < 2 and is_counted and 1 < len(given) <= total and not known_ids(items).issuperset(given):
        shown = ", ".join(items.ids[:EXAMPLES])
        return f"predictions are numbered from {first} to {last}, but questions are {shown}, …: {hint}"
    splits = items.fields.get("split")
    is_whole = set(given) == set(ids) or not (items.others or (splits and len(splits.values) > 1))
    from_one = first == 1 and is_counted and len(given) > 1  # as Inspect numbers samples
    if given == ids or not predictions.place_key or (is_whole and are_places and not from_one):
        return ""
    if set(given) == set(ids) and (first or not is_counted):
        return ""
    return f"{predictions.place_key!r} may number rows or name questions: {hint}"


def known_ids(items: Items) -> set[str]:
    """Return the ids of the items, and of those of other splits, unless each split has numbers of its own."""
    own = set(items.keys)
    return own.union(items.others) if own.isdisjoint(items.others) else own


def reject_items(items: Items, places: Sequence[int], message: str) -> None:
    """Raise BadInput for the items at some places, of which the first are listed."""
    faults = FaultList(items.name, "question")
    for place in places:
        faults.add([("", message)], f"question {items.ids[place]}")
    faults.finish()
