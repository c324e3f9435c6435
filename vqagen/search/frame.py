"""The working state of one search: one template on one scene."""

from __future__ import annotations

from collections.abc import Callable, Container
from random import Random
from typing import TYPE_CHECKING, Any

from vqagen.language.registry import Value
from vqagen.search.tables import SceneTables
from vqagen.world.scene import Scene

if TYPE_CHECKING:
    from vqagen.search.examination import Examination
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


class OutOfBudget(Exception):
    """The search has used up its steps."""


class Frame:
    """Owned by one search; every op writes its result to its own place in `values`.

    values[op], picked[op] — the result, and what was chosen there.
    shadows[lane][op] — the result as it would be with one relation taken away (see `degeneracy`); None: no result.
    failed[stage] — states from which the rest of the template cannot be completed.
    """

    __slots__ = (
        "budget", "ends_with", "failed", "failed_by_words", "idle_drops", "picked", "random", "refusals", "refused",
        "remembers", "rng", "scene", "seen", "shadows", "tables", "trivial_price", "values", "watch",
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
        ends_with: Callable[[Frame], bool],
    ) -> None:
        """`ends_with`: takes a finished filling, or refuses it; True if the search ends with it."""
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
        self.ends_with = ends_with
        self.remembers = False
        """True if options with equal outcomes succeed or fail together, and one success is looked for."""
        self.watch: Examination | None = None
        """Counts how options fail, for `ExaminedStage`; None in any other search."""


Test = Callable[[Frame], bool]
"""A condition on the filling so far."""
