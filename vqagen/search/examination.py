"""Why a template found nothing in a scene: how many options each step had, and how each of them failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from vqagen.language.catalogue import Value
from vqagen.plugin import Undefined
from vqagen.search.plan import Apply, Op, Stage
from vqagen.search.state import SearchState

Step = Callable[[SearchState], bool]


class LabelledStep(NamedTuple):
    """A step of an op, and the reason to give if it fails."""

    run: Step
    op: int
    failure: str = ""


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


def apply_steps(ops: Sequence[Op]) -> tuple[LabelledStep, ...]:
    """Compute each op, then check what hangs there."""
    return tuple(
        step for op in ops for step in (LabelledStep(partial(_apply, Applied(op)), op.index), *check_steps(op))
    )


def _apply(op: Applied, state: SearchState) -> bool:
    state.values[op.at] = op.run(state.scene, *op.arguments(state.values))
    return True


def check_steps(op: Op) -> tuple[LabelledStep, ...]:
    """Return the checks at an op."""
    return tuple(LabelledStep(check.test, op.index, check.meaning) for check in op.checks)


class Ended(NamedTuple):
    """The op where a search ended, and why."""

    op: int
    cause: str


@dataclass
class StageReport:
    """The figures of one choice: `offered` options, of which `passed` led on; the others `died`, by reason."""

    op: Op
    offered: int = 0
    passed: int = 0
    died: Counter[str] = field(default_factory=Counter)


class Examination:
    """The record of one search; `reports[stage]` has the figures of each choice."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.reports = [StageReport(stage.choice) for stage in stages]
        self.finished: Counter[str] = Counter()
        """Number of complete fillings, by verdict."""
        self.ended: Ended | None = None
        """Why the search ended before any choice; None if it did not."""

    def begins(self, state: SearchState, steps: Sequence[LabelledStep]) -> bool:
        """Run the steps before the first choice; True if all succeed."""
        self.ended = _first_failure(state, steps)
        return self.ended is None

    def settles(self, depth: int, steps: Sequence[LabelledStep], state: SearchState) -> bool:
        """Run the steps after an option; True if all succeed. A failure is counted with its cause."""
        report = self.reports[depth]
        report.offered += 1
        ended = _first_failure(state, steps)
        if ended is not None:
            report.died[ended.cause] += 1
            return False
        report.passed += 1
        return True


def _first_failure(state: SearchState, steps: Sequence[LabelledStep]) -> Ended | None:
    for step in steps:
        try:
            if not step.run(state):
                return Ended(step.op, step.failure)
        except Undefined as error:
            return Ended(step.op, str(error))
    return None
