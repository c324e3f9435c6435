"""What is found first is as likely as the rule says, whatever is wanted (see `naive_draws`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

import pytest
from families import COLLECTIONS
from general_domain import METADATA, SCENES
from oracles.naive import Instantiation
from oracles.naive_balance import NaiveNumbers, NaiveYesNo, Said
from oracles.naive_draws import Rule, chances
from scene_records import scene_record
from test_search import CATALOGUE, as_instantiation, made, make_search
from test_worded import coins

from vqagen.bits import union_of
from vqagen.search.description import Sampling
from vqagen.search.state import Balance, SceneTables
from vqagen.search.worded import PRIOR, balance_of
from vqagen.world.scene import compile_scene

CLEVR = COLLECTIONS[0]
SLOTS = {
    False: {
        "<Z>": "Size",
        "<C>": "Color",
        "<S>": "Shape",
        "<S2>": "Shape",
        "<M>": "Material",
        "<M2>": "Material",
        "<R>": "Relation",
    },
    True: {"<Z>": "Size", "<T>": "Topping", "<K>": "Kind", "<O>": "Origin", "<R>": "Relation"},
}
THINGS = (
    "small gray rubber sphere", "large blue rubber cylinder", "small blue metal cube", "small red metal cube",
    "large blue metal cube", "large blue metal sphere",
)  # fmt: skip
SIX = scene_record(THINGS, [2, 0, 5, 1, 4, 3], [0, 4, 2, 5, 1, 3])
SHORT, COMPAT, ALL = Rule(shortens=True), Rule(absent="any"), Rule(1, "none")


class Draw(NamedTuple):
    """A template whose fillings are drawn, the rule, and what is refused.

    is_pantry: its scene is of the pantry. asked: questions before, (answer, what its phrases say), balanced by words.
    """

    nodes: str
    rule: Rule = SHORT
    refused: Sequence[Any] = ()
    constraints: Sequence[str] = ()
    degeneracy: str = "none"
    is_pantry: bool = False
    asked: Sequence[tuple[int, Said]] = ()


RELATED = "scene, filter_unique 0 <C>, relate_filter_unique 1 <R> <Z> <S>, query_color 2"
COUNTED = "scene, filter_unique 0 <C>, relate_filter_count 1 <R> <Z> <S>"
GRAY = ("IN <C> gray",)
DRAWS = {
    # references
    "each alike": Draw("scene, filter_unique 0 <Z> <C> <S>, query_material 1", ALL),
    "shorter": Draw("scene, filter_unique 0 <Z> <C> <M> <S>, query_size 1"),
    "shorter, an answer refused": Draw("scene, filter_unique 0 <Z> <C> <M> <S>, query_size 1", SHORT, ("large",)),
    "shorter, words ruled out": Draw(
        "scene, filter_unique 0 <Z> <C> <S>, query_material 1", SHORT, (), ("NOT_IN <C> red", "NOT_ALL_NULL <C> <Z>")
    ),
    "lists and groups": Draw("scene, filter_unique 0 <T> <K> <O>, query_tint 1", is_pantry=True),
    "lists and groups, refused": Draw(
        "scene, filter_unique 0 <T> <K> <O>, query_tint 1", refused=("dark",), is_pantry=True
    ),
    "two": Draw("scene, filter_unique 0 <C> <S>, filter_unique 0 <Z> <M>, equal_object 1 2", SHORT, (True,)),
    # references by way of an anchor
    "idle at times": Draw(RELATED, Rule(), (), GRAY),
    "never idle": Draw(RELATED, Rule(0, "none"), (), GRAY),
    "idle as often": Draw(RELATED, ALL, ("red",), GRAY),
    "shorter, by way of an anchor": Draw(RELATED, SHORT, (), GRAY),
    "never idle in the end": Draw(RELATED.replace("0 <C>", "0 <M> <S2>"), SHORT, ("red",), (), "all"),
    "what is the same": Draw(
        "scene, filter_unique 0 <Z> <S>, same_color 1, filter_unique 2 <S2> <M>, query_size 3", degeneracy="all"
    ),
    # sets
    "absent": Draw("scene, filter_count 0 <Z> <S>"),
    "absent, numbers refused": Draw("scene, filter_count 0 <Z> <S>", SHORT, (0, 3, 4, 5)),
    "absent, of which some words are ruled out": Draw("scene, filter_count 0 <Z> <S>", SHORT, (2,), ("NOT_NULL <S>",)),
    "some words alone": Draw("scene, filter_count 0 <C> <S>", ALL, (), ("IN <C> gray|blue",)),
    "absent alone": Draw("scene, filter_exist 0 <C> <S>", SHORT, (True,)),
    "present alone": Draw("scene, filter_exist 0 <C> <S>", SHORT, (False,)),
    "drawn blindly": Draw("scene, filter_count 0 <Z> <S>", COMPAT),
    "says something": Draw("scene, filter 0 <Z> <S>, count 1", Rule(0.1, "none")),
    "several": Draw("scene, filter_not_unique 0 <Z> <S>, count_different_color 1", SHORT, (3,)),
    "sets of lists and groups": Draw("scene, filter_count 0 <T> <K>", Rule(0.1, "none"), (1,), is_pantry=True),
    "a union": Draw("scene, filter 0 <Z>, filter 0 <S>, union 1 2, count 3", SHORT, (5,)),
    "compared": Draw("scene, filter_count 0 <C>, filter_count 0 <S>, less_than 1 2", SHORT, (False,)),
    "checked": Draw(
        "scene, filter_count 0 <Z> <S>, filter_count 0 <M>, subtract 1 2", ALL, (1,), ("OUT_GT_CONST 1 1",)
    ),
    # sets by way of an anchor
    "counted": Draw(COUNTED, SHORT, (), GRAY),
    "counted, numbers refused": Draw(COUNTED, SHORT, (1,), (), "all"),
    "any there": Draw("scene, filter_unique 0 <C>, relate_filter_exist 1 <R> <Z>", SHORT, (True,), GRAY),
    "at least one there": Draw("scene, filter_unique 0 <C>, relate_filter 1 <R> <Z> <S>, count 2", Rule(), (3,), GRAY),
    "a union of related ones": Draw(
        "scene, filter_unique 0 <C>, relate_filter 1 <R> <S>, filter 0 <M>, union 2 3, count 4", SHORT, (5,), (), "all"
    ),
    # what may be said hangs on the answer
    "no, said otherwise": Draw("scene, filter_exist 0 <C> <S>", asked=[(True, (1,)), (False, (2,)), (True, (3,))] * 2),
    "yes, said otherwise": Draw("scene, filter_exist 0 <C> <S>", asked=[(False, (1,)), (False, (2,)), (True, (3,))]),
    "numbers, said otherwise": Draw(
        "scene, filter_count 0 <C> <S>", asked=[(1, (3,)), (0, (1,)), (2, (2,)), (1, (3,)), (0, (1,)), (2, (0,))]
    ),
    "compared, said otherwise": Draw(
        "scene, filter_count 0 <C>, filter_count 0 <S>, less_than 1 2", asked=[(True, (0, 1)), (True, (0, 0))] * 2
    ),
    "counted, said otherwise": Draw(
        COUNTED, constraints=GRAY, asked=[*[(0, (1,)), (1, (3,))] * 3, (2, (2,)), (3, (0,))]
    ),
    "references, said otherwise": Draw(
        "scene, filter_unique 0 <Z> <C> <S> <M>, same_color 1, exist 2",
        asked=[(False, (2,)), (True, (1,)), (True, (4,))],
    ),
    # words of plain functions
    "plain": Draw("scene, filter_color 0 <C>, filter_shape 1 <S>, count 2", SHORT, (0,)),
}  # fmt: skip


def misfit(counts: Mapping[Any, int], expected: Mapping[Any, float]) -> float:
    """By how many standard deviations chi-square exceeds its mean; what is rarely expected is put together."""
    total = sum(counts.values())
    common = [each for each, share in expected.items() if share * total >= 5]
    pairs = [(counts[each], expected[each] * total) for each in common]
    rest = 1 - sum(expected[each] for each in common)
    if rest * total > 1:
        pairs.append((total - sum(count for count, _ in pairs), rest * total))
    degrees = max(len(pairs) - 1, 1)
    return (sum((count - mean) ** 2 / mean for count, mean in pairs) - degrees) / (2 * degrees) ** 0.5


def by_slots_open(shares: Mapping[Instantiation, float]) -> Counter[Any]:
    """The same summed over what is said in equal slots."""
    summed = Counter[Any]()
    for each, share in shares.items():
        summed[tuple(slot for slot, word in each.slots if word is None)] += share
    return summed


@pytest.mark.quick(3)
@pytest.mark.parametrize("draw", DRAWS.values(), ids=[*DRAWS])
def test_fillings_are_found_as_often_as_the_rule_says(draw: Draw) -> None:
    catalogue = CATALOGUE if draw.is_pantry else CLEVR.materials.catalogue
    record, metadata = (SCENES[2], METADATA) if draw.is_pantry else (SIX, CLEVR.raw_metadata)
    raw, template = made(draw.nodes, SLOTS[draw.is_pantry], *draw.constraints, catalogue=catalogue)
    rule, rng = draw.rule, Random(7)
    search = make_search(template, draw.degeneracy, Sampling(rule.idle, rule.absent, rule.shortens))
    tables, counts = SceneTables(compile_scene(record, catalogue.domain)), Counter[Any]()
    balance, twin = Balance(draw.refused), None
    if draw.asked:
        worded = balance = balance_of(search.plan, "words", coins(0.5), False)
        twin = NaiveYesNo(0, coins(0.5).random) if template.answer_type == "Bool" else NaiveNumbers(0, PRIOR)
        for asked in draw.asked:
            worded.add(*asked)
            twin.add(*asked)
    phrases = [search.plan.ops[op].slots for op in search.plan.phrases]

    def is_wanted(found: Instantiation) -> bool:
        words = dict(found.slots)
        said = tuple(union_of(k for k, slot in enumerate(slots) if words[slot]) for slots in phrases)
        return found.answer not in balance.refused and (twin is None or twin.wants(int(found.answer), said))

    expected = chances(raw, record, metadata, rule, is_wanted, draw.degeneracy)
    for _ in range(800):
        filling = search.find(tables, rng, balance, set(), 1 << 40).filling
        assert filling is not None
        counts[as_instantiation(filling)] += 1

    assert abs(sum(expected.values()) - 1) < 1e-9
    assert counts.keys() <= expected.keys()
    assert len(expected) > 2 and misfit(counts, expected) < 3
    assert misfit(by_slots_open(counts), by_slots_open(expected)) < 8
