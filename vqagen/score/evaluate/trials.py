"""Tables of trials: the gap between control and test trials, and the kinds of wrong answers.

Control and test trials differ in whether the director's view matters. A model that overlooks the view is right in
control trials alone, so the gap is the cost of taking a perspective.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import hypot

import numpy as np

from vqagen.score.evaluate.evaluation import GIVEN, Evaluation, Row, crossed
from vqagen.score.intervals import wilson
from vqagen.score.items.table import NONE, Column
from vqagen.score.report.table import COUNT, SHARE, TEXT, Cell, Table, columns
from vqagen.tasks.director.mistakes import INVALID, KINDS

TYPE = "type"
CONTROL, TEST = "control", "test"
NO_ANSWER_KIND = "no answer"


def trial_tables(evaluation: Evaluation) -> Iterator[Table | None]:
    """Yield the gap, and the kinds of answers of trials that come with their items."""
    yield gap_table(evaluation.table(TYPE))
    types = evaluation.fields[TYPE]
    counted = types._replace(codes=np.where(evaluation.is_counted, types.codes, NONE))
    yield mistakes_table(counted, _kinds_of_answers(evaluation))


def gap_table(types: Sequence[Row]) -> Table | None:
    """Return the accuracies of control and test trials and their gap; None without trials of both types.

    Tests from "your point of view" are a type of their own, which is shown and does not count for the gap. The interval
    is Newcombe's hybrid score interval, by method 10 of his Interval estimation for the difference between independent
    proportions (1998).
    """
    shares = {row.name: (row.n, row.accuracy, *wilson(row.correct, row.n)) for row in types}
    if CONTROL not in shares or TEST not in shares:
        return None
    (one, first, low, high), (two, second, least, most) = shares[CONTROL], shares[TEST]
    difference = first - second
    bounds = difference - hypot(first - low, most - second), difference + hypot(high - first, second - least)
    rows = [(name, *cells) for name, cells in shares.items()]
    names = columns(trials=TEXT, n=COUNT, accuracy=SHARE, low=SHARE, high=SHARE)
    note = "gap: control minus test; above 0 if the director's view is overlooked"
    return Table("gap", "Perspective-taking gap", names, (*rows, ("gap", one + two, difference, *bounds)), (note,))


def mistakes_table(types: Column, kinds: Column) -> Table | None:
    """Return the kinds of answers by type of trial, in the order of KINDS; None if no kind is known."""
    both = crossed([types, kinds])
    numbers = np.bincount(both.codes[both.codes != NONE], minlength=len(both.values)).tolist()
    counts = Counter(dict(zip(both.values, numbers, strict=True)))
    names = sorted({type for type, _ in counts})
    totals = {name: sum(number for (type, _), number in counts.items() if type == name) for name in names}
    rows: list[tuple[Cell, ...]] = [
        (
            kind,
            *(counts[name, kind] for name in names),
            *(counts[name, kind] / totals[name] for name in names),
        )
        for kind in (*KINDS, NO_ANSWER_KIND)
        if any(counts[name, kind] for name in names)
    ]
    forms = {f"{name}_n": COUNT for name in names} | {f"{name}_share": SHARE for name in names}
    note = "egocentric: right for someone who overlooks what the director cannot see; foil: lacks one adjective"
    return Table("mistakes", "Kinds of answers", columns(answer=TEXT, **forms), tuple(rows), (note,)) if rows else None


def _kinds_of_answers(evaluation: Evaluation) -> Column:
    """Return of each trial the kind of its answer; NONE for all if the file does not name its items."""
    outcomes, given = evaluation.items.outcomes, evaluation.fields[GIVEN]
    if outcomes is None:
        return Column(np.full(len(evaluation), NONE, dtype=np.int32), ())
    answered = crossed([outcomes, Column(given.codes + 1, (None, *given.values))])
    return answered.map(lambda each: NO_ANSWER_KIND if each[1] is None else dict(each[0]).get(each[1], INVALID))
