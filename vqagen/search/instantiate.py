"""Depth-first search for fillings of a template that make sense for a scene.

Each stage is one closure that calls the next: it draws an option, computes what follows from it, and calls the next
stage; if that fails it draws another. Dead ends are remembered by the results that later stages can still see, so
no dead end is searched twice. The first filling found has the distribution of the reference's shuffled search, which
tries the same options in uniformly random order.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from operator import itemgetter
from random import Random
from typing import Any

from vqagen.language.registry import Value
from vqagen.plugin import Undefined
from vqagen.search.claims import Test
from vqagen.search.degeneracy import (
    Lane,
    is_shadowed_by_words,
    make_idle_test,
    make_lanes,
    make_telling_test,
)
from vqagen.search.examination import Examination, LabelledStep, Step
from vqagen.search.filling import (
    DEGENERATE,
    FOREGONE,
    FOUND,
    GAVE_UP,
    NOTHING_FITS,
    REPEATED,
    UNBALANCED,
    Filling,
    SearchResult,
)
from vqagen.search.foregone import foregone_tests
from vqagen.search.frame import Frame, OutOfBudget
from vqagen.search.plan import Apply, Op, Plan, Stage
from vqagen.search.tables import SceneTables

Explore = Callable[[Frame], bool]

HOPELESS = object()
FOREGONE_PRICE = 512
"""Options for which a foregone filling counts against the budget where one filling is looked for. In a scene of three
objects all 4,000 beginnings of a comparison may be foregone; no memo of dead ends helps there, and other families do.
Of 11,650 searches in 1,000 scenes 50 give up so, and these took a third of all the time (`bench generate`)."""


class Search:
    """A plan made ready to run."""

    def __init__(self, plan: Plan, degeneracy: str = "none", keeps_foregone: bool = False) -> None:
        """`keeps_foregone`: also give fillings that the policy `all` refuses because words tell their answers."""
        self.plan = plan
        self._lanes = make_lanes(plan, degeneracy)
        self._is_idle = make_idle_test(plan, self._lanes, degeneracy)
        self._foregone = (
            foregone_tests(plan) if degeneracy == "all" and not keeps_foregone else (None,) * len(plan.stages)
        )
        self.is_foregone = self._foregone[-1] if self._foregone else None
        """True for a finished filling that is refused for its words; None if none is."""
        self._follow = _lane_steps(plan.stages[-1].ops if plan.stages else (), self._lanes)
        self._prelude = (*_steps(plan.prelude), *_unfailing(_lane_steps(plan.prelude, self._lanes)))
        self._begins = _settling(self._prelude)
        self._explore = self._compile(self._finish, plan.grouped)

    def find(
        self, tables: SceneTables, rng: Random, refused: Container[Value], seen: set[Any], budget: int
    ) -> SearchResult:
        """Find one filling whose answer is not `refused` and whose picks are not in `seen` (they are added to it).

        `budget` bounds the options tried, so that no template can stall a run.
        """
        frame = self._frame(tables, rng.random, refused, seen, budget)
        frame.foregone_price = FOREGONE_PRICE
        try:
            if self._begins(frame) and self._explore(frame):
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
        take: Callable[[Filling], Container[Value] | None],
        refused: Container[Value],
        budget: int,
    ) -> str:
        """Give every filling to `take`, in random order; `take` says which answers are refused from then on, or None
        when it has enough.

        Returns FOUND, the reason why there was none, or GAVE_UP when the budget ended it: a template with two relations
        has hundreds of thousands of fillings in one scene.
        """
        seen: set[Any] = set()

        def accept(frame: Frame) -> bool:
            if self._finish(frame):
                filling = self._filling(frame)
                seen.add(filling.picked)
                now_refused = take(filling)
                if now_refused is None:
                    return True
                frame.refused = now_refused
            return False

        frame = self._frame(tables, rng.random, refused, seen, budget)
        try:
            if self._begins(frame):
                self._compile(accept, remembers=False)(frame)
        except OutOfBudget:
            return GAVE_UP
        return FOUND if seen else _why_not(frame)

    def examine(self, tables: SceneTables, rng: Random, budget: int) -> Examination:
        """Try every option within the budget, and return how each of them failed."""
        watch = Examination(self.plan.stages)
        frame = self._frame(tables, rng.random, (), set(), budget)

        def record(frame: Frame) -> bool:
            watch.finished[self._refusal(frame) or FOUND] += 1
            return False

        try:
            if watch.begins(frame, self._prelude):
                self._compile(record, remembers=False, watch=watch)(frame)
        except OutOfBudget:
            watch.finished[GAVE_UP] += 1
        return watch

    def _filling(self, frame: Frame) -> Filling:
        return Filling(self.plan, tuple(frame.picked), tuple(frame.values))

    def _frame(
        self, tables: SceneTables, random: Callable[[], float], refused: Container[Value], seen: set[Any], budget: int
    ) -> Frame:
        plan = self.plan
        return Frame(tables, random, len(plan.ops), len(plan.stages), len(self._lanes), refused, seen, budget)

    def _finish(self, frame: Frame) -> bool:
        """True if a finished filling is accepted; otherwise note the reason in the frame."""
        refusal = self._refusal(frame)
        if refusal:
            frame.refusals.add(refusal)
        return not refusal

    def _refusal(self, frame: Frame) -> str:
        """Return why a finished filling is refused; "" if it is accepted."""
        if frame.values[-1] in frame.refused:
            return UNBALANCED
        if self._lanes and self._ends_idle(frame):
            frame.idle_drops += 1
            return DEGENERATE
        if frame.seen and tuple(frame.picked) in frame.seen:
            frame.failed_by_words = True
            return REPEATED
        if self.is_foregone and self.is_foregone(frame):
            frame.failed_by_words = True
            frame.budget -= frame.foregone_price
            return FOREGONE
        return ""

    def _ends_idle(self, frame: Frame) -> bool:
        """True if a relation of a finished filling is idle; the lanes of the last stage are computed only now."""
        for step in self._follow:
            step(frame)
        return self._is_idle(frame)

    def _compile(self, finish: Explore, remembers: bool, watch: Examination | None = None) -> Explore:
        explore = finish
        for depth in range(len(self.plan.stages) - 1, -1, -1):
            is_foregone = None if depth == len(self.plan.stages) - 1 else self._foregone[depth]
            explore = _explorer(self.plan, depth, explore, self._lanes, is_foregone, remembers, watch)
        return explore


def _why_not(frame: Frame) -> str:
    """Return why a finished search found nothing: the last obstacle that some filling met."""
    for reason in (REPEATED, UNBALANCED, FOREGONE):
        if reason in frame.refusals:
            return reason
    return DEGENERATE if frame.idle_drops else NOTHING_FITS


def _explorer(
    plan: Plan,
    depth: int,
    rest: Explore,
    lanes: Sequence[Lane],
    is_foregone: Test | None,
    remembers: bool,
    watch: Examination | None = None,
) -> Explore:
    """The closure of one stage.

    Dead ends are remembered in two ways. When nothing was dropped for an idle relation, what failed failed by its
    results alone, whatever the shadows; otherwise only the same results with the same shadows are known to fail. An
    outcome dies for all options that lead to it where it decides the shadows too. What fails by its words, as made
    before or foregone, decides nothing, unless the same outcome fails by its results with other words.
    """
    stage = plan.stages[depth]
    draw, at = stage.draw, stage.choice.index
    is_decisive = not any(is_shadowed_by_words(stage.choice, lane) for lane in lanes)
    steps = _stage_steps(plan, depth, lanes, is_foregone)
    settles = watch.settling(depth, steps) if watch else _settling(steps)
    if watch:
        draw = watch.counted(depth, draw)
    results_of, shadows_of = _results_reader(stage), _shadows_reader(stage, lanes)

    def explore(frame: Frame) -> bool:
        failed = frame.failed[depth]
        results = results_of(frame.values) if results_of else None
        if results in failed:
            return False
        shadows = shadows_of(frame) if shadows_of else None
        state = (results, shadows)
        if shadows is HOPELESS or state in failed:
            frame.idle_drops += 1
            return False
        idle_drops = frame.idle_drops
        dead: set[Value] = set()
        undecided: set[Value] = set()
        values, picked = frame.values, frame.picked
        for outcome, pick in draw(frame, dead):
            frame.budget -= 1
            if frame.budget < 0:
                raise OutOfBudget
            values[at] = outcome
            picked[at] = pick
            dropped = frame.idle_drops
            if settles(frame) and rest(frame):
                return True
            if frame.failed_by_words:
                frame.failed_by_words = False
                undecided.add(outcome)
            elif remembers and (is_decisive or frame.idle_drops == dropped):
                dead.add(outcome)
        if undecided and not undecided <= dead:
            frame.failed_by_words = True
        elif remembers:
            failed.add(results if frame.idle_drops == idle_drops else state)
        return False

    return explore


def _stage_steps(plan: Plan, depth: int, lanes: Sequence[Lane], is_foregone: Test | None) -> tuple[LabelledStep, ...]:
    """Return what follows from a choice, and the tests that it may fail."""
    stage = plan.stages[depth]
    at = stage.choice.index
    follow = () if depth == len(plan.stages) - 1 else _lane_steps(stage.ops, lanes)
    return (
        *(LabelledStep(test, at, DEGENERATE) for test in make_telling_test(plan, stage.choice, lanes)),
        *_checks(stage.choice),
        *_steps(stage.applied),
        *(LabelledStep(_counted(test), at, FOREGONE) for test in (is_foregone,) if test),
        *_unfailing(follow),
    )


def _counted(is_foregone: Test) -> Step:
    """Return the step that drops fillings of which the words decide something already, and notes that."""

    def stays_open(frame: Frame) -> bool:
        if not is_foregone(frame):
            return True
        frame.failed_by_words = True
        frame.budget -= frame.foregone_price
        frame.refusals.add(FOREGONE)
        return False

    return stays_open


def _settling(labelled: Sequence[LabelledStep]) -> Step:
    """Return the steps after a choice as one: False if a check fails or a result is undefined."""
    steps = tuple(step.run for step in labelled)

    def settles(frame: Frame) -> bool:
        try:
            for step in steps:
                if not step(frame):
                    return False
        except Undefined:
            return False
        return True

    return settles


def _steps(ops: Sequence[Op]) -> tuple[LabelledStep, ...]:
    """Compute each op, then check what hangs there."""
    return tuple(step for op in ops for step in (LabelledStep(_apply(op), op.index), *_checks(op)))


def _checks(op: Op) -> tuple[LabelledStep, ...]:
    return tuple(LabelledStep(check.test, op.index, check.meaning) for check in op.checks)


def _unfailing(steps: Sequence[Step]) -> tuple[LabelledStep, ...]:
    """Label steps that never fail, which belong to no op."""
    return tuple(LabelledStep(step, -1) for step in steps)


def _apply(op: Op) -> Step:
    at, does, inputs = op.index, op.does, op.inputs
    assert isinstance(does, Apply)
    run, literals = does.run, does.values
    if len(inputs) == 1 and not literals:
        source = inputs[0]

        def apply_one(frame: Frame) -> bool:
            values = frame.values
            values[at] = run(frame.scene, values[source])
            return True

        return apply_one

    def apply(frame: Frame) -> bool:
        values = frame.values
        values[at] = run(frame.scene, *[values[i] for i in inputs], *literals)
        return True

    return apply


def _lane_steps(ops: Sequence[Op], lanes: Sequence[Lane]) -> tuple[Step, ...]:
    """Bring the shadows up to date with some ops; nothing where no lane is changed by them."""
    steps = [
        (number, lane.steps[op.index]) for number, lane in enumerate(lanes) for op in ops if op.index in lane.steps
    ]

    def follow(frame: Frame) -> bool:
        for number, step in steps:
            step(frame, frame.shadows[number])
        return True

    return (follow,) if steps else ()


def _results_reader(stage: Stage) -> Callable[[Sequence[Value]], Any] | None:
    """Return how to read the earlier results that this stage and later ones depend on, as a key."""
    return itemgetter(*stage.live) if stage.live else None


def _shadows_reader(stage: Stage, lanes: Sequence[Lane]) -> Callable[[Frame], Any] | None:
    """Return how to read the earlier shadows that they depend on; the key is HOPELESS if the rest must fail.

    It must fail when a relation has made no difference: all that can still be seen is as it would be without it.
    """
    seen = [
        (number, itemgetter(*changed))
        for number, lane in enumerate(lanes)
        if lane.relation < stage.choice.index and (changed := [i for i in stage.live if i in lane.changed])
    ]

    def read(frame: Frame) -> Any:
        key = []
        for number, of in seen:
            shadow = of(frame.shadows[number])
            if shadow == of(frame.values):
                return HOPELESS
            key.append(shadow)
        return tuple(key)

    return read if seen else None
