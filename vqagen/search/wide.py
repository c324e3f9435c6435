"""Descriptions over many attributes: drawn one by one, where listing all that fit a scene would take too long.

An object with 11 attributes has 2,048 descriptions. The draws here offer what `choices` offers, with these weights: an
object, then which attributes are said, then a value for each, all uniformly. For attributes with one value an object,
references are so drawn uniformly from all that fit one object; of a description that fits n objects only one draw in n
is kept, which makes those uniform too. A draw gives up after `DRAWS` tries without having seen every option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

from vqagen.bits import Objects, indexes
from vqagen.language.wording import Random
from vqagen.search.choices import DescribingDraw
from vqagen.search.description import Description, Sampling
from vqagen.search.frame import Frame
from vqagen.search.wide_table import Drawn, WideTable

if TYPE_CHECKING:
    from vqagen.search.stage_search import StageSearch

DRAWS = 300
"""Tries of one draw. With 11 attributes, a description of a random object that says a random half of them fits it alone
in 8 of 10 tries."""
LISTED = 12
"""Attributes that a node may leave open or say, above which the ways to do so are drawn and not listed."""


class Patterns(NamedTuple):
    """How to draw the attributes that a description says."""

    draw: Callable[[Random], list[int]]
    are_allowed: bool
    """True if all that is drawn meets the node's constraints on openness."""


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
    if not is_tied or len(may) > LISTED:
        may_say_all = all(node.may_say(k) for k in must)
        return Patterns(lambda random: must + [k for k in may if random() < 0.5], may_say_all and not is_tied)
    allowed = [said for said in _subsets(must, may) if node.allows_openness(said)]
    return Patterns(lambda random: allowed[int(random() * len(allowed))] if allowed else [], bool(allowed))


def _subsets(must: list[int], may: list[int]) -> Iterator[list[int]]:
    for number in range(1 << len(may)):
        yield [*must, *compress(may, (number >> place & 1 for place in range(len(may))))]


class WideDraw(DescribingDraw):
    """Options that are descriptions over many attributes."""

    __slots__ = ("_are_allowed", "_pattern_of")

    def __init__(self, node: Description, sampling: Sampling) -> None:
        super().__init__(node, sampling)
        self._pattern_of, are_allowed = patterns_of(node)
        self._are_allowed = are_allowed and not node.checks_words

    def _allows(self, code: int) -> bool:
        """True if the node's own constraints allow a code that was drawn.

        Most nodes draw nothing else. To spell out each code would be half of the cost of a scene with 11 attributes
        (`bench domains`).
        """
        return self._are_allowed or self._node.allows(code)


class WideReferenceDraw(WideDraw):
    """`filter_unique`."""

    __slots__ = ()

    def offer(self, stage: StageSearch, frame: Frame, dead: set[Any], undecided: set[Any]) -> bool:
        """Draw options until one leads on."""
        node, random = self._node, frame.random
        table = frame.tables.wide(node.vocabulary)
        among: Objects = frame.values[node.source]
        candidates = [i for i in indexes(among) if table.fullest(i) & among == 1 << i]
        offered: set[int] = set()
        for _ in range(DRAWS if candidates else 0):
            i = candidates[int(random() * len(candidates))]
            drawn = None if 1 << i in dead else table.described(i, self._pattern_of(random), random)
            if drawn is None or drawn.fits & among != 1 << i or drawn.code in offered or not self._allows(drawn.code):
                continue
            offered.add(drawn.code)
            if stage.leads_on(frame, dead, undecided, 1 << i, (None, *drawn)):
                return True
        return False


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
        offered: set[int] = set()
        for _ in range(DRAWS):
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
        return False


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
        offered: set[tuple[str, int]] = set()
        for _ in range(DRAWS if relations else 0):
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
            if stage.leads_on(frame, dead, undecided, outcome, (relation, *drawn)):
                return True
        return False


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
