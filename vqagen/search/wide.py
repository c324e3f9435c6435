"""Descriptions over many attributes: drawn one by one, where listing all that fit a scene would take too long.

An object with 11 attributes has 2,048 descriptions. The draws here offer what `choices` offers, with these weights: an
object, then which attributes are said, then a value for each, all uniformly. For attributes with one value an object,
references are so drawn uniformly from all that fit one object; of a description that fits n objects only one draw in n
is kept, which makes those uniform too. A draw gives up after `DRAWS` tries without having seen every option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from itertools import compress
from typing import Any

from vqagen.bits import Objects, indexes
from vqagen.language.registry import Value
from vqagen.language.wording import Random
from vqagen.search.description import Description, Sampling
from vqagen.search.frame import Draw, Frame, Pick
from vqagen.search.wide_table import Drawn, WideTable

DRAWS = 300
"""Tries of one draw. With 11 attributes, a description of a random object that says a random half of them fits it alone
in 8 of 10 tries."""
LISTED = 12
"""Attributes that a node may leave open or say, above which the ways to do so are drawn and not listed."""


def make_pattern_draw(node: Description) -> Callable[[Random], list[int]]:
    """Return how to draw the attributes that a description says, uniformly from what the constraints on openness allow.

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
        return lambda random: must + [k for k in may if random() < 0.5]
    allowed = [said for said in _subsets(must, may) if node.allows_openness(said)]
    return lambda random: allowed[int(random() * len(allowed))] if allowed else []


def _subsets(must: list[int], may: list[int]) -> Iterator[list[int]]:
    for number in range(1 << len(may)):
        yield [*must, *compress(may, (number >> place & 1 for place in range(len(may))))]


def draw_wide_reference(node: Description) -> Draw:
    """Draw options of `filter_unique`."""
    pattern_of = make_pattern_draw(node)

    def draw(frame: Frame, dead: Set[Any]) -> Iterator[tuple[Value, Pick]]:
        random, table = frame.random, frame.tables.wide(node.vocabulary)
        among: Objects = frame.values[node.source]
        candidates = [i for i in indexes(among) if table.fullest(i) & among == 1 << i]
        offered: set[int] = set()
        for _ in range(DRAWS if candidates else 0):
            i = candidates[int(random() * len(candidates))]
            drawn = None if 1 << i in dead else table.described(i, pattern_of(random), random)
            if drawn is None or drawn.fits & among != 1 << i or drawn.code in offered or not node.allows(drawn.code):
                continue
            offered.add(drawn.code)
            yield 1 << i, (None, *drawn)

    return draw


def draw_wide_description(node: Description, sampling: Sampling) -> Draw:
    """Draw options of `filter`, `filter_not_unique`, `filter_count` and `filter_exist`; if absent descriptions are
    offered, they are half of the options."""
    pattern_of = make_pattern_draw(node)
    absent_share = 0.5 if node.offers_absent(sampling) else 0.0

    def draw(frame: Frame, dead: Set[Any]) -> Iterator[tuple[Value, Pick]]:
        random, table = frame.random, frame.tables.wide(node.vocabulary)
        among: Objects = frame.values[node.source]
        offered: set[int] = set()
        for _ in range(DRAWS):
            said = pattern_of(random)
            if random() < absent_share:
                drawn: Drawn | None = table.absent(said, random)
                if drawn is None or (drawn.fits and sampling.absent == "new"):
                    continue
            else:
                drawn = _present(table, said, random)
            if drawn is None or drawn.code in offered or not node.allows(drawn.code):
                continue
            outcome = drawn.fits & among
            if outcome not in dead and node.suits(drawn.code, outcome):
                offered.add(drawn.code)
                yield outcome, (None, *drawn)

    return draw


def _present(table: WideTable, said: list[int], random: Random) -> Drawn | None:
    """A description that fits some object of the scene, each such description with the same weight."""
    visible = table.visible
    drawn = table.described(visible[int(random() * len(visible))], said, random) if visible else None
    if drawn is None or not drawn.fits or random() * drawn.fits.bit_count() >= 1:
        return None
    return drawn


def draw_wide_related(node: Description, sampling: Sampling) -> Draw:
    """Draw options of a composite node that describes objects by way of an anchor. Idle pairs are offered as often as
    the idle share says; half of all pairs are taken to be idle, as they are if most descriptions fit one object."""
    pattern_of = make_pattern_draw(node)
    share = sampling.idle_share
    idle_weight = share / (1 - share) if share < 0.5 else 1.0

    def draw(frame: Frame, dead: Set[Any]) -> Iterator[tuple[Value, Pick]]:
        random, table = frame.random, frame.tables.wide(node.vocabulary)
        related, anchor = frame.scene.related, frame.values[node.source]
        relations = node.relations_in(frame.scene)
        offered: set[tuple[str, int]] = set()
        for _ in range(DRAWS if relations else 0):
            relation = relations[int(random() * len(relations))]
            near = related[relation][anchor]
            drawn = _described_near(node, table, near, pattern_of(random), random)
            if drawn is None or (relation, drawn.code) in offered or not node.allows(drawn.code):
                continue
            outcome, is_idle = drawn.fits & near, not drawn.fits & ~near
            if is_idle and random() >= idle_weight:
                continue
            if outcome not in dead and node.suits(drawn.code, outcome):
                offered.add((relation, drawn.code))
                yield outcome, (relation, *drawn)

    return draw


def _described_near(
    node: Description, table: WideTable, near: Objects, said: list[int], random: Random
) -> Drawn | None:
    """For `count` and `exist` any description of the scene, otherwise one of an object that stands near."""
    if node.reducer in ("count", "exist"):
        return _present(table, said, random)
    candidates = indexes(near)
    if not candidates:
        return None
    drawn = table.described(candidates[int(random() * len(candidates))], said, random)
    if drawn is None or random() * (drawn.fits & near).bit_count() >= 1:
        return None
    return drawn
