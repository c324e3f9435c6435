"""Why a template found nothing in a scene: how many options each step had, and how each of them failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from vqagen.plugin import Undefined
from vqagen.search.plan import Op, Stage
from vqagen.search.stage_search import LabelledStep
from vqagen.search.state import SearchState


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
        self.ended: LabelledStep | None = None
        """The step with which the search ended before any choice; None if it did not."""

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
            report.died[ended.failure] += 1
            return False
        report.passed += 1
        return True


def _first_failure(state: SearchState, steps: Sequence[LabelledStep]) -> LabelledStep | None:
    """Return the first step that fails, and says why; None if all succeed."""
    for step in steps:
        try:
            if not step.run(state):
                return step
        except Undefined as error:
            return step._replace(failure=str(error))
    return None
