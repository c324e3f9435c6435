"""An evaluation: predictions joined with gold items and judged; accuracies of groups and of crosses of groups.

Items are streamed. What is kept are columns of numbers: a million questions take about 100 bytes each.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from vqagen.errors import BadInput, Problem, UsageError, counted, unknown
from vqagen.score.answers.judging import Judged
from vqagen.score.answers.kinds import Answer
from vqagen.score.answers.parsing import AMBIGUOUS, PARSED, REFUSED
from vqagen.score.answers.presets import check_preset
from vqagen.score.gold.file import GoldFile
from vqagen.score.gold.item import GoldItem
from vqagen.score.intervals import Interval, cluster_interval, wilson
from vqagen.score.predictions.reading import CONFLICT, Predictions, Source, lowest, read_predictions
from vqagen.score.scoring.columns import NONE, Codes, Coding, FieldColumns, Ids, crossed
from vqagen.score.scoring.coverage import EXAMPLES, Coverage, Examples
from vqagen.score.scoring.floors import Clues, Floats, floors
from vqagen.score.scoring.joining import HeldPredictions
from vqagen.score.scoring.judgement import JUDGES, NOT_AN_OPTION, Judge
from vqagen.score.scoring.settings import AUTO, IMAGE, SKIP, EvaluationSettings

OVERALL = "overall"
PAIR, ANSWER, GIVEN = "pair", "answer", "given"
"""Fields that every evaluation has: the number of the pair, and the right and the given answer as they are compared."""
CROSS = "*"
HELD_JUDGEMENTS = 1 << 16
MOST_FAULTS = 5
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Row:
    """The result of a group."""

    name: str
    n: int
    correct: float
    """The sum of credits; a whole number unless the preset gives partial credit."""
    accuracy: float
    low: float
    high: float
    floor: float
    """The accuracy of the best guess without the picture; see `floors`."""
    skill: float | None
    """The accuracy above the floor, as a share of all that there is above it; None for a floor of 1."""
    is_small: bool
    values: tuple[str | int, ...] = ()
    """The value of each field that the group is of."""


@dataclass(frozen=True)
class Evaluation:
    """The result for each item, in the order of the gold file, as columns."""

    gold: GoldFile
    settings: EvaluationSettings
    mode: str
    coverage: Coverage
    credits: Mapping[int, Floats]
    """k -> the credit of each item if its first k candidates count."""
    codes: Mapping[str, Codes]
    """Field -> the code of each item's value; NONE (-1) where the field does not concern the item."""
    values: Mapping[str, tuple[str | int, ...]]
    """Field -> the value of each code."""
    images: Codes
    ids: Sequence[str]
    is_counted: npt.NDArray[np.bool_]
    """False for questions without prediction that are left out."""
    floors: Floats = field(repr=False)

    @property
    def correct(self) -> Floats:
        """The credit of each item for the first k that was asked for; 0 for items that are left out."""
        return next(iter(self.credits.values()))

    @property
    def groups(self) -> tuple[str, ...]:
        """The fields that reports group by unless the user says otherwise, as far as any item has them."""
        known = {name for name, codes in self.codes.items() if (codes != NONE).any()}
        return tuple(by for by in self.gold.groups if known.issuperset(by.split(CROSS)))

    def __len__(self) -> int:
        return len(self.images)

    def overall(self) -> Row:
        """Return the row of all items."""
        return self.table()[0]

    def table(self, by: str = OVERALL) -> list[Row]:
        """Return a row for each value of a field (`category`), or of a cross of fields (`category*depth`).

        Items that a field does not concern are in no row. Rows are in the order of values, numbers first. UsageError
        for a field that the gold file does not have.
        """
        if by == OVERALL:
            return [self._row(OVERALL, (), np.flatnonzero(self.is_counted))]
        return [self._row(name_of(values), values, places) for values, places in self.members(by, self.is_counted)]

    def members(self, by: str, kept: npt.NDArray[np.bool_]) -> list[tuple[tuple[str | int, ...], Places]]:
        """Return the values of each group of a field, or of a cross of fields, and the places of its items.

        Only items that are `kept` are in a group. Groups are in the order of values. UsageError as for `table`.
        """
        names = [name.strip() for name in by.split(CROSS)]
        combinations, first = crossed([self._codes(name) for name in names])
        places = np.flatnonzero(kept & (combinations != NONE))
        order = places[np.argsort(combinations[places], kind="stable")]
        starts = np.flatnonzero(np.diff(combinations[order], prepend=NONE))
        found = []
        for items in np.split(order, starts[1:]) if len(order) else []:
            at = first[combinations[items[0]]]
            found.append((tuple(self.values[name][self.codes[name][at]] for name in names), items))
        return sorted(found, key=lambda group: [(isinstance(value, str), value) for value in group[0]])

    def _codes(self, name: str) -> Codes:
        if name not in self.codes:
            raise UsageError(unknown("field to group by", name, sorted(self.codes)))
        return self.codes[name]

    def _row(self, name: str, values: tuple[str | int, ...], items: Places) -> Row:
        """Return the row of the items at some places."""
        n, credits = len(items), self.correct[items]
        total, floor = float(credits.sum()), float(self.floors[items].mean()) if len(items) else 0.0
        accuracy = total / n if n else 0.0
        low, high = self._interval(credits, items)
        skill = (accuracy - floor) / (1 - floor) if floor < 1 else None
        return Row(name, n, total, accuracy, low, high, floor, skill, n < self.settings.small, values)

    def _interval(self, credits: Floats, items: Places) -> Interval:
        if self.settings.cluster:
            return cluster_interval(credits, self.clusters[items])
        return wilson(float(credits.sum()), len(items))

    @cached_property
    def clusters(self) -> Codes:
        """The cluster of each item; one that the field does not concern is a cluster of its own."""
        if self.settings.cluster in ("", IMAGE):
            return self.images
        codes = self._codes(self.settings.cluster)
        alone = np.flatnonzero(codes == NONE)
        clusters = codes.copy()
        clusters[alone] = int(codes.max(initial=NONE)) + 1 + np.arange(len(alone))
        return clusters


def name_of(values: Sequence[str | int]) -> str:
    """Return the name of the group that has some values, for people."""
    return ", ".join(map(str, values))


def evaluate(
    gold: GoldFile,
    predictions: Source | Predictions,
    settings: EvaluationSettings | None = None,
) -> Evaluation:
    """Return the evaluation of predictions.

    Predictions may be in any order: questions with different predictions are answered wrong, whichever comes first.
    BadInput for no prediction at all, for predictions that all belong to other questions, and for questions without
    answers or with the id of an earlier one.
    """
    settings = settings or EvaluationSettings()
    mode = gold.mode if settings.mode == AUTO else settings.mode
    if mode not in JUDGES:
        raise UsageError(unknown("mode", mode, list(JUDGES)))
    found = read_predictions(predictions, gold.kind)
    if not found.total:
        raise BadInput([Problem("no predictions to score", found.name or gold.name)])
    check_preset(settings.preset)
    judge = JUDGES[mode](settings.preset, gold.vocabulary(), settings.top_k)
    scoring = _Scoring(gold, HeldPredictions(found), judge, settings)
    scoring.run(f" in {found.name}" if found.name else "", found.is_in_order)
    return scoring.result(mode)


class _Scoring:
    """The columns of an evaluation while items are read."""

    def __init__(self, gold: GoldFile, held: HeldPredictions, judge: Judge, settings: EvaluationSettings) -> None:
        self._gold, self._held, self._judge, self._settings = gold, held, judge, settings
        self._fields, self._images, self._ids = FieldColumns(), Coding(), Ids()
        self._answers, self._given, self._pairs, self._options = Coding(), Coding(), Coding(), array("i")
        self._credits = [array("d") for _ in judge.top_k]
        self._is_counted = bytearray()
        self._unparsed = Counter[str]()
        """Status of a prediction that names no answer -> questions."""
        self._examples = Examples()
        self._missing = 0
        self._missing_ids: set[str] = set()
        self._problems: list[Problem] = []
        self._faulty = 0
        self._known: dict[tuple[Any, ...], Judged] = {}
        self._right_answers: dict[tuple[str, tuple[Answer, ...]], str] = {}

    def run(self, place: str = "", is_in_order: bool = False) -> None:
        """Read and judge all items. BadInput for faults of items and of their predictions, which are ` in {file}`."""
        for at, item in enumerate(self._gold.items()):
            self._ids.append(item.id)
            number = self._taken(item, str(at) if is_in_order else item.id)
            if number is None:
                self._add(item, self._judge.nothing, is_missing=True)
            else:
                self._add(item, self._judgement(item, number), is_missing=False)
        if self._problems:
            more = self._faulty - len(self._problems)
            further = [Problem(f"… and {counted(more, 'more fault')}", self._gold.name)] if more else []
            raise BadInput([*self._problems, *further])
        self._check_overlap(place)

    def _taken(self, item: GoldItem, key: str) -> int | None:
        """Return the number of the content of an item's prediction."""
        try:
            number = self._held.take(key)
        except KeyError:
            number = None
            self._add_problem(item, "its id is that of an earlier question")
        if number is None:
            if item.id in self._missing_ids:
                self._add_problem(item, "its id is that of an earlier question")
            self._missing_ids.add(item.id)
            self._missing += 1
            self._examples.add("missing", item.id)
        return number

    def _judgement(self, item: GoldItem, number: int) -> Judged:
        if number == CONFLICT:
            return self._judge.nothing._replace(status=AMBIGUOUS)
        key: tuple[Any, ...] = number, item.kind, item.answers
        if item.options or item.weights:
            key = *key, item.weights, item.options, item.right
        known = self._known.get(key)
        if known is None:
            candidates = self._held.all.contents[number]
            fault = self._judge.fault(item)
            if fault:
                self._add_problem(item, fault)
                return self._judge.nothing
            if len(self._known) >= HELD_JUDGEMENTS:
                self._known.clear()
            known = self._known[key] = self._judge.judge(item, candidates)
        return known

    def _add_problem(self, item: GoldItem, message: str) -> None:
        self._faulty += 1
        if len(self._problems) < MOST_FAULTS:
            self._problems.append(Problem(message, self._gold.name, f"question {item.id}"))

    def _add(self, item: GoldItem, result: Judged, is_missing: bool) -> None:
        """Add the result of the next item to all columns."""
        self._images.add(item.image)
        self._fields.add(item.fields)
        self._pairs.add(item.pair)
        self._answers.add(self._right_answer(item))
        self._given.add(None if is_missing else result.given)
        self._options.append(len(item.options) if self._judge.knows_options else 0)
        for column, score in zip(self._credits, result.credits, strict=True):
            column.append(score)
        self._is_counted.append(not (is_missing and self._settings.missing == SKIP))
        if is_missing:
            return
        if result.status != PARSED:
            self._unparsed[result.status] += 1
            self._examples.add(result.status, item.id)

    def _right_answer(self, item: GoldItem) -> str:
        key = item.kind, item.answers
        known = self._right_answers.get(key)
        if known is None:
            if len(self._right_answers) >= HELD_JUDGEMENTS:
                self._right_answers.clear()
            known = self._right_answers[key] = self._judge.right_answer(item)
        return known

    def _check_overlap(self, place: str) -> None:
        """Raise BadInput if there is no question, or no prediction of one."""
        questions, name = len(self._ids), self._gold.name
        if not questions:
            raise BadInput([Problem("no questions", name)])
        ids = ", ".join(self._ids[:3])
        if self._missing == questions:
            theirs = ", ".join(self._held.untaken()[1])
            message = f"no prediction{place} belongs to a question: predictions are for {theirs}; questions are {ids}"
            raise BadInput([Problem(message, name)])

    def result(self, mode: str) -> Evaluation:
        """Return the evaluation."""
        columns = {**self._fields.columns, PAIR: self._pairs, ANSWER: self._answers, GIVEN: self._given}
        credits = {
            k: np.frombuffer(column, dtype=np.float64)
            for k, column in zip(self._judge.top_k, self._credits, strict=True)
        }
        codes = {name: column.codes for name, column in columns.items()}
        values = {name: column.values for name, column in columns.items()}
        return Evaluation(
            self._gold,
            self._settings,
            mode,
            self._coverage(),
            credits,
            codes,
            values,
            self._images.codes,
            self._ids,
            np.frombuffer(self._is_counted, dtype=np.bool_),
            self._floors(codes, values),
        )

    def _floors(self, codes: Mapping[str, Codes], values: Mapping[str, tuple[Any, ...]]) -> Floats:
        none = np.zeros(len(self._ids), dtype=np.int32)
        known = {name for name, column in codes.items() if (column != NONE).any()}
        families = next((codes[name] + 1 for name in FAMILIES if name in known), none)
        functions = next((codes[name] + 1 for name in FUNCTIONS if name in known), none)
        answers = values[ANSWER]
        place = np.empty(len(answers), dtype=np.int32)
        place[sorted(range(len(answers)), key=lambda code: str(answers[code]))] = np.arange(len(answers))
        options = np.frombuffer(self._options, dtype=np.int32)
        clues = Clues(families, functions, self._images.codes, place[codes[ANSWER]], options)
        return floors(clues, self._judge.top_k[0])

    def _coverage(self) -> Coverage:
        unknown_ids, left = self._held.untaken()
        examples = self._examples.of_all()
        if left:
            examples["unknown"] = left
        if duplicated := self._held.all.duplicated:
            examples["duplicate"] = lowest(duplicated, EXAMPLES)
        questions, unparsed = len(self._ids), self._unparsed
        return Coverage(
            questions,
            self._held.all.total,
            questions - self._missing,
            self._missing,
            len(duplicated),
            unknown_ids,
            questions - self._missing - unparsed.total(),
            unparsed[AMBIGUOUS],
            unparsed[REFUSED],
            unparsed[NOT_AN_OPTION],
            examples,
        )


FAMILIES = ("family", "label", "type", "rule_class")
"""Fields by which guesses are learned: the first one that an item has."""
FUNCTIONS = ("function", "category", "answer_type", "type")
"""Fields whose answers are the ones that may be guessed: the first one that an item has."""
