"""A filling as its words describe it: what they leave possible of its references and sets, without the picture.

Known are the words, that references differ, that a reference fits no other object, and what follows from ties. So the
thing left of the only metal thing is not metal, and if it must be metal there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from vqagen.search.frame import Frame
from vqagen.search.memo import REMEMBERED
from vqagen.search.outline import RELATED, SAME, Outline, Tie
from vqagen.search.possible import PossibleValues, is_one_value
from vqagen.search.tie_logic import TieLogic
from vqagen.world.relation_order import RelationOrder


class Members:
    """Knowledge of a set: the most members there can be, None for no limit, and what is possible of each."""

    __slots__ = ("most", "possible")

    def __init__(self, most: int | None, possible: int) -> None:
        self.most, self.possible = most, possible


class Reading:
    """One filling. `said` is what words leave possible of each reference; `possible` what is left of it in the end."""

    __slots__ = ("frame", "logic", "possible", "said")

    def __init__(self, frame: Frame, logic: TieLogic, said: dict[int, int], possible: dict[int, int]) -> None:
        self.frame, self.logic, self.said, self.possible = frame, logic, said, possible


class Reader:
    """Reads fillings of a plan, as far as its references and sets are given by their ops."""

    def __init__(
        self,
        outlines: Mapping[int, Outline],
        references: Sequence[int],
        values: PossibleValues,
        order: RelationOrder,
        undecided: Sequence[Set[int]],
        logics: dict[Any, dict[Any, TieLogic]],
    ) -> None:
        """`undecided`: two references that may be the same object or not, whatever their results are.

        `logics` is kept for all plans: what follows from ties is the same for those that differ in words only.
        """
        self.outlines, self.references, self.values, self.order = outlines, references, values, order
        self._undecided = undecided
        self.may_contradict = {
            op: len(each.words) + bool(each.literal.words) + any(source.tie.kind != RELATED for source in each.ties) > 1
            for op, each in outlines.items()
        }
        """Op of a set -> True if its description may fit nothing, whatever the picture."""
        self._words_of = {op: outline.reader for op, outline in outlines.items()}
        self._said = [(op, self._words_of[op]) for op in references]
        self._relations = tuple({t.op: 0 for each in outlines.values() for t in each.ties if t.op is not None})
        fixed = [op for op in references if outlines[op].is_exact and not outlines[op].ties]
        self._aliases = tuple((op, first) for first in fixed for op in references if op != first)
        structure = tuple((op, outline.ties, outline.is_exact) for op, outline in outlines.items())
        self._logics = logics.setdefault((structure, tuple(references)), {})

    def may_know(self, attribute: str, op: int) -> bool:
        """True if words may tell anything of an attribute of the object or set that an op gives."""
        others = {each for each in self.references if each != op}
        return attribute in self.outlines[op].attributes or any(
            attribute in self.outlines[each].attributes or self.outlines[op].ties for each in others
        )

    def read(self, frame: Frame) -> Reading:
        """Read a filling."""
        values, picked = frame.values, frame.picked
        said = {op: words.possible(frame) for op, words in self._said}
        same: tuple[tuple[int, int], ...] = ()
        for op, first in self._aliases:
            if values[op] == values[first] and not said[op] & ~said[first]:
                same = (*same, (op, first))
        key = (tuple([picked[op][0] for op in self._relations]), same)
        logic = self._logics.get(key)
        if logic is None:
            if len(self._logics) > REMEMBERED:
                self._logics.clear()
            logic = self._logics[key] = self._logic(frame, same)
        return Reading(frame, logic, said, said if logic.is_plain else self._learnt(frame, logic, said))

    def _logic(self, frame: Frame, same: Sequence[tuple[int, int]]) -> TieLogic:
        same_as = {op: op for op in self.references}
        for op, other in same:
            first, gone = sorted((same_as[op], same_as[other]))
            same_as = {each: first if known == gone else known for each, known in same_as.items()}
        ties = {op: [source.read(frame) for source in outline.ties] for op, outline in self.outlines.items()}
        return TieLogic(self.outlines, ties, same_as, self.order)

    def _learnt(self, frame: Frame, logic: TieLogic, said: dict[int, int]) -> dict[int, int]:
        """Rule out what would make an object another reference's object, until nothing more is ruled out."""
        known, values, field_of = dict(said), frame.values, self.values.field_of
        for op, first in logic.copies:
            known[first] &= said[op]
        is_new = True
        while is_new:
            is_new = False
            for op, rival in logic.rivals:
                missing = known[op] & ~said[rival]
                excluded = known[op] & said[rival] & field_of[missing.bit_length()]
                is_alone = excluded and not missing & ~field_of[missing.bit_length()]
                if is_alone and values[op] != values[rival] and not self._is_undecided(logic, op, rival):
                    known[op] &= ~excluded
                    is_new = True
            for op, ties in logic.alike:
                bound = self._bound(known[op], ties, known)
                is_new |= bound != known[op]
                known[op] = bound
        for op, first in logic.copies:
            known[op] = known[first]
        return known

    def _is_undecided(self, logic: TieLogic, one: int, other: int) -> bool:
        same_as = logic.same_as
        return any({same_as[op] for op in pair} == {same_as[one], same_as[other]} for pair in self._undecided)

    def _bound(self, possible: int, ties: Sequence[Tie], known: Mapping[int, int]) -> int:
        """Rule out what ties by attributes exclude."""
        values = self.values
        for kind, name, anchor in ties:
            for field in values.fields[name]:
                of_anchor = known[anchor] & field
                if kind == SAME:
                    possible &= of_anchor | ~field
                elif name not in values.lists and is_one_value(of_anchor & ~values.none[name]):
                    possible &= ~of_anchor
        return possible

    def members(self, reading: Reading, op: int) -> Members:
        """Return what is known of the set that an op gives."""
        ties, said, field_of = reading.logic.of(op), reading.said, self.values.field_of
        possible = self._words_of[op].possible(reading.frame)
        if ties.alike:
            possible = self._bound(possible, ties.alike, reading.possible)
        if not ties.rivals:
            return Members(0 if self.may_contradict[op] and self.values.is_contradictory(possible) else None, possible)
        before = -1
        forced: list[int] = []
        while possible != before:
            before, forced = possible, []
            for rival, is_other in ties.rivals:
                missing = possible & ~said[rival]
                if not missing:
                    forced.append(rival)
                    if is_other:
                        return Members(0, possible)
                elif is_other and not missing & ~field_of[missing.bit_length()]:
                    possible &= ~(said[rival] & field_of[missing.bit_length()])
        if (forced or self.may_contradict[op]) and self._cannot_be(reading, possible, forced):
            return Members(0, possible)
        return Members(1 if forced else None, possible)

    def _cannot_be(self, reading: Reading, possible: int, forced: Sequence[int]) -> bool:
        """True if no object can have these values and be each of the references that it must be."""
        for rival in forced:
            possible &= reading.possible[rival]
        is_torn = len({reading.frame.values[rival] for rival in forced}) > 1
        return is_torn or self.values.is_contradictory(possible)

    def least(self, reading: Reading, op: int) -> int:
        """Return how many references must be among the members of a set."""
        said, values = self._words_of[op].possible(reading.frame), reading.frame.values
        if said == self.values.everything and self.outlines[op].is_exact and not self.outlines[op].ties:
            return 1
        return len({values[each] for each in reading.logic.of(op).candidates if not reading.possible[each] & ~said})

    def contains(self, reading: Reading, one: int, other: int, of_other: Members) -> bool:
        """True if the set `one` holds all members of the set `other`, of which this is known."""
        return not of_other.possible & ~self._words_of[one].possible(reading.frame) and reading.logic.contains(
            one, other
        )

    def are_same(self, reading: Reading, one: int, other: int) -> bool:
        """True if two references must be the same object."""
        return reading.logic.same_as[one] == reading.logic.same_as[other] or any(
            not reading.possible[first] & ~reading.said[second] and reading.logic.fits(first, second)
            for first, second in ((one, other), (other, one))
        )

    def differ_in(self, reading: Reading, attribute: str, one: int, other: int) -> bool:
        """True if two references must have different values."""
        both = reading.possible[one] & reading.possible[other]
        return any(not both & field for field in self.values.fields[attribute])
