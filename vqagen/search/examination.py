"""Why a template found nothing in a scene: how many options each step was offered, and what became of them."""

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
    """Something that is done for an op, and what it means when it fails."""

    run: Step
    op: int
    failure: str = ""


class Ended(NamedTuple):
    """Where it went no further: at which op, and why. `is_undefined`: it has no result, and was not refused."""

    op: int
    cause: str
    is_undefined: bool


@dataclass
class StageReport:
    """What happened at one choice: `offered` options, of which `passed` led on; the others `died`, by reason."""

    op: Op
    offered: int = 0
    passed: int = 0
    died: Counter[str] = field(default_factory=Counter)


class Examination:
    """Watches one search; `reports[stage]` tells of each of its choices."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.reports = [StageReport(stage.choice) for stage in stages]
        self.finished: Counter[str] = Counter()
        """Complete fillings, by what was said of them in the end."""
        self.ended: Ended | None = None
        """What kept it from coming to any choice."""

    def begins(self, frame: Frame, steps: Sequence[LabelledStep]) -> bool:
        """Do all that comes before any choice."""
        self.ended = _first_failure(frame, steps)
        return self.ended is None

    def counted(self, depth: int, draw: Draw) -> Draw:
        """The same draw, but its options are counted."""
        report = self.reports[depth]

        def counted(frame: Frame, dead: Set[Any]) -> Iterator[tuple[Value, Pick]]:
            for option in draw(frame, dead):
                report.offered += 1
                yield option

        return counted

    def settling(self, depth: int, steps: Sequence[LabelledStep]) -> Step:
        """All that follows from a choice, as in the search, noting what fails."""
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
