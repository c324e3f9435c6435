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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from vqagen.bits import Objects, is_single
from vqagen.language.registry import Value
from vqagen.plugin import Undefined
from vqagen.search.descriptions import DescriptionTable
from vqagen.search.frame import Frame, Pick
from vqagen.search.vocabulary import REMEMBERED, Vocabulary

Draw = Callable[[Frame, Set[Any]], Iterator[tuple[Value, Pick]]]
ABSENT_TRIES = 20
"""Draws after which a scene that is out of absent descriptions gets one fewer."""


@dataclass(frozen=True)
class Sampling:
    """How options are offered; the defaults are the reference's, without its bug of absent descriptions that fit."""

    idle_share: float = 0.1
    """Share of idle relations among what is offered; 1 offers every idle pair, 0 none."""
    absent: str = "new"
    """"new": descriptions that fit no object; "any": drawn blindly, as the reference does; "none"."""
    shorten: bool = False
    """Whether a reference to one object loses words it does not need."""

    def idle_count(self, telling: int, idle: int) -> int:
        """How many of the idle pairs join so many telling ones."""
        if self.idle_share >= 1:
            return idle
        return min(idle, round(telling * self.idle_share / (1 - self.idle_share)))


class Allowed(dict[int, bool]):
    """Code -> whether a node's own constraints let it be said; decided when first asked for."""

    def __init__(self, vocabulary: Vocabulary, checks: Sequence[LocalCheck]) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._of_openness = [check for check in checks if check.of_openness]
        self._of_words = [check for check in checks if not check.of_openness]
        self._openness: dict[int, bool] = {}
        """Set of attributes that are said -> whether that is allowed."""

    def __missing__(self, code: int) -> bool:
        if len(self) > REMEMBERED:
            self.clear()
        words, used = self._vocabulary.said(code)
        allowed = self._openness.get(used)
        if allowed is None:
            allowed = self._openness[used] = all(check.holds(words) for check in self._of_openness)
        allowed = self[code] = allowed and all(check.holds(words) for check in self._of_words)
        return allowed


@dataclass(frozen=True)
class LocalCheck:
    """A condition on the words of one node alone. `places` are those it reads."""

    places: tuple[int, ...]
    test: Callable[..., bool]
    of_openness: bool = False
    """Whether it only asks which words are there."""

    def holds(self, words: Sequence[str | None]) -> bool:
        """Whether the node's words meet it."""
        return self.test(*[words[k] for k in self.places])


@dataclass(frozen=True)
class Description:
    """A node that describes objects: where it starts, what it may say, and what ends it."""

    source: int
    """The op it starts from: an object set, or the anchor where it relates."""
    relates: bool
    reducer: str | None
    vocabulary: Vocabulary
    checks: tuple[LocalCheck, ...] = ()

    @cached_property
    def allowed(self) -> Mapping[int, bool] | None:
        """Which codes its own constraints let it say; None where it has none."""
        return Allowed(self.vocabulary, self.checks) if self.checks else None

    def allows(self, code: int) -> bool:
        """Whether its own constraints let it say this."""
        return self.allowed is None or self.allowed[code]

    def allows_openness(self, said: Collection[int]) -> bool:
        """Whether the constraints that ask only which attributes are said let it say just these."""
        words = ["" if k in said else None for k in range(len(self.vocabulary.attributes))]
        return all(check.holds(words) for check in self.checks if check.of_openness)

    def may_say(self, k: int) -> bool:
        """Whether the constraints on the openness of attribute k alone let it be said."""
        return all(check.test("") for check in self.checks if check.of_openness and check.places == (k,))

    def may_leave_open(self, k: int) -> bool:
        """Whether they let it be left open."""
        return all(check.test(None) for check in self.checks if check.of_openness and check.places == (k,))

    def offers_absent(self, sampling: Sampling) -> bool:
        """Whether descriptions that fit nothing are among the options: not of what must be there."""
        return sampling.absent != "none" and self.reducer not in ("unique", "not_unique") and not self.relates

    def suits(self, code: int, outcome: Objects) -> bool:
        """Whether a description with this outcome is one that the node can use."""
        if self.reducer == "unique":
            return is_single(outcome)
        if self.reducer == "not_unique":
            return outcome & (outcome - 1) != 0
        if self.reducer is None:
            return outcome != 0 if self.relates else code != 0
        return True


def draw_reference(node: Description, sampling: Sampling) -> Draw:
    """Options of `filter_unique`: descriptions that fit exactly one object of a set."""
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
    """Options of `filter`, `filter_not_unique`, `filter_count` and `filter_exist`: descriptions of any part of a set,
    and absent ones where they need not be there."""
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
        words = [
            attribute.values[at]
            if (at := int(random() * (len(attribute.values) + 1))) < len(attribute.values)
            else None
            for attribute in vocabulary.attributes
        ]
        code = vocabulary.code_of(words)
        if sampling.absent == "any" or code not in table.fits_of:
            return code, table.fits_of.get(code, 0)
    return None


def draw_related(node: Description, sampling: Sampling) -> Draw:
    """Options of a composite node that describes objects by way of an anchor."""
    vocabulary, source, reducer, allowed = node.vocabulary, node.source, node.reducer, node.allowed
    shorten = sampling.shorten and reducer == "unique"

    def draw(frame: Frame, dead: Set[Any]) -> Iterator[tuple[Value, Pick]]:
        random = frame.random
        table = frame.tables.of(vocabulary)
        codes, fits, relations = table.codes, table.fits, table.relations
        related, width = frame.scene.related, len(fits)
        anchor: int = frame.values[source]
        offered = table.relation_options(reducer, anchor)
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
    options: tuple[tuple[str, ...], ...]
    bound: tuple[Callable[[Frame], str | None] | None, ...]
    checks: tuple[LocalCheck, ...] = ()


def draw_plain(node: PlainChoice) -> Draw:
    """Options of a primitive node: every value of each slot's type, in random order."""
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
