"""Choices: the options at a node, drawn one by one in random order.

Each `draw(frame, dead)` yields (outcome, pick) and leaves out options whose outcome is in `dead`, so that all options
that lead to the same dead object die together. Options are drawn by swap-and-pop: the first costs one draw, and the
order is uniform. What is offered, and with which weights, is the reference generator's rule (Johnson et al. 2017):

* a description of a set: every description that fits some object of the scene, each once; `unique` keeps those that
  fit exactly one object of the set; `filter` alone leaves out the empty description. As many absent descriptions are
  added as there are options that name one object (`filter`, `count`), or options at all (`exist`).
* by way of an anchor: every telling (relation, description) pair; idle pairs are one in ten of what is offered.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import Any

from vqagen.bits import Objects
from vqagen.language.registry import Value
from vqagen.plugin import Undefined
from vqagen.search.description import Description, Sampling
from vqagen.search.frame import Draw, Frame, Pick
from vqagen.search.local_checks import LocalCheck
from vqagen.search.tables import DescriptionTable
from vqagen.search.vocabulary import Vocabulary

ABSENT_TRIES = 20
"""Draws after which a scene that is out of absent descriptions gets one fewer."""


def draw_reference(node: Description, sampling: Sampling) -> Draw:
    """Draw options of `filter_unique`: descriptions that fit exactly one object of a set."""
    vocabulary, source, allowed = node.vocabulary, node.source, node.allowed

    def draw(frame: Frame, dead: Set[Any]) -> Iterator[tuple[Value, Pick]]:
        random = frame.random
        table = frame.tables.of(vocabulary)
        codes, fits = table.codes, table.fits
        among: Objects = frame.values[source]
        options = list(table.singles if among == table.scene.everything else table.everything)
        left, possible = len(options), among.bit_count()
        while left and len(dead) < possible:
            at = int(random() * left)
            k = options[at]
            left -= 1
            options[at] = options[left]
            code, objects = codes[k], fits[k]
            outcome = objects & among
            if not outcome or outcome & (outcome - 1) or outcome in dead:
                continue
            if allowed is not None and not allowed[code]:
                continue
            if sampling.shorten:
                code, objects = _shortened(node, table, code, among, random)
            yield outcome, (None, code, objects)

    return draw


def draw_description(node: Description, sampling: Sampling) -> Draw:
    """Draw options of `filter`, `filter_not_unique`, `filter_count` and `filter_exist`: descriptions of any part of a
    set, and absent ones if the node may name what is not there."""
    vocabulary, source, allowed = node.vocabulary, node.source, node.allowed
    is_plural, offers_absent = node.reducer == "not_unique", node.offers_absent(sampling)
    first = 1 if node.reducer is None else 0  # `filter` alone must say something

    def draw(frame: Frame, dead: Set[Any]) -> Iterator[tuple[Value, Pick]]:
        random = frame.random
        table = frame.tables.of(vocabulary)
        codes, fits = table.codes, table.fits
        among: Objects = frame.values[source]
        options = list(table.everything[first:])
        left, absent = len(options), 0
        if offers_absent:
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
                found = _absent(vocabulary, sampling, table, random)
                if found is None:
                    continue
                code, objects = found
            if allowed is not None and not allowed[code]:
                continue
            outcome = objects & among
            if is_plural and not outcome & (outcome - 1):
                continue
            if outcome not in dead:
                yield outcome, (None, code, objects)

    return draw


def _absent_count(node: Description, table: DescriptionTable, among: Objects, options: list[int]) -> int:
    if node.reducer == "exist":
        return len(options)
    if among == table.scene.everything:
        return len(table.singles)
    fits = table.fits
    return sum(1 for k in options if (some := fits[k] & among) and not some & (some - 1))


def _absent(
    vocabulary: Vocabulary, sampling: Sampling, table: DescriptionTable, random: Callable[[], float]
) -> tuple[int, Objects] | None:
    """A random description and the objects it fits: none, unless absent ones are drawn blindly."""
    for _ in range(ABSENT_TRIES):
        code = 0
        for steps in vocabulary.steps:
            code += steps[int(random() * len(steps))]
        if sampling.absent == "any" or code not in table.fits_of:
            return code, table.fits_of.get(code, 0)
    return None


def draw_related(node: Description, sampling: Sampling) -> Draw:
    """Draw options of a composite node that describes objects by way of an anchor."""
    vocabulary, source, reducer, allowed = node.vocabulary, node.source, node.reducer, node.allowed
    shorten = sampling.shorten and reducer == "unique"

    def draw(frame: Frame, dead: Set[Any]) -> Iterator[tuple[Value, Pick]]:
        random = frame.random
        table = frame.tables.of(vocabulary)
        codes, fits, relations = table.codes, table.fits, table.relations
        related, width = frame.scene.related, len(fits)
        anchor: int = frame.values[source]
        offered = table.relation_options(reducer, anchor, node.relation)
        telling, idle = offered.telling.copy(), offered.idle.copy()
        left, idle_left = len(telling), len(idle)
        idle_share = sampling.idle_count(left, idle_left)
        possible = frame.scene.size - 1 if reducer == "unique" else len(fits) * len(relations) + 1
        while (left or idle_share) and len(dead) < possible:
            at = int(random() * (left + idle_share))
            if at < left:
                pair = telling[at]
                left -= 1
                telling[at] = telling[left]
            else:
                at = int(random() * idle_left)
                pair = idle[at]
                idle_share -= 1
                idle_left -= 1
                idle[at] = idle[idle_left]
            r, k = divmod(pair, width)
            code, objects, relation = codes[k], fits[k], relations[r]
            if allowed is not None and not allowed[code]:
                continue
            outcome = related[relation][anchor] & objects
            if outcome in dead:
                continue
            if shorten:
                code, objects = _shortened(node, table, code, related[relation][anchor], random)
            yield outcome, (relation, code, objects)

    return draw


def _shortened(
    node: Description, table: DescriptionTable, code: int, among: Objects, random: Callable[[], float]
) -> tuple[int, Objects]:
    """Leave open, in random order, every attribute without which the description still fits the same one object."""
    vocabulary, fits_of = table.vocabulary, table.fits_of
    spare = [k for k, word in enumerate(vocabulary.said(code).words) if word is not None]
    while spare:
        shorter = vocabulary.without(code, spare.pop(int(random() * len(spare))))
        if node.allows(shorter) and fits_of[shorter] & among == fits_of[code] & among:
            code = shorter
    return code, fits_of[code]


@dataclass(frozen=True)
class PlainChoice:
    """A primitive node with slots or literals as its values.

    `options` has, for each value, what it may be; a slot that an earlier node filled is looked up by `bound`.
    """

    run: Callable[..., Value]
    inputs: tuple[int, ...]
    options: tuple[tuple[str | None, ...], ...]
    bound: tuple[Callable[[Frame], str | None] | None, ...]
    checks: tuple[LocalCheck, ...] = ()


def draw_plain(node: PlainChoice) -> Draw:
    """Draw options of a primitive node: every value of each slot's type, in random order."""
    options = itertools.product(*node.options)
    every = tuple(words for words in options if all(check.holds(words) for check in node.checks))
    bound = [(k, word_of) for k, word_of in enumerate(node.bound) if word_of is not None]

    def draw(frame: Frame, dead: Set[Any]) -> Iterator[tuple[Value, Pick]]:
        random, values, scene, run = frame.random, frame.values, frame.scene, node.run
        inputs = [values[i] for i in node.inputs]
        fillings = list(every)
        for k, word_of in bound:
            word = word_of(frame)
            fillings = [words for words in fillings if words[k] == word]
        left = len(fillings)
        while left:
            at = int(random() * left)
            words = fillings[at]
            left -= 1
            fillings[at] = fillings[left]
            try:
                outcome = run(scene, *inputs, *words)
            except Undefined:
                continue
            if outcome not in dead:
                yield outcome, words

    return draw
