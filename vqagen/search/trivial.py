"""Trivial questions: those that words alone answer, or nearly so. The policy `all` of `degeneracy` refuses them.

Refused is a filling whose words decide, whatever the picture:

* a number, a value or a yes or no that its program computes: "how many metal cubes are left of the only metal thing";
* that of two described sets that are compared or joined one holds the other: "more large cubes than large things";
* that a set that is counted or joined has one member at most: "more cubes left of the red thing than red cubes";
* nothing to tell two of its objects apart: "the green thing right of the green thing".

The test reads words and not results, so what it refuses decides no memo of dead ends. What can be decided before the
last choice is tested there, or all that follows would be tried in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from vqagen.search.plan import Op, Plan
from vqagen.search.reading import Outline, Reader, Reading, outlines_of
from vqagen.search.state import SearchState, Test

SETS = ("count", "exist", "union")
"""Functions of sets that are spoken of in the plural."""
JOINS = {("compare_integer", "count", "count"), ("logic", "exist", "exist")}
"""Question types and what they join: sets of which one must not hold the other."""

Decided = Callable[[Reading], bool]


def trivial_tests(plan: Plan) -> tuple[Test | None, ...]:
    """Return a test for each stage, which is True once the words decide something; None where nothing can be decided.

    The test of the last stage tests all, the others only what their stage adds.
    """
    starts = [stage.choice.index for stage in plan.stages]
    ends = [*starts[1:], len(plan.ops)]
    firsts = [*starts[:-1], 0]
    outlines = outlines_of(plan)
    return tuple(_test(plan, outlines, first, end) for first, end in zip(firsts, ends, strict=True))


def _test(plan: Plan, of_all: Mapping[int, Outline], first: int, end: int) -> Test | None:
    """Return the test of what ops before `end` compute, as far as op `first` or a later one decides it."""
    catalogue, ops, vocabularies = plan.template.catalogue, plan.ops[:end], plan.vocabularies
    outlines = {op: outline for op, outline in of_all.items() if op < end}
    references = [op.index for op in ops if op.function and catalogue[op.function].output == "Object"]
    described = [op for op in references if plan.ops[op].function == "unique" and outlines[op].is_known]
    reader = Reader(outlines, references, vocabularies.values, vocabularies.order, vocabularies.logics)
    is_last = end == len(plan.ops)
    found = (claim for op in ops if op.index >= first for claim in _claims(plan, op, reader))
    claims = [is_decided for is_decided, is_early in found if is_last or is_early]
    sets = {i for op in ops if op.function in SETS for i in op.inputs}
    alike = [are_alike for op, are_alike in _alike_tests(described, outlines) if op >= first]
    ones = [is_one for op, is_one in _one_tests(described, sorted(sets), outlines) if op >= first]

    def is_trivial(state: SearchState) -> bool:
        for are_alike in alike:
            if are_alike(state):
                return True
        if state.scene.start != state.scene.everything:
            return False
        for is_one in ones:
            if is_one(state):
                return True
        if not claims:
            return False
        reading = reader.read(state)
        return any(is_decided(reading) for is_decided in claims)

    return is_trivial if claims or alike or ones else None


# Objects of the same words ----------------------------------------------------------------------------------------


def _alike_tests(references: Sequence[int], outlines: Mapping[int, Outline]) -> Iterator[tuple[int, Test]]:
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
        return lambda state: (
            state.picked[first][1] == state.picked[second][1] and state.values[one] != state.values[other]
        )
    this, that = outlines[one], outlines[other]
    return lambda state: (
        state.values[one] != state.values[other] and this.words(state.picked) == that.words(state.picked)
    )


def _same_vocabulary(one: Outline, other: Outline) -> tuple[int, int] | None:
    """Return the ops of two descriptions that are all the words of two outlines, if their codes mean the same."""
    if one.literal.words or other.literal.words or not len(one.sources) == len(other.sources) == 1:
        return None
    (first,), (second,) = one.sources, other.sources
    return (first.op, second.op) if first.meanings is second.meanings and first.place == second.place == 1 else None


# Sets of which words say that there is one ------------------------------------------------------------------------


def _one_tests(
    references: Sequence[int], sets: Sequence[int], outlines: Mapping[int, Outline]
) -> Iterator[tuple[int, Test]]:
    """Yield for each set and each object described among all the op that ends them, and the test whether it fits all.

    Who asks about "the red thing" says that there is one, and so that there are no two red cubes.
    """
    for one in references:
        if outlines[one].is_exact and not outlines[one].ties:
            yield from ((max(one, each), _one_test(one, each, outlines)) for each in sets)


def _one_test(one: int, of_set: int, outlines: Mapping[int, Outline]) -> Test:
    described_as, members = outlines[one], outlines[of_set]
    return lambda state: not members.possible(state.picked) & ~described_as.possible(state.picked)


# What the words may decide ----------------------------------------------------------------------------------------


def _claims(plan: Plan, op: Op, reader: Reader) -> Iterator[tuple[Decided, bool]]:
    """Yield the tests whether words decide what an op computes, and whether each is worth it before the last choice."""
    sources = [plan.ops[i] for i in op.inputs]
    asks = plan.template.catalogue[op.function].asks if op.function else ""
    if op.function == "count" and reader.references:
        yield _number(op.inputs[0], reader), True
    elif op.function == "exist":
        yield _existence(op.inputs[0], reader), True
    elif op.function in ("union", "intersect"):
        yield _part(op.inputs, reader), False
    elif (asks, *[each.function for each in sources]) in JOINS:
        yield _part([each.inputs[0] for each in sources], reader), True
    asked, _, attribute = op.function.partition("_")
    if attribute not in reader.values.fields:
        return
    if asked == "equal" and all(each.function == f"query_{attribute}" for each in sources):
        yield _equality([each.inputs[0] for each in sources], attribute, reader), True
    elif asked == "query" and reader.may_know(attribute, op.inputs[0]) and not _is_compared(plan, op):
        yield _value(op.inputs[0], attribute, reader), True


def _is_compared(plan: Plan, op: Op) -> bool:
    return any(op.index in each.inputs and each.function.startswith("equal_") for each in plan.ops)


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


def _value(source: int, attribute: str, reader: Reader) -> Decided:
    """The value that an object has."""
    is_decided = reader.values.is_decided
    return lambda reading: is_decided(reading.possible[source], attribute)


def _equality(objects: Sequence[int], attribute: str, reader: Reader) -> Decided:
    """Whether two objects have the same value."""
    is_value_known = reader.values.is_decided
    return lambda reading: all(is_value_known(reading.possible[each], attribute) for each in objects)
