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
from typing import Any, TypeVar

from vqagen.bits import Objects
from vqagen.plugin import Undefined
from vqagen.search.description import Description, PlainChoice, Sampling
from vqagen.search.space import ANY_SET
from vqagen.search.state import Draw, OptionSearch, SearchState, Wanted
from vqagen.search.tables import ALL, DescriptionTable, Positions, References, member, members

MOST_MISSES = 20
"""Starts that lose words past what is wanted, after which one of the targets is drawn itself."""
LISTED = 24
"""Positions of a pool from which on they are listed, to be drawn from quickly."""


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
        shortens, random = self._sampling.shortens, state.random
        table = state.tables.of(self._node.vocabulary)
        targets, pools = self._pools(state, table, wanted)
        misses, size = 0, table.space.size
        while pools:
            pool = _drawn(pools, random)
            position, target = pool.draw(random), targets[pool.relation]
            if shortens and not target >> position & 1:
                position = table.shortened(position, pool.references.kept, random)
            if not target >> position & 1:
                misses += 1
                if misses <= MOST_MISSES:
                    pool.keep(table.longer(target) if shortens else target, pools)
                    continue
                position = member(target, int(random() * target.bit_count()))
            described, gone = 1 << position // size, 1 << position
            if described not in dead:
                code, fits = table.option(position)
                if search.try_option(state, dead, undecided, described, (pool.relation, code, fits)):
                    return True
            if described in dead:
                gone = table.said_of[position // size]
            targets[pool.relation] = target = target & ~gone
            if not target:
                pools = [each for each in pools if each.relation != pool.relation]
            elif not shortens or gone & (gone - 1):
                pool.keep(~gone, pools)
        return False

    def _pools(
        self, state: SearchState, table: DescriptionTable, wanted: Wanted
    ) -> tuple[dict[str | None, Positions], list[_StartPool]]:
        """Return the wanted targets by relation, and what to draw starts from."""
        node, sampling = self._node, self._sampling
        source, allowed = state.values[node.source], table.allowed(node)
        if node.relates:
            references = table.by_way_of(source, allowed, sampling, wanted.is_telling, node.relation)
        else:
            references = table.references(source, allowed, sampling.shortens)
        if wanted.sets == ANY_SET and wanted.objects == ALL:
            return {each.relation: each.targets for each in references}, [_StartPool(each) for each in references]
        targets, pools = dict[str | None, Positions](), list[_StartPool]()
        narrowed = table.saying(wanted.sets) & table.of(wanted.objects)
        for each in references:
            target = targets.get(each.relation)
            if target is None:
                target = targets[each.relation] = each.targets & narrowed
            if target:
                pool = _StartPool(each)
                pools.append(pool)
                pool.keep(table.longer(target) if sampling.shortens else target, pools)
        return targets, pools


class _Pool:
    """Options of one relation, of which one is as likely as the other."""

    __slots__ = ("count", "positions", "relation", "weight")

    def __init__(self, relation: str | None, positions: Positions, count: int, weight: float) -> None:
        self.relation, self.positions, self.count, self.weight = relation, positions, count, weight


class _StartPool(_Pool):
    """Starts of references. One that was drawn may be drawn again."""

    __slots__ = ("references",)

    def __init__(self, references: References) -> None:
        super().__init__(references.relation, references.starts, references.count, references.weight)
        self.references = references

    def draw(self, random: Callable[[], float]) -> int:
        """Draw a position."""
        if self.positions == self.references.starts:
            return self.references.draw(random)
        return member(self.positions, int(random() * self.count))

    def keep(self, positions: Positions, pools: list[_StartPool]) -> None:
        """Keep these positions alone; an empty pool leaves the others."""
        self.positions &= positions
        self.count = self.positions.bit_count()
        if not self.count:
            pools.remove(self)


class _OptionPool(_Pool):
    """Positions, each of which is drawn once, or so many absent descriptions."""

    __slots__ = ("_listed", "among")

    def __init__(self, relation: str | None, positions: Positions, count: int, weight: float, among: Objects) -> None:
        """`positions`: 0 for absent descriptions. `among`: the set from which the described ones are taken."""
        super().__init__(relation, positions, count, weight)
        self.among = among
        self._listed: list[int] = []

    def take(self, random: Callable[[], float]) -> int:
        """Draw a position that was not drawn before."""
        at = int(random() * self.count)
        self.count -= 1
        if not self._listed:
            if self.count < LISTED:
                position = member(self.positions, at)
                self.positions ^= 1 << position
                return position
            self._listed = members(self.positions)
        position = self._listed[at]
        self._listed[at] = self._listed[self.count]
        return position


P = TypeVar("P", bound=_Pool)


def _drawn(pools: Sequence[P], random: Callable[[], float]) -> P:
    """Draw a pool, as likely as its options together."""
    if len(pools) > 1:
        rest = random() * sum([each.count * each.weight for each in pools])
        for pool in pools:
            rest -= pool.count * pool.weight
            if rest < 0:
                return pool
    return pools[-1]


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
        table = state.tables.of(node.vocabulary)
        chances: list[tuple[int, float]] = []
        if node.relates:
            pools = self._pools_by_relation(state, table, wanted)
        else:
            pools, chances = self._pools(state, table, wanted)
        while pools:
            pool = _drawn(pools, random)
            if pool.positions:
                code, fits = table.option(pool.take(random))
            else:
                pool.count -= 1
                option = self._draw_absent(table, chances, random)
                if option is None or not node.allows(option[0]):
                    code, fits = -1, 0
                else:
                    code, fits = option
            if not pool.count:
                pools.remove(pool)
            described = fits & pool.among
            if code < 0 or described in dead:
                continue
            if search.try_option(state, dead, undecided, described, (pool.relation, code, fits)):
                return True
        return False

    def _draw_absent(
        self, table: DescriptionTable, chances: Sequence[tuple[int, float]], random: Callable[[], float]
    ) -> tuple[int, Objects] | None:
        if self._sampling.absent == "any":
            return table.draw_any(random)
        code = table.draw_absent(chances, random)
        return None if code is None else (code, 0)

    def _pools_by_relation(self, state: SearchState, table: DescriptionTable, wanted: Wanted) -> list[_OptionPool]:
        node, pools = self._node, list[_OptionPool]()
        allowed = table.allowed(node)
        related = table.related(state.values[node.source], node.relation)
        everything = [self._fitting(table, each.objects) for each in related]
        telling = sum([(every & each.telling).bit_count() for every, each in zip(everything, related, strict=True)])
        idle = sum([every.bit_count() for every in everything]) - telling
        share = self._sampling.idle_count(telling, idle) / idle if idle else 0.0
        anchor = 1 << state.values[node.source]
        for each, every in zip(related, everything, strict=True):
            options = _wanted(table, each.objects, wanted) & allowed & every
            if wanted.is_telling:
                others = state.scene.everything & ~(each.objects | anchor | wanted.beside)
                options &= table.fitting(others).some
            for positions, weight in ((options & each.telling, 1.0), (options & ~each.telling, share)):
                if positions and weight:
                    pool = _OptionPool(each.relation, positions, positions.bit_count(), weight, among=each.objects)
                    pools.append(pool)
        return pools

    def _fitting(self, table: DescriptionTable, objects: Objects) -> Positions:
        """Return the positions that the node may say of these objects."""
        if self._node.reducer is None and self._node.relates:
            return table.fitting_as_many(objects, ~1)
        return table.fitting_as_many(objects, ~3 if self._node.reducer == "not_unique" else -1)

    def _pools(
        self, state: SearchState, table: DescriptionTable, wanted: Wanted
    ) -> tuple[list[_OptionPool], list[tuple[int, float]]]:
        """Return what to draw from, and how likely absent descriptions say each set of attributes."""
        node, among = self._node, state.values[self._node.source]
        options = _wanted(table, among, wanted) & self._fitting(table, among) & table.allowed(node)
        if node.reducer is None:
            options &= ~table.saying_nothing
        pools = [_OptionPool(None, options, options.bit_count(), 1.0, among=among)] if options else []
        chances = list[tuple[int, float]]()
        if node.offers_absent(self._sampling):
            count = (table.distinct if node.reducer == "exist" else table.fitting_exactly(among, 1)).bit_count()
            if self._sampling.absent == "any":
                if count:
                    pools.append(_OptionPool(None, 0, count, 1.0, among=among))
            else:
                every = table.absent_chances()
                sets = _wanted_of_none(wanted) & node.sets
                chances = [(said, chance) for said, chance in every.items() if sets >> said & 1]
                share = sum([chance for _, chance in chances]) / (sum(every.values()) or 1.0) * count
                if share > 0.01:
                    number = max(1, round(share))
                    pools.append(_OptionPool(None, 0, number, share / number, 0))
        return pools, chances


def _wanted(table: DescriptionTable, among: Objects, wanted: Wanted) -> Positions:
    """Return the distinct positions that fit a wanted number of some objects, and say what is wanted with it."""
    objects = among & ~wanted.beside
    if wanted.by_number is None:
        return table.fitting_as_many(objects, wanted.numbers) & table.saying(wanted.sets)
    found = 0
    for number, sets in wanted.by_number:
        found |= table.fitting_exactly(objects, number) & table.saying(sets)
    return found


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
