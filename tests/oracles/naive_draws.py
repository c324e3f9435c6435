"""How likely the generator is to find each filling of a template: the draws, for the slow twin (see `naive`).

The rule, node by node: one of the options is drawn from which something wanted follows.

* Options count 1 each; by way of an anchor, an idle one, that no object elsewhere fits, counts a share of that, such
  that idle ones are one in ten, or as many as there are. Where a reference must not be idle in the end, all count 1.
* A reference to one object then loses words that it does not need, in random order.
* A set may also be described by words that fit nothing: all those together count as many as there are options that name
  one object, or for `exist` as there are options. Drawn blindly, they may fit something.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations, product
from math import factorial
from typing import NamedTuple

from oracles.naive_constraints import is_allowed
from oracles.naive_descriptions import (
    MAY_BE_ABSENT,
    Composite,
    Description,
    Option,
    Search,
    domain_of,
    is_composite,
    is_slot,
    make_composite,
    neighborhoods,
    option_of,
    wants,
)
from oracles.naive_programs import program_records, step_type
from oracles.naive_relevance import has_idle_relation
from oracles.naive_search import Filling, Instantiation, plain_options, with_option
from oracles.naive_vocabulary import Record, make_world
from oracles.naive_words import facts_of, is_trivial

UNTESTED = ("exist", "equal_integer", "than")
"""Ends of the last functions whose questions may have idle relations under the policy `all`."""
Named = tuple[str | None, Description]
"""A relation, if there is one, and a description."""


class Rule(NamedTuple):
    """How options are offered: the share of idle ones, absent ones ("new", "any", "none"), and shorter references."""

    idle: float = 0.1
    absent: str = "new"
    shortens: bool = False


def chances(
    template: Record,
    scene: Record,
    metadata: Record,
    rule: Rule,
    is_wanted: Callable[[Instantiation], bool],
    degeneracy: str = "none",
) -> dict[Instantiation, float]:
    """How likely each wanted filling is the first one found; they add up to 1, or there is none."""
    search = Search(template, make_world(scene, metadata), metadata, True, False)
    facts = facts_of(metadata)
    has_raw_relate = any(step_type(node) == "relate" for node in template["nodes"])
    must_tell = degeneracy == "all" and not step_type(template["nodes"][-1]).endswith(UNTESTED)

    def accepts(filling: Filling) -> bool:
        program = program_records(filling.program)
        is_told = degeneracy == "all" and is_trivial(facts, program, filling.results)
        return not is_told and not has_idle_relation(search.world, program, degeneracy, has_raw_relate)

    def completed(filling: Filling, nodes: Sequence[Record]) -> dict[Instantiation, float]:
        if not nodes:
            found = Instantiation(tuple(sorted(filling.bound.items())), filling.program, filling.results[-1])
            return {found: 1.0} if is_wanted(found) and accepts(filling) else {}
        shares, total = defaultdict[Instantiation, float](float), 0.0
        for option, weight in _weighted(search, nodes[0], filling, rule, must_tell):
            longer = with_option(search, filling, nodes[0], option)
            rest = completed(longer, nodes[1:]) if longer is not None else {}
            total += weight if rest else 0
            for found, share in rest.items():
                shares[found] += weight * share
        return {found: share / total for found, share in shares.items()}

    return completed(Filling({}, (), (), ()), template["nodes"])


def _weighted(
    search: Search, node: Record, filling: Filling, rule: Rule, must_tell: bool
) -> Iterator[tuple[Option, float]]:
    """The options of a node, each with how much it counts; `must_tell`: no reference may be idle in the end."""
    if not is_composite(node):
        yield from ((option, 1.0) for option in plain_options(search, node))
        return
    composite, value = make_composite(search, node), filling.results[filling.places[node["inputs"][0]]]
    near = dict(neighborhoods(search, composite, value))
    fitting = composite.fitting
    named = [
        (relation, words)
        for relation, objects in near.items()
        for words in fitting
        if wants(composite, words, objects & fitting[words])
    ]
    allowed = [each for each in named if is_allowed(search.template, option_of(composite, *each).bound)]
    if composite.ending == "unique":
        named = allowed
    telling = {each for each in named if fitting[each[1]] - near[each[0]]} if composite.relates else {*named}
    share = _share_of_idle(len(telling), len(named) - len(telling), rule)
    if composite.ending == "unique" and must_tell:
        share = 1.0
    weights = {each: 1.0 if each in telling else share for each in allowed}
    if composite.ending == "unique" and rule.shortens:
        weights = _shortened(weights)
    if step_type(node) in MAY_BE_ABSENT and rule.absent != "none":
        of_one = [words for words, objects in fitting.items() if len(objects & value) == 1]
        weights |= _absent(search, composite, len(fitting if composite.ending == "exist" else of_one), rule, weights)
    yield from ((option_of(composite, *each), weight) for each, weight in weights.items() if weight)


def _share_of_idle(telling: int, idle: int, rule: Rule) -> float:
    return 1.0 if rule.idle == 1 or not idle else min(1.0, round(telling * rule.idle / (1 - rule.idle)) / idle)


def _shortened(weights: Mapping[Named, float]) -> dict[Named, float]:
    """The weights of what is left when words go in random order, each if what is left is one of the options too."""
    left = defaultdict[Named, float](float)
    for (relation, words), weight in weights.items():
        said = [k for k, word in enumerate(words) if word is not None]
        for order in permutations(said):
            shorter = words
            for k in order:
                without = (*shorter[:k], None, *shorter[k + 1 :])
                shorter = without if (relation, without) in weights else shorter
            left[relation, shorter] += weight / factorial(len(said))
    return left


def _absent(
    search: Search, composite: Composite, count: int, rule: Rule, weights: Mapping[Named, float]
) -> dict[Named, float]:
    """The weights of descriptions that are drawn blindly: of those that fit nothing, or of any."""
    words = [[None, *domain_of(search, side)] if is_slot(side) else [side] for side, _ in composite.described]
    drawn = [each for each in product(*words) if rule.absent == "any" or each not in composite.fitting]
    return {(None, each): count / len(drawn) + weights.get((None, each), 0.0) for each in drawn}
