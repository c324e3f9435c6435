"""The descriptions of one object, numbered, so that a set of descriptions is an int with a bit for each.

A description leaves an attribute open or says one of the words that are true of the object: its value, a group that
the value belongs to, or of a list any member. Its number is in mixed radix: for each attribute 0 for open, else the
number of the word. So a word is taken away by a subtraction, and sets of descriptions by shifts.

An example: of an object whose color can be said in two ways (red, warm) and whose shape in one (cube) there are
3 * 2 = 6 descriptions: 0 "thing", 1 "red thing", 2 "warm thing", 3 "cube", 4 "red cube", 5 "warm cube".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

ANY_SET = -1
"""All sets of attributes, as bits."""
MOST_KEPT = 5_000
"""Sets after which a memo of what says them starts anew."""


class SaidWord(NamedTuple):
    """A word of a description: which attribute it says, the number of the word, and what taking it away subtracts."""

    attribute: int
    word: int
    step: int


class DescriptionSpace:
    """The descriptions of an object whose attributes can be said in so many ways each, up to a number of words.

    size: how many numbers there are; full: those of at most `longest` words, as bits.
    words[d], said[d]: the words of description d, and the set of attributes that they say.
    says[k][w], leaves_open[k]: the descriptions that say word w of attribute k, and those that leave k open.
    moves[k]: what each word of attribute k adds to a number.
    """

    def __init__(self, ways: Sequence[int], longest: int) -> None:
        """`ways`: for each attribute the most words that are true of one object."""
        strides, size = list[int](), 1
        for count in ways:
            strides.append(size)
            size *= count + 1
        self.size, self.full = size, 0
        self.says = [[0] * count for count in ways]
        self.leaves_open = [0] * len(strides)
        self.moves = [
            [stride * (word + 1) for word in range(count)] for stride, count in zip(strides, ways, strict=True)
        ]
        self.words: list[tuple[SaidWord, ...]] = []
        self.said: list[int] = []
        self.by_said: dict[int, int] = {}
        """Set of attributes -> the descriptions in `full` that say just these."""
        for number in range(size):
            self._add(number, strides)
            if len(self.words[number]) <= longest:
                self.full |= 1 << number
                said = self.said[number]
                self.by_said[said] = self.by_said.get(said, 0) | 1 << number
        self._saying = {ANY_SET: self.full}
        self._true_of: dict[tuple[int, ...], int] = {}

    def _add(self, number: int, strides: Sequence[int]) -> None:
        words, said = list[SaidWord](), 0
        for k, stride in enumerate(strides):
            digit = number // stride % (len(self.says[k]) + 1)
            if digit:
                words.append(SaidWord(k, digit - 1, digit * stride))
                said |= 1 << k
                self.says[k][digit - 1] |= 1 << number
            else:
                self.leaves_open[k] |= 1 << number
        self.words.append(tuple(words))
        self.said.append(said)

    def saying(self, sets: int) -> int:
        """Return the descriptions that say one of some sets of attributes: bit s for set s, `ANY_SET` for all."""
        found = self._saying.get(sets)
        if found is None:
            if len(self._saying) > MOST_KEPT:
                self._saying = {ANY_SET: self.full}
            found = 0
            for said, descriptions in self.by_said.items():
                if sets >> said & 1:
                    found |= descriptions
            self._saying[sets] = found
        return found

    def true_of(self, ways: tuple[int, ...]) -> int:
        """Return the descriptions of an object of which only so many words of each attribute are true."""
        found = self._true_of.get(ways)
        if found is None:
            found = self.full
            for says, count in zip(self.says, ways, strict=True):
                for descriptions in says[count:]:
                    found &= ~descriptions
            self._true_of[ways] = found
        return found
