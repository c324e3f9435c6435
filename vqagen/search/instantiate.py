"""Fillings of a template that make sense for a scene: found by depth-first search, or taken over from another scene.

Each stage draws an option, computes what follows from it, and calls the next stage; if that fails it draws another (see
`stage_search`). Dead ends are remembered by the results that later stages can still see, so no dead end is searched
twice. The first filling found has the distribution of the reference's shuffled search, which tries the same options in
uniformly random order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from vqagen.bits import Objects
from vqagen.language.catalogue import Value
from vqagen.language.program import Program
from vqagen.language.template import PLACE, PLACES
from vqagen.plugin import SAMENESS, Undefined
from vqagen.search.degeneracy import make_idle_test, tested_relations
from vqagen.search.description import Description, Pick
from vqagen.search.plan import Plan, ProgramWriter
from vqagen.search.stage_search import ExaminedStage, StageSearch, apply_steps, follow, follow_steps, steps_without
from vqagen.search.state import (
    DEGENERATE,
    FOUND,
    GAVE_UP,
    NOTHING_FITS,
    REPEATED,
    TRIVIAL,
    UNBALANCED,
    UNSUITED,
    Balance,
    OutOfBudget,
    SceneTables,
    SearchState,
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


class Filling:
    """One way to fill a template for a scene: what was picked at each op, and its result."""

    __slots__ = ("picked", "plan", "values")

    def __init__(self, plan: Plan, picked: tuple[Pick, ...], values: tuple[Value, ...]) -> None:
        self.plan, self.picked, self.values = plan, picked, values

    @property
    def answer(self) -> Value:
        """The program's answer."""
        return self.values[-1]

    def said(self) -> tuple[int, ...]:
        """Return the set of attributes that each phrase next to the answer says."""
        return self.plan.said(self.picked)

    def words(self) -> dict[str, str | None]:
        """The word of each slot, in the template's order; None if the slot is left open."""
        words = self.plan.open_slots.copy()
        for stage in self.plan.stages:
            op = stage.choice
            does, pick = op.does, self.picked[op.index]
            if isinstance(does, Description):
                words.update(does.vocabulary.worded[op.slots, pick[1]])
                if op.relation_slot:
                    words[op.relation_slot] = pick[0]
            else:
                for slot, word in zip(op.slots, pick, strict=True):
                    if slot:
                        words[slot] = word
        return words

    def program(self) -> Program:
        """The primitive program: composite nodes written out as relate, filters and reducer."""
        writer = ProgramWriter()
        writer.write(self.plan.ops, self.picked)
        return Program.of_steps(writer.steps, self.plan.template.catalogue)

    def described(self) -> list[tuple[tuple[str, ...], Objects]]:
        """The slots of each description, and the objects it describes."""
        return [
            (op.slots, objects)
            for op, objects in zip(self.plan.ops, self.values, strict=True)
            if isinstance(op.does, Description)
        ]

    def needs_other(self) -> bool | None:
        """True if "other" is needed: the anchor of a sameness itself fits the description of what is the same.

        None where no description follows a sameness.
        """
        answer: bool | None = None
        for op in self.plan.ops:
            source = self.plan.ops[op.inputs[0]] if op.inputs else op
            if isinstance(op.does, Description) and source.role == SAMENESS:
                anchor = self.values[source.inputs[0]]
                answer = bool(answer) or bool(self.picked[op.index][2] >> anchor & 1)
        return answer


class SearchResult(NamedTuple):
    """The result of a search: a filling, or why there is none."""

    filling: Filling | None
    reason: str


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
        self,
        tables: SceneTables,
        rng: Random,
        balance: Balance,
        seen: set[Any],
        budget: int = BUDGET,
        suits: Callable[[SearchState, int], bool] | None = None,
    ) -> SearchResult:
        """Find one filling that `balance` wants and whose picks are not in `seen` (they are added to it).

        `suits`: a further test of beginnings of fillings, of which so many stages are chosen, and of whole ones.
        """
        state = self._state(tables, rng, balance, seen, budget, self._accepts)
        state.suits = suits
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
        balance = state.balance
        answer = balance.key(state.scene, state.values[-1])
        if answer in balance.refused:
            return UNBALANCED
        if balance.is_worded and balance.refuses(answer, self.plan.said(state.picked)):
            hangs_on_phrase = self.plan.phrases[-1:] == [self.plan.stages[-1].choice.index]
            if hangs_on_phrase and self.plan.template.answer_type not in (PLACE, PLACES):
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
        if state.suits is not None and not state.suits(state, len(self.plan.stages)):
            state.seen.add(tuple(state.picked))
            state.failed_by_words = True
            return UNSUITED
        return ""


def _why_not(state: SearchState) -> str:
    """Return why a finished search found nothing: the last obstacle that some filling met."""
    for reason in (UNSUITED, REPEATED, UNBALANCED, TRIVIAL):
        if reason in state.refusals:
            return reason
    return DEGENERATE if state.idle_drops else NOTHING_FITS
