"""Fillings of a template that make sense for a scene: found by depth-first search, or taken over from another scene.

Each stage draws an option, computes what follows from it, and calls the next stage; if that fails it draws another (see
`stage_search`). Dead ends are remembered by the results that later stages can still see, so no dead end is searched
twice. The first filling found has the distribution of the reference's shuffled search, which tries the same options in
uniformly random order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from vqagen.bits import Objects
from vqagen.language.catalogue import Value
from vqagen.plugin import RELATION, SAMENESS, Undefined
from vqagen.search.degeneracy import WithoutRelation, make_idle_test, tested_relations, without_relation
from vqagen.search.description import Description, Pick, PlainChoice
from vqagen.search.filling import Filling, SearchResult
from vqagen.search.plan import Op, Plan
from vqagen.search.stage_search import ExaminedStage, StageSearch, apply_steps, follow, follow_steps, steps_without
from vqagen.search.state import (
    DEGENERATE,
    FOUND,
    GAVE_UP,
    NOTHING_FITS,
    REPEATED,
    TRIVIAL,
    UNBALANCED,
    Balance,
    OutOfBudget,
    SceneTables,
    SearchState,
    Test,
)
from vqagen.search.trivial import trivial_tests

if TYPE_CHECKING:
    from vqagen.search.examination import Examination

BUDGET = 100
"""Options tried before a template gives up on a scene where one filling is looked for: other families do as well."""
BUDGET_OF_ALL = 20_000
"""The same where all are, so that no template can stall a run."""
TRIVIAL_PRICE = 10
"""Options for which a trivial filling counts against the first budget. In a scene of three objects all 4,000 beginnings
of a comparison may be trivial, and no memo of dead ends helps there."""


class Search:
    """A plan made ready to run. It takes the first filling that it does not refuse."""

    def __init__(self, plan: Plan, degeneracy: str = "none", keeps_trivial: bool = False) -> None:
        """`keeps_trivial`: also give fillings that the policy `all` refuses because words tell their answers."""
        self.plan = plan
        self._relations = tested_relations(plan, degeneracy)
        self._is_idle = make_idle_test(plan, self._relations, degeneracy)
        self._trivial = trivial_tests(plan) if degeneracy == "all" and not keeps_trivial else (None,) * len(plan.stages)
        self.is_trivial = self._trivial[-1] if self._trivial else None
        """True for a finished filling that is refused for its words; None if none is."""
        self._follow = steps_without(plan.stages[-1].ops if plan.stages else (), self._relations)
        self._prelude = (*apply_steps(plan.prelude), *follow_steps(steps_without(plan.prelude, self._relations)))
        self._first = self._first_stage(StageSearch)

    def _first_stage(self, kind: Callable[..., StageSearch]) -> StageSearch | None:
        """Return the search of the first stage, with those of all others behind it; None if nothing is chosen."""
        rest: StageSearch | None = None
        for depth in range(len(self.plan.stages) - 1, -1, -1):
            is_trivial = self._trivial[depth] if rest is not None else None
            rest = kind(self.plan, depth, self._relations, is_trivial, rest)
        return rest

    def find(
        self, tables: SceneTables, rng: Random, balance: Balance, seen: set[Any], budget: int = BUDGET
    ) -> SearchResult:
        """Find one filling that `balance` wants and whose picks are not in `seen` (they are added to it)."""
        state = self._state(tables, rng, balance, seen, budget, self._accepts)
        state.trivial_price, state.remembers = TRIVIAL_PRICE, self.plan.grouped
        try:
            if self._begins(state) and self._explore(state, self._first):
                filling = self._filling(state)
                seen.add(filling.picked)
                return SearchResult(filling, FOUND)
        except OutOfBudget:
            return SearchResult(None, GAVE_UP)
        return SearchResult(None, _why_not(state))

    def find_all(
        self,
        tables: SceneTables,
        rng: Random,
        take: Callable[[Filling], None],
        balance: Balance,
        budget: int = BUDGET_OF_ALL,
    ) -> str:
        """Give every filling that `balance` wants at that time to `take`, in random order.

        Returns FOUND, the reason why there was none, or GAVE_UP when the budget ended it: a template with two relations
        has hundreds of thousands of fillings in one scene.
        """

        def pass_on(state: SearchState) -> bool:
            if self._accepts(state):
                filling = self._filling(state)
                state.seen.add(filling.picked)
                take(filling)
            return False

        state = self._state(tables, rng, balance, set(), budget, pass_on)
        state.takes_all = True
        try:
            if self._begins(state):
                self._explore(state, self._first)
        except OutOfBudget:
            return GAVE_UP
        return FOUND if state.seen else _why_not(state)

    def examine(self, tables: SceneTables, rng: Random, budget: int = BUDGET_OF_ALL) -> Examination:
        """Try every option within the budget, and return how each of them failed."""
        from vqagen.search.examination import Examination

        examination = Examination(self.plan.stages)

        def count(state: SearchState) -> bool:
            examination.finished[self._refusal(state) or FOUND] += 1
            return False

        state = self._state(tables, rng, Balance(), set(), budget, count)
        state.takes_all = True
        try:
            if examination.begins(state, self._prelude):
                self._explore(state, self._first_stage(partial(ExaminedStage, examination.settles)))
        except OutOfBudget:
            examination.finished[GAVE_UP] += 1
        return examination

    def _begins(self, state: SearchState) -> bool:
        """Compute what comes before the first choice; False if a check fails or a result is undefined."""
        try:
            for step in self._prelude:
                if not step.run(state):
                    return False
        except Undefined:
            return False
        return True

    def _explore(self, state: SearchState, first: StageSearch | None) -> bool:
        return state.ends_with(state) if first is None else first.explore(state)

    def _filling(self, state: SearchState) -> Filling:
        return Filling(self.plan, tuple(state.picked), tuple(state.values))

    def _state(
        self,
        tables: SceneTables,
        rng: Random,
        balance: Balance,
        seen: set[Any],
        budget: int,
        ends_with: Callable[[SearchState], bool],
    ) -> SearchState:
        sizes = len(self.plan.ops), len(self.plan.stages), len(self._relations)
        return SearchState(tables, rng, sizes, balance, seen, budget, ends_with)

    def _accepts(self, state: SearchState) -> bool:
        """True if a finished filling is accepted; otherwise note the reason in the state."""
        refusal = self._refusal(state)
        if refusal:
            state.refusals.add(refusal)
        return not refusal

    def _refusal(self, state: SearchState) -> str:
        """Return why a finished filling is refused; "" if it is accepted."""
        answer, balance = state.values[-1], state.balance
        if answer in balance.refused:
            return UNBALANCED
        if balance.is_worded and balance.refuses(answer, self.plan.said(state.picked)):
            if self.plan.phrases[-1] == self.plan.stages[-1].choice.index:
                state.failed_by_balance = True
            else:
                state.failed_by_words = True
            return UNBALANCED
        if self._relations:
            follow(self._follow, state)  # what the last stage gives without relations is computed only now
            if self._is_idle(state):
                state.idle_drops += 1
                return DEGENERATE
        if state.seen and tuple(state.picked) in state.seen:
            state.failed_by_words = True
            return REPEATED
        if self.is_trivial and self.is_trivial(state):
            state.failed_by_words = True
            state.budget -= state.trivial_price
            return TRIVIAL
        return ""


def _why_not(state: SearchState) -> str:
    """Return why a finished search found nothing: the last obstacle that some filling met."""
    for reason in (REPEATED, UNBALANCED, TRIVIAL):
        if reason in state.refusals:
            return reason
    return DEGENERATE if state.idle_drops else NOTHING_FITS


class Replay:
    """A plan whose fillings can be taken over to other scenes."""

    def __init__(self, plan: Plan, is_trivial: Test | None = None) -> None:
        """`is_trivial`: which fillings are refused for their words, as in the search."""
        self._plan, self._is_trivial = plan, is_trivial
        self._relations = tuple(without_relation(plan.ops, op) for op in plan.ops if op.role in (RELATION, SAMENESS))

    def __len__(self) -> int:
        """Return how many relations the plan has, likenesses among them."""
        return len(self._relations)

    def filling(self, tables: SceneTables, picked: Sequence[Pick]) -> Filling | None:
        """Return the filling with the words of these picks; None if the scene does not meet what it presupposes."""
        state = self._state(tables)
        try:
            for op, pick in zip(self._plan.ops, picked, strict=True):
                if not _settle(state, op, pick):
                    return None
        except Undefined:
            return None
        if self._is_trivial and self._is_trivial(state):
            return None
        return Filling(self._plan, tuple(state.picked), tuple(state.values))

    def idle(self, tables: SceneTables, filling: Filling) -> tuple[int, ...]:
        """Return which relations of a filling of this scene are idle: without them the answer is the same.

        They are numbered in the order of the program, likenesses among them.
        """
        state = self._state(tables)
        state.values[:], state.picked[:] = filling.values, filling.picked
        relations = enumerate(zip(self._relations, state.values_without, strict=True))
        return tuple(number for number, (relation, without) in relations if _is_idle(state, relation, without))

    def _state(self, tables: SceneTables) -> SearchState:
        sizes = len(self._plan.ops), len(self._plan.stages), len(self._relations)
        return SearchState(tables, Random(0), sizes, Balance(), set(), 0, lambda state: False)


def _settle(state: SearchState, op: Op, pick: Pick) -> bool:
    """Compute an op with the words of a pick; True if its result is one that the search could have chosen."""
    does, values = op.does, state.values
    if isinstance(does, Description):
        relation, code, _ = pick
        fits = _described(state, does, code)
        among: Objects = values[does.source]
        if relation is not None:
            if relation not in state.scene.related:
                return False
            among = state.scene.related[relation][values[does.source]]
        outcome: Value = among & fits
        if not does.suits(code, outcome):
            return False
        state.picked[op.index] = (relation, code, fits)
    else:
        words = pick if isinstance(does, PlainChoice) else does.values
        outcome = does.run(state.scene, *[values[i] for i in op.inputs], *words)
        state.picked[op.index] = pick
    values[op.index] = outcome
    return all(check.test(state) for check in op.checks)


def _described(state: SearchState, does: Description, code: int) -> Objects:
    """Return the objects of the scene that a description fits."""
    objects = state.scene.everything
    for _, name, word in does.vocabulary.parts[code]:
        objects &= state.scene.having[name][word]
    return objects


def _is_idle(state: SearchState, relation: WithoutRelation, without: list[Value]) -> bool:
    for step in relation.steps.values():
        step(state, without)
    last = len(state.values) - 1
    return last not in relation.changed or without[last] == state.values[last]
