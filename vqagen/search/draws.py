"""Draws: the options at a node, offered one by one in random order.

Options that lead to the same dead object die together. What is offered, and with which weights, is the reference
generator's rule (Johnson et al. 2017):

* a description of a set: every description that fits some object of the scene, each once; `unique` keeps those that
  fit exactly one object of the set; `filter` alone leaves out the empty description. As many absent descriptions are
  added as there are options that name one object (`filter`, `count`), or options at all (`exist`).
* by way of an anchor: every telling (relation, description) pair; idle pairs are one in ten of what is offered.

Only options from which what is wanted can follow are drawn. Those left are as likely, beside each other, as if all were
drawn and the others refused; but thousands are refused at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from vqagen.bits import Objects, union
from vqagen.plugin import Undefined
from vqagen.search.description import Description, PlainChoice, Sampling
from vqagen.search.state import Draw, OptionSearch, SearchState, Wanted
from vqagen.search.tables import ALL, DescriptionTable, Fits, Positions
from vqagen.search.vocabulary import ANY_SET

WRITTEN_OUT = 512
"""Bits of a set whose members are found in its digits; larger ones are halved first."""
ABSENT_TRIES = 20
"""Draws after which a scene that is out of absent descriptions gets one fewer."""
MOST_MISSES = 20
"""Starts that lose words past what is wanted, after which one of the targets is drawn itself."""


def member(positions: Positions, rank: int) -> int:
    """Return the member of a set that so many members are above.

    >>> member(0b1011, 1)
    1
    """
    at = 0
    while (length := positions.bit_length()) > WRITTEN_OUT:
        upper = positions >> length // 2
        above = upper.bit_count()
        if rank < above:
            positions, at = upper, at + length // 2
        else:
            positions, rank = positions & (1 << length // 2) - 1, rank - above
    return at + len(f"{positions:b}".split("1", rank + 1)[-1])


def drawn(pool: Positions, telling: Positions, share: float, random: Callable[[], float]) -> int:
    """Draw a member of a set; one outside `telling`, which is idle, counts a `share` of one within."""
    if share < 1:
        tells = pool & telling
        count = tells.bit_count()
        is_idle = random() * (count + (pool.bit_count() - count) * share) >= count
        pool = pool & ~telling if is_idle else tells
    return member(pool, int(random() * pool.bit_count()))


class ReferenceDraw(Draw):
    """Descriptions that single out one object of a set, or by way of an anchor.

    A description is drawn among all that do; then words that it does not need go, in random order. "The large red
    cube" becomes "the cube" or "the red thing" where it is the only cube and the only red thing. Drawn are only those
    that can become one of the targets: shortest descriptions of wanted objects that say a wanted set of attributes.
    """

    __slots__ = ("_node", "_sampling")

    def __init__(self, node: Description, sampling: Sampling) -> None:
        self._node, self._sampling = node, sampling

    def offer(
        self, search: OptionSearch, state: SearchState, wanted: Wanted, dead: set[Any], undecided: set[Any]
    ) -> bool:
        """Offer the options."""
        node, random, shortens = self._node, state.random, self._sampling.shortens
        table = state.tables.of(node.vocabulary)
        references = table.references(node, state.values[node.source], self._sampling, wanted.is_telling)
        fits, targets, starts = references.fits, references.targets, references.starts
        slots = len(fits.sets)
        if wanted.sets != ANY_SET or wanted.objects != ALL:
            targets &= table.repeated(table.wanted(wanted.sets, wanted.objects), slots)
            if targets != references.targets:
                starts &= table.longer(targets, slots) if shortens else targets
        if not targets:
            return False
        pool, misses, size = starts, 0, table.space.size
        while pool:
            position = drawn(pool, references.telling, references.share, random)
            if shortens and not targets >> position & 1:
                position = table.shortened(position, references.kept, random)
                if not targets >> position & 1:
                    misses += 1
                    if misses < MOST_MISSES:
                        continue
                    position = member(targets, int(random() * targets.bit_count()))
            slot, place = divmod(position, table.width)
            described = 1 << place // size
            if described not in dead:
                code, fitting = table.option(place)
                if search.try_option(state, dead, undecided, described, (fits.relations[slot], code, fitting)):
                    return True
            if described in dead:  # no start of its object becomes anything else
                gone = table.repeated(table.said_of[place // size], slots)
                targets &= ~gone
                pool &= ~gone
            else:
                targets &= ~(1 << position)
                pool &= table.longer(targets, slots) if shortens else targets
        return False


class SetDraw(Draw):
    """Descriptions of any part of a set, or by way of an anchor; absent ones too where the node may name them."""

    __slots__ = ("_node", "_sampling")

    def __init__(self, node: Description, sampling: Sampling) -> None:
        self._node, self._sampling = node, sampling

    def offer(
        self, search: OptionSearch, state: SearchState, wanted: Wanted, dead: set[Any], undecided: set[Any]
    ) -> bool:
        """Offer the options."""
        node, random = self._node, state.random
        table, source = state.tables.of(node.vocabulary), state.values[node.source]
        fits = table.fits(source, node.way)
        pool, telling, share_of_idle = self._pool(table, source, fits, wanted)
        left = pool.bit_count()
        absent, chances, share = self._absent(table, fits, wanted)
        while left or absent:
            place = random() * (left + absent * share)
            if place < left:
                position = drawn(pool, telling, share_of_idle, random)
                pool, left = pool ^ 1 << position, left - 1
                slot, position = divmod(position, table.width)
                option = table.option(position)
            else:
                absent, slot = absent - 1, 0
                absent_one = self._draw_absent(table, chances, random)
                if absent_one is None or not node.allows(absent_one[0]):
                    continue
                option = absent_one
            code, fitting = option
            described = fitting & fits.sets[slot]
            pick = (fits.relations[slot], code, fitting)
            if described not in dead and search.try_option(state, dead, undecided, described, pick):
                return True
        return False

    def _pool(
        self, table: DescriptionTable, source: int, fits: Fits, wanted: Wanted
    ) -> tuple[Positions, Positions, float]:
        """Return the wanted descriptions that fit objects, those that are not idle, and how much an idle one counts."""
        node, slots = self._node, len(fits.sets)
        least = 2 if node.reducer == "not_unique" else 1 if node.reducer is None and node.way is not None else 0
        sayable = fits.as_many(-1 << least)
        options = sayable & table.repeated(table.allowed(node), slots)
        telling, share = ALL, 1.0
        if node.way is not None and wanted.is_telling:
            options &= fits.others(wanted.beside | 1 << source)
        elif node.way is not None:
            telling = fits.others()
            count = (sayable & telling).bit_count()
            share = self._sampling.share_of_idle(count, sayable.bit_count() - count)
            options &= telling if not share else ALL
        elif node.reducer is None:
            options &= ~table.saying_nothing
        counted = fits.without(wanted.beside) if wanted.beside else fits
        if wanted.by_number is None:
            options &= counted.as_many(wanted.numbers) & table.repeated(table.saying(wanted.sets), slots)
        else:
            options &= union(
                [
                    counted.exactly(number) & table.repeated(table.saying(said), slots)
                    for number, said in wanted.by_number
                    if said
                ]
            )
        return options, telling, share

    def _absent(
        self, table: DescriptionTable, fits: Fits, wanted: Wanted
    ) -> tuple[int, list[tuple[int, float]], float]:
        """Return how many absent descriptions are offered, what they say and how likely, and the weight of each."""
        node, chances = self._node, list[tuple[int, float]]()
        if not node.offers_absent(self._sampling):
            return 0, chances, 0.0
        count = (table.distinct if node.reducer == "exist" else fits.exactly(1)).bit_count()
        if self._sampling.absent == "any":
            return count, chances, 1.0
        said = _wanted_of_none(wanted) & node.sets
        if not said:
            return 0, chances, 0.0
        every = table.absent_chances()
        chances = [(each, chance) for each, chance in every.items() if said >> each & 1]
        share = sum([chance for _, chance in chances], 0.0) / (sum(every.values(), 0.0) or 1.0) * count
        number = max(1, round(share)) if share > 0.01 else 0
        return number, chances, share / number if number else 0.0

    def _draw_absent(
        self, table: DescriptionTable, chances: Sequence[tuple[int, float]], random: Callable[[], float]
    ) -> tuple[int, Objects] | None:
        if self._sampling.absent == "any":
            return draw_any(table, random)
        code = draw_absent(table, chances, random)
        return None if code is None else (code, 0)


def draw_absent(
    table: DescriptionTable, chances: Sequence[tuple[int, float]], random: Callable[[], float]
) -> int | None:
    """Draw the code of a description that fits nothing, of a set of attributes as likely as `chances` says."""
    rest, said = random() * sum([chance for _, chance in chances], 0.0), 0
    for said, chance in chances:  # noqa: B007
        rest -= chance
        if rest < 0:
            break
    for _ in range(ABSENT_TRIES):
        code, fits = _blind(table, said, random)
        if not fits:
            return code
    return None


def draw_any(table: DescriptionTable, random: Callable[[], float]) -> tuple[int, Objects]:
    """Draw a description blindly; return its code and the objects that it fits."""
    vocabulary, said = table.vocabulary, 0
    if vocabulary.is_limited:
        position = member(table.distinct, int(random() * table.distinct.bit_count()))
        said = table.space.said[position % table.space.size]
    else:
        for k, attribute in enumerate(vocabulary.attributes):
            said |= (int(random() * (len(attribute.values) + 1)) > 0) << k
    return _blind(table, said, random)


def _blind(table: DescriptionTable, said: int, random: Callable[[], float]) -> tuple[int, Objects]:
    code, fits, vocabulary = 0, table.scene.everything, table.vocabulary
    for k, attribute in enumerate(vocabulary.attributes):
        if said >> k & 1:
            word = attribute.values[int(random() * len(attribute.values))]
            code += vocabulary.digits[k][word]
            fits &= table.scene.having[attribute.name][word]
    return code, fits


def _wanted_of_none(wanted: Wanted) -> int:
    """Return the sets of attributes that a description of nothing may say."""
    if wanted.by_number is not None:
        return sum([sets for number, sets in wanted.by_number if number == 0])
    return wanted.sets if wanted.numbers & 1 else 0


class PlainDraw(Draw):
    """A primitive node: every value of each slot's type."""

    __slots__ = ("_every", "_node")

    def __init__(self, node: PlainChoice) -> None:
        self._node, self._every = node, [words for words in itertools.product(*node.options) if node.allows(words)]

    def offer(
        self, search: OptionSearch, state: SearchState, wanted: Wanted, dead: set[Any], undecided: set[Any]
    ) -> bool:
        """Offer the options."""
        random, values, scene, run = state.random, state.values, state.scene, self._node.run
        numbers, beside = wanted.numbers, ~wanted.beside
        inputs = [values[i] for i in self._node.inputs]
        first = inputs[0] if len(inputs) == 1 == len(self._node.options) else None
        fillings = self._every.copy()
        for k, word in self._node.bound_words(state.picked):
            fillings = [words for words in fillings if words[k] == word]
        left = len(fillings)
        while left:
            at = int(random() * left)
            words = fillings[at]
            left -= 1
            fillings[at] = fillings[left]
            try:
                outcome = run(scene, *inputs, *words) if first is None else run(scene, first, words[0])
            except Undefined:
                continue
            if numbers != -1 and not numbers >> (outcome & beside).bit_count() & 1:
                continue
            if outcome not in dead and search.try_option(state, dead, undecided, outcome, words):
                return True
        return False
