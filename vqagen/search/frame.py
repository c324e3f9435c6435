"""The working state of one search, one template on one scene; and the record of how its options failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from vqagen.language.registry import Value
from vqagen.plugin import Undefined
from vqagen.search.tables import SceneTables
from vqagen.world.scene import Scene

if TYPE_CHECKING:
    from vqagen.search.plan import Op, Stage
    from vqagen.search.stage_search import StageSearch

Pick = tuple[Any, ...]
"""What was chosen at an op: (relation or None, description code, objects that fit) or the words of plain slots."""


class Draw:
    """The options at a node. A base class and no Protocol, which the compiled build calls as slowly as Python does."""

    __slots__ = ()

    def offer(self, stage: StageSearch, frame: Frame, dead: set[Any], undecided: set[Any]) -> bool:
        """Draw options in random order until one `leads_on` in its stage; True if one does.

        Options whose outcome is in `dead` are left out.
        """
        raise NotImplementedError


class Taker:
    """The receiver of finished fillings; this one refuses them all."""

    def takes(self, frame: Frame) -> bool:
        """Take a finished filling, or refuse it; True if the search ends with it."""
        return False


class OutOfBudget(Exception):
    """The search has used up its steps."""


class Frame:
    """Owned by one search; every op writes its result to its own place in `values`.

    values[op], picked[op] — the result, and what was chosen there.
    shadows[lane][op] — the result as it would be with one relation taken away (see `degeneracy`); None: no result.
    failed[stage] — states from which the rest of the template cannot be completed.
    """

    __slots__ = (
        "budget", "failed", "failed_by_words", "idle_drops", "picked", "random", "refusals", "refused", "remembers",
        "rng", "scene", "seen", "shadows", "tables", "taker", "trivial_price", "values", "watch",
    )  # fmt: skip

    def __init__(
        self,
        tables: SceneTables,
        rng: Random,
        ops: int,
        stages: int,
        lanes: int,
        refused: Container[Value],
        seen: set[Any],
        budget: int,
    ) -> None:
        self.tables = tables
        self.scene: Scene = tables.scene
        self.rng = rng
        self.random = rng.random
        self.values: list[Value] = [None] * ops
        self.picked: list[Pick] = [()] * ops
        self.shadows: list[list[Value]] = [[None] * ops for _ in range(lanes)]
        self.failed: list[set[Any]] = [set() for _ in range(stages)]
        self.refused = refused
        self.seen = seen
        self.budget = budget
        self.refusals: set[str] = set()
        """The reasons why finished fillings were dropped."""
        self.idle_drops = 0
        """How many fillings, or beginnings of fillings, were dropped because a relation in them is idle."""
        self.failed_by_words = False
        """True if what failed last may succeed with other words for the same results."""
        self.trivial_price = 0
        """Options for which a trivial filling counts against the budget, beside its own."""
        self.taker = Taker()
        self.remembers = False
        """True if options with equal outcomes succeed or fail together, and one success is looked for."""
        self.watch: Examination | None = None
        """Counts how options fail, for `ExaminedStage`; None in any other search."""


Test = Callable[[Frame], bool]
"""A condition on the filling so far."""


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

    def settles(self, depth: int, steps: Sequence[LabelledStep], frame: Frame) -> bool:
        """Run the steps after an option; True if all succeed. A failure is counted with its cause."""
        report = self.reports[depth]
        report.offered += 1
        ended = _first_failure(frame, steps)
        if ended is not None:
            report.died[ended.cause] += 1
            return False
        report.passed += 1
        return True


def _first_failure(frame: Frame, steps: Sequence[LabelledStep]) -> Ended | None:
    for step in steps:
        try:
            if not step.run(frame):
                return Ended(step.op, step.failure, is_undefined=False)
        except Undefined as error:
            return Ended(step.op, str(error), is_undefined=True)
    return None
