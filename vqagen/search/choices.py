"""Choices: the options at a node, drawn one by one in random order.

All options that lead to the same dead object die together. Options are drawn by swap-and-pop: the first costs one
draw, and the order is uniform. What is offered, and with which weights, is the reference generator's rule (Johnson et
al. 2017):

* a description of a set: every description that fits some object of the scene, each once; `unique` keeps those that
  fit exactly one object of the set; `filter` alone leaves out the empty description. As many absent descriptions are
  added as there are options that name one object (`filter`, `count`), or options at all (`exist`).
* by way of an anchor: every telling (relation, description) pair; idle pairs are one in ten of what is offered.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vqagen.bits import Objects, is_single
from vqagen.plugin import Undefined
from vqagen.rng import skip
from vqagen.search.description import Description, DescriptionTable, PlainChoice, Sampling
from vqagen.search.filling import Draw, Frame

if TYPE_CHECKING:
    from vqagen.search.stage_search import StageSearch

ABSENT_TRIES = 20
"""Draws after which a scene that is out of absent descriptions gets one fewer."""


class DescribingDraw(Draw):
    """Options that are descriptions."""

    __slots__ = ("_node", "_sampling", "_shortens")

    def __init__(self, node: Description, sampling: Sampling) -> None:
        self._node, self._sampling = node, sampling
        self._shortens = sampling.shortens and node.reducer == "unique"


class ReferenceDraw(DescribingDraw):
    """`filter_unique`: descriptions that fit exactly one object of a set."""

    __slots__ = ()

    def offer(self, stage: StageSearch, frame: Frame, dead: set[Any], undecided: set[Any]) -> bool:
        """Draw options until one leads on."""
        node, random = self._node, frame.random
        table = frame.tables.of(node.vocabulary)
        codes, fits, used, openness, has_checks = table.codes, table.fits, table.used, node.openness, node.has_checks
        among: Objects = frame.values[node.source]
        options: list[int] = (table.singles if among == table.scene.everything else table.everything).copy()
        if among == table.scene.everything and not node.patterns & table.single_patterns:
            # So it is in 9 of 10 draws of 100 objects: "the same color as" needs a reference that says no color.
            skip(frame.rng, len(options))
            return False
        outcomes = among.bit_count()
        left = len(options) if outcomes else 0
        while left:
            at = int(random() * left)
            k = options[at]
            left -= 1
            options[at] = options[left]
            objects = fits[k]
            outcome = objects & among
            if not outcome or outcome & (outcome - 1) or outcome in dead:
                continue
            code = codes[k]
            if has_checks and (not openness[used[k]] or (node.checks_words and not node.allows(code))):
                continue
            if self._shortens:
                code, objects = table.shortened(node, k, among, random)
            if stage.leads_on(frame, dead, undecided, outcome, (None, code, objects)):
                return True
            if len(dead) == outcomes:
                return False
        return False


class DescriptionDraw(DescribingDraw):
    """`filter`, `filter_not_unique`, `filter_count` and `filter_exist`: descriptions of any part of a set, and absent
    ones if the node may name what is not there."""

    __slots__ = ()

    def offer(self, stage: StageSearch, frame: Frame, dead: set[Any], undecided: set[Any]) -> bool:
        """Draw options until one leads on."""
        node, random, is_plural = self._node, frame.random, self._node.reducer == "not_unique"
        table = frame.tables.of(node.vocabulary)
        codes, fits, has_checks = table.codes, table.fits, node.has_checks
        among: Objects = frame.values[node.source]
        first = 1 if node.reducer is None else 0  # `filter` alone must say something
        options: list[int] = table.everything[first:]
        left, absent = len(options), 0
        if node.offers_absent(self._sampling):
            absent = _absent_count(node, table, among, options)
        while left or absent:
            at = int(random() * (left + absent))
            if at < left:
                k = options[at]
                left -= 1
                options[at] = options[left]
                code, objects = codes[k], fits[k]
            else:
                absent -= 1
                found = _absent(table, self._sampling, random)
                if found is None:
                    continue
                code, objects = found
            if has_checks and not node.allows(code):
                continue
            outcome = objects & among
            if is_plural and not outcome & (outcome - 1):
                continue
            if outcome in dead:
                continue
            if stage.leads_on(frame, dead, undecided, outcome, (None, code, objects)):
                return True
        return False


def _absent_count(node: Description, table: DescriptionTable, among: Objects, options: list[int]) -> int:
    if node.reducer == "exist":
        return len(options)
    if among == table.scene.everything:
        return len(table.singles)
    fits = table.fits
    return sum(1 for k in options if is_single(fits[k] & among))


def _absent(table: DescriptionTable, sampling: Sampling, random: Callable[[], float]) -> tuple[int, Objects] | None:
    """A random description and the objects it fits: none, unless absent ones are drawn blindly."""
    vocabulary = table.vocabulary
    is_limited = vocabulary.longest < len(vocabulary.attributes)
    for _ in range(ABSENT_TRIES):
        code = 0
        said = table.used[int(random() * len(table.used))] if is_limited else -1  # then as long as what fits
        for k, (steps, count) in enumerate(vocabulary.steps):
            if said >> k & 1:
                code += steps[int(random() * (count - is_limited))]
        if sampling.absent == "any" or code not in table.fits_of:
            return code, table.fits_of.get(code, 0)
    return None


class RelatedDraw(DescribingDraw):
    """A composite node that describes objects by way of an anchor."""

    __slots__ = ()

    def offer(self, stage: StageSearch, frame: Frame, dead: set[Any], undecided: set[Any]) -> bool:
        """Draw options until one leads on."""
        node, random, reducer = self._node, frame.random, self._node.reducer
        table = frame.tables.of(node.vocabulary)
        codes, fits, used, openness, has_checks = table.codes, table.fits, table.used, node.openness, node.has_checks
        relations, width = table.relations, len(fits)
        anchor: int = frame.values[node.source]
        near: list[Objects] = [frame.scene.related[relation][anchor] for relation in relations]
        offered = table.relation_options(reducer, anchor, node.relation)
        telling: list[int] = offered.telling.copy()
        idle: list[int] = []
        left, idle_left = len(telling), offered.idle.bit_count()
        idle_share = self._sampling.idle_count(left, idle_left)
        outcomes = frame.scene.size - 1 if reducer == "unique" else width * len(relations)  # at most
        while (left or idle_share) and outcomes:
            at = int(random() * (left + idle_share))
            if at < left:
                pair = telling[at]
                left -= 1
                telling[at] = telling[left]
            else:
                at = int(random() * idle_left)
                idle = idle or table.members(offered.idle)
                pair = idle[at]
                idle_share -= 1
                idle_left -= 1
                idle[at] = idle[idle_left]
            k, number = pair % width, pair // width
            objects = fits[k]
            outcome = near[number] & objects
            if outcome in dead:
                continue
            code = codes[k]
            if has_checks and (not openness[used[k]] or (node.checks_words and not node.allows(code))):
                continue
            if self._shortens:
                code, objects = table.shortened(node, k, near[number], random)
            if stage.leads_on(frame, dead, undecided, outcome, (relations[number], code, objects)):
                return True
            if len(dead) == outcomes:
                return False
        return False


class PlainDraw(Draw):
    """A primitive node: every value of each slot's type."""

    __slots__ = ("_every", "_node")

    def __init__(self, node: PlainChoice) -> None:
        self._node, self._every = node, [words for words in itertools.product(*node.options) if node.allows(words)]

    def offer(self, stage: StageSearch, frame: Frame, dead: set[Any], undecided: set[Any]) -> bool:
        """Draw options until one leads on."""
        random, values, scene, run = frame.random, frame.values, frame.scene, self._node.run
        inputs = [values[i] for i in self._node.inputs]
        first = inputs[0] if len(inputs) == 1 == len(self._node.options) else None
        fillings = self._every.copy()
        for k, word in self._node.bound_words(frame):
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
            if outcome not in dead and stage.leads_on(frame, dead, undecided, outcome, words):
                return True
        return False
