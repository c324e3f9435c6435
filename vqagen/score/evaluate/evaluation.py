"""An evaluation: predictions joined with items and judged; accuracies of groups and of crosses of groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from vqagen.errors import Problem, UsageError, unknown, warn
from vqagen.extras import needed
from vqagen.files.output import atomic_output, check_output
from vqagen.items.answers import vocabulary_of
from vqagen.items.table import CHOICE, NONE, OPEN, Codes, Column, FieldValue, Items
from vqagen.language.domain_files import PathLike
from vqagen.report.table import Report, Reported
from vqagen.score.answers.judging import NOT_AN_OPTION, PRESETS, RETIRED, Judged, judge, right_answer
from vqagen.score.answers.replies import AMBIGUOUS, NO_VALID_ANSWER, NOT_READ, READ
from vqagen.score.evaluate.matching import EXAMPLES, known_ids, match, reject_items
from vqagen.score.intervals import Interval, cluster_intervals, wilson
from vqagen.score.predictions.reading import CONFLICT, Predictions, lowest

OVERALL = "overall"
PAIR, ANSWER, GIVEN, STATUS = "pair", "answer", "given", "status"
"""Fields that every evaluation has: the number of the pair, the right and the given answer as they are compared, and
how the reply was understood: `read`, `not read`, …"""
CROSS = "*"
WRONG, SKIP = MISSING = "wrong", "skip"
IMAGE = "image"
SMALL = 30
"""Rows of fewer items are marked as small."""
_BATCH = 10_000
"""Results of items that are written at once."""
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class EvaluationSettings:
    """How predictions are scored."""

    preset: str = "typed"
    """The comparison of answers; a key of `score.answers.judging.PRESETS`."""
    top_k: tuple[int, ...] = ()
    """Numbers of candidates that may be right; scores are of the first one. Empty: 1."""
    missing: str = WRONG
    """An item without prediction counts as WRONG, or is left out (SKIP)."""
    cluster: str = IMAGE
    """The field whose equal values make a cluster, by which intervals are robust; IMAGE for the image. Empty: intervals
    are Wilson's, as if all items were independent."""

    def __post_init__(self) -> None:
        """Raise UsageError for a name that does not exist."""
        if self.preset in RETIRED:
            raise UsageError(f"the preset {self.preset!r} was removed in version 2.0: {RETIRED[self.preset]}")
        for what, name, known in (("preset", self.preset, PRESETS), ("policy of missing", self.missing, MISSING)):
            if name not in known:
                raise UsageError(unknown(what, name, known))


class Row(NamedTuple):
    """The result of a group."""

    name: str
    n: int
    correct: float
    """The sum of credits; a whole number unless the preset gives partial credit."""
    accuracy: float
    low: float
    high: float
    floor: float
    """The accuracy of the best guess without the picture."""
    skill: float | None
    """The accuracy above the floor, as a share of all that there is above it; None for a floor of 1."""
    values: tuple[FieldValue, ...] = ()
    """The value of each field that the group is of."""


@dataclass(frozen=True, repr=False)
class Evaluation(Reported):
    """The result for each item, in the order of the file, as columns. It shows itself as its report does."""

    items: Items
    """With PAIR, ANSWER and GIVEN among their fields."""
    predictions: str
    """The name of the predictions, for people."""
    settings: EvaluationSettings
    coverage: Coverage
    credits: Mapping[int, Floats]
    """k -> the credit of each item if its first k candidates count."""
    is_counted: Flags
    """False for items without prediction that are left out."""
    floor: Floats
    """The credit that the best guess without the picture has of each item."""

    @property
    def correct(self) -> Floats:
        """The credit of each item for the first k that was asked for; 0 for items that are left out."""
        return next(iter(self.credits.values()))

    @property
    def groups(self) -> tuple[str, ...]:
        """The fields that reports group by unless the user says otherwise, as far as any item has them."""
        known = {name for name, column in self.items.fields.items() if (column.codes != NONE).any()}
        return tuple(by for by in self.items.groups if known.issuperset(by.split(CROSS)))

    def __len__(self) -> int:
        return len(self.items)

    def report(self, group_by: Sequence[str] = ()) -> Report:
        """Return the report by some fields or crosses; `vqagen.score_report` has further settings."""
        from vqagen.score.evaluate.report import score_report

        return score_report(self, group_by=group_by)

    def frame(self, by: str = "") -> Any:
        """Return the groups of a field or of a cross, or another table, as a data frame of pandas (extra `stats`).

        Without `by`, the frame has a row for each item.
        """
        if by:
            is_group = self.items.fields.keys() >= set(by.split(CROSS))
            return self.report([by] if is_group else ()).frame(by)
        columns = {"image": self.items.images, **self.items.fields}
        cells = {name: column.cells() for name, column in columns.items()}
        correct = np.where(self.is_counted, self.correct, np.nan)
        return needed("pandas", "stats", "a data frame").DataFrame(
            {"id": list(self.items.ids), "correct": correct} | cells
        )

    def overall(self) -> Row:
        """Return the row of all items."""
        return self.table()[0]

    def table(self, by: str = OVERALL) -> list[Row]:
        """Return a row for each value of a field (`category`), or of a cross of fields (`category*depth`).

        Items that a field does not concern are in no row. Rows are in the order of values, numbers first. UsageError
        for a field that the items do not have.
        """
        column = self.grouped(by)
        groups = np.where(self.is_counted, column.codes, NONE)
        kept, count = groups != NONE, len(column.values)
        sizes = np.bincount(groups[kept], minlength=count).tolist()
        totals = np.bincount(groups[kept], self.correct[kept], count).round(9).tolist()  # the sum of .3, .6 and .1 is 1
        floors = np.bincount(groups[kept], self.floor[kept], count).tolist()
        bounds: Iterable[Interval] = map(wilson, totals, sizes)
        if self.settings.cluster:
            lows, highs = cluster_intervals(self.correct, self.clusters, groups, count)
            bounds = zip(lows.tolist(), highs.tolist(), strict=True)
        rows = zip(column.values, sizes, totals, floors, bounds, strict=True)
        return [self._row(*row) for row in rows if row[1]]

    def _row(self, values: tuple[FieldValue, ...], n: int, total: float, floors: float, bounds: Interval) -> Row:
        accuracy, floor = total / n, floors / n
        skill = (accuracy - floor) / (1 - floor) if floor < 1 else None
        return Row(", ".join(map(str, values)), n, total, accuracy, *bounds, floor, skill, values)

    def grouped(self, by: str) -> Column:
        """Return the values of a field or of a cross of fields as tuples; their codes are in the order of values."""
        if by == OVERALL:
            return Column(np.zeros(len(self), dtype=np.int32), ((OVERALL,),))
        codes, values = crossed([self.items.column(name.strip()) for name in by.split(CROSS)])
        order = sorted(range(len(values)), key=lambda code: [(isinstance(each, str), each) for each in values[code]])
        ranks = Column(np.argsort(order).astype(np.int32), tuple(values[code] for code in order))
        return ranks.spread(codes)

    def numbers(self, columns: Sequence[Column]) -> Counter[tuple[Any, ...]]:
        """Return how many items that count have the values of several columns together."""
        both, found = crossed(columns), Counter[tuple[Any, ...]]()
        kept = both.codes[self.is_counted & (both.codes != NONE)]
        for values, number in zip(both.values, np.bincount(kept, minlength=len(both.values)).tolist(), strict=True):
            found[values] += number  # a column may have equal values: an answer "" and none at all
        return +found

    @cached_property
    def clusters(self) -> Codes:
        """The cluster of each item; one that the field does not concern is a cluster of its own."""
        column = self.items.images if self.settings.cluster in ("", IMAGE) else self.items.column(self.settings.cluster)
        alone = column.codes == NONE
        return np.where(alone, len(column.values) + np.cumsum(alone), column.codes)


def crossed(columns: Sequence[Column]) -> Column:
    """Return the column of the values of several columns as tuples; NONE where any of the columns is.

    >>> crossed([Column.of(["red", "blue", "red"]), Column.of([1, None, 2])])
    Column(codes=array([ 0, -1,  1], dtype=int32), values=(('red', 1), ('red', 2)))
    """
    first = Column(columns[0].codes, tuple((value,) for value in columns[0].values))
    return reduce(_crossed, columns[1:], first)


def _crossed(one: Column, other: Column) -> Column:
    both = (one.codes != NONE) & (other.codes != NONE)
    number = one.codes[both].astype(np.int64) * len(other.values) + other.codes[both]
    numbers, inverse = np.unique(number, return_inverse=True)
    codes = np.full(len(both), NONE, dtype=np.int32)
    codes[both] = inverse
    pairs = (divmod(each, len(other.values)) for each in numbers.tolist())
    return Column(codes, tuple((*one.values[left], other.values[right]) for left, right in pairs))


def evaluate(
    items: Items,
    predictions: Predictions,
    settings: EvaluationSettings | None = None,
    floor: Callable[[Items, int], Floats] | None = None,
) -> Evaluation:
    """Return the evaluation of predictions, which are in any order.

    An item with different predictions is answered wrong, whichever comes first. `floor` gives the credit that the best
    guess without the picture has of each item, by the number of candidates; without it, guesses are wrong. BadInput for
    predictions that do not fit the items; see `match`.
    """
    settings = settings or EvaluationSettings()
    contents = match(items, predictions)
    is_missing = contents == NONE
    if items.mode == CHOICE and len(bare := np.flatnonzero(~is_missing & (items.options.codes == NONE))):
        reject_items(items, bare.tolist(), "no options, so no multiple choice")
    top_k = settings.top_k if settings.top_k and items.mode == OPEN else (1,)
    words = vocabulary_of(items.info, items.kind == "dialogs")
    credit = partial(judge, preset=settings.preset, vocabulary=words, top_k=top_k)
    judged = _judged(items, predictions, contents, credit)
    credits = np.array([*(each.credits for each in judged.values), (0.0,) * len(top_k)])[judged.codes]
    own = {
        PAIR: items.pairs,
        ANSWER: items.gold.map(partial(right_answer, preset=settings.preset, vocabulary=words)),
        GIVEN: judged.map(attrgetter("given")),
        STATUS: judged.map(attrgetter("status")),
    }
    coverage = coverage_of(items, predictions, judged.map(attrgetter("status")))
    if coverage.unknown > coverage.answered:
        message = f"{coverage.unknown:,} of {coverage.predictions:,} predictions are for no question of {items.name}"
        warn(Problem(f"{message}: are they for another file?", predictions.name))
    return Evaluation(
        replace(items, fields={**items.fields, **own}),
        predictions.name or "predictions",
        settings,
        coverage,
        dict(zip(top_k, credits.T, strict=True)),
        ~is_missing if settings.missing == SKIP else np.ones(len(items), dtype=bool),
        np.zeros(len(items)) if floor is None else floor(items, top_k[0]),
    )


def _judged(items: Items, predictions: Predictions, contents: Codes, judge: Callable[..., Judged]) -> Column:
    """Return a Judged for each item; NONE without prediction. What is equal is judged once."""
    options = items.options.codes if items.mode == CHOICE else np.full(len(items), NONE, dtype=np.int32)
    answered = crossed(
        [
            Column(np.maximum(contents, NONE), predictions.contents),
            items.gold,
            Column(options + 1, (None, *items.options.values)),
        ]
    )
    found = [judge(*each) for each in answered.values]
    conflict = judge((), items.gold.values[0])._replace(status=AMBIGUOUS)
    codes = np.where(contents == CONFLICT, len(found), answered.codes)
    return Column(codes, (*found, conflict))


def write_item_scores(evaluation: Evaluation, out: PathLike, *, force: bool = False) -> None:
    """Write the result of each item as JSON Lines, in the order of the file.

    `given` is null without a prediction; `correct` is null for an item that is left out.
    """
    check_output(str(out), force)
    fields = evaluation.items.fields.items()
    with atomic_output(str(out)) as file:
        for start in range(0, len(evaluation), _BATCH):
            part = slice(start, start + _BATCH)
            cells = {name: column._replace(codes=column.codes[part]).cells() for name, column in fields}
            right, given = cells.pop(ANSWER), cells.pop(GIVEN)
            correct = zip(evaluation.correct[part].tolist(), evaluation.is_counted[part].tolist(), strict=True)
            for at, (id, (credit, counts)) in enumerate(zip(evaluation.items.ids[part], correct, strict=True)):
                known = {"id": id, ANSWER: right[at], GIVEN: given[at], "correct": credit if counts else None}
                record = {**known, "fields": {name: values[at] for name, values in cells.items()}}
                file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


FAULTS = ("missing", "duplicate", "unknown", "not_an_option", "ambiguous", "not_read", "no_valid_answer")


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
        **{
            status: len(places.get(status, ()))
            for status in (AMBIGUOUS, *(each.replace(" ", "_") for each in (NOT_READ, NO_VALID_ANSWER, NOT_AN_OPTION)))
        },
        examples={fault: ids for fault, ids in examples.items() if ids},
    )
