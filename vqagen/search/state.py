"""The state of one search, what it looks for, and how the options at a node are offered to it."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from random import Random
from typing import Any

from vqagen.bits import Objects
from vqagen.language.catalogue import Value
from vqagen.search.description import Pick
from vqagen.search.tables import ALL, DescriptionTable, WordColumn
from vqagen.search.vocabulary import ANY_SET, Vocabulary
from vqagen.world.attribute import Attribute
from vqagen.world.scene import Scene

FOUND, UNSUITED, UNBALANCED, DEGENERATE, TRIVIAL, NOTHING_FITS, REPEATED, GAVE_UP = (
    "found",
    "no partner",
    "answer too common",
    "relation idle",
    "words tell the answer",
    "nothing fits",
    "no new filling",
    "gave up",
)


class OutOfBudget(Exception):
    """The search has used up its steps."""


class Balance:
    """Which answers are wanted, and what may be said for them. This one wants all answers but some.

    `said`: the sets of attributes that the phrases next to the answer say, in order, as far as they are chosen.
    """

    is_worded = False
    """True if what is wanted hangs on what is said."""

    def __init__(self, refused: Container[Value] = frozenset()) -> None:
        """`refused`: answers that are not wanted, whatever is said."""
        self.refused = refused

    def key(self, scene: Scene, answer: Value) -> Value:
        """Return what of an answer is balanced."""
        return answer

    def sets(self, said: Sequence[int]) -> int:
        """Return the sets of attributes that the next phrase may say, as bits."""
        return ANY_SET

    def sets_by_number(self, said: Sequence[int]) -> Sequence[int] | None:
        """Return answer -> what the last phrase may say with it, for numbers; None where it is the same for all."""
        return None

    def memory(self, said: Sequence[int]) -> object:
        """Return what of the phrases so far decides what may be said after them."""
        return None

    def refuses(self, answer: Value, said: Sequence[int]) -> bool:
        """True if an answer is not wanted of a question that says this."""
        return answer in self.refused


class Wanted:
    """What an option must have at one choice, so that the rest can give what is wanted.

    sets: the sets of attributes that may be said, as bits; objects: a reference must be one of these.
    numbers: how many objects may be described, as bits; by_number: the same with `sets` for each number.
    beside: objects that are counted anyway, as the other set of a union is.
    is_telling: a relation must change what is described.
    """

    __slots__ = ("beside", "by_number", "is_telling", "numbers", "objects", "sets")

    def __init__(
        self,
        sets: int = ANY_SET,
        objects: Objects = ALL,
        numbers: int = -1,
        by_number: Sequence[tuple[int, int]] | None = None,
        beside: Objects = 0,
        is_telling: bool = False,
    ) -> None:
        self.sets, self.objects, self.numbers = sets, objects, numbers
        self.by_number, self.beside, self.is_telling = by_number, beside, is_telling


class SceneTables:
    """The description tables of one scene, made when first asked for. The scene itself is never written to."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._tables: dict[Vocabulary, DescriptionTable] = {}
        self._columns: dict[str, WordColumn] = {}
        self.grouped: dict[tuple[tuple[str, ...], ...], list[tuple[Value, Objects]]] = {}
        """Functions, each of the one before -> what they give of one object, and of which objects they give it."""

    def of(self, vocabulary: Vocabulary) -> DescriptionTable:
        """The scene's table for a vocabulary."""
        table = self._tables.get(vocabulary)
        if table is None:
            columns = [self._column(attribute) for attribute in vocabulary.attributes]
            table = self._tables[vocabulary] = DescriptionTable(vocabulary, self.scene, columns)
        return table

    def forget(self) -> None:
        """Let go of the tables when the scene was asked about."""
        for table in self._tables.values():
            table.forget()

    def _column(self, attribute: Attribute) -> WordColumn:
        column = self._columns.get(attribute.name)
        if column is None:
            column = self._columns[attribute.name] = WordColumn(attribute, self.scene)
        return column


class SearchState:
    """Owned by one search; every op writes its result to its own place in `values`.

    values[op], picked[op] — the result, and what was chosen there.
    values_without[number][op] — the result as it would be with one relation taken away (see `degeneracy`); None: none.
    failed[stage] — states from which the rest of the template cannot be completed.
    """

    __slots__ = (
        "balance", "budget", "ends_with", "failed", "failed_by_balance", "failed_by_words", "idle_drops", "picked",
        "random", "refusals", "remembers", "rng", "scene", "seen", "suits", "tables", "takes_all", "trivial_price",
        "values", "values_without",
    )  # fmt: skip

    def __init__(
        self,
        tables: SceneTables,
        rng: Random,
        sizes: tuple[int, int, int],
        balance: Balance,
        seen: set[Any],
        budget: int,
        ends_with: Callable[[SearchState], bool],
    ) -> None:
        """`sizes`: how many ops, stages and tested relations there are.

        `ends_with`: takes a finished filling, or refuses it; True if the search ends with it.
        """
        ops, stages, relations = sizes
        self.tables = tables
        self.scene: Scene = tables.scene
        self.rng = rng
        self.random = rng.random
        self.values: list[Value] = [None] * ops
        self.picked: list[Pick] = [()] * ops
        self.values_without: list[list[Value]] = [[None] * ops for _ in range(relations)]
        self.failed: list[set[Any]] = [set() for _ in range(stages)]
        self.balance = balance
        self.seen = seen
        self.budget = budget
        self.refusals: set[str] = set()
        """The reasons why finished fillings were dropped."""
        self.idle_drops = 0
        """How many fillings, or beginnings of fillings, were dropped because a relation in them is idle."""
        self.failed_by_words = False
        """True if what failed last may succeed with other words for the same results."""
        self.failed_by_balance = False
        """True if it may succeed with other words that are tried anyway: those of the last choice."""
        self.trivial_price = 0
        """Options for which a trivial filling counts against the budget, beside its own."""
        self.ends_with = ends_with
        self.suits: Callable[[SearchState, int], bool] | None = None
        """A further test of a filling of which so many stages are chosen; None: no test."""
        self.remembers = False
        """True if options with equal outcomes succeed or fail together, and one success is looked for."""
        self.takes_all = False
        """True if every filling is looked for: then what is not wanted now may be wanted later."""


Test = Callable[[SearchState], bool]
"""A condition on the filling so far."""


class OptionSearch:
    """The search that options are offered to."""

    __slots__ = ()

    def try_option(self, state: SearchState, dead: set[Any], undecided: set[Any], outcome: Value, pick: Pick) -> bool:
        """Try an option; True if the filling can be completed with it. Otherwise note what else fails with it."""
        raise NotImplementedError


class Draw:
    """The options at a node. A base class and no Protocol, which the compiled build calls as slowly as Python does."""

    __slots__ = ()

    def offer(
        self, search: OptionSearch, state: SearchState, wanted: Wanted, dead: set[Any], undecided: set[Any]
    ) -> bool:
        """Offer the options that are `wanted` in random order until the search can go on with one; True if it can.

        Options whose outcome is in `dead` are left out.
        """
        raise NotImplementedError
