"""Balance by words: what a template is asked for next, before it is searched for.

Yes and no, and numbers, are as common whatever the phrases next to the answer say: how many words, and which
attributes. Were all that does not fit refused once it is found, half of it would be thrown away. So the answer is asked
first: of yes and no one is drawn, the rarer one more often, and looked for until it is found; for each number it is
known which sets of attributes may be said with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from vqagen.bits import union, union_of
from vqagen.language.catalogue import Value
from vqagen.language.template import PLACE
from vqagen.rng import below
from vqagen.search.balance import (
    INTEGERS,
    PATIENCE,
    SLACK_BY_WORDS,
    AnswerCounts,
    CountedBalance,
    FamilyBalance,
    measured,
)
from vqagen.search.places import PlaceBalance
from vqagen.search.plan import Plan

LEAN = 0.05
"""How much less likely yes is drawn for each question by which it is ahead in its family."""


class YesNoBalance(FamilyBalance):
    """Yes or no is drawn beforehand and wanted until it is given; words are wanted with which it is not ahead.

    After three yes in a row, "no" is wanted with a probability of .65. If the answer is to be no, and the family asks
    whether there are more of one than of the other, the first phrase may say the sets of attributes that had no more no
    than yes, and so the second one, and the difference of their numbers of words. Each starts at -1, 0 or 1, by coins.

    A want that scenes do not meet is kept, or it would lean to what scenes have; instead each scene without a question
    lets answers be ahead by one more.
    """

    is_worded = True

    def __init__(self, plan: Plan, coins: Random) -> None:
        super().__init__(plan)
        self._coins = coins
        vocabularies = [plan.described_at(op).vocabulary for op in plan.phrases]
        longest = [each.longest for each in vocabularies]
        self._longest = longest[0] if len(longest) == 2 else 0
        words = range(longest[-1] + self._longest + 1)
        self._ahead = [
            {key: below(coins, 2) - below(coins, 2) for key in keys}
            for keys in (words, *[each.sets for each in vocabularies])
        ]
        """Measure -> what is said -> how many more yes than no. Measures are the number of words, of two phrases how
        many more the last one says (plus `_longest`, so that it starts at 0), and the set that each phrase says."""
        self._open = {answer: [self._not_ahead(answer, 0, keys) for keys in self._ahead] for answer in (True, False)}
        """Answer -> for each measure what it is not ahead of, as bits."""
        self._of_length = _by_length(vocabularies[0].sets)
        self._of_lengths = sets_of_lengths(vocabularies[-1].sets)
        self._last = [0] * (longest[0] + 1)
        """How many words the first phrase says (0 where there is one phrase) -> sets that the last one may say."""
        self._first = self._ahead_of_all = self._failed = self._given = self._slack = 0
        self._draw()

    @staticmethod
    def _not_ahead(answer: bool, slack: int, keys: Mapping[int, int]) -> int:
        sign = 1 if answer else -1
        return union_of([key for key, ahead in keys.items() if sign * ahead <= slack])

    def _draw(self) -> None:
        self._wanted = self._coins.random() < min(0.9, max(0.1, 0.5 - LEAN * self._ahead_of_all))
        self._slack = 0
        self._renew()

    def _renew(self) -> None:
        """Work out which sets of attributes may be said."""
        self.refused = frozenset([not self._wanted])
        opened = self._open[self._wanted]
        if self._slack:
            opened = [self._not_ahead(self._wanted, self._slack, keys) for keys in self._ahead]
        lengths, first, last = opened[0], opened[1], opened[-1]
        if len(opened) == 2:
            self._first = first & self._of_lengths[lengths]
            self._last[0] = self._first
            return
        self._first = 0
        every = len(self._of_lengths) - 1
        for number, sets in enumerate(self._of_length):
            self._last[number] = last & self._of_lengths[lengths >> self._longest - number & every]
            if self._last[number]:
                self._first |= first & sets

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
        self._ahead_of_all += step
        words = measured(said, "Bool")[0]
        if self._longest:
            words = self._longest - words
        for measure, key in enumerate((words, *said)):
            ahead = self._ahead[measure][key] = self._ahead[measure][key] + step
            for is_yes, opened in self._open.items():
                opened[measure] &= ~(1 << key)
                if (ahead if is_yes else -ahead) <= 0:
                    opened[measure] |= 1 << key
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
STEADY = ("mark", "relate_across", "relate_facing", "times_as_far")
"""Functions of the families whose numbers are steady (see `AnswerCounts`): by a point of view, and of marked sets."""
STEADY_SLACK = 15.0
"""By how much more a number of these may lead, at most. Of 40,000 questions, the answer before tells .019 more than
the majority for sets, and .011 from a point of view. More slack makes the most frequent number more frequent."""
PRIOR_WEIGHT = 3.0
"""Questions that the prior counts for, among the numbers that a family has been seen to give."""


class _Counted:
    """Questions that say the same: how often each number was the answer, if ever, and by how much it starts ahead."""

    __slots__ = ("counts", "starts", "total")

    def __init__(self, coins: Random) -> None:
        self.counts: dict[int, int] = {}
        self.total = 0
        self.starts = [coins.random() - 0.5 for _ in INTEGERS]

    def add(self, number: int, coins: Random) -> None:
        """Count a number, and draw by how much it is ahead from now on."""
        self.counts[number] = self.counts.get(number, 0) + 1
        self.total += 1
        self.starts[number] = coins.random() - 0.5


class NumberBalance(FamilyBalance):
    """Numbers are as common whatever is said: for each it is known which sets of attributes may be said.

    An example: a third of a family's answers is 2, and of the six that name a color three are 2, where two were as
    many as elsewhere. Then 2 is ahead by one: it is not wanted of questions that name a color, until others came, and
    `sets_by_number` has no set with a color for it. A start between -.5 and .5, drawn for each number, hides the order.
    Over all, the reference's rule holds, with three leading answers and some slack. Of a set to be marked, numbers are
    as common whatever relations the question says, too; no option is chosen by that, but a whole filling is refused.
    """

    is_worded = True

    def __init__(self, plan: Plan, coins: Random) -> None:
        super().__init__(plan)
        self._coins = coins
        is_steady = any(op.function in STEADY for op in plan.ops)
        slack = STEADY_SLACK if is_steady else SLACK_BY_WORDS
        self._overall = AnswerCounts(INTEGERS, 3, coins, slack, is_steady)
        self.refused = self._overall.refused
        nodes = [plan.described_at(op) for op in plan.phrases]
        of_words = range(sum([node.vocabulary.longest for node in nodes]) + 1)
        of_sets = [node.vocabulary.sets for node in nodes]
        self._measured = [{key: _Counted(coins) for key in keys} for keys in (of_words, *of_sets)]
        """Measure -> what is said -> counts: the number of words of all phrases, then the set that each says."""
        self._related: dict[tuple[int, ...], _Counted] = {}
        """The relations that are said -> counts; see `Plan.said`."""
        self._of_lengths = sets_of_lengths(of_sets[-1])
        self._lengths = len(self._of_lengths) - 1
        allowed = [[said for said, is_allowed in node.openness.items() if is_allowed] for node in nodes]
        lengths = {0}
        for each in allowed:
            lengths = {length + said.bit_count() for length in lengths for said in each}
        self._tells = [len(each) > 1 for each in (lengths, *allowed)]
        """Measures that are the same for all questions of the family tell nothing."""
        self._every = [union_of(keys) for keys in self._measured]
        self._total = self._level = 0
        self._shares = [0.0 for _ in INTEGERS]
        self._open = self._strict = self._opened(0.0)
        """Measure -> number -> what may be said now, and what may be said without slack, as bits."""
        self._after: dict[tuple[int, ...], list[int]] = {}
        self._sets: dict[tuple[int, ...], int] = {}

    def meet(self, size: int) -> None:
        """Add the counts up to `size` to the known answers."""
        self._overall.meet(size)
        self._set_level(self._level)

    def _share(self) -> None:
        """Work out which share of the family's answers each number has; of one that was never given, none."""
        counts = [self._overall.count(number) for number in INTEGERS]
        seen = sum([PRIOR[number] for number in INTEGERS if counts[number]]) or 1.0
        total = self._total + PRIOR_WEIGHT
        self._shares = [
            (count + PRIOR_WEIGHT * PRIOR[number] / seen) / total if count else 0.0
            for number, count in enumerate(counts)
        ]

    def _opened(self, slack: float) -> list[list[int]]:
        """Return what may be said for each number; one that was never given is open with any slack."""
        opened = [[every for _ in INTEGERS] for every in self._every]
        for open_for, tells, keys in zip(opened, self._tells, self._measured, strict=True):
            for key, counted in keys.items() if tells else ():
                for number in counted.counts:
                    if self._ahead(counted, number) > slack:
                        open_for[number] &= ~(1 << key)
        return opened

    def _ahead(self, counted: _Counted, number: int) -> float:
        """Return by how much more often a number was given among questions that say the same than among all."""
        return counted.counts.get(number, 0) - counted.total * self._shares[number] - counted.starts[number]

    def _update(self, measure: int, key: int) -> None:
        """Note of which numbers there are not too many, without slack, among the questions that say this."""
        counted, bit, open_for = self._measured[measure][key], 1 << key, self._strict[measure]
        for number, (start, share) in enumerate(zip(counted.starts, self._shares, strict=True)):
            if counted.counts.get(number, 0) - counted.total * share - start <= 0:
                open_for[number] |= bit
            else:
                open_for[number] &= ~bit

    def sets_by_number(self, said: Sequence[int]) -> Sequence[int]:
        """Return number -> the sets that the last phrase may say; no number beyond these is refused."""
        key = tuple(said)
        sets = self._after.get(key)
        if sets is None:
            words, phrases = self._open[0], self._open[1:]
            before = sum([each.bit_count() for each in said])
            sets = self._after[key] = [0 for _ in INTEGERS]
            for number in INTEGERS:
                if number not in self.refused and (not said or phrases[0][number] >> said[0] & 1):
                    sets[number] = phrases[-1][number] & self._of_lengths[words[number] >> before & self._lengths]
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
                by_number = [
                    0 if number in self.refused or not last else first for number, (first, last) in enumerate(both)
                ]
            sets = union([each for number, each in enumerate(by_number) if self._overall.count(number)])
            sets = self._sets[key] = sets or union(by_number)
        return sets

    def memory(self, said: Sequence[int]) -> object:
        """Return what of the first phrase decides about the second."""
        return said[0]

    def refuses(self, answer: Value, said: Sequence[int]) -> bool:
        """True if a number is too common, among all questions or among those that say as much."""
        if answer >= len(INTEGERS):
            return answer in self.refused
        said, related = self._parted(said)
        if related in self._related and self._ahead(self._related[related], answer) > SLACKS[self._level]:
            return True
        return not self.sets_by_number(said[:-1])[answer] >> said[-1] & 1

    def _parted(self, said: Sequence[int]) -> tuple[Sequence[int], tuple[int, ...]]:
        """Return what the phrases say, and which relations."""
        phrases = len(self.plan.phrases)
        return said[:phrases], tuple(said[phrases:])

    def is_hopeless(self, impossible: frozenset[Value]) -> bool:
        """True if nothing may be said for any number."""
        return not self.sets(())

    def add(self, answer: Value, said: Sequence[int]) -> None:
        """Count an answer that was given."""
        self._overall.add(answer)
        self._total += 1
        self._share()
        said, related = self._parted(said)
        if related and answer < len(INTEGERS):
            if related not in self._related:
                self._related[related] = _Counted(self._coins)
            self._related[related].add(answer, self._coins)
        for measure, key in enumerate(measured(said, "Integer")) if answer < len(INTEGERS) else ():
            self._measured[measure][key].add(answer, self._coins)
            if self._tells[measure]:
                self._update(measure, key)
        self._set_level(0)

    def fail(self) -> None:
        """Be less strict in the next scene."""
        self._set_level(min(self._level + 1, len(SLACKS) - 1))

    def _set_level(self, level: int) -> None:
        if level or self._level:
            self._open = self._opened(SLACKS[level]) if level else self._strict
        self._level = level
        # Where a third number came often enough to be level with two others, but hardly any scene has it, the family
        # would starve: when all else was tried, two lead as before.
        self.refused = self._overall.too_common(2) if level == len(SLACKS) - 1 else self._overall.refused
        self._after.clear()
        self._sets.clear()


def _by_length(sets: Sequence[int]) -> list[int]:
    """Return number of words -> the sets of so many attributes, as bits."""
    found = [0] * (1 + max(each.bit_count() for each in sets))
    for each in sets:
        found[each.bit_count()] |= 1 << each
    return found


def sets_of_lengths(sets: Sequence[int]) -> list[int]:
    """Return for each set of lengths, as bits, the sets of attributes that have one of them."""
    of_lengths = [0]
    for of_length in _by_length(sets):
        of_lengths += [each | of_length for each in of_lengths]
    return of_lengths


def balance_of(plan: Plan, balance: str, coins: Random | None, takes_all: bool) -> FamilyBalance:
    """Return what balances the answers of a template in a window; see the classes.

    `takes_all`: all questions of a template about a scene are asked, so that none is asked for first.
    """
    kind = plan.template.balanced_type
    if balance == "words" and coins is not None and not takes_all:
        if kind == PLACE:
            return PlaceBalance(plan, coins)
        if kind == "Bool" and 1 <= len(plan.phrases) <= 2:
            return YesNoBalance(plan, coins)
        if kind == "Integer" and 1 <= len(plan.phrases) <= 2:
            return NumberBalance(plan, coins)
    return CountedBalance(plan, balance, coins)
