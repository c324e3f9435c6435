"""Tables beyond accuracies: of single answers, of balanced pairs, of dialogs, and of trials.

Answers are yes or no, numbers, or words of a closed vocabulary. A question without an answer is wrong, and counts as
given no answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import hypot
from typing import Any

import numpy as np
import numpy.typing as npt

from vqagen.errors import counted
from vqagen.items.answers import BOOL, INTEGER, LIST, TEXT, WORD
from vqagen.items.groups import TYPES, counts_of_rows, crossed
from vqagen.items.table import NONE, Column, Items
from vqagen.report import table as forms
from vqagen.report.table import COUNT, DECIMAL, SHARE, Cell, Column as TableColumn, Table, columns
from vqagen.score.answers.places import PlaceScore
from vqagen.score.intervals import wilson
from vqagen.tasks import task_named

OVERALL = "overall"
PAIR, ANSWER, GIVEN, STATUS = "pair", "answer", "given", "status"
"""Fields that items get when they are judged: the number of the pair, the right and the given answer as they are
compared, and how the reply was understood: `read`, `not read`, …"""
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
AnswerCounts = Mapping[tuple[str, str], int]
"""(right answer, given answer) -> questions; a question without an answer was given NO_ANSWER."""
NO_ANSWER = ""
NO_ANSWER_SHOWN = "(no answer)"
PAIRS = "pairs"
"""The key of the table of pairs."""
KIND = "answer_type"
_ORDER = (BOOL, INTEGER, WORD, LIST, TEXT)
YES, NO = "yes", "no"
MOST_ANSWERS = 40
"""Different right answers of one kind that a table still lists."""
TYPE, CONTROL, TEST = "type", "control", "test"
NO_ANSWER_KIND = "no answer"
_NO_PLACE = PlaceScore(0.0, 0.0, 0)
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")


# Single answers -------------------------------------------------------------------------------------------------------


def answer_tables(items: Items, kept: Flags) -> Iterator[Table | None]:
    """Yield the tables of yes/no questions, of counting questions, and of answers, of the items that are kept."""
    right, given = items.fields[ANSWER], items.fields[GIVEN]
    kinds = items.fields.get(KIND, right.map(_kind_of))
    numbers = counts_of_rows([kinds, right, Column(given.codes + 1, (NO_ANSWER, *given.values))], kept)
    found: dict[str, Counter[tuple[str, str]]] = {kind: Counter() for kind in _ORDER}
    for (kind, *answers), number in numbers.items():
        found.setdefault(kind, Counter())[tuple(answers)] += number
    counts = {kind: found[kind] for kind in _ORDER if found[kind]}
    yield yes_no_table(counts.get(BOOL, {}))
    yield counting_table(counts.get(INTEGER, {}))
    yield confusion_table(counts)


def _kind_of(answer: str) -> str:
    """Return the kind of an answer, where no field says it."""
    if answer in (YES, NO):
        return BOOL
    return INTEGER if answer.isdecimal() else TEXT


def places_table(items: Items, places: Column, kept: Flags) -> Table | None:
    """Return the table of answers that are places, a row for each type of question; None if there are none.

    A question without a place as answer is wrong, and its IoU is 0.
    """
    types = items.first_column(TYPES)
    is_place = items.is_place & kept
    if types is None or not is_place.any():
        return None
    rows = []
    for code, name in sorted(enumerate(types.values), key=lambda named: str(named[1])):
        at = np.flatnonzero(is_place & (types.codes == code)).tolist()
        scores = [places.at(i) or _NO_PLACE for i in at]
        nothing = [score for i, score in zip(at, scores, strict=True) if items.gold.at(i).answers == ((),)]
        if at:
            iou, f1 = (sum(values) / len(at) for values in zip(*[score[:2] for score in scores], strict=True))
            exact, right = (sum(score.f1 == 1 for score in each) for each in (scores, nothing))
            rows.append((name, len(at), iou, f1, share(exact, len(at)), len(nothing), share(right, len(nothing))))
    names = columns(n=COUNT, IoU=SHARE, F1=SHARE, exact=SHARE, empty=COUNT, empty_right=SHARE)
    note = "IoU: 1 for a point on its object; F1 of sets at an IoU of .5; exact: nothing missing, and nothing too much"
    return Table("places", "Places", (TableColumn("type"), *names), tuple(rows), (note,))


def _row(key: str, title: str, note: str, **cells: tuple[str, Cell]) -> Table:
    """Return a table of one row: each cell by its name, with the form of its column."""
    names = columns(**{name: form for name, (form, _) in cells.items()})
    return Table(key, title, names, (tuple(cell for _, cell in cells.values()),), (note,))


def yes_no_table(counts: AnswerCounts) -> Table | None:
    """Return the table of yes/no questions; None if there are none. "yes" is the positive answer, as in POPE.

    Another answer than yes and no counts as wrong, and as no "yes".
    """
    if not counts:
        return None
    rights, givens = _totals(counts)
    n, hits, are_yes, said_yes = sum(rights.values()), counts.get((YES, YES), 0), rights[YES], givens[YES]
    return _row(
        "yes_no",
        "Yes/no questions",
        'yes ratio: share of answers "yes"; right ratio: share of questions whose right answer is "yes"',
        n=(COUNT, n),
        accuracy=(SHARE, share(hits + counts.get((NO, NO), 0), n)),
        precision=(SHARE, share(hits, said_yes)),
        recall=(SHARE, share(hits, are_yes)),
        F1=(SHARE, share(2 * hits, said_yes + are_yes)),
        yes_ratio=(SHARE, share(said_yes, n)),
        right_ratio=(SHARE, share(are_yes, n)),
        neither=(COUNT, n - said_yes - givens[NO]),
    )


def counting_table(counts: AnswerCounts) -> Table | None:
    """Return the table of counting questions; None if there are none.

    A question without a number as answer is wrong, and in no mean.
    """
    if not counts:
        return None
    errors = Counter[int]()
    for (right, given), number in counts.items():
        if _WHOLE_NUMBER.fullmatch(right) and _WHOLE_NUMBER.fullmatch(given):
            errors[int(given) - int(right)] += number
    n, numbers, near = sum(counts.values()), errors.total(), errors[1] + errors[-1]
    return _row(
        "counting",
        "Counting questions",
        "mean error: mean distance of the numbers given; bias: above 0 if too many are counted",
        n=(COUNT, n),
        exact=(SHARE, share(errors[0], n)),
        within_one=(SHARE, share(errors[0] + near, n)),
        off_by_one=(SHARE, share(near, n)),
        mean_error=(DECIMAL, share(sum(abs(error) * number for error, number in errors.items()), numbers)),
        bias=(DECIMAL, share(sum(error * number for error, number in errors.items()), numbers)),
        no_number=(COUNT, n - numbers),
    )


def confusion_table(counts: Mapping[str, AnswerCounts]) -> Table | None:
    """Return recall, precision and the most frequent confusion of each answer, by kind of answer.

    A kind with more than MOST_ANSWERS right answers is left out: it has no closed vocabulary.
    """
    listed = {kind: pairs for kind, pairs in counts.items() if len(_totals(pairs)[0]) <= MOST_ANSWERS}
    rows = tuple(row for kind, pairs in listed.items() for row in _confusions(kind, pairs))
    notes = tuple(
        f"left out: {kind} answers, of which there are more than {MOST_ANSWERS}"
        for kind, pairs in counts.items()
        if kind not in listed
    )
    names = columns(
        kind=forms.TEXT, answer=forms.TEXT, n=COUNT, recall=SHARE, given=COUNT, precision=SHARE,
        confused_with=forms.TEXT, times=COUNT,
    )  # fmt: skip
    return Table("answers", "Answers", names, rows, notes) if rows else None


def _confusions(kind: str, counts: AnswerCounts) -> Iterator[tuple[Cell, ...]]:
    rights, givens = _totals(counts)
    for answer, number in sorted(rights.items(), key=lambda item: (-item[1], item[0])):
        hits = counts.get((answer, answer), 0)
        wrong = {other: times for (right, other), times in counts.items() if right == answer and other != answer}
        most, times = min(wrong.items(), key=lambda item: (-item[1], item[0]), default=(None, None))
        confused = NO_ANSWER_SHOWN if most == NO_ANSWER else most
        yield kind, answer, number, hits / number, givens[answer], share(hits, givens[answer]), confused, times


def _totals(counts: AnswerCounts) -> tuple[Counter[str], Counter[str]]:
    """Return right answer -> questions, and given answer -> questions."""
    rights, givens = Counter[str](), Counter[str]()
    for (right, given), number in counts.items():
        rights[right] += number
        givens[given] += number
    return rights, givens


def share(part: float, whole: float) -> float | None:
    """Return a share; None of nothing."""
    return part / whole if whole else None


# Several answers ------------------------------------------------------------------------------------------------------


def pairs_table(items: Items, correct: Floats, kept: Flags) -> Table | None:
    """Return of how many balanced pairs both answers are right, by the category of the first; None without pairs.

    The two questions of a pair have one program about two scenes, and their answers differ. A model that guesses from
    the words alone answers both alike, so it is right once.
    """
    places = np.flatnonzero(kept & (items.fields[PAIR].codes != NONE))
    numbers = items.fields[PAIR].codes[places]
    _, first, pair_of, sizes = np.unique(numbers, return_index=True, return_inverse=True, return_counts=True)
    rights = np.bincount(pair_of, weights=correct[places] >= 1).astype(int)[sizes == 2]
    if not len(rights):
        return None
    rows = [_pair_row(OVERALL, rights)]
    category = items.first_column(("category", "rule_class"))
    if category is not None:
        codes = category.codes[places[first[sizes == 2]]]
        for code, name in sorted(enumerate(map(str, category.values)), key=lambda numbered: numbered[1]):
            rows += [_pair_row(name, rights[codes == code])] if (codes == code).any() else []
    parted = int(sizes[sizes != 2].sum())
    names = columns(
        group=forms.TEXT, pairs=COUNT, both=COUNT, one=COUNT, none=COUNT, both_right=SHARE, low=SHARE, high=SHARE
    )
    notes = (f"{counted(parted, 'question')} without partner",) if parted else ()
    return Table(PAIRS, "Pairs of which both are right", names, tuple(rows), notes)


def _pair_row(name: str, rights: Any) -> tuple[Cell, ...]:
    """Return the row of pairs, given the number of right answers of each."""
    none, one, both = np.bincount(rights, minlength=3).tolist()
    return name, len(rights), both, one, none, both / len(rights), *wilson(both, len(rights))


def dialogs_table(items: Items, correct: Floats, is_counted: Flags) -> Table | None:
    """Return how many dialogs are right, and how errors propagate from round to round; None without dialogs."""
    kept = np.flatnonzero(is_counted)
    if not len(kept):
        return None
    dialogs = Column.of(items.ids[at].rpartition("/")[0] for at in kept.tolist()).codes
    is_right = correct[kept] >= 1
    wrong = (~is_right).astype(np.int64)
    starts, errors = np.unique(dialogs, return_index=True)[1], np.cumsum(wrong)
    errors -= (errors - wrong)[starts][dialogs]  # now those of the dialog itself, from its first round to this one
    count = len(starts)
    follows = np.flatnonzero(dialogs[1:] == dialogs[:-1]) + 1
    after = [is_right[follows][is_right[follows - 1] == before] for before in (True, False)]
    (right, after_right), (wrong_before, after_wrong) = ((int(flags.sum()), len(flags)) for flags in after)
    return _row(
        "dialogs",
        "Dialogs",
        "right prefix: mean rounds before the first wrong one; after right/wrong: accuracy by the previous round",
        dialogs=(COUNT, count),
        all_right=(SHARE, share(int((np.bincount(dialogs, weights=wrong) == 0).sum()), count)),
        right_prefix=(DECIMAL, share(int((errors == 0).sum()), count)),
        after_right=(SHARE, share(right, after_right)),
        n_after_right=(COUNT, after_right),
        after_wrong=(SHARE, share(wrong_before, after_wrong)),
        n_after_wrong=(COUNT, after_wrong),
    )


# Trials ---------------------------------------------------------------------------------------------------------------
#
# Control and test trials differ in whether the director's view matters. A model that overlooks the view is right in
# control trials alone, so the gap is the cost of taking a perspective.


def gap_table(types: Sequence[tuple[str, int, float]]) -> Table | None:
    """Return the accuracies of control and test trials and their gap; None without trials of both types.

    Types are given with their trials and the number of right answers.

    Tests from "your point of view" are a type of their own, which is shown and does not count for the gap. The interval
    is Newcombe's hybrid score interval, by method 10 of his Interval estimation for the difference between independent
    proportions (1998).
    """
    shares = {name: (n, correct / n, *wilson(correct, n)) for name, n, correct in types}
    if CONTROL not in shares or TEST not in shares:
        return None
    (one, first, low, high), (two, second, least, most) = shares[CONTROL], shares[TEST]
    difference = first - second
    bounds = difference - hypot(first - low, most - second), difference + hypot(high - first, second - least)
    rows = [(name, *cells) for name, cells in shares.items()]
    names = columns(trials=forms.TEXT, n=COUNT, accuracy=SHARE, low=SHARE, high=SHARE)
    note = "gap: control minus test; above 0 if the director's view is overlooked"
    return Table("gap", "Perspective-taking gap", names, (*rows, ("gap", one + two, difference, *bounds)), (note,))


def mistakes_table(items: Items, kept: Flags) -> Table | None:
    """Return the kinds of answers by type of trial, of trials that come with their items; None of others."""
    if items.outcomes is None:
        return None
    given, kinds = items.fields[GIVEN], task_named(items.kind).answer_kinds
    answered = crossed([items.outcomes, Column(given.codes + 1, (None, *given.values))]).map(
        lambda row: NO_ANSWER_KIND if row[1] is None else dict(row[0]).get(row[1], kinds[-1])
    )
    counts = counts_of_rows([items.fields[TYPE], answered], kept)
    names = sorted({type for type, _ in counts})
    totals = {name: sum(number for (type, _), number in counts.items() if type == name) for name in names}
    rows: list[tuple[Cell, ...]] = []
    for kind in (*kinds, NO_ANSWER_KIND):
        own = {name: counts.get((name, kind), 0) for name in names}
        if any(own.values()):
            rows.append((kind, *own.values(), *(own[name] / totals[name] for name in names)))
    by_type = {f"{name}_n": COUNT for name in names} | {f"{name}_share": SHARE for name in names}
    note = "egocentric: right for someone who overlooks what the director cannot see; foil: lacks one adjective"
    shown = columns(answer=forms.TEXT, **by_type)
    return Table("mistakes", "Kinds of answers", shown, tuple(rows), (note,)) if rows else None
