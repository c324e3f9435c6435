"""What the balance by words wants next, counted anew from all questions asked so far: for the slow twin (see `naive`).

A question is its answer and, for each phrase next to it, the set of attributes that the phrase says, as bits. It counts
under several keys: by how many words it says, of two phrases whose numbers are compared how many more the first, and by
the set that each phrase says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

Said = tuple[int, ...]
Key = tuple[str | int, int]
SLACKS = (0, 0.5, 1, float("inf"))


class Asked(NamedTuple):
    """A question that was asked; `share` is that of its answer just after, by number."""

    answer: int
    keys: list[Key]
    shares: Sequence[float] = ()


def keys_of(said: Said, is_compared: bool) -> list[Key]:
    """What a question counts under."""
    words = [each.bit_count() for each in said]
    return [("words", words[0] - words[1] if is_compared and len(said) == 2 else sum(words)), *enumerate(said)]


class NaiveYesNo:
    """Yes or no is wanted until it is given, said in ways in which it is not ahead by more than the slack."""

    def __init__(self, start: int, draw: Callable[[], float]) -> None:
        """`start`: by how much yes starts ahead under each key. `draw`: what the wanted answer is drawn by."""
        self.start, self.draw, self.asked = start, draw, list[Asked]()
        self.slack = self.failed = 0
        self.wanted = draw() < 0.5

    def wants(self, answer: int, said: Said) -> bool:
        """Whether a question is wanted."""
        return answer == self.wanted and all(self._is_open(key) for key in keys_of(said, True))

    def _is_open(self, key: Key) -> bool:
        ahead = self.start + sum(1 if each.answer else -1 for each in self.asked if key in each.keys)
        return (ahead if self.wanted else -ahead) <= self.slack

    def add(self, answer: int, said: Said) -> None:
        """A question was asked: the next answer is drawn, the rarer one more often."""
        self.asked.append(Asked(answer, keys_of(said, True)))
        excess = sum(1 if each.answer else -1 for each in self.asked)
        self.wanted, self.slack = self.draw() < min(0.9, max(0.1, 0.5 - 0.05 * excess)), 0

    def fail(self) -> None:
        """A scene had no such question."""
        self.failed += 1
        self.slack += 1
        if self.failed % 3 == 0 and not self.asked:
            self.wanted, self.slack = not self.wanted, 0


class NaiveNumbers:
    """A number is wanted where it is not more common among questions that say the same than among all, by the slack.

    Numbers above ten are too rare for that, and count under no key.
    """

    def __init__(self, start: float, prior: Sequence[float], untelling: Sequence[str | int] = ()) -> None:
        """`start`: by how much each starts ahead. `untelling`: what is the same for all questions of the family."""
        self.start, self.prior, self.untelling, self.asked, self.level = start, prior, untelling, list[Asked](), 0

    def shares(self) -> list[float]:
        """How common each number is; the prior counts for three questions among the numbers that were given."""
        counts = [sum(each.answer == number for each in self.asked) for number in range(11)]
        seen = sum(share for share, count in zip(self.prior, counts, strict=True) if count) or 1
        return [
            (count + 3 * share / seen) / (len(self.asked) + 3) if count else 0.0
            for share, count in zip(self.prior, counts, strict=True)
        ]

    def is_open(self, number: int, key: Key) -> bool:
        """Whether a number is not ahead under a key. Without slack, shares are those of when the key was last met."""
        met = [each for each in self.asked if key in each.keys]
        if not met or key[0] in self.untelling or number > 10:
            return True
        share = (self.shares() if self.level else met[-1].shares)[number]
        count = sum(each.answer == number for each in met)
        return count - len(met) * share - self.start <= SLACKS[self.level]

    def wants(self, number: int, said: Said) -> bool:
        """Whether a question is wanted, as far as what it says goes."""
        return all(self.is_open(number, key) for key in keys_of(said, False))

    def add(self, number: int, said: Said) -> None:
        """A question was asked."""
        self.asked.append(Asked(number, keys_of(said, False) if number < 11 else []))
        self.asked[-1] = self.asked[-1]._replace(shares=self.shares())
        self.level = 0

    def fail(self) -> None:
        """A scene had no question that is wanted."""
        self.level = min(self.level + 1, 3)
