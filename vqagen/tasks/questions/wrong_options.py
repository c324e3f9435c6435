"""Wrong options for questions, dealt so that the options alone do not tell which of them is right.

Questions of a family are dealt into blocks of four with four different answers, which are the options of all four
questions: each option is right once, so that a rule that sees only the options is right for one question of four. A
block of two questions does the same for yes and no. All options are answers of the same kind that the file gives.

An answer to more than a fourth of the questions of a family does not fit into blocks that often. The rest of its
questions get the options of some block that it is in; then no rule does better than to choose the most frequent answer
of the family, which needs no options. Answers that fit into no block of their family are dealt into blocks with those
of other families, and what is left gets other answers of its kind at random.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate
from random import Random
from typing import NamedTuple

from vqagen.language.question import RELEASE_WORDS
from vqagen.rng import below, pick, shuffled, stream

MOST_OPTIONS = 4
BOOL = "Bool"
Options = tuple[str, ...]
"""A right option and the wrong ones, in any order."""
Dealt = dict[str, list[Options]]
"""Answer -> the options of each question with this answer."""


class Family(NamedTuple):
    """A question family, whose answers are all of one kind."""

    name: str
    kind: str
    """The kind of answers: `Bool`, `Integer` or the function that gives them, such as `query_color`."""


class WrongOptions:
    """Draws the wrong options of questions, all of which are counted before the first is drawn."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._counts: dict[Family, Counter[str]] = {}
        self._dealt: dict[Family, Dealt] = {}

    def count(self, family: Family, answer: str) -> None:
        """Count a question."""
        self._counts.setdefault(family, Counter())[answer] += 1

    def draw(self, family: Family, answer: str) -> list[str]:
        """Return the wrong options of the next question with this answer: three, or all there are if fewer."""
        if not self._dealt:
            self._deal()
        return [option for option in self._dealt[family][answer].pop() if option != answer]

    def _deal(self) -> None:
        known: dict[str, Counter[str]] = {}
        for family, counts in self._counts.items():
            known.setdefault(family.kind, Counter()).update(counts)
        words = {kind: _all_answers(kind, counts) for kind, counts in known.items()}
        left: dict[str, Counter[str]] = {kind: Counter() for kind in known}
        for number, (family, counts) in enumerate(self._counts.items()):
            size = min(MOST_OPTIONS, len(words[family.kind]))
            dealt = deal(counts, size, stream(self._seed, "wrong options of families", number))
            left[family.kind].update({answer: counts[answer] for answer in counts if not dealt[answer]})
            self._dealt[family] = dealt
        rest = {
            kind: _deal_rest(counts, words[kind], stream(self._seed, "wrong options of kinds", number))
            for number, (kind, counts) in enumerate(left.items())
        }
        for family, counts in self._counts.items():
            own = self._dealt[family]
            for answer in (answer for answer in counts if not own[answer]):
                own[answer] = [rest[family.kind][answer].pop() for _ in range(counts[answer])]


def deal(counts: Mapping[str, int], size: int, rng: Random) -> Dealt:
    """Deal questions, given how many have which answer, into as many blocks of `size` options as there can be.

    An answer that is in a block gets options for each of its questions; one that is in none gets an empty list.
    """
    blocks = _most_blocks(counts, size)
    left = {answer: min(count, blocks) for answer, count in counts.items()}
    for _ in range(sum(left.values()) - size * blocks):  # an answer that fills all blocks stays in all
        left[max(left, key=lambda answer: (left[answer] < blocks, left[answer]))] -= 1
    dealt: Dealt = {answer: [] for answer in counts}
    for remaining in range(blocks, 0, -1):
        options = _draw_block(left, remaining, size, rng)
        for answer in options:
            left[answer] -= 1
            dealt[answer].append(options)
    return {answer: _filled(own, counts[answer], rng) for answer, own in dealt.items()}


def _most_blocks(counts: Mapping[str, int], size: int) -> int:
    """Return the most blocks of so many different answers that the questions fill."""
    blocks, before = sum(counts.values()) // size, -1
    while blocks != before:
        before, blocks = blocks, sum(min(count, blocks) for count in counts.values()) // size
    return blocks


def _draw_block(left: Mapping[str, int], blocks: int, size: int, rng: Random) -> Options:
    """Draw the answers of the next of so many blocks, each with a probability of its share.

    `left` says in how many blocks each answer must still be: together `size * blocks`. This is systematic sampling
    (Madow 1949): the answers lie end to end, as long as they are often, and those at equal distances are drawn. As no
    answer is longer than the distance, none is drawn twice, and one that must be in all blocks is always drawn.
    """
    order = shuffled(rng, [answer for answer, count in left.items() if count])
    ends = list(accumulate(left[answer] for answer in order))
    first = below(rng, blocks)
    return tuple(order[bisect_right(ends, first + place * blocks)] for place in range(size))


def _filled(own: list[Options], count: int, rng: Random) -> list[Options]:
    """Return options for all questions with an answer, in random order: those of its blocks, and some of them again."""
    again = [pick(rng, own) for _ in range(count - len(own))] if own else []
    return shuffled(rng, [*own, *again])


def _deal_rest(counts: Mapping[str, int], words: Options, rng: Random) -> Dealt:
    """Deal the questions of one kind that are left of all families; `words` are all answers of the kind."""
    size = min(MOST_OPTIONS, len(words))
    dealt = deal(counts, size, rng)
    for answer in (answer for answer in counts if not dealt[answer]):
        others = [word for word in words if word != answer]
        dealt[answer] = [(answer, *shuffled(rng, others)[: size - 1]) for _ in range(counts[answer])]
    return dealt


def _all_answers(kind: str, counts: Mapping[str, int]) -> Options:
    """Return the answers of a kind: those of the file, and yes and no always."""
    always = RELEASE_WORDS.values() if kind == BOOL else ()
    return tuple(dict.fromkeys((*counts, *always)))
