"""Fillings of a template that make sense for a scene: found by depth-first search, or taken over from another scene.

Each stage draws an option, computes what follows from it, and calls the next stage; if that fails it draws another (see
`stage_search`). Dead ends are remembered by the results that later stages can still see, so no dead end is searched
twice. The first filling found has the distribution of the reference's shuffled search, which tries the same options in
uniformly random order.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from random import Random
from typing import Any

from vqagen.bits import Objects
from vqagen.language.catalogue import Value
from vqagen.plugin import RELATION, SAMENESS, Undefined
from vqagen.search.degeneracy import Lane, lane_of, make_idle_test, make_lanes
from vqagen.search.description import Description, PlainChoice, SceneTables
from vqagen.search.examination import Examination
from vqagen.search.filling import (
    DEGENERATE,
    FOUND,
    GAVE_UP,
    NOTHING_FITS,
    REPEATED,
    TRIVIAL,
    UNBALANCED,
    Filling,
    Frame,
    OutOfBudget,
    Pick,
    SearchResult,
    Test,
)
from vqagen.search.plan import Op, Plan
from vqagen.search.stage_search import ExaminedStage, StageSearch, apply_steps, follow, follow_steps, lane_steps
from vqagen.search.trivial import trivial_tests

BUDGET = 20_000
"""Options tried before a template gives up on a scene, so that no template can stall a run."""
TRIVIAL_PRICE = 512
"""Options for which a trivial filling counts against the budget where one filling is looked for. In a scene of three
objects all 4,000 beginnings of a comparison may be trivial; no memo of dead ends helps there, and other families do.
Of 11,650 searches in 1,000 scenes 50 give up so, and these took a third of all the time (`bench generate`)."""


class Search:
    """A plan made ready to run. It takes the first filling that it does not refuse."""

    def __init__(self, plan: Plan, degeneracy: str = "none", keeps_trivial: bool = False) -> None:
        """`keeps_trivial`: also give fillings that the policy `all` refuses because words tell their answers."""
        self.plan = plan
        self._lanes = make_lanes(plan, degeneracy)
        self._is_idle = make_idle_test(plan, self._lanes, degeneracy)
        self._trivial = trivial_tests(plan) if degeneracy == "all" and not keeps_trivial else (None,) * len(plan.stages)
        self.is_trivial = self._trivial[-1] if self._trivial else None
        """True for a finished filling that is refused for its words; None if none is."""
        self._follow = lane_steps(plan.stages[-1].ops if plan.stages else (), self._lanes)
        self._prelude = (*apply_steps(plan.prelude), *follow_steps(lane_steps(plan.prelude, self._lanes)))
        self._first = self._first_stage(StageSearch)

    def _first_stage(self, kind: type[StageSearch]) -> StageSearch | None:
        """Return the search of the first stage, with those of all others behind it; None if nothing is chosen."""
        rest: StageSearch | None = None
        for depth in range(len(self.plan.stages) - 1, -1, -1):
            is_trivial = self._trivial[depth] if rest is not None else None
            rest = kind(self.plan, depth, self._lanes, is_trivial, rest)
        return rest

    def find(
        self, tables: SceneTables, rng: Random, refused: Container[Value], seen: set[Any], budget: int = BUDGET
    ) -> SearchResult:
        """Find one filling whose answer is not `refused` and whose picks are not in `seen` (they are added to it)."""
        frame = self._frame(tables, rng, refused, seen, budget, self._accepts)
        frame.trivial_price, frame.remembers = TRIVIAL_PRICE, self.plan.grouped
        try:
            if self._begins(frame) and self._explore(frame, self._first):
                filling = self._filling(frame)
                seen.add(filling.picked)
                return SearchResult(filling, FOUND)
        except OutOfBudget:
            return SearchResult(None, GAVE_UP)
        return SearchResult(None, _why_not(frame))

    def find_all(
        self,
        tables: SceneTables,
        rng: Random,
        take: Callable[[Filling], Container[Value]],
        refused: Container[Value],
        budget: int = BUDGET,
    ) -> str:
        """Give every filling to `take`, in random order; `take` says which answers are refused from then on.

        Returns FOUND, the reason why there was none, or GAVE_UP when the budget ended it: a template with two relations
        has hundreds of thousands of fillings in one scene.
        """

        def pass_on(frame: Frame) -> bool:
            if self._accepts(frame):
                filling = self._filling(frame)
                frame.seen.add(filling.picked)
                frame.refused = take(filling)
            return False

        frame = self._frame(tables, rng, refused, set(), budget, pass_on)
        try:
            if self._begins(frame):
                self._explore(frame, self._first)
        except OutOfBudget:
            return GAVE_UP
        return FOUND if frame.seen else _why_not(frame)

    def examine(self, tables: SceneTables, rng: Random, budget: int = BUDGET) -> Examination:
        """Try every option within the budget, and return how each of them failed."""
        watch = Examination(self.plan.stages)

        def count(frame: Frame) -> bool:
            watch.finished[self._refusal(frame) or FOUND] += 1
            return False

        frame = self._frame(tables, rng, (), set(), budget, count)
        frame.watch = watch
        try:
            if watch.begins(frame, self._prelude):
                self._explore(frame, self._first_stage(ExaminedStage))
        except OutOfBudget:
            watch.finished[GAVE_UP] += 1
        return watch

    def _begins(self, frame: Frame) -> bool:
        """Compute what comes before the first choice; False if a check fails or a result is undefined."""
        try:
            for step in self._prelude:
                if not step.run(frame):
                    return False
        except Undefined:
            return False
        return True

    def _explore(self, frame: Frame, first: StageSearch | None) -> bool:
        return frame.ends_with(frame) if first is None else first.explore(frame)

    def _filling(self, frame: Frame) -> Filling:
        return Filling(self.plan, tuple(frame.picked), tuple(frame.values))

    def _frame(
        self,
        tables: SceneTables,
        rng: Random,
        refused: Container[Value],
        seen: set[Any],
        budget: int,
        ends_with: Callable[[Frame], bool],
    ) -> Frame:
        plan = self.plan
        return Frame(tables, rng, len(plan.ops), len(plan.stages), len(self._lanes), refused, seen, budget, ends_with)

    def _accepts(self, frame: Frame) -> bool:
        """True if a finished filling is accepted; otherwise note the reason in the frame."""
        refusal = self._refusal(frame)
        if refusal:
            frame.refusals.add(refusal)
        return not refusal

    def _refusal(self, frame: Frame) -> str:
        """Return why a finished filling is refused; "" if it is accepted."""
        if frame.values[-1] in frame.refused:
            return UNBALANCED
        if self._lanes:
            follow(self._follow, frame)  # the shadows of the last stage are computed only now
            if self._is_idle(frame):
                frame.idle_drops += 1
                return DEGENERATE
        if frame.seen and tuple(frame.picked) in frame.seen:
            frame.failed_by_words = True
            return REPEATED
        if self.is_trivial and self.is_trivial(frame):
            frame.failed_by_words = True
            frame.budget -= frame.trivial_price
            return TRIVIAL
        return ""


def _why_not(frame: Frame) -> str:
    """Return why a finished search found nothing: the last obstacle that some filling met."""
    for reason in (REPEATED, UNBALANCED, TRIVIAL):
        if reason in frame.refusals:
            return reason
    return DEGENERATE if frame.idle_drops else NOTHING_FITS


class Replay:
    """A plan whose fillings can be taken over to other scenes."""

    def __init__(self, plan: Plan, is_trivial: Test | None = None) -> None:
        """`is_trivial`: which fillings are refused for their words, as in the search."""
        self._plan, self._is_trivial = plan, is_trivial
        self._lanes = tuple(lane_of(plan.ops, op) for op in plan.ops if op.role in (RELATION, SAMENESS))

    def __len__(self) -> int:
        """Return how many relations the plan has, likenesses among them."""
        return len(self._lanes)

    def filling(self, tables: SceneTables, picked: Sequence[Pick]) -> Filling | None:
        """Return the filling with the words of these picks; None if the scene does not meet what it presupposes."""
        frame = self._frame(tables)
        try:
            for op, pick in zip(self._plan.ops, picked, strict=True):
                if not _settle(frame, op, pick):
                    return None
        except Undefined:
            return None
        if self._is_trivial and self._is_trivial(frame):
            return None
        return Filling(self._plan, tuple(frame.picked), tuple(frame.values))

    def idle(self, tables: SceneTables, filling: Filling) -> tuple[int, ...]:
        """Return which relations of a filling of this scene are idle: without them the answer is the same.

        They are numbered in the order of the program, likenesses among them.
        """
        frame = self._frame(tables)
        frame.values[:], frame.picked[:] = filling.values, filling.picked
        lanes = enumerate(zip(self._lanes, frame.shadows, strict=True))
        return tuple(number for number, (lane, shadow) in lanes if _is_idle(frame, lane, shadow))

    def _frame(self, tables: SceneTables) -> Frame:
        ops, stages = len(self._plan.ops), len(self._plan.stages)
        return Frame(tables, Random(0), ops, stages, len(self._lanes), (), set(), 0, lambda frame: False)


def _settle(frame: Frame, op: Op, pick: Pick) -> bool:
    """Compute an op with the words of a pick; True if its result is one that the search could have chosen."""
    does, values = op.does, frame.values
    if isinstance(does, Description):
        relation, code, _ = pick
        fits = _described(frame, does, code)
        among: Objects = values[does.source]
        if relation is not None:
            if relation not in frame.scene.related:
                return False
            among = frame.scene.related[relation][values[does.source]]
        outcome: Value = among & fits
        if not does.suits(code, outcome):
            return False
        frame.picked[op.index] = (relation, code, fits)
    else:
        words = pick if isinstance(does, PlainChoice) else does.values
        outcome = does.run(frame.scene, *[values[i] for i in op.inputs], *words)
        frame.picked[op.index] = pick
    values[op.index] = outcome
    return all(check.test(frame) for check in op.checks)


def _described(frame: Frame, does: Description, code: int) -> Objects:
    """Return the objects of the scene that a description fits."""
    objects = frame.scene.everything
    for _, name, word in does.vocabulary.parts[code]:
        objects &= frame.scene.having[name][word]
    return objects


def _is_idle(frame: Frame, lane: Lane, shadow: list[Value]) -> bool:
    for step in lane.steps.values():
        step(frame, shadow)
    last = len(frame.values) - 1
    return last not in lane.changed or shadow[last] == frame.values[last]
