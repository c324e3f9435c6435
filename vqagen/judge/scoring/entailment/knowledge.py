"""Knowledge: what follows from the answers of questions about an image, and the answers that follow from it.

From "What color is the large cube?" red
    there is one large cube, and one large red cube; no large blue cube.
From "How many cubes are there?" 0
    there are no large cubes.
From "Are there fewer cubes than spheres?" yes
    the numbers are not equal.
From "What color is the large cube?" red and "What color is the sphere?" red
    they have the same color.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from vqagen.judge.answers.kinds import Answer
from vqagen.judge.scoring.entailment.meaning import Meaning, Set, Term

Values = Mapping[str, frozenset[str]]
"""Attribute -> values of which an object has at most one: those that are answers of `query_` of the attribute."""
LESS, EQUAL, GREATER = "<", "=", ">"
_HOLDS = {"less_than": frozenset({LESS}), "equal_integer": frozenset({EQUAL})}
_ALL = frozenset({LESS, EQUAL, GREATER})
_FLIPPED = {LESS: GREATER, EQUAL: EQUAL, GREATER: LESS}


class Bound(NamedTuple):
    """How many objects a set holds."""

    objects: Set
    least: int
    most: int | None = None


class Knowledge:
    """What follows from the answers that were added."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._bounds: list[Bound] = []
        self._known: dict[Term, Answer] = {}
        self._orders: dict[tuple[Set, Set], frozenset[str]] = {}

    def add(self, meaning: Meaning, answer: Answer) -> None:
        """Add a question with its right answer."""
        self._bounds += [Bound(objects, 1, 1) for objects in meaning.unique]
        self._bounds += [Bound(objects, 2) for objects in meaning.several]
        self._add(meaning.root, answer)

    def _add(self, term: Term, answer: Answer) -> None:
        self._known[term] = answer
        function, arguments = term.function, term.arguments
        if function == "not" and isinstance(answer, bool):
            self._add(arguments[0], not answer)
        elif (function == "and" and answer is True) or (function == "or" and answer is False):
            for argument in arguments:
                self._add(argument, answer)
        elif function == "exist":
            self._bounds.append(Bound(arguments[0], 1) if answer is True else Bound(arguments[0], 0, 0))
        elif function == "count" and isinstance(answer, int):
            self._bounds.append(Bound(arguments[0], answer, answer))
        elif function in _HOLDS and (pair := _counted(term)):
            holds = _HOLDS[function] if answer is True else _ALL - _HOLDS[function]
            self._orders[pair] = self._orders.get(pair, _ALL) & holds
        elif function.startswith("query_") and isinstance(answer, str):
            self._add_value(arguments[0], function.removeprefix("query_"), answer)

    def _add_value(self, objects: Set, attribute: str, value: str) -> None:
        """Add that the one object of a set has a value, and none of the others."""
        for other in self._values.get(attribute, frozenset()) | {value}:
            number = int(other == value)
            self._bounds.append(Bound(objects | {(f"filter_{attribute}", other)}, number, number))

    def answer(self, meaning: Meaning) -> Answer | None:
        """Return the answer of a question that follows; None if none does.

        What the question itself presupposes is taken for granted: "the cube" is one object.
        """
        return self._answer(meaning.root, frozenset(meaning.unique))

    def _answer(self, term: Term, unique: frozenset[Set]) -> Answer | None:
        if term in self._known:
            return self._known[term]
        function, arguments = term.function, term.arguments
        if function in ("not", "and", "or"):
            return _logic(function, [self._answer(argument, unique) for argument in arguments])
        if function in ("exist", "count"):
            least, most = self.bounds(arguments[0])
            if function == "count":
                return least if least == most else None
            return True if least else False if most == 0 else None
        if function in _HOLDS:
            return self._compared(term)
        if function.startswith("query_"):
            return self._value_of(arguments[0], function.removeprefix("query_"), unique)
        return self._equal(term, unique) if function.startswith("equal_") else None

    def bounds(self, objects: Set) -> tuple[int, int | None]:
        """Return the least and the greatest number of objects of a set; None if it has no known limit."""
        least = max((bound.least for bound in self._bounds if bound.objects >= objects), default=0)
        limits = [bound.most for bound in self._bounds if bound.most is not None and objects >= bound.objects]
        return least, min(limits, default=None)

    def _compared(self, term: Term) -> bool | None:
        """Return the answer of a comparison of two numbers of objects."""
        pair = _counted(term)
        if pair is None:
            return None
        orders = self._orders.get(pair, _ALL) & _flipped(self._orders.get(pair[::-1], _ALL))
        orders &= _orders_of(self.bounds(pair[0]), self.bounds(pair[1]))
        holds = _HOLDS[term.function]
        return True if orders <= holds else False if not orders & holds else None

    def _value_of(self, objects: Set, attribute: str, unique: frozenset[Set]) -> str | None:
        """Return the value of the one object of a set, if a part of the set with a known value holds an object."""
        if objects not in unique:
            return None
        for value in sorted(self._values.get(attribute, ())):
            if self.bounds(objects | {(f"filter_{attribute}", value)})[0]:
                return value
        return None

    def _equal(self, term: Term, unique: frozenset[Set]) -> bool | None:
        """Return the answer of a comparison of two values that are both known."""
        left, right = (
            self._answer(argument, unique) if isinstance(argument, Term) else None for argument in term.arguments
        )
        return None if left is None or right is None else left == right


def _counted(term: Term) -> tuple[Set, Set] | None:
    """Return the two sets whose numbers of objects a term compares; None if it compares something else."""
    counts = [argument for argument in term.arguments if isinstance(argument, Term) and argument.function == "count"]
    return (counts[0].arguments[0], counts[1].arguments[0]) if len(counts) == 2 else None


def _flipped(orders: frozenset[str]) -> frozenset[str]:
    return frozenset(_FLIPPED[order] for order in orders)


def _orders_of(left: tuple[int, int | None], right: tuple[int, int | None]) -> frozenset[str]:
    """Return the orders in which two numbers can stand, by their bounds."""
    (least, most), (other_least, other_most) = left, right
    possible: set[str] = set()
    if other_most is None or least < other_most:
        possible.add(LESS)
    if (most is None or most >= other_least) and (other_most is None or other_most >= least):
        possible.add(EQUAL)
    if most is None or most > other_least:
        possible.add(GREATER)
    return frozenset(possible)


def _logic(function: str, parts: list[Any]) -> bool | None:
    """Return the value of a logic function; a part may be unknown (None).

    >>> _logic("and", [None, False]), _logic("or", [None, False]), _logic("not", [True])
    (False, None, False)
    """
    if function == "not":
        return None if parts[0] is None else not parts[0]
    decisive = function == "or"
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive
