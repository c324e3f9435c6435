"""An evaluation: judged predictions of items, the accuracies of groups and of crosses of groups, and its report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vqagen.errors import UsageError, counted, unknown
from vqagen.extras import needed
from vqagen.items.answers import LIST, WORD, Answer, plain, vocabulary_of
from vqagen.items.groups import crossed
from vqagen.items.guessing import Floats, Guessing, majority, of_family, uniform
from vqagen.items.table import CHOICE, NONE, OPEN, Codes, Column, FieldValue, Items
from vqagen.report.table import (
    COUNT,
    SHARE,
    TEXT,
    Column as TableColumn,
    Gate,
    Report,
    Reported,
    Table,
    Threshold,
    columns,
    matching_thresholds,
    nonempty,
)
from vqagen.report.writers import interval_figure
from vqagen.score.answers.judging import PRESETS, RETIRED, TYPED
from vqagen.score.answers.places import COORDINATES
from vqagen.score.intervals import Interval, cluster_intervals, wilson
from vqagen.score.matching import Coverage
from vqagen.score.tables import (
    OVERALL,
    PAIRS,
    TYPE,
    answer_tables,
    dialogs_table,
    gap_table,
    mistakes_table,
    pairs_table,
    places_table,
    share,
)

CROSS = "*"
WRONG, SKIP = MISSING = "wrong", "skip"
IMAGE = "image"
SMALL = 30
"""Rows of fewer items are marked as small."""
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
    coordinates: str = ""
    """What those of places count: one of `score.answers.places.COORDINATES`; "" if no prediction has any."""

    def __post_init__(self) -> None:
        """Raise UsageError for a name that does not exist."""
        if self.preset in RETIRED:
            raise UsageError(f"the preset {self.preset!r} was removed in version 2.0: {RETIRED[self.preset]}")
        for what, name, known in (
            ("preset", self.preset, PRESETS),
            ("policy of missing", self.missing, MISSING),
            ("kind of coordinates", self.coordinates, ("", *COORDINATES)),
        ):
            if name not in known:
                raise UsageError(unknown(what, name, known))


DIALOGS, TRIALS = "dialogs", "trials"
_GROUP_COLUMNS = columns(
    n=COUNT, correct=COUNT, accuracy=SHARE, low=SHARE, high=SHARE, floor=SHARE, skill=SHARE, note=TEXT
)
_SCREEN_FIELDS = ("category", "type", "answer_type")
"""The groups that a screen shows unless the user asks for others: the first field of these that there is."""
_NOUNS = {DIALOGS: "round", TRIALS: "trial"}
"""Format -> an item, for people."""
_THRESHOLD = re.compile(r"(?P<group>.+)=\s*(?P<least>0(\.\d*)?|1(\.0*)?|\.\d+)")
"""A group (`overall`, the name of a row such as `exist`, or field and row: `category:exist`) and its least accuracy."""
FIELD_SIGN = ":"
_STRICT = {
    "missing": ("missing prediction", ""),
    "duplicate": ("duplicate prediction", ""),
    "unknown": ("prediction", " with an unknown id"),
    "not_an_option": ("answer", " outside of the options"),
}
"""Fault of coverage -> the noun to count, and what follows it."""


class GroupScore(NamedTuple):
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
    """With PAIR, ANSWER, GIVEN and STATUS among their fields."""
    predictions: str
    """The name of the predictions, for people."""
    settings: EvaluationSettings
    coverage: Coverage
    credits: Mapping[int, Floats]
    """k -> the credit of each item if its first k candidates count."""
    is_counted: Flags
    """False for items without prediction that are left out."""
    places: Column
    """How well each prediction says where objects are, a `PlaceScore`; NONE where that is not asked, or not said."""

    @cached_property
    def floor(self) -> Floats:
        """The credit that the best guess without the picture has of each item."""
        return floor(self.items, next(iter(self.credits)))

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

    def report(self, group_by: Sequence[str] = (), *, fail_under: Sequence[str] = (), strict: bool = False) -> Report:
        """Return the report: accuracies of groups, further measures, and whether its gates are met.

        `group_by` are fields and crosses of fields such as `category*depth`, by default those of the file; `fail_under`
        are thresholds such as `overall=0.9`; `strict` demands complete predictions. UsageError for groups that the
        questions do not have.
        """
        rows = {by: self.table(by) for by in dict.fromkeys((OVERALL, *(group_by or self.groups)))}
        tables = nonempty([*(group_table(by, found) for by, found in rows.items()), *_further_tables(self)])
        if self.items.format == TRIALS:  # of pairs the headline is that both are right
            tables = tuple(sorted(tables, key=lambda table: table.key != PAIRS))
        tables = _with_details(tables, group_by)
        accuracies = {(by, row.name): row.accuracy for by, found in rows.items() for row in found}
        gates = [*threshold_gates(read_thresholds(fail_under), accuracies)]
        gates += strict_gates(self.coverage) if strict else ()
        title = f"Scores of {self.predictions} on {self.items.name}"
        figures = tuple(interval_figure(table) for table in tables if table.key in rows and not table.is_detail)
        return Report(title, _head(self), tables, _facts(self), tuple(gates), figures)

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

    def overall(self) -> GroupScore:
        """Return the row of all items."""
        return self.table()[0]

    def table(self, by: str = OVERALL) -> list[GroupScore]:
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

    def _row(self, values: tuple[FieldValue, ...], n: int, total: float, floors: float, bounds: Interval) -> GroupScore:
        accuracy, floor = total / n, floors / n
        skill = (accuracy - floor) / (1 - floor) if floor < 1 else None
        return GroupScore(", ".join(map(str, values)), n, total, accuracy, *bounds, floor, skill, values)

    def grouped(self, by: str) -> Column:
        """Return the values of a field or of a cross of fields as tuples; their codes are in the order of values."""
        if by == OVERALL:
            return Column(np.zeros(len(self), dtype=np.int32), ((OVERALL,),))
        codes, values = crossed([self.items.column(name.strip()) for name in by.split(CROSS)])
        order = sorted(range(len(values)), key=lambda code: [(isinstance(value, str), value) for value in values[code]])
        ranks = Column(np.argsort(order).astype(np.int32), tuple(values[code] for code in order))
        return ranks.spread(codes)

    @cached_property
    def clusters(self) -> Codes:
        """The cluster of each item; one that the field does not concern is a cluster of its own."""
        column = self.items.images if self.settings.cluster in ("", IMAGE) else self.items.column(self.settings.cluster)
        alone = column.codes == NONE
        return np.where(alone, len(column.values) + np.cumsum(alone), column.codes)


def floor(items: Items, top_k: int = 1) -> Floats:
    """Return the credit of guesses without the picture of each item, if `top_k` answers may be named.

    Three guesses need no training file and no library: any possible answer, the most frequent answer of the function,
    and that of the family. Each learns from the other folds only, and so from other images. Of each function the best
    is taken. Options are guessed by chance.
    """
    guessing = Guessing.within(items, top_k)
    guessed = [guessing.predict(answer).expected for answer in (uniform, majority, of_family)]
    of_types = np.stack([np.bincount(guessing.types, weights=expected) for expected in guessed])
    found: Floats = np.stack(guessed)[of_types.argmax(axis=0)[guessing.types], np.arange(len(items))]
    # Of places, the one guess is that there are none: the indexes of objects stand in no picture.
    are_none = np.bincount(guessing.types, [not gold or gold.answers == ((),) for gold in items.gold.cells()])
    found = np.where(items.is_place, (are_none / np.bincount(guessing.types).clip(1))[guessing.types], found)
    if items.mode != CHOICE:
        return found
    sizes = np.array([len(options.texts) for options in items.options.values] or [1])
    options = items.options.codes
    return np.where(options == NONE, found, np.minimum(1.0, top_k / sizes[options]))


# Report ---------------------------------------------------------------------------------------------------------------


def _with_details(tables: Sequence[Table], fields: Sequence[str]) -> tuple[Table, ...]:
    """Mark what a screen leaves out: it shows the headline, overall, and the groups of `fields`, by default of one."""
    keys = [table.key for table in tables]
    shown = [by for by in (OVERALL, *(fields or _SCREEN_FIELDS)) if by in keys]
    shown = [*(shown if fields else shown[:2]), *(key for key in keys[:1] if key == PAIRS)]
    return tuple(replace(table, is_detail=table.key not in shown) for table in tables)


def _head(evaluation: Evaluation) -> tuple[str, ...]:
    """Return what was scored, how much of it, and how answers are compared."""
    found, used, most = evaluation.coverage, evaluation.settings, next(iter(evaluation.credits))
    treated = "left out" if used.missing == SKIP else "counted as wrong"
    asked = counted(found.questions, _NOUNS.get(evaluation.items.format, "question"))
    top = f", first {most} candidates" if most > 1 else ""
    intervals = f"by {used.cluster}" if used.cluster else "Wilson"
    ids = found.first_ids()
    return (
        f"{evaluation.predictions} on {evaluation.items.name}: {asked}, mode {evaluation.items.mode}",
        f"coverage: {found.answered:,} of {found.questions:,} answered "
        f"({found.answered / found.questions:.1%}); {found.missing:,} missing ({treated}), "
        f"{found.duplicate:,} duplicate, {found.unknown:,} unknown, {found.not_an_option:,} not an option",
        f"replies: {found.read:,} read, {found.ambiguous:,} ambiguous, {found.not_read:,} not read "
        f"({found.not_read / found.questions:.1%}), "
        f"{found.no_valid_answer:,} no valid answer",
        *([f"first ids: {ids}"] if ids else []),
        *_unknown_words(evaluation),
        f"answers: compared as {used.preset}{top}; 95 % intervals: {intervals}; floor: best guess without the picture",
    )


def _unknown_words(evaluation: Evaluation) -> Iterator[str]:
    """Yield a line about answers that are no words of the file's domain, in whose replies no answer can be found."""
    items, used = evaluation.items, evaluation.settings
    words = vocabulary_of(items.info, items.kind == DIALOGS).words
    golds = enumerate(items.gold.values)
    bare = [code for code, gold in golds if gold.kind in (WORD, LIST) and not _is_of(gold.answers[0], words)]
    if (number := int(np.isin(items.gold.codes, bare).sum())) and used.preset == TYPED and items.mode == OPEN:
        example = items.gold.values[bare[0]].text
        yield (
            f"words: replies to {counted(number, 'question')} are compared as whole texts, as the file's info does not"
            f" carry words such as {example!r}"
        )


def _is_of(answer: Answer, words: Mapping[str, str]) -> bool:
    return all(plain(str(word)) in words for word in (answer if isinstance(answer, tuple) else (answer,)))


def _facts(evaluation: Evaluation) -> dict[str, object]:
    """Return what the head states, for JSON."""
    used = evaluation.settings
    return {
        "questions": evaluation.items.name,
        "predictions": evaluation.predictions,
        "format": evaluation.items.format,
        "coverage": evaluation.coverage._asdict(),
        "settings": {
            "mode": evaluation.items.mode,
            "normalise": used.preset,
            "top_k": list(evaluation.credits),
            "missing": used.missing,
            "cluster": used.cluster or None,
        },
    }


def group_table(by: str, rows: Sequence[GroupScore]) -> Table:
    """Return the accuracies of groups as a table."""
    title = by.replace("_", " ").replace(CROSS, " × ").capitalize()
    cells = tuple((*row[:8], "small" * (row.n < SMALL)) for row in rows)
    return Table(by, title, (TableColumn("group" if by == OVERALL else by), *_GROUP_COLUMNS), cells)


def _further_tables(evaluation: Evaluation) -> Iterator[Table | None]:
    """Yield the tables beyond accuracies; None for those that have no rows."""
    if len(evaluation.credits) > 1:  # several numbers of candidates were asked for
        kept = evaluation.is_counted
        totals = {k: float(credits[kept].sum()) for k, credits in evaluation.credits.items()}
        n = int(kept.sum())
        rows = tuple((k, n, total, share(total, n)) for k, total in totals.items())
        yield Table("top_k", "First k candidates", columns(k=COUNT, n=COUNT, correct=COUNT, accuracy=SHARE), rows)
    items, correct, kept = evaluation.items, evaluation.correct, evaluation.is_counted
    yield from answer_tables(items, kept)
    yield places_table(items, evaluation.places, kept)
    yield pairs_table(items, correct, kept)
    if items.format == DIALOGS:
        yield dialogs_table(items, correct, kept)
    if items.format == TRIALS:
        yield gap_table([(row.name, row.n, row.correct) for row in evaluation.table(TYPE)])
        yield mistakes_table(items, kept)


# Gates ----------------------------------------------------------------------------------------------------------------


def read_thresholds(texts: Sequence[str]) -> list[Threshold]:
    """Read options such as `overall=0.9,exist=0.95`. UsageError for all that are no thresholds."""
    return matching_thresholds(texts, _THRESHOLD, "a group and a share, such as overall=0.9")


def threshold_gates(thresholds: Iterable[Threshold], accuracies: Mapping[tuple[str, str], float]) -> Iterator[Gate]:
    """Yield the gates of accuracies by field and name of the row.

    UsageError for names of no group, and for those of several groups with different accuracies.
    """
    faults = []
    for threshold in thresholds:
        group, least = threshold["group"].strip(), float(threshold["least"])
        named = {key: share for key, share in accuracies.items() if group in (key[1], FIELD_SIGN.join(key))}
        if len(set(named.values())) == 1:
            accuracy = next(iter(named.values()))
            problem = "" if accuracy >= least else f"{group}: accuracy {accuracy:.4f} is below {least:g}"
            yield Gate(f"{group}>={least:g}", problem)
        elif named:
            full = ", ".join(map(FIELD_SIGN.join, named))
            faults.append(f"--fail-under: several groups are named {group!r}; write one of {full}")
        else:
            names = list(dict.fromkeys(name for _, name in accuracies))
            faults.append(f"--fail-under: {unknown('group', group, names)}")
    if faults:
        raise UsageError("\n".join(faults))


def strict_gates(coverage: Coverage) -> Iterator[Gate]:
    """Yield the gates of `--strict`: no fault of coverage."""
    for fault, (noun, rest) in _STRICT.items():
        number = getattr(coverage, fault)
        problem = f"{counted(number, noun)}{rest}: {coverage.ids(fault)}" if number else ""
        yield Gate(f"no {noun}{rest}", problem)
