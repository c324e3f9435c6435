"""Balance of answers: which are too common to be given again, per window and template.

The rule is the reference's: an answer is accepted while its count is at most 1.1 times the second largest count of all
answers (itself included) and at most 5 times the median count or 5, whichever is more (clevr-dataset-gen,
`generate_questions.py`). The two leading answers so run neck and neck, and the others follow as they come.

Balanced by words, the rule holds among questions that say as much, and three counts run neck and neck where the third
is not rare: over the shipped templates the commonest count of a family is the answer of 30 % of its questions, and of
39 % by the reference's rule (`scripts/bench balance`). With four, families that seldom count to three would starve;
of pairs, which choose the second answer, four stay level, and with five such families would starve.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from vqagen.language.registry import Value
from vqagen.language.template import Template
from vqagen.search.description import Description
from vqagen.search.filling import Filling
from vqagen.search.frame import Pick
from vqagen.search.plan import Op, Plan

INTEGERS = range(11)
"""The integers every count starts with. Those up to the largest scene met join, and any other when it first occurs."""
REACHABLE = 0.4
"""Share of the second most frequent answer that a third or fourth must have by itself before it counts as level."""

_NONE: frozenset[Value] = frozenset()


class AnswerCounts:
    """Counts of the answers that questions of one kind had in one window, and the answers that are refused now."""

    def __init__(self, known: Sequence[Value], leading: int = 2) -> None:
        """`known`: the answers that are known beforehand, a range for numbers; `leading` of them run neck and neck."""
        self._leading = leading
        self._is_integer = isinstance(known, range)
        self._counts: dict[Value, int] = dict.fromkeys(known, 0)
        self._ascending = [0] * len(self._counts)
        """The counts in ascending order."""
        self.refused = _NONE

    def meet(self, size: int) -> None:
        """Add the counts up to `size` to the known answers: a scene has so many objects."""
        if self._is_integer:
            for number in range(len(INTEGERS), size + 1):
                self._know(number)

    def add(self, answer: Value) -> None:
        """Count an answer that was given."""
        self._know(answer)
        count = self._counts[answer]
        self._counts[answer] = self._ascending[bisect_right(self._ascending, count) - 1] = count + 1
        self.refused = self._too_common()

    def _know(self, answer: Value) -> None:
        if answer not in self._counts:
            self._counts[answer] = 0
            self._ascending.insert(0, 0)

    def count(self, answer: Value) -> int:
        """Return how often an answer was given."""
        return self._counts.get(answer, 0)

    def all_refused(self, impossible: frozenset[Value]) -> bool:
        """True if no answer is left: each is refused or impossible."""
        return bool(impossible) and all(each in self.refused or each in impossible for each in self._counts)

    def _too_common(self) -> frozenset[Value]:
        counts = self._ascending
        if len(counts) < 2:
            return _NONE
        middle = len(counts) // 2
        median = float(counts[middle]) if len(counts) % 2 else (counts[middle - 1] + counts[middle]) / 2
        second = counts[-2]
        level = next(count for count in counts[-self._leading :] if count > second * REACHABLE or count == second)
        limit, most = 1.1 * level, 5 * (median if median > 5 else 5.0)
        if most < limit:
            limit = most
        if counts[-1] <= limit:
            return _NONE
        return frozenset([answer for answer, count in self._counts.items() if count > limit])


class Counts:
    """The `AnswerCounts` of one template in one window, overall and, if asked for, by how much the question says.

    A question with more words in its last phrase is about fewer objects, so that its words alone would tell much of
    the answer.
    """

    def __init__(self, plan: Plan, by_words: bool, leading: int = 3) -> None:
        """`leading`: how many numbers run neck and neck among questions that say as much."""
        self._known = known_answers(plan.template)
        self._measure = make_measure(plan) if by_words else None
        self._leading = leading if by_words and plan.template.answer_type == "Integer" else 2
        self._overall = AnswerCounts(self._known, self._leading)
        self._worded: dict[int, AnswerCounts] = {}
        self._last: tuple[Filling | None, AnswerCounts] = (None, self._overall)
        """The filling that was asked about last, and the counts of questions that say as much."""
        self._size = 0

    @property
    def refused(self) -> frozenset[Value]:
        """The answers that are refused whatever the question says."""
        return self._overall.refused

    def meet(self, size: int) -> None:
        """Add the counts up to `size` to the known answers."""
        self._size = size
        for counts in (self._overall, *self._worded.values()):
            counts.meet(size)

    def refuses(self, filling: Filling) -> bool:
        """True if an answer is too common among questions that say as much."""
        return filling.answer in self._of(filling).refused

    def used(self, filling: Filling, answer: Value) -> int:
        """Return how often an answer was given to questions that say as much."""
        return self._of(filling).count(answer)

    def add(self, filling: Filling) -> None:
        """Count an answer that was given."""
        self._overall.add(filling.answer)
        if self._measure:
            self._of(filling).add(filling.answer)

    def all_refused(self, impossible: frozenset[Value]) -> bool:
        """True if no answer is left: each is refused or impossible."""
        return self._overall.all_refused(impossible)

    def _of(self, filling: Filling) -> AnswerCounts:
        if self._measure is None:
            return self._overall
        if filling is not self._last[0]:
            measure = self._measure(filling)
            if measure not in self._worded:
                self._worded[measure] = AnswerCounts(self._known, self._leading)
                self._worded[measure].meet(self._size)
            self._last = (filling, self._worded[measure])
        return self._last[1]


def make_measure(plan: Plan) -> Callable[[Filling], int]:
    """Return how many words the phrases next to the answer say; of two that are compared, how many more the first."""
    phrases = _last_descriptions(plan)
    sign = -1 if plan.template.answer_type == "Bool" and len(phrases) == 2 else 1
    signs = [(1 if place == 0 else sign, plan.ops[i]) for place, i in enumerate(phrases)]
    return lambda filling: sum(sign * _words_said(op, filling.picked[op.index]) for sign, op in signs)


def _last_descriptions(plan: Plan) -> list[int]:
    """Return the descriptions from which the answer follows without a further one."""
    found, next_to = [], [len(plan.ops) - 1]
    for at in range(len(plan.ops) - 1, -1, -1):
        if at in next_to:
            if isinstance(plan.ops[at].does, Description):
                found.append(at)
            else:
                next_to += plan.ops[at].inputs
    return found[::-1]


def _words_said(op: Op, pick: Pick) -> int:
    assert isinstance(op.does, Description)
    return op.does.vocabulary.said(pick[1]).used.bit_count()


def known_answers(template: Template) -> Sequence[Value]:
    """Return the answers of a template that are known beforehand; lists are added when they first occur."""
    domain, kind = template.catalogue.domain, template.answer_type
    if kind == "Bool":
        return (True, False)
    if kind == "Integer":
        return INTEGERS
    attribute = domain.attribute_of(kind)
    if attribute is None:
        return domain.values_of(kind)
    return () if attribute.multi else attribute.leaves
