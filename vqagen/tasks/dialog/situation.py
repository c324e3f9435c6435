"""The moment at which a kind of round chooses its next question: what is known, what is open, and what to draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from vqagen.bits import Objects, indexes
from vqagen.language.catalogue import Value
from vqagen.tasks.dialog.knowledge import Knowledge, Move, is_counting, reveal_round
from vqagen.tasks.dialog.scene import NONE, DialogScene, Values

FIND_ONE = 0.7
"""Chance that a dialog that knows sets alone counts what there is one of: the next questions can be about that."""
EMPTY = 0.4
"""Chance that a direction without objects is one to ask for the next object in: people seldom ask about nothing."""


Refused = Callable[[str, int], frozenset[Value]]
"""(label, attribute that is asked for, or -1) -> the answers that are too common."""
NONE_REFUSED: frozenset[Value] = frozenset()


def none_refused(label: str, attribute: int) -> frozenset[Value]:
    """Refuse no answer: for dialogs that are hard to find."""
    return NONE_REFUSED


class Pick:
    """Makes the free choices of a kind of round at random."""

    def __init__(self, rng: Random) -> None:
        self.rng, self._random = rng, rng.random

    def one(self, options: int) -> int:
        """Return a member of a set, or -1 if it is empty."""
        count = options.bit_count()
        if not count:
            return -1
        if count > 1:
            for _ in range(int(self._random() * count)):
                options &= options - 1
        return (options & -options).bit_length() - 1

    def happens(self, probability: float) -> bool:
        """Return true with a probability."""
        return self._random() < probability

    def below(self, count: int) -> int:
        """Return a number from 0 to below `count`."""
        return int(self._random() * count)


class Situation:
    """A moment of a dialog: the scene, what is known, and the choices to be made.

    A question whose answer is `refused` is not asked. Kinds with many options look for one with another answer.
    """

    def __init__(self, scene: DialogScene, knowledge: Knowledge, pick: Pick, refused: Refused = none_refused) -> None:
        self.scene, self.knowledge, self.pick, self.refused = scene, knowledge, pick, refused
        self._values, self._attributes, self._relations = scene.widths
        self.all_values: Values = (1 << self._values) - 1
        self._all_attributes = (1 << self._attributes) - 1
        self._names: Sequence[tuple[int, Values]] | None = None

    @property
    def previous(self) -> Move:
        """The round before. Only kinds that need one may look at it."""
        assert self.knowledge.move is not None
        return self.knowledge.move

    @property
    def names(self) -> Sequence[tuple[int, Values]]:
        """Objects that can be named, with their names: "the earlier red cube"; never what "it" stands for.

        An object keeps its name, as people do (Brennan and Clark 1996); the first one is all that was told of it.
        """
        if self._names is None:  # not a cached property: those take 20 times as long to read in Python 3.11
            last = 1 << self.knowledge.topic if self.knowledge.topic >= 0 else 0
            named = [(i, self._name(i)) for i in indexes(self.knowledge.singles & ~last)]
            self._names = [(i, name) for i, name in named if name]
        return self._names

    def _name(self, i: int) -> Values:
        """Return the values by which an object can be named, or none."""
        kept, told = self.knowledge.names[i], self.knowledge.told[i]
        return next((name for name in (kept, told) if self._singles_out(i, name)), 0)

    def _singles_out(self, i: int, name: Values) -> bool:
        """True if an object alone was told to be all this, and no set was."""
        known = self.knowledge
        others = indexes(known.singles & ~(1 << i))
        return bool(name & ~known.plural) and all(name & ~known.told[other] for other in others)

    def unneeded(self, i: int) -> Values:
        """Return the values told of an object that its name need not say: none of those by which it was named."""
        known, name = self.knowledge, self._name(i)
        unsaid = indexes(known.told[i] & ~known.names[i])
        return sum(1 << value for value in unsaid if self._singles_out(i, name & ~(1 << value)))

    def named(self, is_open: Callable[[int], int]) -> tuple[int, Values, int]:
        """Return an object that can be named, its name, and the questions that are open of it, as a set.

        Of two objects drawn, the one whose name was told earlier is taken: so dialogs reach back further. Without an
        object, return (-1, 0, 0).
        """
        objects = [(i, name, options) for i, name in self.names if (options := is_open(i))]
        if not objects:
            return -1, 0, 0
        drawn = [objects[self.pick.below(len(objects))] for _ in range(2)]
        return min(drawn, key=lambda choice: reveal_round(self.scene, self.knowledge, *choice[:2]))

    # Questions that are open ------------------------------------------------------------------------------------------

    def open_attributes(self, i: int) -> int:
        """Return the attributes of an object that are not known, and that do not describe a set."""
        return ~(self.knowledge.known[i] | self.knowledge.closed) & self._all_attributes

    def seekable(self, i: int) -> int:
        """Return the relations and attributes that can be asked of the thing next to an object, as a set of pairs.

        With four attributes, the pair of relation 2 and attribute 1 is the number 9. That thing must be clearly the
        nearest one. Where nothing lies in a direction, and that is not known, any one attribute can be asked.
        """
        options = 0
        known, clear = self.knowledge, self.scene.clear_next[i]
        for relation in range(self._relations):
            j = self.scene.next[relation][i]
            if j >= 0 and clear >> relation & 1:
                options |= self.open_attributes(j) << relation * self._attributes
            elif j >= 0 or known.related_counts[i] >> relation & 1:
                continue
            elif j == NONE and self.pick.happens(EMPTY):
                attribute = self.pick.one(~known.closed & self._all_attributes)
                options |= 1 << relation * self._attributes + attribute if attribute >= 0 else 0
        return options

    @property
    def undescribed(self) -> Values:
        """Values of attributes that do not describe the group."""
        described, values = self.knowledge.described, self.all_values
        for of_attribute in self.scene.vocabulary.value_sets if described else ():
            if described & of_attribute:
                values &= ~of_attribute
        return values

    # Answers that are not refused ------------------------------------------------------------------------------------

    def sides(self, label: str, i: int) -> int:
        """Return the relations of which one may ask what stands in them to object i."""
        known = self.knowledge.related_counts[i] if is_counting(label) else self.knowledge.related_exists[i]
        open_ones = ~known & (1 << self._relations) - 1
        return self._fair(label, open_ones, lambda relation: self.scene.related[relation][i].bit_count())

    def likes(self, label: str, i: int) -> Values:
        """Return the values of object i of which one may ask what others have them."""
        counts, values = self.scene.counts, self.scene.vocabulary.values
        known = self.knowledge
        open_ones = known.told[i] & ~known.alike_counts[i] & ~known.value_counts
        if not is_counting(label):
            open_ones &= ~known.alike_exists[i] & ~known.several
        return self._fair(label, open_ones, lambda value: counts[value] - 1, lambda value: values[value][0])

    def values_among(self, label: str, objects: Objects, options: Values) -> Values:
        """Return the values of which one may ask which of the objects have them; if it counts, all with one number.

        Every number is as likely, so that the answers spread.
        """
        having, values = self.scene.having, self.scene.vocabulary.values

        def number(value: int) -> int:
            return (objects & having[value]).bit_count()

        fair = self._fair(label, options, number, lambda value: values[value][0])
        if not is_counting(label):
            return fair
        by_number: dict[int, Values] = {}
        for value in indexes(fair):
            by_number[number(value)] = by_number.get(number(value), 0) | 1 << value
        if 1 in by_number and not self.knowledge.singles and self.pick.happens(FIND_ONE):
            return by_number[1]
        numbers = list(by_number.values())
        return numbers[self.pick.below(len(numbers))] if numbers else 0

    def _fair(
        self, label: str, options: int, number: Callable[[int], int], attribute: Callable[[int], int] = lambda _: -1
    ) -> int:
        """Return the options whose answer is not refused: the `number` of objects, or whether there are any."""
        fair = 0
        for option in indexes(options):
            answer: Value = number(option)
            if not is_counting(label):
                answer = "yes" if answer else "no"
            if answer not in self.refused(label, attribute(option)):
                fair |= 1 << option
        return fair
