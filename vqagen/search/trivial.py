"""Trivial questions: those that words alone answer, or nearly so. The policy `all` of `degeneracy` refuses them.

Refused is a filling whose words decide, whatever the picture:

* a number, a value or a yes or no that its program computes: "how many metal cubes are left of the only metal thing";
* that of two described sets that are compared or joined one holds the other: "more large cubes than large things";
* that a set that is counted or joined has one member at most: "more cubes left of the red thing than red cubes";
* nothing to tell two of its objects apart: "the green thing right of the green thing".

A set is described by words (filters) and by ties to other objects: related to them, or alike. Where nothing else makes
the set, its description is exact: all objects that fit it are members. Known of a filling are the words, that
references differ, and that a reference fits no other object. So the thing left of the only metal thing is not metal.

The test reads words and not results, so what it refuses decides no memo of dead ends. What can be decided before the
last choice is tested there, or all that follows would be tried in vain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, permutations
from typing import Any, NamedTuple

from vqagen.search.description import Description, Pick
from vqagen.search.plan import Apply, Op, Plan
from vqagen.search.state import SearchState, Test
from vqagen.search.vocabulary import PossibleValues
from vqagen.world.domain import relation_order

SETS = ("count", "exist", "mark", "union")
"""Functions of sets that are spoken of in the plural."""
JOINS = {("compare_integer", "count", "count"), ("logic", "exist", "exist")}
"""Question types and what they join: sets of which one must not hold the other."""


def trivial_tests(plan: Plan) -> tuple[Test | None, ...]:
    """Return a test for each stage, which is True once the words decide something; None where nothing can be decided.

    The test of the last stage tests all, the others only what their stage adds.
    """
    starts = [stage.choice.index for stage in plan.stages]
    tests = [*_tests(plan)]
    stages = zip([*starts[:-1], 0], [*starts[1:], len(plan.ops)], strict=True)
    return tuple(_any_of([test for op, test in tests if first <= op < end]) for first, end in stages)


def _any_of(tests: Sequence[Test]) -> Test | None:
    """Return the test whether one of some holds. None does where a program starts from some objects of a scene."""

    def is_trivial(state: SearchState) -> bool:
        if state.scene.start != state.scene.everything:
            return False
        for test in tests:  # noqa: SIM110 (a generator would take half as long again)
            if test(state):
                return True
        return False

    return is_trivial if tests else None


# How words describe objects ---------------------------------------------------------------------------------------


class WordSource(NamedTuple):
    """An op that says words: `picked[op][place]` is the key of what they leave possible."""

    op: int
    place: int
    possible: Mapping[Any, int]


class Tie(NamedTuple):
    """Members stand in this connection to the object of op `anchor`."""

    anchor: int
    op: int
    """The op that makes it, and where its relation was picked if `name` is ""."""
    name: str = ""
    """The relation, or the function of objects that are alike."""

    def read(self, picked: Sequence[Pick]) -> tuple[str, int]:
        """Return the name in a filling, and the anchor."""
        return self.name or picked[self.op][0], self.anchor


class Outline:
    """The description of a set, or of the one object of a set.

    literal: what the words that the template itself says leave possible; sources: where a filling says further words.
    is_exact: whether all that fits it is a member; is_known: whether words and ties alone make the set, and not, say,
    a function of a plug-in.
    """

    __slots__ = ("is_exact", "is_known", "literal", "sources", "ties")

    def __init__(
        self,
        literal: int,
        sources: Sequence[WordSource] = (),
        ties: Sequence[Tie] = (),
        is_exact: bool = True,
        is_known: bool = True,
    ) -> None:
        self.literal, self.sources, self.ties, self.is_exact, self.is_known = literal, sources, ties, is_exact, is_known

    def possible(self, picked: Sequence[Pick]) -> int:
        """Return what the words of a filling leave possible."""
        found = self.literal
        for op, place, possible in self.sources:
            found &= possible[picked[op][place]]
        return found

    @property
    def is_of_all(self) -> bool:
        """True if all objects of the scene that the words fit are members."""
        return self.is_exact and not self.ties


def outlines_of(plan: Plan) -> list[Outline]:
    """Return the outlines of all sets and objects of a plan, by op."""
    outlines: list[Outline] = []
    for op in plan.ops:
        outlines.append(_outline(plan, op, [outlines[i] for i in op.inputs]))
    return outlines


def _outline(plan: Plan, op: Op, inputs: Sequence[Outline]) -> Outline:
    does, values = op.does, plan.vocabularies.values
    everything, one = values.everything, inputs[0] if inputs else Outline(values.everything)
    kind, _, attribute = op.function.partition("_")
    if isinstance(does, Description):
        base = Outline(everything, ties=[Tie(op.inputs[0], op.index)]) if does.relates else one
        return _said(base, WordSource(op.index, 1, plan.vocabularies.left_by(does.vocabulary)))
    if op.function in ("scene", "unique", "not_unique"):
        return one
    if op.function == "relate":
        return Outline(everything, ties=[Tie(op.inputs[0], op.index, *op.literals)])
    if op.function in ("relate_facing", "relate_across"):
        name = " ".join((op.function, *op.literals))
        return Outline(everything, ties=[Tie(i, op.index, name) for i in op.inputs])
    if op.function in ("nearest", "farthest"):
        among = inputs[1]
        ties = [*among.ties, Tie(op.inputs[0], op.index, op.function)]
        return Outline(among.literal, among.sources, ties, False, among.is_known)
    if op.function == "intersect":
        return _both(*inputs)
    if op.function == "difference":
        return Outline(one.literal, one.sources, one.ties, False, one.is_known)
    if attribute in values.fields and kind in ("same", "different"):
        return Outline(everything, ties=[Tie(op.inputs[0], op.index, op.function)])
    if attribute in values.fields and kind == "filter":
        if isinstance(does, Apply):
            return _both(one, Outline(values.left_by(attribute, does.values[0])))
        catalogue = plan.template.catalogue
        words = catalogue.domain.values_of(catalogue[op.function].values[0])
        return _said(one, WordSource(op.index, 0, {word: values.left_by(attribute, word) for word in words}))
    return Outline(everything, is_exact=False, is_known=False)


def _said(base: Outline, source: WordSource) -> Outline:
    """Return the outline with further words."""
    return _both(base, Outline(base.literal, [source]))


def _both(one: Outline, other: Outline) -> Outline:
    return Outline(
        one.literal & other.literal,
        [*one.sources, *other.sources],
        [*one.ties, *other.ties],
        one.is_exact and other.is_exact,
        one.is_known and other.is_known,
    )


# What ties say of a filling ---------------------------------------------------------------------------------------


class TieReader:
    """Reads the ties of a plan's references and sets, each given by its op."""

    def __init__(self, plan: Plan) -> None:
        self.outlines = outlines_of(plan)
        self.references = [op.index for op in plan.ops if op.function == "unique"]
        self._transitive = relation_order(plan.template.catalogue.domain).transitive
        self._anchors = [{tie.anchor for tie in outline.ties} for outline in self.outlines]
        self._reached: list[set[int]] = []
        """The anchors of each op, and theirs."""
        for anchors in self._anchors:
            self._reached.append(anchors.union(*[self._reached[anchor] for anchor in anchors]))

    def holders(self, op: int, sets: Sequence[int]) -> list[int]:
        """Return the sets that may hold all members, as far as their ties go."""
        return [each for each in sets if self.outlines[each].is_exact and self._anchors[each] <= self._reached[op]]

    def ties(self, op: int, picked: Sequence[Pick]) -> set[tuple[str, int]]:
        """Return all ties of members: what is left of b, and b of a, is left of a."""
        found = set()
        for tie in self.outlines[op].ties:
            name, anchor = tie.read(picked)
            found.add((name, anchor))
            if name in self._transitive:
                found |= {further for further in self.ties(anchor, picked) if further[0] == name}
        return found

    def has_ties(self, op: int, wanted: int, picked: Sequence[Pick]) -> bool:
        """True if members have all ties that another description wants."""
        said = self.outlines[wanted].ties
        return not said or {tie.read(picked) for tie in said} <= self.ties(op, picked)

    def is_within(self, op: int, other: int, picked: Sequence[Pick]) -> bool:
        """True if members have all words and ties that another description wants."""
        is_worded = not self.outlines[op].possible(picked) & ~self.outlines[other].possible(picked)
        return is_worded and self.has_ties(op, other, picked)


# What the words may decide ----------------------------------------------------------------------------------------


def _tests(plan: Plan) -> Iterator[tuple[int, Test]]:
    """Yield the tests whether words decide something, each with the op that ends what it reads."""
    reader = TieReader(plan)
    outlines, references = reader.outlines, reader.references
    for one, other in combinations([op for op in references if outlines[op].is_known], 2):
        yield other, _are_alike(outlines, one, other)
    sets = dict.fromkeys(i for op in plan.ops if op.function in SETS for i in op.inputs)
    for one in references:
        if outlines[one].is_of_all:
            yield from ((max(one, each), _is_one(outlines[each], outlines[one])) for each in sets)
    for op in plan.ops:
        yield from ((op.index, test) for test in _claims(plan, op, reader))


def _are_alike(outlines: Sequence[Outline], one: int, other: int) -> Test:
    """Whether words do not tell two objects apart."""
    this, that = outlines[one], outlines[other]
    return lambda state: (
        state.values[one] != state.values[other] and this.possible(state.picked) == that.possible(state.picked)
    )


def _is_one(members: Outline, reference: Outline) -> Test:
    """Whether all members fit one object's words: "the red thing" says that there are no two red cubes."""
    return lambda state: not members.possible(state.picked) & ~reference.possible(state.picked)


def _claims(plan: Plan, op: Op, reader: TieReader) -> Iterator[Test]:
    """Yield the tests whether words decide what an op computes."""
    sources = [plan.ops[i] for i in op.inputs]
    asks = plan.template.catalogue[op.function].asks if op.function else ""
    values = plan.vocabularies.values
    if op.function in SETS:
        yield from (_is_empty(each, reader) for each in op.inputs)
    if op.function == "exist" and reader.outlines[op.inputs[0]].is_of_all:
        yield _is_all(reader.outlines[op.inputs[0]], values.everything)
    if op.function in ("union", "intersect"):
        yield _is_part(op.inputs, reader)
    elif (asks, *[each.function for each in sources]) in JOINS:
        yield _is_part([each.inputs[0] for each in sources], reader)
    asked, _, attribute = op.function.partition("_")
    if attribute not in values.fields:
        return
    known = partial(_is_known, attribute=attribute, values=values, reader=reader)
    if asked == "equal" and all(each.function == f"query_{attribute}" for each in sources):
        one, other = (known(each.inputs[0], end=op.index) for each in sources)
        yield lambda state: one(state) and other(state)
    elif asked == "query" and not _is_compared(plan, op):
        yield known(op.inputs[0], end=op.index)


def _is_compared(plan: Plan, op: Op) -> bool:
    return any(op.index in each.inputs and each.function.startswith("equal_") for each in plan.ops)


def _is_all(members: Outline, everything: int) -> Test:
    """Whether a set of all objects that fit is the whole scene."""
    return lambda state: members.possible(state.picked) == everything


def _is_empty(members: int, reader: TieReader) -> Test:
    """Whether members would be references to which they are tied: no cube is left of the only cube."""
    holders = reader.holders(members, [op for op in reader.references if op < members])

    def is_empty(state: SearchState) -> bool:
        picked = state.picked
        within = [op for op in holders if reader.is_within(members, op, picked)]
        return bool(within) and any(anchor in within for _, anchor in reader.ties(members, picked))

    return is_empty


def _is_part(sets: Sequence[int], reader: TieReader) -> Test:
    """Whether one of two sets that are compared or joined is in the other."""
    pairs = [(one, other) for one, other in permutations(sets) if reader.holders(one, [other])]
    return lambda state: any(reader.is_within(one, other, state.picked) for one, other in pairs)


def _is_known(reference: int, attribute: str, end: int, values: PossibleValues, reader: TieReader) -> Test:
    """Whether the words before an op tell a value of an object, which fits no other reference's description."""
    outlines, others = reader.outlines, reader.holders(reference, [op for op in reader.references if op < end])

    def is_known(state: SearchState) -> bool:
        picked, values_of = state.picked, state.values
        possible = said = outlines[reference].possible(picked)
        for other in others:
            fitting = outlines[other].possible(picked)
            missing = said & ~fitting
            field = values.field_of[missing.bit_length()]
            if not missing or missing & ~field or values_of[other] == values_of[reference]:
                continue
            # An example: the cube left of the metal cube. Only in its material may it differ from that one: it does.
            if reader.has_ties(reference, other, picked):
                possible &= ~(fitting & field)
        return values.is_decided(possible, attribute)

    return is_known
