"""Finds the prediction of each item by its id, refuses ids that may be places, and counts what is covered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from vqagen.errors import BadInput, FaultList, Problem, counted, warn
from vqagen.items.table import NONE, Codes, Column, Items
from vqagen.score.answers.judging import NOT_AN_OPTION
from vqagen.score.answers.replies import AMBIGUOUS, NO_VALID_ANSWER, NOT_READ, READ
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
    reject_other_questions(items, predictions)
    content_of = predictions.by_id.get
    ids = map(str, range(len(items))) if predictions.is_in_order else items.keys
    contents = np.array([content_of(id, NONE) for id in ids], dtype=np.int32)
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

    Predictions 0, 1, 2 and 3 for the questions 2, 3, 5 and 8 are numbered as the rows of an export: matched by their
    ids, that of row 2 would be scored as the answer to question 2, which is in row 0.

    Numbers from 0 or 1 on are places where some are no ids of the items, unless they are those of the whole file; where
    they are as many as a split has of other ids; and where all are ids and the first item alone has none. Under a key
    by which tools number rows, numbers are ids only where they are those of all items, or where the ids of items are
    their places in the whole file.
    """
    given, ids, total = [*predictions.by_id], items.keys, len(items) + len(items.others)
    if given == ids or not all(id.isascii() and id.isdecimal() and len(id) < 19 for id in given):
        return ""
    numbers = [*map(int, given)]
    first, last = min(numbers), max(numbers)
    is_counted, are_places = last - first == len(given) - 1, ids == [*map(str, range(len(ids)))]
    splits, known, told = items.fields.get("split"), known_ids(items), set(given)
    parts = [{*np.array(ids)[splits.codes == code]} for code in range(len(splits.values))] if splits else []
    is_part = told <= set(ids)
    if is_counted:
        is_part &= not (first and last + 1 < len(ids) and "0" in known)
        is_part &= told in parts or len(told) not in map(len, parts)
    is_part |= told <= known and (told == known or told.isdisjoint(ids) or bool(predictions.place_key))
    hint = "give each prediction the id of its question, as question_index"
    if first < 2 and (is_counted or last < len(ids)) and 1 < len(given) <= total and not is_part:
        shown = ", ".join(items.ids[:EXAMPLES])
        return f"predictions are numbered from {first} to {last}, but questions are {shown}, …: {hint}"
    is_whole = told == set(ids) or not (items.others or (splits and len(splits.values) > 1))
    from_one = first == 1 and is_counted and len(given) > 1  # as Inspect numbers samples
    if not predictions.place_key or (is_whole and are_places and not from_one):
        return ""
    if told == set(ids) and (first or not is_counted):
        return ""
    return f"{predictions.place_key!r} may number rows or name questions: {hint}"


def reject_other_questions(items: Items, predictions: Predictions) -> None:
    """Raise BadInput if predictions tell the questions of other ids; warn if they tell none of these questions."""
    if not predictions.asked or items.asked is None:
        return
    own, moved, same = dict(zip(items.keys, items.asked.tolist(), strict=True)), list[str](), 0
    known = {*own.values()}
    for id, text in predictions.asked.items():
        told = {hash(line.strip()) for line in (text, *text.splitlines())}
        if own.get(id) in told:
            same += 1
        elif id in own and not known.isdisjoint(told):
            moved.append(id)
    if moved:
        shown = ", ".join(lowest(moved, EXAMPLES))
        message = f"{counted(len(moved), 'prediction')} with the text of another question than their id: {shown}"
        raise BadInput([Problem(f"{message}: are ids the numbers of rows?", predictions.name or items.name)])
    if not same:
        warn(Problem(f"no prediction tells a question of {items.name}: are they for another file?", predictions.name))


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


# Coverage -------------------------------------------------------------------------------------------------------------

FAULTS = ("missing", "duplicate", "unknown", "not_an_option", "ambiguous", "not_read", "no_valid_answer")


_NOT_READ = [status.replace(" ", "_") for status in (AMBIGUOUS, NOT_READ, NO_VALID_ANSWER, NOT_AN_OPTION)]


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
    read: int
    """Questions whose prediction was read."""
    ambiguous: int
    """Questions whose prediction names several answers, or which have different predictions."""
    not_read: int
    """Questions whose prediction is free text in which no rule of `score.answers.replies` is certain."""
    no_valid_answer: int
    """Questions whose prediction is empty, a refusal, or of another type."""
    not_an_option: int
    """Questions whose prediction names none of the options."""
    examples: Mapping[str, tuple[str, ...]]
    """Fault -> the first ids that have it, in the order of questions; of unknown and duplicate ids, the lowest."""

    def first_ids(self) -> str:
        """Return the first ids of each fault as text; "" without faults.

        >>> Coverage(9, 4, 4, 5, 0, 1, 4, 0, 0, 0, 0, {"missing": ("0", "2", "3"), "unknown": ("12",)}).first_ids()
        'missing 0, 2, 3, …; unknown 12'
        """
        return "; ".join(f"{fault.replace('_', ' ')} {self.ids(fault)}" for fault in FAULTS if getattr(self, fault))

    def ids(self, fault: str) -> str:
        """Return the first ids that have a fault as text, with an ellipsis if there are more."""
        ids = self.examples.get(fault, ())
        return ", ".join(ids) + (", …" if getattr(self, fault) > len(ids) else "")


def coverage_of(items: Items, predictions: Predictions, statuses: Column) -> Coverage:
    """Return the coverage of predictions; `statuses` say how that for each item was understood, NONE without one."""
    missing = np.flatnonzero(statuses.codes == NONE)
    places = {
        status.replace(" ", "_"): np.flatnonzero(statuses.codes == code) for code, status in enumerate(statuses.values)
    }
    understood = places.pop(READ, missing[:0])
    answered, unknown = len(items) - len(missing), list[str]()
    if answered < len(predictions.by_id):
        asked = known_ids(items)
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
        read=len(understood),
        **{fault: len(places.get(fault, ())) for fault in _NOT_READ},
        examples={fault: ids for fault, ids in examples.items() if ids},
    )
