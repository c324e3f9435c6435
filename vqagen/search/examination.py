"""Why a template found nothing in a scene: how many options each step had, and how each of them failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vqagen.language.registry import Value
from vqagen.plugin import Undefined
from vqagen.search.frame import Draw, Frame, Pick
from vqagen.search.plan import Op, Stage

Step = Callable[[Frame], bool]


class LabelledStep(NamedTuple):
    """A step of an op, and the reason to give if it fails."""

    run: Step
    op: int
    failure: str = ""


class Ended(NamedTuple):
    """The op where a search ended, and why. `is_undefined`: the op has no result, as opposed to a refused one."""

    op: int
    cause: str
    is_undefined: bool


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

    def begins(self, frame: Frame, steps: Sequence[LabelledStep]) -> bool:
        """Run the steps before the first choice; True if all succeed."""
        self.ended = _first_failure(frame, steps)
        return self.ended is None

    def counted(self, depth: int, draw: Draw) -> Draw:
        """Return the draw with its options counted."""
        report = self.reports[depth]

        def counted(frame: Frame, dead: Set[Any]) -> Iterator[tuple[Value, Pick]]:
            for option in draw(frame, dead):
                report.offered += 1
                yield option

        return counted

    def settling(self, depth: int, steps: Sequence[LabelledStep]) -> Step:
        """Return the steps after a choice, as in the search; failures are counted."""
        report = self.reports[depth]

        def settles(frame: Frame) -> bool:
            ended = _first_failure(frame, steps)
            if ended is not None:
                report.died[ended.cause] += 1
                return False
            report.passed += 1
            return True

        return settles


def _first_failure(frame: Frame, steps: Sequence[LabelledStep]) -> Ended | None:
    for step in steps:
        try:
            if not step.run(frame):
                return Ended(step.op, step.failure, is_undefined=False)
        except Undefined as error:
            return Ended(step.op, str(error), is_undefined=True)
    return None
