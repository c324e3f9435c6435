"""Claims: what a program computes that the words of a filling could decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from vqagen.search.frame import Test
from vqagen.search.outline import RELATED, Outline
from vqagen.search.plan import Op, Plan
from vqagen.search.reading import Reader, Reading

JOINS = {("compare_integer", "count", "count"), ("logic", "exist", "exist")}
"""Question types and what they join: sets of which one must not hold the other."""

Decided = Callable[[Reading], bool]


class Claim(NamedTuple):
    """Something that a program computes at an op, and whether the words of a filling decide it."""

    op: int
    is_decided: Decided
    is_early: bool = True
    """False if it is not worth a test before the last choice."""


def claims_of(plan: Plan, ops: Sequence[Op], reader: Reader) -> Iterator[Claim]:
    """Yield the claims of some ops of a plan that words can decide."""
    for op in ops:
        sources = [plan.ops[i] for i in op.inputs]
        yield from _of_sets(plan, op, sources, reader)
        yield from _of_objects(plan, op, sources, reader)


def _of_sets(plan: Plan, op: Op, sources: Sequence[Op], reader: Reader) -> Iterator[Claim]:
    asks = plan.template.catalogue[op.function].asks if op.function else ""
    if op.function == "count" and (reader.references or reader.may_contradict[op.inputs[0]]):
        yield Claim(op.index, _number(op.inputs[0], reader))
    if op.function == "exist":
        yield Claim(op.index, _existence(op.inputs[0], reader))
    if op.function in ("union", "intersect"):
        yield Claim(op.index, _part(op.inputs, reader), is_early=False)
    if (asks, *[each.function for each in sources]) in JOINS:
        yield Claim(op.index, _part([each.inputs[0] for each in sources], reader))
    if op.function in COMPARED and all(each.function == "count" for each in sources) and reader.references:
        yield Claim(op.index, _comparison(op.function, [each.inputs[0] for each in sources], reader))


def _of_objects(plan: Plan, op: Op, sources: Sequence[Op], reader: Reader) -> Iterator[Claim]:
    if op.function == "equal_object":
        yield Claim(op.index, _identity(op.inputs, reader))
    asked, _, attribute = op.function.removeprefix("count_").partition("_")
    if attribute not in reader.values.fields:
        return
    if op.function == f"equal_{attribute}" and all(each.function == f"query_{attribute}" for each in sources):
        yield Claim(op.index, _equality([each.inputs[0] for each in sources], attribute, reader))
    elif asked in ("query", "different") and reader.may_know(attribute, op.inputs[0]):
        if op.function == f"query_{attribute}" and not _is_compared(plan, op):
            yield Claim(op.index, _value(op.inputs[0], attribute, reader))
        if op.function == f"count_different_{attribute}":
            yield Claim(op.index, _variety(op.inputs[0], attribute, reader))


def _is_compared(plan: Plan, op: Op) -> bool:
    return any(op.index in each.inputs and each.function.startswith("equal_") for each in plan.ops)


def alike_tests(references: Sequence[int], outlines: Mapping[int, Outline]) -> Iterator[tuple[int, Test]]:
    """Yield for each two references the op that ends them, and the test whether words alone do not tell them apart.

    Two that are described among all objects are one object if their words are the same.
    """
    for one, other in combinations(references, 2):
        if not all(outlines[each].is_exact and not outlines[each].ties for each in (one, other)):
            yield max(one, other), _alike_test(one, other, outlines)


def _alike_test(one: int, other: int, outlines: Mapping[int, Outline]) -> Test:
    described_at = _same_vocabulary(outlines[one], outlines[other])
    if described_at:
        first, second = described_at  # codes are equal where words are
        return lambda frame: (
            frame.picked[first][1] == frame.picked[second][1] and frame.values[one] != frame.values[other]
        )
    reader, other_reader = outlines[one].reader, outlines[other].reader
    return lambda frame: frame.values[one] != frame.values[other] and reader.words(frame) == other_reader.words(frame)


def _same_vocabulary(one: Outline, other: Outline) -> tuple[int, int] | None:
    """Return the ops of two descriptions that are all the words of two outlines, if their codes mean the same."""
    if one.literal.words or other.literal.words or not len(one.words) == len(other.words) == 1:
        return None
    (first,), (second,) = one.words, other.words
    return (first.op, second.op) if first.meanings is second.meanings and first.place == second.place == 1 else None


# Sets of objects --------------------------------------------------------------------------------------------------


def _number(source: int, reader: Reader) -> Decided:
    """How many objects there are."""

    def is_decided(reading: Reading) -> bool:
        most = reader.members(reading, source).most
        return most is not None and most in (0, reader.least(reading, source))

    return is_decided


def _existence(source: int, reader: Reader) -> Decided:
    """Whether there is any object."""
    return lambda reading: reader.members(reading, source).most == 0 or reader.least(reading, source) > 0


def _part(sets: Sequence[int], reader: Reader) -> Decided:
    """Whether one of two sets that are compared or joined holds the other, or is empty."""
    one, other = sets

    def is_decided(reading: Reading) -> bool:
        of_one, of_other = reader.members(reading, one), reader.members(reading, other)
        if of_one.most == 0 or of_other.most == 0:
            return True
        return reader.contains(reading, one, other, of_other) or reader.contains(reading, other, one, of_one)

    return is_decided


def _comparison(function: str, sets: Sequence[int], reader: Reader) -> Decided:
    """Which of two numbers is larger, or whether they are the same."""
    compare = COMPARED[function]

    def is_decided(reading: Reading) -> bool:
        mosts = [reader.members(reading, each).most for each in sets]
        if mosts == [None, None]:
            return False
        leasts = [reader.least(reading, each) for each in sets]
        return compare(Bounds(leasts[0], mosts[0]), Bounds(leasts[1], mosts[1]))

    return is_decided


class Bounds(NamedTuple):
    """The least and the most that a number can be; None for no limit."""

    least: int
    most: int | None


def _is_less(one: Bounds, other: Bounds) -> bool:
    return one.most is not None and one.most < other.least


def _is_at_least(one: Bounds, other: Bounds) -> bool:
    return other.most is not None and one.least >= other.most


COMPARED: dict[str, Callable[[Bounds, Bounds], bool]] = {
    "less_than": lambda one, other: _is_less(one, other) or _is_at_least(one, other),
    "greater_than": lambda one, other: _is_less(other, one) or _is_at_least(other, one),
    "equal_integer": lambda one, other: _is_less(one, other) or _is_less(other, one),
}
"""Comparison of numbers -> True if what is known of the two decides it."""


# Values and objects -----------------------------------------------------------------------------------------------


def _value(source: int, attribute: str, reader: Reader) -> Decided:
    """The value that an object has."""
    is_decided = reader.values.is_decided
    return lambda reading: is_decided(reading.possible[source], attribute)


def _variety(source: int, attribute: str, reader: Reader) -> Decided:
    """How many different values some objects have."""
    is_decided = reader.values.is_decided
    return lambda reading: is_decided(reader.members(reading, source).possible, attribute)


def _equality(objects: Sequence[int], attribute: str, reader: Reader) -> Decided:
    """Whether two objects have the same value. That the words about one of them say its value is refused too."""
    (one, other), is_value_known = objects, reader.values.is_decided

    def is_decided(reading: Reading) -> bool:
        if reader.differ_in(reading, attribute, one, other) or reader.are_same(reading, one, other):
            return True
        if any(is_value_known(reading.said[each], attribute) for each in objects):
            return True
        if all(is_value_known(reading.possible[each], attribute) for each in objects):
            return True
        ties = reading.logic.between(one, other) if reading.logic.alike else []
        return any(tie.name == attribute and tie.kind != RELATED for tie in ties)

    return is_decided


def _identity(objects: Sequence[int], reader: Reader) -> Decided:
    """Whether two objects are the same one."""
    one, other = objects

    def is_decided(reading: Reading) -> bool:
        if reading.logic.between(one, other) or reader.are_same(reading, one, other):
            return True
        return any(reader.differ_in(reading, attribute, one, other) for attribute in reader.values.fields)

    return is_decided
