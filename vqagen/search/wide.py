"""Descriptions over many attributes: drawn one by one, where listing all that fit a scene would take too long.

An object with 11 attributes has 2,048 descriptions. The draws here offer what `choices` offers, with these weights: an
object, then which attributes are said, then a value for each, all uniformly. For attributes with one value an object,
references are so drawn uniformly from all that fit one object; of a description that fits n objects only one draw in n
is kept, which makes those uniform too.

What fits several objects is drawn so once in hundreds of tries, and may be all that a template can use. So after a few
tries sets of objects are drawn in place of descriptions, with the same weights: an object has 20 or 30 sets, and a set
that does not lead on is not drawn again. Where that is not possible, a draw gives up after `DRAWS` tries without having
seen every option.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

from vqagen.bits import Objects, indexes, is_single
from vqagen.language.wording import Random
from vqagen.search.choices import DescribingDraw
from vqagen.search.description import Description, Sampling, draw_turns
from vqagen.search.frame import Frame
from vqagen.search.wide_table import DescribedSets, Drawn, Span, WideTable, drawn_place

if TYPE_CHECKING:
    from vqagen.search.stage_search import StageSearch

DRAWS = 300
"""Tries of one draw. With 11 attributes, a description of a random object that says a random half of them fits it alone
in 8 of 10 tries."""
FIRST_DRAWS = 20
"""Tries after which sets of objects are drawn, where that is possible: not where constraints ask for words, or where
each description is looked for. In a window of 250 scenes with 11 attributes that takes a third of the time of `DRAWS`
tries (`bench domains`)."""
WORD_TRIES = 3
"""Draws of one set that may fail by their words. If those of an anchor tell the answer, all after it fail so. A
description that is drawn again counts again: four in five draws of sets in scenes with 11 attributes were such."""
LISTED = 12
"""Attributes that a node may leave open or say, above which the ways to do so are drawn and not listed."""


class Patterns(NamedTuple):
    """How to draw the attributes that a description says."""

    draw: Callable[[Random], list[int]]
    are_allowed: bool
    """True if all that is drawn meets the node's constraints on openness."""
    span: Span | None
    """What is drawn from; None if it is a list of some of a span, as constraints tie attributes."""


def patterns_of(node: Description) -> Patterns:
    """Return how to draw attributes uniformly from what the constraints on openness allow.

    Where constraints tie several attributes, the ways to meet them are listed; where that would be too many, patterns
    are drawn blindly, and the node's constraints then refuse descriptions.
    """
    must, may = [], []
    for k in range(len(node.vocabulary.attributes)):
        if node.may_leave_open(k):
            may += [k] if node.may_say(k) else []
        else:
            must.append(k)
    is_tied = any(check.of_openness and len(check.places) > 1 for check in node.checks)
    may_say_all = all(node.may_say(k) for k in must)
    span = Span(tuple(must), tuple(may))
    if len(may) > LISTED:
        return Patterns(lambda random: must + [k for k in may if random() < 0.5], may_say_all and not is_tied, span)
    if not is_tied:
        listed = listed_patterns(span)
        return Patterns(lambda random: listed[int(random() * len(listed))], may_say_all, span)
    allowed = [said for said in listed_patterns(span) if node.allows_openness(said)]
    return Patterns(lambda random: allowed[int(random() * len(allowed))] if allowed else [], bool(allowed), None)


@lru_cache(maxsize=100)
def listed_patterns(span: Span) -> list[list[int]]:
    """Return all sets of attributes of a span. One list for all nodes: 11 attributes take 4 ms and 300 KB."""
    must, may = span
    return [
        [*must, *compress(may, (number >> place & 1 for place in range(len(may))))] for number in range(1 << len(may))
    ]


class RareOption(NamedTuple):
    """All descriptions that fit just these objects, said with one relation or none."""

    weight: float
    relation: str | None
    fits: Objects
    """None of them stands for the descriptions that fit no object."""
    outcome: Objects
    subjects: Objects
    """Those of the objects that single draws start from."""


class WideDraw(DescribingDraw):
    """Options that are descriptions over many attributes."""

    __slots__ = ("_are_allowed", "_pattern_of", "_span")

    def __init__(self, node: Description, sampling: Sampling) -> None:
        super().__init__(node, sampling)
        self._pattern_of, are_allowed, span = patterns_of(node)
        self._are_allowed = are_allowed and not node.checks_words
        self._span = span if self._are_allowed else None

    def _allows(self, code: int) -> bool:
        """True if the node's own constraints allow a code that was drawn.

        Most nodes draw nothing else. To spell out each code would be half of the cost of a scene with 11 attributes
        (`bench domains`).
        """
        return self._are_allowed or self._node.allows(code)

    def _sets(self, frame: Frame, table: WideTable) -> DescribedSets | None:
        """Return the sets to draw from after the first draws; None where only single descriptions can be drawn.

        A search that remembers dead ends knows that all descriptions of a set fail with the first one.
        """
        return table.sets(self._span) if self._span is not None and frame.remembers else None

    def _shortest(self, frame: Frame, relation: str | None, code: int) -> Drawn:
        """Return a reference without the words that it does not need."""
        source = frame.values[self._node.source]
        among = source if relation is None else frame.scene.related[relation][source]
        turns = draw_turns(len(self._node.vocabulary.parts(code)), frame.random)
        return Drawn(*self._node.shortened(frame.scene, code, among, turns))

    def _offer_rare(
        self,
        stage: StageSearch,
        frame: Frame,
        dead: set[Any],
        undecided: set[Any],
        sets: DescribedSets,
        options: list[RareOption],
    ) -> bool:
        """Draw sets of objects by their weight, and a description of each, until one leads on or none is left.

        A set is drawn once more only if its description failed by its words, `WORD_TRIES` times in all.
        """
        node, random, table = self._node, frame.random, frame.tables.wide(self._node.vocabulary)
        offered: set[tuple[str | None, int]] = set()
        failed_by_words = Counter[RareOption]()
        for _ in range(DRAWS):
            if not options:
                return False
            at = drawn_place([option.weight for option in options], random)
            _, relation, fits, outcome, subjects = option = options[at]
            if not fits:
                absent = table.absent(self._pattern_of(random), random)
                if absent.fits:
                    continue
                code = absent.code
            else:
                code = sets.draw(fits, subjects, random)
            if not node.suits(code, outcome):
                continue
            if self._shortens:
                code, fits = self._shortest(frame, relation, code)
            by_words: set[Any] = set()
            if (relation, code) in offered:
                by_words.add(outcome)  # as it did before: what fails by its results is an option no more
            elif stage.leads_on(frame, dead, by_words, outcome, (relation, code, fits)):
                return True
            offered.add((relation, code))
            undecided |= by_words
            failed_by_words[option] += 1
            if not by_words or failed_by_words[option] == WORD_TRIES:
                options = [each for each in options if each is not option and each.outcome not in dead]
        return False


class WideReferenceDraw(WideDraw):
    """`filter_unique`."""

    __slots__ = ()

    def offer(self, stage: StageSearch, frame: Frame, dead: set[Any], undecided: set[Any]) -> bool:
        """Draw options until one leads on."""
        node, random = self._node, frame.random
        table = frame.tables.wide(node.vocabulary)
        among: Objects = frame.values[node.source]
        candidates = [i for i in indexes(among) if table.fullest[i] & among == 1 << i]
        sets = self._sets(frame, table)
        offered: set[int] = set()
        for _ in range(DRAWS if sets is None else FIRST_DRAWS):
            if not candidates:
                return False
            i = candidates[int(random() * len(candidates))]
            drawn = table.described(i, self._pattern_of(random), random)
            if drawn is None or drawn.fits & among != 1 << i or drawn.code in offered or not self._allows(drawn.code):
                continue
            offered.add(drawn.code)
            if self._shortens:
                drawn = self._shortest(frame, None, drawn.code)
            if stage.leads_on(frame, dead, undecided, 1 << i, (None, *drawn)):
                return True
            if 1 << i in dead:
                candidates.remove(i)
        if sets is None:
            return False
        options = []
        for fits in sets.weights:
            outcome = fits & among
            if is_single(outcome) and outcome not in dead:
                options.append(RareOption(sets.weight(fits, outcome), None, fits, outcome, outcome))
        return self._offer_rare(stage, frame, dead, undecided, sets, options)


class WideDescriptionDraw(WideDraw):
    """`filter`, `filter_not_unique`, `filter_count` and `filter_exist`; if absent descriptions are offered, they are
    half of the options."""

    __slots__ = ()

    def offer(self, stage: StageSearch, frame: Frame, dead: set[Any], undecided: set[Any]) -> bool:
        """Draw options until one leads on."""
        node, random, is_new = self._node, frame.random, self._sampling.absent == "new"
        absent_share = 0.5 if node.offers_absent(self._sampling) else 0.0
        table = frame.tables.wide(node.vocabulary)
        among: Objects = frame.values[node.source]
        sets = self._sets(frame, table) if is_new or not absent_share else None
        offered: set[int] = set()
        for _ in range(DRAWS if sets is None else FIRST_DRAWS):
            said = self._pattern_of(random)
            if random() < absent_share:
                drawn: Drawn | None = table.absent(said, random)
                if drawn is None or (drawn.fits and is_new):
                    continue
            else:
                drawn = _present(table, said, random)
            if drawn is None or drawn.code in offered or not self._allows(drawn.code):
                continue
            outcome = drawn.fits & among
            if outcome in dead or not node.suits(drawn.code, outcome):
                continue
            offered.add(drawn.code)
            if stage.leads_on(frame, dead, undecided, outcome, (None, *drawn)):
                return True
        if sets is None:
            return False
        return self._offer_rare(stage, frame, dead, undecided, sets, self._rare(table, sets, among, dead, absent_share))

    def _rare(
        self, table: WideTable, sets: DescribedSets, among: Objects, dead: set[Any], absent_share: float
    ) -> list[RareOption]:
        """Return the sets that may lead on, and, where they are offered, as many absent descriptions as draws would."""
        node, span = self._node, self._span
        assert span is not None
        options = []
        for fits, weight in sets.weights.items():
            outcome = fits & among
            is_blank = weight == 1 and fits == table.scene.everything and not span.must  # only by saying nothing
            if outcome not in dead and node.suits(int(not is_blank), outcome):
                options.append(RareOption(weight, None, fits, outcome, fits))
        if absent_share and 0 not in dead:
            options.append(RareOption(float(len(table.visible) << len(span.may)), None, 0, 0, 0))
        return options


def _present(table: WideTable, said: list[int], random: Random) -> Drawn | None:
    """A description that fits some object of the scene, each such description with the same weight."""
    visible = table.visible
    drawn = table.described(visible[int(random() * len(visible))], said, random) if visible else None
    if drawn is None or not drawn.fits or random() * drawn.fits.bit_count() >= 1:
        return None
    return drawn


class WideRelatedDraw(WideDraw):
    """A composite node that describes objects by way of an anchor. Idle pairs are offered as often as the idle share
    says; half of all pairs are taken to be idle, as they are if most descriptions fit one object."""

    __slots__ = ()

    def offer(self, stage: StageSearch, frame: Frame, dead: set[Any], undecided: set[Any]) -> bool:
        """Draw options until one leads on."""
        node, random, share = self._node, frame.random, self._sampling.idle_share
        idle_weight = share / (1 - share) if share < 0.5 else 1.0
        table = frame.tables.wide(node.vocabulary)
        related, anchor = frame.scene.related, frame.values[node.source]
        relations = node.relations_in(frame.scene)
        candidates = {relation: indexes(related[relation][anchor]) for relation in relations}
        sets = self._sets(frame, table)
        offered: set[tuple[str, int]] = set()
        for _ in range(0 if not relations else DRAWS if sets is None else FIRST_DRAWS):
            relation = relations[int(random() * len(relations))]
            near = related[relation][anchor]
            drawn = _described_near(node, table, near, candidates[relation], self._pattern_of(random), random)
            if drawn is None or (relation, drawn.code) in offered or not self._allows(drawn.code):
                continue
            outcome, is_idle = drawn.fits & near, not drawn.fits & ~near
            if is_idle and random() >= idle_weight:
                continue
            if outcome in dead or not node.suits(drawn.code, outcome):
                continue
            offered.add((relation, drawn.code))
            if self._shortens:
                drawn = self._shortest(frame, relation, drawn.code)
            if stage.leads_on(frame, dead, undecided, outcome, (relation, *drawn)):
                return True
        if sets is None:
            return False
        options = self._rare(sets, {each: related[each][anchor] for each in relations}, dead, idle_weight)
        return self._offer_rare(stage, frame, dead, undecided, sets, options)

    def _rare(
        self, sets: DescribedSets, near: dict[str, Objects], dead: set[Any], idle_weight: float
    ) -> list[RareOption]:
        """Return the sets that may lead on, with the weights of draws: one object near by each relation, or any."""
        node, options = self._node, []
        is_any = node.reducer in ("count", "exist")
        for relation, objects in near.items():
            share = 1.0 if is_any else 1 / max(objects.bit_count(), 1)
            for fits, weight in sets.weights.items():
                outcome, kept = fits & objects, share if fits & ~objects else share * idle_weight
                if kept and outcome not in dead and node.suits(1, outcome):
                    subjects = fits if is_any else outcome
                    kept *= weight if is_any else sets.weight(fits, outcome)
                    options.append(RareOption(kept, relation, fits, outcome, subjects))
        return options


def _described_near(
    node: Description, table: WideTable, near: Objects, candidates: list[int], said: list[int], random: Random
) -> Drawn | None:
    """For `count` and `exist` any description of the scene, otherwise one of the `candidates`, which stand near."""
    if node.reducer in ("count", "exist"):
        return _present(table, said, random)
    if not candidates:
        return None
    drawn = table.described(candidates[int(random() * len(candidates))], said, random)
    if drawn is None or random() * (drawn.fits & near).bit_count() >= 1:
        return None
    return drawn
