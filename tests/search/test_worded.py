"""What the balance by words wants is what a recount of all questions gives; it is found exactly where there is any."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, product
from random import Random

import pytest
from families import COLLECTIONS
from general_domain import SCENES, TEMPLATES
from oracles.naive_balance import NaiveNumbers, NaiveYesNo, Said
from scene_records import SMALL_SCENES
from test_search import CATALOGUE, SLOTS, every, made, make_search, narrowed, open_types_for

from vqagen.bits import indexes
from vqagen.language.template import Template
from vqagen.language.template_check import read_templates
from vqagen.search.balance import INTEGERS, SLACK_BY_WORDS, AnswerCounts, FamilyBalance
from vqagen.search.description import Sampling
from vqagen.search.instantiate import Search
from vqagen.search.state import FOUND, SceneTables
from vqagen.search.worded import PRIOR, NumberBalance, YesNoBalance, balance_of
from vqagen.world.scene import Scene, compile_scene

CLEVR = COLLECTIONS[0].materials


class Coins(Random):
    """A stream of the same few numbers, again and again."""

    def random(self) -> float:
        """The next one."""
        return next(self.values)


def coins(*values: float) -> Coins:
    made = Coins()
    made.values = cycle(values)
    return made


STARTS = {(0.5, 0.5): 0, (0.9, 0.1): 1, (0.1, 0.9): -1}
"""Coins, and by how much yes starts ahead with them."""


def searched(nodes: str, *constraints: str) -> Search:
    return make_search(made(nodes, {**SLOTS, "<M>": "Material"}, *constraints)[1], "none")


ONE_SET, TWO_SETS = (
    "scene, filter_{} 0 <Z> <C> <S>",
    "scene, filter_count 0 <Z> <C>, filter_count 0 <M> <C2> <S>, {} 1 2",
)


# A recount ------------------------------------------------------------------------------------------------------------


def asked_at_random(search: Search, answers: Sequence[int], rng: Random) -> tuple[int, Said]:
    """Any answer, most often one of the first two, said in any way."""
    answer = rng.choice([*answers[:2] * 3, *answers])
    return answer, tuple(rng.choice(search.plan.described_at(op).vocabulary.sets) for op in search.plan.phrases)


@pytest.mark.quick(2)
@pytest.mark.parametrize(("values", "start"), STARTS.items())
@pytest.mark.parametrize("nodes", [ONE_SET.format("exist"), TWO_SETS.format("less_than")], ids=["one", "two"])
def test_yes_and_no_are_wanted_as_a_recount_says(nodes: str, values: tuple[float, float], start: int) -> None:
    """Also after scenes without a question; what a phrase may say leaves something to the next one."""
    search, rng = searched(nodes), Random(4)
    balance, twin = YesNoBalance(search.plan, coins(*values)), NaiveYesNo(start, cycle(values).__next__)
    first, *others = [search.plan.described_at(op).vocabulary.sets for op in search.plan.phrases]
    for turn in range(60):
        if turn < 5 or rng.random() < 0.3:
            balance.fail()
            twin.fail()
        else:
            asked = asked_at_random(search, (True, False), rng)
            balance.add(*asked)
            twin.add(*asked)
        seconds = {
            one: [last for last in each if twin.wants(twin.wanted, (one, last))] for each in others for one in first
        }

        assert balance.refused == {not twin.wanted} and balance.refuses(not twin.wanted, ())
        if others:
            assert indexes(balance.sets(())) == [one for one in first if seconds[one]]
            assert all(indexes(balance.sets([one])) == seconds[one] for one in indexes(balance.sets(())))
        else:
            assert indexes(balance.sets(())) == [one for one in first if twin.wants(twin.wanted, (one,))]
        assert balance.is_hopeless(frozenset()) == (not balance.sets(()))
    balance.is_hopeless(frozenset({twin.wanted}))
    assert balance.refused == {twin.wanted}, "what is impossible is not wanted"


ADDED = "scene, filter_count 0 <C2> <S>, filter_count 0 <Z> <M>, add 1 2"


@pytest.mark.quick(1)
@pytest.mark.parametrize("coin", [0.5, 0.3])
@pytest.mark.parametrize(
    ("nodes", "constraints", "untelling"),
    [(ONE_SET.format("count"), (), ()), (ADDED, (), ()), (ADDED, ("NOT_NULL <C2>", "NOT_NULL <S>"), (0,))],
    ids=["one", "two", "one and one that is always the same"],
)
def test_numbers_are_wanted_as_a_recount_says(
    nodes: str, constraints: tuple[str, ...], untelling: tuple[int, ...], coin: float
) -> None:
    """Numbers that were given before come first where a phrase may leave the number open."""
    search, rng = searched(nodes, *constraints), Random(5)
    balance, twin = NumberBalance(search.plan, coins(coin)), NaiveNumbers(coin - 0.5, PRIOR, untelling)
    overall = AnswerCounts(INTEGERS, 3, coins(coin), SLACK_BY_WORDS)
    first, *others = [search.plan.described_at(op).vocabulary.sets for op in search.plan.phrases]
    balance.meet(12)
    overall.meet(12)
    for _ in range(25):
        if rng.random() < 0.3:
            balance.fail()
            twin.fail()
        else:
            asked = asked_at_random(search, (2, 1, 0, 3, 11), rng)
            balance.add(*asked)
            twin.add(*asked)
            overall.add(asked[0])
        open_to = {number: number not in overall.refused for number in INTEGERS}
        befores = [(one,) for one in first] if others else [()]
        for before in befores:
            found = balance.sets_by_number(before)
            wanted = [
                [last for last in (others or [first])[0] if open_to[n] and twin.wants(n, (*before, last))]
                for n in INTEGERS
            ]
            assert [indexes(sets) for sets in found] == wanted
        if others:
            wanted = [
                [one for one in first if open_to[n] and twin.is_open(n, (0, one))]
                if any(twin.is_open(n, (1, last)) for last in others[0])
                else []
                for n in INTEGERS
            ]
        given = [sets for n, sets in enumerate(wanted) if overall.count(n)]
        best = given if any(given) else wanted
        assert indexes(balance.sets(())) == sorted({each for sets in best for each in sets})
        some = asked_at_random(search, (*range(13),), rng)
        assert balance.refuses(*some) == (some[0] in overall.refused or not twin.wants(*some))
        assert balance.is_hopeless(frozenset()) == (not any(wanted))


# The search -----------------------------------------------------------------------------------------------------------


def families() -> list[tuple[Template, Scene]]:
    """Families that are balanced by words, each with a small scene."""
    pantry = [read_templates(each, "", CATALOGUE, "pantry.json", 0)[0][0] for each in TEMPLATES.values()]
    small = [compile_scene(record, CLEVR.domain) for record in SMALL_SCENES]
    found = [(narrowed(each, open_types_for(each)), small[n % 2 + 1]) for n, each in enumerate(CLEVR.templates[::4])]
    return [*found, *((each, compile_scene(SCENES[2], CATALOGUE.domain)) for each in pantry)]


def untelling(search: Search) -> list[str | int]:
    """What all questions of a family count under."""
    allowed = [[s for s, can in search.plan.described_at(op).openness.items() if can] for op in search.plan.phrases]
    lengths = {sum(said.bit_count() for said in each) for each in product(*allowed)}
    return [*(["words"] if len(lengths) == 1 else []), *(n for n, each in enumerate(allowed) if len(each) == 1)]


def asks_for(balance: FamilyBalance) -> set[int]:
    """What the first phrase may say."""
    return {*indexes(balance.sets(()))}


@pytest.mark.quick(1)
@pytest.mark.parametrize("shortens", [False, True])
def test_what_is_wanted_is_found_exactly_where_there_is_any(shortens: bool) -> None:
    """Whatever was asked before, and for however many scenes nothing was found."""
    met = set[type]()
    for template, scene in families():
        search = make_search(template, "all", Sampling(1, "none", shortens))
        balance = balance_of(search.plan, "words", coins(0.5), False)
        if not balance.is_worded or not isinstance(balance, YesNoBalance | NumberBalance):
            continue
        met.add(type(balance))
        asked = {(filling.answer, filling.said()) for filling in every(search, scene)}
        tables, overall = SceneTables(scene), AnswerCounts(INTEGERS, 3, coins(0.5), SLACK_BY_WORDS)
        twin: NaiveYesNo | NaiveNumbers = NaiveNumbers(0, PRIOR, untelling(search))
        if isinstance(balance, YesNoBalance):
            twin = NaiveYesNo(0, coins(0.5).random)
        for turn in range(16):
            is_starving = isinstance(twin, NaiveNumbers) and twin.level == 3  # then two numbers lead, and not three
            refused = overall.too_common(2) if is_starving else overall.refused
            wanted = {each for each in asked if twin.wants(*each) and each[0] not in refused}
            first = {each for each in wanted if each[1][0] in asks_for(balance)}
            outcome = search.find(tables, Random(turn), balance, set(), 1 << 40)
            if outcome.filling is None:
                assert not first
                balance.fail()
                twin.fail()
            else:
                found = outcome.filling.answer, outcome.filling.said()
                assert outcome.reason == FOUND and found in wanted
                balance.add(*found)
                twin.add(*found)
                if isinstance(balance, NumberBalance):
                    overall.add(found[0])
    assert met == {YesNoBalance, NumberBalance}
