"""Balance of answers: which answers of a template are wanted next in a window, and what may be said for them.

The reference's rule is that an answer is accepted while its count is at most 1.1 times the second largest count of all
answers (itself included) and at most 5 * max(median count, 5) (clevr-dataset-gen, `generate_questions.py`). The two
leading answers so run neck and neck, and the others follow as they come.

Balanced by words, answers are also as common whatever the phrases next to the answer say: how many words, and which
attributes. There the answer is asked first. Of yes and no one is drawn, the rarer one more often, and looked for until
it is found; for each number it is known which sets of attributes may be said with it. Refused one by one, half of all
that is found would be thrown away.
"""

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from random import Random

from vqagen.language.catalogue import Value
from vqagen.language.template import Template
from vqagen.rng import below
from vqagen.search.plan import Plan
from vqagen.search.space import ANY_SET
from vqagen.search.state import Balance

INTEGERS = range(11)
"""The integers every count starts with. Those up to the largest scene met join, and any other when it first occurs."""
REACHABLE = 0.4
"""Share of the second most frequent answer that a third must have by itself before it counts as level with the two."""

PATIENCE = 3
"""Scenes in which a family finds no question of an answer that a coin wants first, before it does without coins."""
_NONE: frozenset[Value] = frozenset()


class AnswerCounts:
    """Counts of the answers that questions of one kind had in one window, and the answers that are refused now.

    An example with five values, of which two run neck and neck. After one red the counts are 1, 0, 0, 0, 0: red is
    refused, as 1 > 1.1 × 0, the second largest count. After one blue they are 1, 1, 0, 0, 0, and either may come again.
    At 11, 10, 0, 0, 0 the leader may still come (11 ≤ 1.1 × 10), at 12 it may not. At 26, 26, 0, 0, 0 both are refused:
    the median is 0, so that none may have come more than 5 × 5 times until the others come up.
    """

    def __init__(self, known: Sequence[Value], leading: int = 2, coins: Random | None = None) -> None:
        """`known`: the answers that are known beforehand, a range for numbers; `leading` of them run neck and neck.

        `coins`: each count starts at 0 or 1, by a draw. Where all start at 0, the answer that scenes have more often
        comes first and the other one second, and so on: its place among questions of its kind tells the answer. Numbers
        start at 0: one that no scene has would seem level with those that are given, and keep these from being given.
        """
        self._is_integer = isinstance(known, range)
        self._leading, self._coins = leading, None if self._is_integer else coins
        self._counts: dict[Value, int] = {}
        self._ascending: list[int] = []
        """The counts in ascending order."""
        for answer in known:
            self._know(answer)
        self.refused = self._too_common()

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
            count = below(self._coins, 2) if self._coins else 0
            self._counts[answer] = count
            insort(self._ascending, count)

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
        # Three lead, counts 0 1 9 10 10: the third, 9, is level with the second, 10, so the limit is 9.9 and both tens
        # are refused. Counts 0 1 3 10 10: the third is rare, so the limit is 11 and nothing is refused.
        second, third = counts[-2], counts[-self._leading]
        level = third if third > second * REACHABLE else second
        limit, most = 1.1 * level, 5 * (median if median > 5 else 5.0)
        if most < limit:
            limit = most
        if counts[-1] <= limit:
            return _NONE
        return frozenset([answer for answer, count in self._counts.items() if count > limit])


class FamilyBalance(Balance):
    """The balance of one template in one window."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def meet(self, size: int) -> None:
        """Take note of a scene of so many objects: how far there is to count."""

    def add(self, answer: Value, said: Sequence[int]) -> None:
        """Count an answer that was given."""
        raise NotImplementedError

    def fail(self) -> None:
        """Take note of a scene that has no question that is wanted."""

    def is_hopeless(self, impossible: frozenset[Value]) -> bool:
        """True if nothing is wanted that may be had; `impossible`: answers that no scene can have."""
        return False

    def used(self, answer: Value, said: Sequence[int]) -> int:
        """Return how often an answer was given, summed over all that is balanced."""
        return 0


class AnswerBalance(FamilyBalance):
    """The reference's rule; with measures, it holds too among questions that say as much.

    A question with more words in its last phrase is about fewer objects, and one that names a shape about other ones
    than one that names a color: words alone would tell much of the answer.
    """

    def __init__(self, plan: Plan, balance: str, coins: Random | None = None) -> None:
        """`balance`: that of the settings. `coins`: what counts start by; None if they start at 0."""
        super().__init__(plan)
        self._known, self._coins = known_answers(plan.template), coins
        self.measures = measures_of(plan, balance)
        self._leading = 3 if balance != "answers" and plan.template.answer_type == "Integer" else 2
        self._overall = AnswerCounts(self._known, self._leading, coins)
        self._worded: dict[tuple[int, int], AnswerCounts] = {}
        """(number of a measure, what it is) -> counts."""
        self._size = self._failed = self._given = 0
        self.is_worded = self.measures > 0
        self.refused = self._overall.refused

    def meet(self, size: int) -> None:
        """Add the counts up to `size` to the known answers."""
        self._size = size
        for counts in (self._overall, *self._worded.values()):
            counts.meet(size)

    def refuses(self, answer: Value, said: Sequence[int]) -> bool:
        """True if an answer is too common, among all questions or among those that are like it in some measure."""
        return answer in self.refused or any(answer in counts.refused for counts in self._of(said))

    def used(self, answer: Value, said: Sequence[int]) -> int:
        """Return how often an answer was given, summed over the measures."""
        return sum([counts.count(answer) for counts in self._of(said) or [self._overall]])

    def add(self, answer: Value, said: Sequence[int]) -> None:
        """Count an answer that was given."""
        self._given += 1
        for counts in (self._overall, *self._of(said)):
            counts.add(answer)
        self.refused = self._overall.refused

    def is_hopeless(self, impossible: frozenset[Value]) -> bool:
        """True if no answer is left: each is refused or impossible."""
        return self._overall.all_refused(impossible)

    def fail(self) -> None:
        """Count a scene without a question because answers were refused; a family that has none yet loses its coins.

        Where scenes hardly ever have one of two answers, and a coin wants that one first, the family would starve.
        """
        self._failed += 1
        if self._failed == PATIENCE and self._coins and not self._given:
            self._coins = None
            self._overall = AnswerCounts(self._known, self._leading)
            self._worded = {}
            self.meet(self._size)
            self.refused = self._overall.refused

    def _of(self, said: Sequence[int]) -> list[AnswerCounts]:
        found = []
        for key in enumerate(measured(said, self.plan.template.answer_type)[: self.measures]):
            if key not in self._worded:
                self._worded[key] = AnswerCounts(self._known, self._leading, self._coins)
                self._worded[key].meet(self._size)
            found.append(self._worded[key])
        return found


def measures_of(plan: Plan, balance: str) -> int:
    """Return by how many measures questions are compared: how many words they say next to the answer, and which.

    The two of a pair say the same words. Answers that are values hang on none of this.
    """
    if balance == "answers" or (balance == "words" and plan.template.answer_type not in ("Bool", "Integer")):
        return 0
    return min(len(plan.phrases), 1) if balance == "pairs" else 1 + len(plan.phrases) if plan.phrases else 0


def measured(said: Sequence[int], answer_type: str) -> tuple[int, ...]:
    """Return what a question is balanced by: how many words its phrases say, and which attributes each of them says.

    Of two phrases that are compared, how many words more the first says. All attributes together would be too much: two
    phrases of four attributes have 256 sets, of which few come twice in a window.
    """
    words = [each.bit_count() for each in said]
    return (words[0] - words[1] if answer_type == "Bool" and len(words) == 2 else sum(words), *said)


class _Told:
    """Questions that say the same: how far ahead yes is of no among them, by a coin's start of -1, 0 or 1."""

    __slots__ = ("ahead",)

    def __init__(self, coins: Random) -> None:
        self.ahead = below(coins, 2) - below(coins, 2)


LEAN = 0.1
"""How much less likely yes is drawn for each question by which it is ahead in its family."""


class YesNoBalance(FamilyBalance):
    """Yes or no is drawn beforehand and wanted until it is given; words are wanted with which it is not ahead.

    After three yes in a row, "no" is wanted with a probability of .8. If the answer is to be no, and the family asks
    whether there are more of one than of the other, the first phrase may say the sets of attributes that had not two
    more no than yes, and so the second one, and the difference of their numbers of words.

    A want that scenes do not meet is kept, or it would lean to what scenes have; instead each scene without a question
    lets answers be ahead by one more.
    """

    is_worded = True

    def __init__(self, plan: Plan, coins: Random) -> None:
        super().__init__(plan)
        self._coins = coins
        vocabularies = [plan.described_at(op).vocabulary for op in plan.phrases]
        self._sets = [{said: _Told(coins) for said in each.sets} for each in vocabularies]
        self._of_length = [_by_length(each.sets) for each in vocabularies]
        longest = [each.longest for each in vocabularies]
        numbers = range(-longest[1], longest[0] + 1) if len(longest) == 2 else range(longest[0] + 1)
        self._words = {number: _Told(coins) for number in numbers}
        """Number of words, of two phrases how many more in the first -> what those questions were answered."""
        self._last: dict[int, int] = {}
        """How many words the first phrase says (0 where there is one phrase) -> sets that the last one may say."""
        self._ahead = self._failed = self._given = self._slack = 0
        self._draw()

    def _draw(self) -> None:
        self._wanted = self._coins.random() < min(0.9, max(0.1, 0.5 - LEAN * self._ahead))
        self._slack = 0
        self._renew()

    def _renew(self) -> None:
        """Work out which sets of attributes may be said."""
        self.refused = frozenset([not self._wanted])
        slack, sign = self._slack, 1 if self._wanted else -1
        open_sets = [
            sum([1 << said for said, told in sets.items() if sign * told.ahead <= slack]) for sets in self._sets
        ]
        open_words = [number for number, told in self._words.items() if sign * told.ahead <= slack]
        last = self._of_length[-1]
        if len(self._sets) == 1:
            self._first = self._last[0] = open_sets[0] & sum([last[number] for number in open_words])
            return
        self._first = 0
        for number, sets in enumerate(self._of_length[0]):
            fitting = [last[number - more] for more in open_words if 0 <= number - more < len(last)]
            self._last[number] = open_sets[1] & sum(fitting)
            if self._last[number]:
                self._first |= open_sets[0] & sets

    def sets(self, said: Sequence[int]) -> int:
        """Return the sets of attributes that the next phrase may say."""
        return self._last[said[0].bit_count()] if said else self._first

    def memory(self, said: Sequence[int]) -> object:
        """Return what of the first phrase decides about the second."""
        return said[0].bit_count()

    def is_hopeless(self, impossible: frozenset[Value]) -> bool:
        """True if nothing may be said for the wanted answer. One that is impossible is not wanted."""
        if self._wanted in impossible:
            self._wanted = not self._wanted
            self._renew()
        return not self._first

    def add(self, answer: Value, said: Sequence[int]) -> None:
        """Count an answer that was given, and draw the next."""
        step = 1 if answer else -1
        self._given += 1
        self._ahead += step
        for sets, each in zip(self._sets, said, strict=True):
            sets[each].ahead += step
        self._words[measured(said, "Bool")[0]].ahead += step
        self._draw()

    def fail(self) -> None:
        """Be less strict in the next scene; a family without any question tries the other answer now and then."""
        self._failed += 1
        self._slack += 1
        if self._failed % PATIENCE == 0 and not self._given:
            self._wanted, self._slack = not self._wanted, 0
        self._renew()


SLACKS = (0.0, 0.5, 1.0, float("inf"))
"""By how many questions a number may be ahead among those that say the same; the next one after a scene that fails."""
PRIOR = (0.24, 0.24, 0.2, 0.13, 0.08, 0.05, 0.03, 0.015, 0.01, 0.004, 0.001)
"""How common the numbers are before any is counted, over the shipped templates."""
PRIOR_WEIGHT = 3.0
"""Questions that the prior counts for, among the numbers that a family has been seen to give."""


class _Counted:
    """Questions that say the same: how often each number was the answer, and by how much it starts ahead."""

    __slots__ = ("counts", "starts", "total")

    def __init__(self, coins: Random) -> None:
        self.counts = [0] * len(INTEGERS)
        self.total = 0
        self.starts = [coins.random() - 0.5 for _ in INTEGERS]


class NumberBalance(FamilyBalance):
    """Numbers are as common whatever is said: for each it is known which sets of attributes may be said.

    An example: a third of a family's answers is 2, and of the six that name a color three are 2, where two were as
    many as elsewhere. Then 2 is ahead by one: it is not wanted of questions that name a color, until others came, and
    `sets_by_number` has no set with a color for it. A start between -.5 and .5, drawn for each number, hides the order.
    Over all, the reference's rule holds, with three leading answers.
    """

    is_worded = True

    def __init__(self, plan: Plan, coins: Random) -> None:
        super().__init__(plan)
        self._coins = coins
        self._overall = AnswerCounts(INTEGERS, 3)
        self.refused = self._overall.refused
        nodes = [plan.described_at(op) for op in plan.phrases]
        of_words = range(sum([node.vocabulary.longest for node in nodes]) + 1)
        of_sets = [node.vocabulary.sets for node in nodes]
        self._measured = [{key: _Counted(coins) for key in keys} for keys in (of_words, *of_sets)]
        """Measure -> what is said -> counts: the number of words of all phrases, then the set that each says."""
        self._of_length = [_by_length(each) for each in of_sets]
        allowed = [[said for said, is_allowed in node.openness.items() if is_allowed] for node in nodes]
        lengths = {0}
        for each in allowed:
            lengths = {length + said.bit_count() for length in lengths for said in each}
        self._tells = [len(each) > 1 for each in (lengths, *allowed)]
        """Measures that are the same for all questions of the family tell nothing."""
        self._total = self._level = 0
        self._shares = [0.0 for _ in INTEGERS]
        self._open = [[0 for _ in INTEGERS] for _ in self._measured]
        """Measure -> number -> what may be said, as bits."""
        self._after: dict[tuple[int, ...], list[int]] = {}
        self._sets: dict[tuple[int, ...], int] = {}
        self._set_level(0)

    def meet(self, size: int) -> None:
        """Add the counts up to `size` to the known answers."""
        self._overall.meet(size)
        self.refused = self._overall.refused
        self._after.clear()
        self._sets.clear()

    def _share(self) -> None:
        """Work out which share of the family's answers each number has; of one that was never given, none."""
        counts = [self._overall.count(number) for number in INTEGERS]
        seen = sum([PRIOR[number] for number in INTEGERS if counts[number]]) or 1.0
        total = self._total + PRIOR_WEIGHT
        self._shares = [
            (count + PRIOR_WEIGHT * PRIOR[number] / seen) / total if count else 0.0
            for number, count in enumerate(counts)
        ]

    def _update(self, measure: int, key: int) -> None:
        """Note of which numbers there are not too many among the questions that say this."""
        counted, bit, slack, opened = self._measured[measure][key], 1 << key, SLACKS[self._level], self._open[measure]
        total, starts, shares = counted.total, counted.starts, self._shares
        for number, count in enumerate(counted.counts):
            if not self._tells[measure] or count - total * shares[number] - starts[number] <= slack:
                opened[number] |= bit
            else:
                opened[number] &= ~bit

    def sets_by_number(self, said: Sequence[int]) -> Sequence[int]:
        """Return number -> the sets that the last phrase may say; no number beyond these is refused."""
        key = tuple(said)
        sets = self._after.get(key)
        if sets is None:
            words, *phrases = self._open
            before = sum([each.bit_count() for each in said])
            sets = self._after[key] = [0 for _ in INTEGERS]
            for number in INTEGERS:
                if number not in self.refused and (not said or phrases[0][number] >> said[0] & 1):
                    fitting = phrases[-1][number]
                    for length, of_length in enumerate(self._of_length[-1], before):
                        if not words[number] >> length & 1:
                            fitting &= ~of_length
                    sets[number] = fitting
        return sets

    def sets(self, said: Sequence[int]) -> int:
        """Return the sets of attributes that the next phrase may say, with a number that was given before if possible.

        A number that was never given is open for many words, but hardly any scene has it.
        """
        key = tuple(said)
        sets = self._sets.get(key)
        if sets is None:
            if len(said) + 2 == len(self._open):
                by_number = self.sets_by_number(said)
            else:
                both = zip(*self._open[1:], strict=True)
                by_number = [0 if number in self.refused or not last else first for number, (first, last) in enumerate(both)]
            sets = _union([each for number, each in enumerate(by_number) if self._overall.count(number)])
            sets = self._sets[key] = sets or _union(by_number)
        return sets

    def memory(self, said: Sequence[int]) -> object:
        """Return what of the first phrase decides about the second."""
        return said[0]

    def refuses(self, answer: Value, said: Sequence[int]) -> bool:
        """True if a number is too common, among all questions or among those that say as much."""
        if answer in self.refused:
            return True
        keys = measured(said, "Integer")
        return answer < len(INTEGERS) and any(
            not sets[answer] >> key & 1 for sets, key in zip(self._open, keys, strict=True)
        )

    def is_hopeless(self, impossible: frozenset[Value]) -> bool:
        """True if nothing may be said for any number."""
        return not self.sets(())

    def add(self, answer: Value, said: Sequence[int]) -> None:
        """Count an answer that was given."""
        self._overall.add(answer)
        self._total += 1
        self._share()
        keys = [*enumerate(measured(said, "Integer"))]
        for measure, key in keys if answer < len(INTEGERS) else ():
            counted = self._measured[measure][key]
            counted.counts[answer] += 1
            counted.total += 1
            counted.starts[answer] = self._coins.random() - 0.5
        self._set_level(0, keys)

    def fail(self) -> None:
        """Be less strict in the next scene."""
        self._set_level(min(self._level + 1, len(SLACKS) - 1))

    def _set_level(self, level: int, changed: Sequence[tuple[int, int]] = ()) -> None:
        """Work out what may be said; of a level that is as before only what has `changed`."""
        if level != self._level or not changed:
            changed = [(measure, key) for measure, keys in enumerate(self._measured) for key in keys]
        self._level, self.refused = level, self._overall.refused
        self._after.clear()
        self._sets.clear()
        for measure, key in changed:
            self._update(measure, key)


def _union(sets: Iterable[int]) -> int:
    union = 0
    for each in sets:
        union |= each
    return union


def _by_length(sets: Sequence[int]) -> list[int]:
    """Return number of words -> the sets of so many attributes, as bits."""
    found = [0] * (1 + max(each.bit_count() for each in sets))
    for each in sets:
        found[each.bit_count()] |= 1 << each
    return found


def balance_of(plan: Plan, balance: str, coins: Random | None, takes_all: bool) -> FamilyBalance:
    """Return what balances the answers of a template in a window; see the classes.

    `takes_all`: all questions of a template about a scene are asked, so that none is asked for first.
    """
    if balance == "words" and coins is not None and not takes_all and 1 <= len(plan.phrases) <= 2:
        if plan.template.answer_type == "Bool":
            return YesNoBalance(plan, coins)
        if plan.template.answer_type == "Integer":
            return NumberBalance(plan, coins)
    return AnswerBalance(plan, balance, coins)


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
