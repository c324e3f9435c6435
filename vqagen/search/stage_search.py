"""The search of one stage: it draws options, computes what follows from each, and searches the next stage.

`explore` remembers dead ends, a `Draw` for the kind of choice offers options, and `try_option` tries one of them. This
is one class, not one a kind, since Python reads fields faster where all objects at a place are of one class.

Dead ends are remembered so that they are met once:

    failed because of               what is remembered
    its results                     the outcome is dead; if all are, the results of the stage have failed
    an idle relation                the outcome is dead if it also decides what is there without the relation; results
                                    with just these results without it failed
    its words (made before,         the outcome is undecided; nothing has failed, unless every undecided outcome is
      or trivial)                   dead with other words
    what may be said with the       nothing: other words may be wanted, and are tried anyway
      answer is something else
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

from vqagen.bits import Objects, only
from vqagen.language.catalogue import Value
from vqagen.plugin import Undefined
from vqagen.search.degeneracy import WithoutRelation, WithoutStep, depends_on_words, make_telling_test
from vqagen.search.description import Description, Pick
from vqagen.search.plan import Applied, Op, Plan, Stage
from vqagen.search.state import DEGENERATE, TRIVIAL, UNBALANCED, UNSUITED, OptionSearch, OutOfBudget, SearchState, Test
from vqagen.search.wanted import WantedFinder

Step = Callable[[SearchState], bool]


class LabelledStep(NamedTuple):
    """A step of an op, and the reason to give if it fails."""

    run: Step
    op: int
    failure: str = ""


def apply_steps(ops: Sequence[Op]) -> tuple[LabelledStep, ...]:
    """Compute each op, then check what hangs there."""
    return tuple(
        step for op in ops for step in (LabelledStep(partial(_apply, Applied(op)), op.index), *check_steps(op))
    )


def _apply(op: Applied, state: SearchState) -> bool:
    op.apply(state.scene, state.values)
    return True


def check_steps(op: Op) -> tuple[LabelledStep, ...]:
    """Return the checks at an op."""
    return tuple(LabelledStep(check.test, op.index, check.meaning) for check in op.checks)


REDUCE: dict[str, Callable[[Objects], Value]] = {
    "unique": only,
    "not_unique": int,
    "count": int.bit_count,
    "exist": bool,
}
"""The function that ends a description -> its result, which there always is: outcomes are drawn so."""


def _tests_at(op: Op) -> Iterator[Test]:
    return (check.test for check in op.checks)


class StageSearch(OptionSearch):
    """The search of one stage and, through `rest`, of all stages after it."""

    __slots__ = (
        "_applied", "_at", "_depth", "_draw", "_follow", "_gives_object", "_is_decisive", "_late_test", "_reduce",
        "_rest", "_results_of", "_seen", "_tests", "_wanted",
    )  # fmt: skip

    def __init__(
        self,
        plan: Plan,
        depth: int,
        relations: Sequence[WithoutRelation],
        is_trivial: Test | None,
        rest: StageSearch | None,
    ) -> None:
        """`rest`: the search of the next stage; None for the last one. `is_trivial`: the test after this stage."""
        stage = plan.stages[depth]
        choice, applied = stage.choice, stage.applied
        self._draw, self._at, self._depth, self._rest = stage.draw, choice.index, depth, rest
        self._is_decisive = not any(depends_on_words(choice, each) for each in relations)
        tests = [*make_telling_test(plan, choice, relations), *_tests_at(choice)]
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
        self._follow = steps_without(plan.stages[depth - 1].ops, relations) if depth else ()
        """What brings the values without relations up to date, after the stage before."""
        self._results_of = itemgetter(*stage.live) if stage.live else None
        self._seen = _seen_without(stage, relations)
        is_telling = any(each.at == choice.index and each.leaves_out_anchor for each in relations)
        self._wanted = WantedFinder(plan, stage, rest is None, is_telling)

    def explore(self, state: SearchState) -> bool:
        """Search for a way to complete the filling, whose choices before this stage are made; True if there is one."""
        # An example: "What color is the cube RELATION2 the thing RELATION1 the MATERIAL SHAPE?". Stage 0 chooses
        # MATERIAL and SHAPE, stage 1 RELATION1, stage 2 RELATION2, which sees only the object that stage 1 gave:
        # `results` is 4. If no cube stands anywhere by 4, then 4 joins `failed`, and every other way to say 4 ends here
        # at once. If cubes were found but a relation was idle, what would be there without RELATION1 decided: only
        # (4, that) joins `failed`, and 4 may do well with something else there.
        failed, finder = state.failed[self._depth], self._wanted
        results: Any = self._results_of(state.values) if self._results_of is not None else None
        said: Sequence[int] = ()
        if finder.follows_phrase and state.balance.is_worded:
            said = finder.said(state)
            results = (state.balance.memory(said), results)
        if results in failed:
            return False
        if state.suits is not None and not state.suits(state, self._depth):
            state.refusals.add(UNSUITED)
            state.failed_by_words = True
            return False
        for number, step in self._follow:
            step(state, state.values_without[number])
        known = results
        if self._seen:
            without = self._values_without(state)
            known = (results, without)
            if without is None or known in failed:
                state.idle_drops += 1
                return False
        idle_drops = state.idle_drops
        dead: set[Value] = set()
        undecided: set[Value] = set()
        wanted = finder.find(state, said) if finder.narrows else finder.usual
        if wanted is not None and self._draw.offer(self, state, wanted, dead, undecided):
            return True
        if wanted is not finder.usual and (state.balance.refused or state.balance.is_worded):
            state.refusals.add(UNBALANCED)
        if undecided and not undecided <= dead:
            state.failed_by_words = True
        elif state.remembers:
            failed.add(results if state.idle_drops == idle_drops else known)
        return False

    def try_option(self, state: SearchState, dead: set[Any], undecided: set[Any], outcome: Value, pick: Pick) -> bool:
        """Try an option; True if the filling can be completed with it. Otherwise note what else fails with it."""
        state.budget -= 1
        if state.budget < 0:
            raise OutOfBudget
        at, rest, dropped = self._at, self._rest, state.idle_drops
        state.values[at] = outcome
        state.picked[at] = pick
        if self._settles(state, outcome) and (state.ends_with(state) if rest is None else rest.explore(state)):
            return True
        if state.failed_by_words:
            state.failed_by_words = False
            undecided.add(outcome)
        elif state.failed_by_balance or (self._wanted.awaits_phrase and state.balance.is_worded):
            state.failed_by_balance = False
        elif state.remembers and (self._is_decisive or state.idle_drops == dropped):
            dead.add(outcome)
        return False

    def _settles(self, state: SearchState, outcome: Value) -> bool:
        """Compute what follows from an option in this stage; False if a check fails or there is no result."""
        values, scene = state.values, state.scene
        if self._gives_object:
            values[self._at + 1] = only(outcome)
        elif self._reduce is not None:
            values[self._at + 1] = self._reduce(outcome)
        try:
            for test in self._tests:
                if not test(state):
                    return False
            for op in self._applied:
                op.apply(scene, values)
            return self._late_test is None or self._late_test(state)
        except Undefined:
            return False

    def _values_without(self, state: SearchState) -> tuple[Any, ...] | None:
        """Return what this stage and later ones see without earlier relations, as a key; None if the rest must fail.

        It must fail when a relation has made no difference: all that can still be seen is as it would be without it.
        """
        key: list[Value] = []
        values = state.values
        for number, changed in self._seen:
            without, is_idle = state.values_without[number], True
            for i in changed:
                key.append(without[i])
                is_idle = is_idle and without[i] == values[i]
            if is_idle:
                return None
        return tuple(key)


def _all_of(tests: Sequence[Test]) -> Test | None:
    """Return one test that passes if all of the tests do; None if there are none."""
    if len(tests) < 2:
        return tests[0] if tests else None
    return lambda state: all(test(state) for test in tests)


class ExaminedStage(StageSearch):
    """The search of a stage that counts every option in an examination, and why it fails."""

    __slots__ = ()

    def __init__(
        self,
        settles: Callable[[int, Sequence[LabelledStep], SearchState], bool],
        plan: Plan,
        depth: int,
        relations: Sequence[WithoutRelation],
        is_trivial: Test | None,
        rest: StageSearch | None,
    ) -> None:
        """`settles`: runs the steps after an option of a stage, and counts how they end."""
        super().__init__(plan, depth, relations, is_trivial, rest)
        stage = plan.stages[depth]
        at = stage.choice.index
        steps = (
            *(LabelledStep(test, at, DEGENERATE) for test in make_telling_test(plan, stage.choice, relations)),
            *check_steps(stage.choice),
            *apply_steps(stage.applied),
            *((LabelledStep(partial(stays_open, is_trivial), at, TRIVIAL),) if is_trivial else ()),
        )
        self._tests = (partial(settles, depth, steps),)
        self._applied, self._late_test = [], None


def stays_open(is_trivial: Test, state: SearchState) -> bool:
    """True unless the words of a beginning of a filling decide something already; then note that it is dropped."""
    if not is_trivial(state):
        return True
    state.failed_by_words = True
    state.budget -= state.trivial_price
    state.refusals.add(TRIVIAL)
    return False


def steps_without(ops: Sequence[Op], relations: Sequence[WithoutRelation]) -> tuple[tuple[int, WithoutStep], ...]:
    """Return what computes some ops without each relation: the relation's number, and a step."""
    return tuple(
        (number, each.steps[op.index]) for number, each in enumerate(relations) for op in ops if op.index in each.steps
    )


def follow_steps(steps: Sequence[tuple[int, WithoutStep]]) -> tuple[LabelledStep, ...]:
    """Return such steps as one that never fails and belongs to no op; nothing if there are none."""
    return (LabelledStep(partial(follow, steps), -1),) if steps else ()


def follow(steps: Sequence[tuple[int, WithoutStep]], state: SearchState) -> bool:
    """Bring the values without relations up to date."""
    for number, step in steps:
        step(state, state.values_without[number])
    return True


def _seen_without(stage: Stage, relations: Sequence[WithoutRelation]) -> list[tuple[int, list[int]]]:
    """Return the earlier relations, by number, that the stage depends on, and the ops it sees in each."""
    return [
        (number, changed)
        for number, each in enumerate(relations)
        if each.at < stage.choice.index and (changed := [i for i in stage.live if i in each.changed])
    ]
