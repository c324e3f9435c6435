"""What the other questions about an image, with their answers, tell of a question: the slow twin of `Told`.

All is worked out anew for each question, from records and the scene alone. What readers know are sizes of described
sets, at least and at most: "the big cube" is one; "are there red balls? no" says that there are none. What fits two
descriptions that both lie in a set of one is one object, and fits both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from oracles.naive_programs import Value, run, step_type
from oracles.naive_vocabulary import Record, World
from oracles.naive_words import Facts, describe

NO_LIMIT = 10**9


class Described(NamedTuple):
    """The objects that have none but the values `allowed`, (field, value) by (field, value), and all the ties."""

    allowed: frozenset[tuple[Any, Any]]
    ties: frozenset[tuple[str, str, Value]]

    def holds(self, other: Described) -> bool:
        """Whether each object of the other is one of these."""
        return other.allowed <= self.allowed and self.ties <= other.ties


class Question:
    """A question with its answer: its described sets by step, and what is said of how many fit them."""

    def __init__(self, facts: Facts, program: Sequence[Record], world: World) -> None:
        self.facts, self.program, self.results = facts, program, run(world, program)
        found = [self._described(index) for index in range(len(program))]
        self.sets = {index: each for index, each in enumerate(found) if each is not None}
        uniques = [i for i, step in enumerate(program) if step_type(step) == "unique" and i in self.sets]
        several = [i for i, step in enumerate(program) if step_type(step) == "not_unique" and i in self.sets]
        self.objects = [(self.results[i], self.sets[i]) for i in uniques]
        self.presumed = [(self.sets[i], 1, 1) for i in uniques] + [(self.sets[i], 2, NO_LIMIT) for i in several]
        self.told = list(self._told(len(program) - 1, self.results[-1]))

    def _described(self, index: int) -> Described | None:
        if not isinstance(self.results[index], frozenset) and step_type(self.program[index]) != "unique":
            return None
        found = describe(self.facts, self.program, index)
        if found.words is None or not found.is_exact:
            return None
        allowed = frozenset((field, value) for field, values in found.possible.items() for value in values)
        return Described(allowed, frozenset((kind, name, self.results[step]) for kind, name, step in found.ties))

    def _told(self, index: int, value: Any) -> Iterator[tuple[Described, int, int]]:
        step = self.program[index]
        name, inputs = step_type(step), step["inputs"]
        if name == "count":
            yield from self._sized(inputs[0], value, value)
        elif name == "exist":
            yield from self._sized(inputs[0], int(value), NO_LIMIT if value else 0)
        elif name == "not":
            yield from self._told(inputs[0], not value)
        elif (name, value) in (("and", True), ("or", False)):
            for i in inputs:
                yield from self._told(i, value)
        elif name.startswith("query_") and inputs[0] in self.sets and isinstance(value, str):
            attribute, asked = name.removeprefix("query_"), self.sets[inputs[0]]
            allowed = frozenset(each for each in asked.allowed if each[0] != attribute or each[1] == value)
            yield Described(allowed, asked.ties), 1, NO_LIMIT

    def _sized(self, index: int, least: int, most: int) -> Iterator[tuple[Described, int, int]]:
        if index in self.sets:
            yield self.sets[index], least, most
        elif step_type(self.program[index]) == "union":
            for i in self.program[index]["inputs"]:
                yield from self._sized(i, 0, most)


class Reader:
    """Knows what some questions say, and what one more takes for granted."""

    def __init__(self, others: Sequence[Question], asked: Question) -> None:
        self.asked = asked
        said = [each for question in (*others, asked) for each in question.presumed]
        said += [each for question in others for each in question.told]
        self.most = [(description, most) for description, _, most in said if most != NO_LIMIT]
        self.least = {(description, least) for description, least, _ in said if least}
        self.members = [each for question in (*others, asked) for each in question.objects]
        """The objects that are spoken of, and how."""
        ones = [description for description, most in self.most if most == 1]
        self.least = self._closed(ones)

    def _closed(self, ones: Sequence[Described]) -> set[tuple[Described, int]]:
        """Add what fits two descriptions, where both lie in a set of one."""
        found = set(self.least)
        while True:
            new = set(found)
            for one in ones:
                inside = {each for each, _ in found if one.holds(each)}
                together = Described(
                    frozenset.intersection(one.allowed, *(each.allowed for each in inside)),
                    frozenset.union(one.ties, *(each.ties for each in inside)),
                )
                new |= {(together, 1)} if inside else set()
            if new == found:
                return found
            found = new

    def size(self, asked: Described) -> tuple[int, int]:
        """The least and the most objects that fit."""
        low = max((n for each, n in self.least if asked.holds(each)), default=0)
        high = min((most for each, most in self.most if each.holds(asked)), default=NO_LIMIT)
        outside = any(
            most == 1 and whole.holds(asked) and any(self._is_outside(each, whole, asked) for each, _ in self.least)
            for whole, most in self.most
        )
        return low, 0 if outside else high

    def _is_outside(self, each: Described, whole: Described, asked: Described) -> bool:
        """Whether the one object of a whole does not fit: by a value, or because nothing is tied to itself."""
        if not whole.holds(each):
            return False
        if {field for field, _ in each.allowed} != {field for field, _ in each.allowed & asked.allowed}:
            return True
        members = {member for member, named in self.members if whole.holds(named)}
        return any(anchor in members for _, _, anchor in asked.ties)

    def possible(self, reference: Described, attribute: str) -> frozenset[Any]:
        """The values that the object of a reference may have."""
        values = frozenset(value for field, value in reference.allowed if field == attribute)
        for each, _ in self.least:
            if reference.holds(each):
                values &= frozenset(value for field, value in each.allowed if field == attribute)
        return values - {None}

    def bounds(self, index: int) -> tuple[int, int]:
        """What is known of a size, a number or a yes (1) or no (0)."""
        if index in self.asked.sets:
            return self.size(self.asked.sets[index])
        step = self.asked.program[index]
        name, inputs = step_type(step), step["inputs"]
        if name.startswith("equal_") and name not in ("equal_integer", "equal_object"):
            return self._equality(name.removeprefix("equal_"), inputs)
        if name not in ("count", "exist", "not", "and", "or", "union", "less_than", "greater_than", "equal_integer"):
            return 0, NO_LIMIT
        known = [self.bounds(i) for i in inputs]
        (low, high), (low2, high2) = known[0], known[-1]
        return {
            "count": (low, high),
            "exist": (min(low, 1), min(high, 1)),
            "not": (1 - high, 1 - low),
            "and": (min(low, low2), min(high, high2)),
            "or": (max(low, low2), max(high, high2)),
            "union": (max(low, low2), high + high2),
            "less_than": (int(high < low2), int(low < high2)),
            "greater_than": (int(high2 < low), int(low2 < high)),
            "equal_integer": (int(low == high == low2 == high2), int(low <= high2 and low2 <= high)),
        }[name]

    def _equality(self, attribute: str, inputs: Sequence[int]) -> tuple[int, int]:
        references = [self.asked.program[i]["inputs"][0] for i in inputs]
        if attribute in self.asked.facts.lists or not all(i in self.asked.sets for i in references):
            return 0, 1
        one, other = (self.possible(self.asked.sets[i], attribute) for i in references)
        return int(one == other and len(one) == 1), int(bool(one & other))

    def knows(self) -> bool:
        """Whether the answer follows."""
        step = self.asked.program[-1]
        family, _, attribute = step_type(step).partition("_")
        if family == "query":
            reference = self.asked.sets.get(step["inputs"][0])
            is_list = attribute in self.asked.facts.lists
            return reference is not None and not is_list and len(self.possible(reference, attribute)) == 1
        low, high = self.bounds(len(self.asked.program) - 1)
        return low == high


def entailed(questions: Sequence[Question]) -> Iterator[int]:
    """The places of the questions about one image that the others tell the answer of."""
    for place, asked in enumerate(questions):
        if Reader([*questions[:place], *questions[place + 1 :]], asked).knows():
            yield place
