"""Balance by place: where the one object is, of which a question asks, must not follow from what the question says.

The thing left of the cube is on the left more often than not, and what is behind it at the top. So whatever is said, no
place may come more often than the middle: who reads "left of" then does no better by "on the left" than by "in the
middle", which is the best guess of one who reads nothing. The same holds of two relations together, and of the number
of words: the more objects, the more words tell one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

from vqagen.language.catalogue import Value
from vqagen.search.balance import MIDDLE, FamilyBalance
from vqagen.search.plan import Plan

LOOSENED = 0.02
"""By how much more a place may lead after each scene without a question: one in fifty has one all the same."""


class PlaceBalance(FamilyBalance):
    """With nothing that is said (see `Plan.said`) another place leads before the middle, across or in depth.

    It may by up to one, drawn after each answer, or must be behind by so much: the order of answers tells nothing.
    """

    is_worded = True

    def __init__(self, plan: Plan, coins: Random) -> None:
        super().__init__(plan)
        self._coins, self._slack = coins, coins.random()
        self._counts = Counter[tuple[int, int, int, int]]()
        """(position, what is said there, axis, third) -> how often it was the answer."""

    def refuses(self, answer: Value, said: Sequence[int]) -> bool:
        """True if the place would lead among questions that say the same."""
        for at, each in enumerate(said):
            for axis, third in enumerate(answer):
                lead = self._counts[at, each, axis, third] - self._counts[at, each, axis, MIDDLE]
                if third != MIDDLE and lead > self._slack:
                    return True
        return False

    def add(self, answer: Value, said: Sequence[int]) -> None:
        """Count an answer that was given."""
        for at, each in enumerate(said):
            for axis, third in enumerate(answer):
                self._counts[at, each, axis, third] += 1
        self._slack = self._coins.random() * 2 - 1

    def fail(self) -> None:
        """Be less strict in the next scene: some relations never give an object in the middle."""
        self._slack += LOOSENED
