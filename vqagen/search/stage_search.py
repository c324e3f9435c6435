"""The search of one stage: it draws options, computes what follows from each, and searches the next stage.

`explore` remembers dead ends, a `Draw` for the kind of choice offers options, and `leads_on` tries one of them. This is
one class, not one a kind, since Python reads fields faster where all objects at a place are of one class.

Dead ends are remembered so that they are met once:

    failed because of               what is remembered
    its results                     the outcome is dead; if all are, the results of the stage have failed
    an idle relation                the outcome is dead if it decides the shadows too; results with these shadows failed
    its words (made before,         the outcome is undecided; nothing has failed, unless every undecided outcome is
      or trivial)                   dead with other words
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from vqagen.bits import Objects, only
from vqagen.language.catalogue import Value
from vqagen.plugin import Undefined
from vqagen.search.degeneracy import Lane, LaneStep, is_shadowed_by_words, make_telling_test
from vqagen.search.description import Description
from vqagen.search.examination import LabelledStep
from vqagen.search.filling import DEGENERATE, TRIVIAL, Frame, OutOfBudget, Pick, Test
from vqagen.search.plan import Apply, Op, Plan, Stage

REDUCE: dict[str, Callable[[Objects], Value]] = {
    "unique": only,
    "not_unique": int,
    "count": int.bit_count,
    "exist": bool,
}
"""The function that ends a description -> its result, which there always is: outcomes are drawn so."""


class Applied:
    """An op that is computed from earlier results, taken apart for speed."""

    __slots__ = ("at", "inputs", "literals", "one", "other", "run")

    def __init__(self, op: Op) -> None:
        does = op.does
        assert isinstance(does, Apply)
        self.at, self.run, self.inputs, self.literals = op.index, does.run, op.inputs, does.values
        self.one, self.other = -1, -1
        """The inputs, if there are one or two and nothing else is given, as for most functions; -1 for no input."""
        if not does.values and len(op.inputs) in (1, 2):
            self.one, self.other = (*op.inputs, -1)[:2]

    def arguments(self, values: list[Value]) -> list[Value]:
        """Return what the function is given beside the scene."""
        return [*[values[i] for i in self.inputs], *self.literals]


def _tests_at(op: Op) -> Iterator[Test]:
    return (check.test for check in op.checks)


class StageSearch:
    """The search of one stage and, through `rest`, of all stages after it."""

    __slots__ = (
        "_applied", "_at", "_depth", "_draw", "_follow", "_gives_object", "_is_decisive", "_late_test", "_reduce",
        "_rest", "_results_of", "_seen", "_tests",
    )  # fmt: skip

    def __init__(
        self, plan: Plan, depth: int, lanes: Sequence[Lane], is_trivial: Test | None, rest: StageSearch | None
    ) -> None:
        """`rest`: the search of the next stage; None for the last one. `is_trivial`: the test after this stage."""
        stage = plan.stages[depth]
        choice, applied = stage.choice, stage.applied
        self._draw, self._at, self._depth, self._rest = stage.draw, choice.index, depth, rest
        self._is_decisive = not any(is_shadowed_by_words(choice, lane) for lane in lanes)
        tests = [*make_telling_test(plan, choice, lanes), *_tests_at(choice)]
        reducer = choice.does.reducer if isinstance(choice.does, Description) else None
        self._gives_object = reducer == "unique"
        self._reduce = REDUCE.get(reducer or "")
        if self._reduce is not None:
            tests += _tests_at(applied[0])
            applied = applied[1:]
        self._tests = tuple(tests)
        self._applied = [Applied(op) for op in applied]
        late_tests = [test for op in applied for test in _tests_at(op)]
        if any(plan.template.catalogue[op.function].source for op in applied):
            # A plug-in's function is given nothing that a check refuses: it may fail there. vqagen's own ones do not.
            self._applied, late_tests = [], [step.run for step in apply_steps(applied)]
        if is_trivial is not None:
            late_tests.append(partial(stays_open, is_trivial))
        self._late_test = _all_of(late_tests)
        self._follow = lane_steps(stage.ops, lanes) if rest is not None else ()
        self._results_of = itemgetter(*stage.live) if stage.live else None
        self._seen = _shadows_seen(stage, lanes)

    def explore(self, frame: Frame) -> bool:
        """Search for a way to complete the filling, whose choices before this stage are made; True if there is one."""
        # An example: "What color is the cube RELATION2 the thing RELATION1 the MATERIAL SHAPE?". Stage 0 chooses
        # MATERIAL and SHAPE, stage 1 RELATION1, stage 2 RELATION2, which sees only the object that stage 1 gave:
        # `results` is 4. If no cube stands anywhere by 4, then 4 joins `failed`, and every other way to say 4 ends here
        # at once. If cubes were found but a relation was idle, its shadow decided (the things that would be there
        # without RELATION1): only (4, shadows) joins `failed`, and 4 may do well with another shadow.
        failed = frame.failed[self._depth]
        results = self._results_of(frame.values) if self._results_of is not None else None
        if results in failed:
            return False
        state: Any = (results, None)
        if self._seen:
            shadows = self._shadows(frame)
            if shadows is None:
                frame.idle_drops += 1
                return False
            state = (results, shadows)
        if state in failed:
            frame.idle_drops += 1
            return False
        idle_drops = frame.idle_drops
        dead: set[Value] = set()
        undecided: set[Value] = set()
        if self._draw.offer(self, frame, dead, undecided):
            return True
        if undecided and not undecided <= dead:
            frame.failed_by_words = True
        elif frame.remembers:
            failed.add(results if frame.idle_drops == idle_drops else state)
        return False

    def leads_on(self, frame: Frame, dead: set[Any], undecided: set[Any], outcome: Value, pick: Pick) -> bool:
        """Try an option; True if the filling can be completed with it. Otherwise note what else fails with it."""
        frame.budget -= 1
        if frame.budget < 0:
            raise OutOfBudget
        at, rest, dropped = self._at, self._rest, frame.idle_drops
        frame.values[at] = outcome
        frame.picked[at] = pick
        if self._settles(frame, outcome):
            for number, step in self._follow:
                step(frame, frame.shadows[number])
            if frame.ends_with(frame) if rest is None else rest.explore(frame):
                return True
        if frame.failed_by_words:
            frame.failed_by_words = False
            undecided.add(outcome)
        elif frame.remembers and (self._is_decisive or frame.idle_drops == dropped):
            dead.add(outcome)
        return False

    def _settles(self, frame: Frame, outcome: Value) -> bool:
        """Compute what follows from an option in this stage; False if a check fails or there is no result."""
        values, scene = frame.values, frame.scene
        if self._gives_object:
            values[self._at + 1] = only(outcome)
        elif self._reduce is not None:
            values[self._at + 1] = self._reduce(outcome)
        try:
            for test in self._tests:
                if not test(frame):
                    return False
            for op in self._applied:
                run = op.run
                if op.other >= 0:
                    values[op.at] = run(scene, values[op.one], values[op.other])
                elif op.one >= 0:
                    values[op.at] = run(scene, values[op.one])
                else:
                    values[op.at] = run(scene, *op.arguments(values))
            return self._late_test is None or self._late_test(frame)
        except Undefined:
            return False

    def _shadows(self, frame: Frame) -> tuple[Any, ...] | None:
        """Return the earlier shadows that this stage and later ones depend on, as a key; None if the rest must fail.

        It must fail when a relation has made no difference: all that can still be seen is as it would be without it.
        """
        key: list[Value] = []
        values = frame.values
        for number, changed in self._seen:
            shadow, is_idle = frame.shadows[number], True
            for i in changed:
                key.append(shadow[i])
                is_idle = is_idle and shadow[i] == values[i]
            if is_idle:
                return None
        return tuple(key)


def _all_of(tests: Sequence[Test]) -> Test | None:
    """Return one test that passes if all of the tests do; None if there are none."""
    if len(tests) < 2:
        return tests[0] if tests else None
    return lambda frame: all(test(frame) for test in tests)


class ExaminedStage(StageSearch):
    """The search of a stage that counts every option in `frame.watch`, and why it fails."""

    __slots__ = ()

    def __init__(
        self, plan: Plan, depth: int, lanes: Sequence[Lane], is_trivial: Test | None, rest: StageSearch | None
    ) -> None:
        super().__init__(plan, depth, lanes, is_trivial, rest)
        stage = plan.stages[depth]
        at = stage.choice.index
        steps = (
            *(LabelledStep(test, at, DEGENERATE) for test in make_telling_test(plan, stage.choice, lanes)),
            *check_steps(stage.choice),
            *apply_steps(stage.applied),
            *((LabelledStep(partial(stays_open, is_trivial), at, TRIVIAL),) if is_trivial else ()),
            *follow_steps(self._follow),
        )
        self._tests = (partial(_is_counted, depth, steps),)
        self._applied, self._late_test, self._follow = [], None, ()


def _is_counted(depth: int, steps: Sequence[LabelledStep], frame: Frame) -> bool:
    assert frame.watch is not None
    return frame.watch.settles(depth, steps, frame)


def stays_open(is_trivial: Test, frame: Frame) -> bool:
    """True unless the words of a beginning of a filling decide something already; then note that it is dropped."""
    if not is_trivial(frame):
        return True
    frame.failed_by_words = True
    frame.budget -= frame.trivial_price
    frame.refusals.add(TRIVIAL)
    return False


def apply_steps(ops: Sequence[Op]) -> tuple[LabelledStep, ...]:
    """Compute each op, then check what hangs there."""
    return tuple(
        step for op in ops for step in (LabelledStep(partial(_apply, Applied(op)), op.index), *check_steps(op))
    )


def _apply(op: Applied, frame: Frame) -> bool:
    frame.values[op.at] = op.run(frame.scene, *op.arguments(frame.values))
    return True


def check_steps(op: Op) -> tuple[LabelledStep, ...]:
    """Return the checks at an op."""
    return tuple(LabelledStep(check.test, op.index, check.meaning) for check in op.checks)


def lane_steps(ops: Sequence[Op], lanes: Sequence[Lane]) -> tuple[tuple[int, LaneStep], ...]:
    """Return what brings the shadows up to date with some ops: lanes by number, and a step of each."""
    return tuple(
        (number, lane.steps[op.index]) for number, lane in enumerate(lanes) for op in ops if op.index in lane.steps
    )


def follow_steps(steps: Sequence[tuple[int, LaneStep]]) -> tuple[LabelledStep, ...]:
    """Return the steps of lanes as one that never fails and belongs to no op; nothing if there are none."""
    return (LabelledStep(partial(follow, steps), -1),) if steps else ()


def follow(steps: Sequence[tuple[int, LaneStep]], frame: Frame) -> bool:
    """Bring the shadows up to date."""
    for number, step in steps:
        step(frame, frame.shadows[number])
    return True


def _shadows_seen(stage: Stage, lanes: Sequence[Lane]) -> list[tuple[int, list[int]]]:
    """Return the lanes, by number, of earlier relations that the stage depends on, and the ops it sees in each."""
    return [
        (number, changed)
        for number, lane in enumerate(lanes)
        if lane.relation < stage.choice.index and (changed := [i for i in stage.live if i in lane.changed])
    ]
