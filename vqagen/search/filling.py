"""A search at work, and what it finds: the frame of one search, and fillings.

A filling is one way to fill a template, and what a program and a text need to know of it. Where the nodes of its
program stand depends only on how many nodes each choice is written as. So a plan has few layouts, and what no choice
changes is laid out once for all fillings.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from vqagen.bits import Objects
from vqagen.language.catalogue import Value
from vqagen.language.program import Node, NodeRun, Program
from vqagen.plugin import SAMENESS
from vqagen.search.description import Description, SceneTables
from vqagen.world.scene import Scene

if TYPE_CHECKING:
    from vqagen.search.examination import Examination
    from vqagen.search.plan import Op, Plan
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


MOST_LAYOUTS = 128
"""Layouts of a plan after which they start anew. One takes 1 KB; three descriptions over 11 attributes have 1,900."""


class Layout:
    """The layout of a program up to one of its choices."""

    __slots__ = ("_after", "_first", "_made", "_ops", "_places", "choice", "count", "inputs", "run")

    def __init__(
        self, ops: Sequence[Op], places: Sequence[int] = (), count: int = 0, first: Layout | None = None
    ) -> None:
        """`places`: op -> the node that holds its result, for the ops before the next one that is laid out.

        `count`: how many nodes there are so far. `first`: the plan's first layout; None if this is it.
        """
        self._first: Layout = self if first is None else first
        self._made = 0
        """How many layouts are remembered after the first one."""
        nodes, laid = list[Node](), list(places)
        while len(laid) < len(ops) and not ops[len(laid)].is_choice:
            op = ops[len(laid)]
            nodes.append(Node(op.function, tuple(laid[i] for i in op.inputs), op.literals))
            laid.append(count + len(nodes) - 1)
        self.run = NodeRun(tuple(nodes))
        """The nodes between the choice before and this one."""
        self.count = count + len(nodes)
        """How many nodes come before the choice."""
        self.choice = ops[len(laid)] if len(laid) < len(ops) else None
        """The choice; None at the end of the program."""
        self.inputs = tuple(laid[i] for i in self.choice.inputs) if self.choice else ()
        """The nodes that the choice takes its inputs from."""
        self._ops, self._places = ops, laid
        self._after: dict[int, Layout] = {}

    def after(self, length: int) -> Layout:
        """Return the layout up to the next choice if this one is written as `length` nodes."""
        layout = self._after.get(length)
        if layout is None:
            first, place = self._first, self.count + length - 1 if length else self.inputs[0]
            layout = Layout(self._ops, (*self._places, place), self.count + length, first)
            if first._made == MOST_LAYOUTS:
                first._after.clear()
                first._made = 0
            first._made += 1
            self._after[length] = layout
        return layout


FOUND, UNBALANCED, DEGENERATE, TRIVIAL, NOTHING_FITS, TOO_FEW, REPEATED, GAVE_UP = (
    "found",
    "answer too common",
    "relation idle",
    "words tell the answer",
    "nothing fits",
    "too few objects",
    "no new filling",
    "gave up",
)


class Filling:
    """One way to fill a template for a scene: what was picked at each op, and its result."""

    __slots__ = ("picked", "plan", "values")

    def __init__(self, plan: Plan, picked: tuple[Pick, ...], values: tuple[Value, ...]) -> None:
        self.plan, self.picked, self.values = plan, picked, values

    @property
    def answer(self) -> Value:
        """The program's answer."""
        return self.values[-1]

    def words(self) -> dict[str, str | None]:
        """The word of each slot, in the template's order; None if the slot is left open."""
        words = self.plan.open_slots.copy()
        for stage in self.plan.stages:
            op = stage.choice
            does, pick = op.does, self.picked[op.index]
            if isinstance(does, Description):
                words.update(does.vocabulary.worded[op.slots, pick[1]])
                if op.relation_slot:
                    words[op.relation_slot] = pick[0]
            else:
                for slot, word in zip(op.slots, pick, strict=True):
                    if slot:
                        words[slot] = word
        return words

    def program(self) -> Program:
        """The primitive program: composite nodes written out as relate, filters and reducer."""
        plan = self.plan
        layout = plan.layout
        runs = [layout.run]
        while (op := layout.choice) is not None:
            does, pick = op.does, self.picked[op.index]
            if isinstance(does, Description):
                run = does.vocabulary.chains[layout.inputs[0], layout.count, pick[0], pick[1]]
            else:
                run = plan.vocabularies.nodes[op.function, layout.inputs, pick]
            layout = layout.after(len(run.nodes))
            runs.append(run)
            runs.append(layout.run)
        return Program.joined(runs, plan.template.catalogue)

    def described(self) -> list[tuple[tuple[str, ...], Objects]]:
        """The slots of each description, and the objects it describes."""
        return [
            (op.slots, objects)
            for op, objects in zip(self.plan.ops, self.values, strict=True)
            if isinstance(op.does, Description)
        ]

    def coinciding(self) -> set[tuple[int, int]]:
        """Return the pairs of references, by their ops, that mean the same object.

        The two of which a question asks whether they are the same object are no such pair.
        """
        ops = self.plan.ops
        references = [op.index for op in ops if op.function == "unique"]
        asked = ops[-1].inputs if ops[-1].function == "equal_object" else ()
        return {
            (one, two)
            for one, two in combinations(references, 2)
            if self.values[one] == self.values[two] and not {one, two} <= {*asked}
        }

    def anchor_fits(self) -> bool | None:
        """True if "other" is needed: the anchor of a sameness itself fits the description of what is the same.

        None where no description follows a sameness.
        """
        answer: bool | None = None
        for op in self.plan.ops:
            source = self.plan.ops[op.inputs[0]] if op.inputs else op
            if isinstance(op.does, Description) and source.role == SAMENESS:
                anchor = self.values[source.inputs[0]]
                answer = bool(answer) or bool(self.picked[op.index][2] >> anchor & 1)
        return answer


class SearchResult(NamedTuple):
    """The result of a search: a filling, or why there is none."""

    filling: Filling | None
    reason: str
