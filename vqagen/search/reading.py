"""How words describe objects, without the picture: in a plan (`Outline`), and in a filling (`Reading`).

A set is described by words (filters) and by ties to other objects: related to them, or alike. Where nothing else makes
the set, its description is exact: all objects that fit it are members.

Known of a filling are the words, that references differ, that a reference fits no other object, and what follows from
ties. So the thing left of the only metal thing is not metal, and if it must be metal there is none. Ties that follow
from others (c is left of b, and b of a) depend only on the relations picked: they are worked out once for each choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, NamedTuple

from vqagen.search.description import Description, Pick, PlainChoice
from vqagen.search.plan import Apply, Op, Plan
from vqagen.search.state import SearchState
from vqagen.search.vocabulary import REMEMBERED, Meaning, PossibleValues
from vqagen.world.domain import RelationOrder

RELATED, SAME, DIFFERENT = "related", "same", "different"


class Tie(NamedTuple):
    """Members stand in this connection to the object of op `anchor`; `name` is the relation, or the attribute."""

    kind: str
    name: str
    anchor: int


class TieSource(NamedTuple):
    """A tie of a plan; where `op` is not None, the relation's name is what was picked there."""

    tie: Tie
    op: int | None = None

    def read(self, picked: Sequence[Pick]) -> Tie:
        """The tie in a filling."""
        return self.tie if self.op is None else Tie(self.tie.kind, picked[self.op][0], self.tie.anchor)


class WordSource:
    """An op that says words: `picked[op][place]` is the key of their meaning."""

    __slots__ = ("meanings", "op", "place")

    def __init__(self, op: int, place: int, meanings: dict[Any, Meaning]) -> None:
        self.op, self.place, self.meanings = op, place, meanings


@dataclass(frozen=True)
class Outline:
    """The description of a set, or of the one object of a set."""

    literal: Meaning
    """The words that the template itself says."""
    sources: tuple[WordSource, ...] = ()
    """Where a filling says further words."""
    ties: tuple[TieSource, ...] = ()
    is_exact: bool = True
    attributes: frozenset[str] = frozenset()
    """The attributes that may be said."""
    is_known: bool = True
    """False if something else than words and ties makes the set, such as a function of a plug-in."""

    def said(self, source: WordSource, attributes: Set[str]) -> Outline:
        """Return the outline with further words, which say these attributes."""
        return replace(self, sources=(*self.sources, source), attributes=self.attributes | attributes)

    def possible(self, picked: Sequence[Pick]) -> int:
        """Return what the words of a filling leave possible."""
        found = self.literal.possible
        for source in self.sources:
            found &= source.meanings[picked[source.op][source.place]].possible
        return found

    def words(self, picked: Sequence[Pick]) -> int:
        """Return the words of a filling."""
        found = self.literal.words
        for source in self.sources:
            found |= source.meanings[picked[source.op][source.place]].words
        return found


def outlines_of(plan: Plan) -> dict[int, Outline]:
    """Return the outlines of all sets and objects of a plan, by op."""
    return _OutlineBuilder(plan).outlines


class _OutlineBuilder:
    """Makes the outline of each op from those of its inputs."""

    def __init__(self, plan: Plan) -> None:
        self.catalogue, self.vocabularies = plan.template.catalogue, plan.vocabularies
        self.values = values = plan.vocabularies.values
        self.outlines: dict[int, Outline] = {}
        self.whole = Outline(Meaning(values.everything, 0))
        self.unknown = replace(self.whole, is_exact=False, is_known=False)
        self.of_function: dict[str, Callable[[Op], Outline]] = {
            "scene": lambda op: self.whole,
            "unique": self._source,
            "not_unique": self._source,
            "relate": self._relate,
            "intersect": self._intersect,
            "difference": self._difference,
        }
        self.of_attribute: dict[str, Callable[[Op, str], Outline]] = {
            "filter": self._filter,
            SAME: lambda op, name: self._alike(op, SAME, name),
            DIFFERENT: lambda op, name: self._alike(op, DIFFERENT, name),
        }
        """Functions of an attribute, by what their names begin with."""
        for op in plan.ops:
            self.outlines[op.index] = self._outline(op)

    def _outline(self, op: Op) -> Outline:
        if isinstance(op.does, Description):
            return self._description(op, op.does)
        make = self.of_function.get(op.function)
        if make is not None:
            return make(op)
        kind, _, attribute = op.function.partition("_")
        make_with = self.of_attribute.get(kind) if attribute in self.values.fields else None
        return make_with(op, attribute) if make_with is not None else self.unknown

    def _source(self, op: Op) -> Outline:
        return self.outlines[op.inputs[0]]

    def _description(self, op: Op, does: Description) -> Outline:
        base = self._tied(self._related(op, does.relation)) if does.relates else self.outlines[does.source]
        said = {attribute.name for k, attribute in enumerate(does.vocabulary.attributes) if does.may_say(k)}
        source = WordSource(op.index, 1, self.vocabularies.meanings(does.vocabulary))
        return base.said(source, said)

    def _filter(self, op: Op, name: str) -> Outline:
        base = self._source(op)
        if isinstance(op.does, PlainChoice):
            words = (word for word in self.catalogue.domain.values_of(self.catalogue[op.function].values[0]))
            meanings = {word: self.values.meaning(name, word) for word in words}
            return base.said(WordSource(op.index, 0, meanings), {name})
        assert isinstance(op.does, Apply)
        meant = self.values.meaning(name, op.does.values[0])
        literal = Meaning(base.literal.possible & meant.possible, base.literal.words | meant.words)
        return replace(base, literal=literal, attributes=base.attributes | {name})

    def _relate(self, op: Op) -> Outline:
        relation = op.does.values[0] if isinstance(op.does, Apply) else None
        return self._tied(self._related(op, relation))

    def _related(self, op: Op, relation: str | None) -> TieSource:
        return TieSource(Tie(RELATED, relation or "", op.inputs[0]), None if relation else op.index)

    def _alike(self, op: Op, kind: str, name: str) -> Outline:
        return self._tied(TieSource(Tie(kind, name, op.inputs[0])))

    def _tied(self, tie: TieSource) -> Outline:
        return Outline(self.whole.literal, ties=(tie,))

    def _intersect(self, op: Op) -> Outline:
        left, right = (self.outlines[i] for i in op.inputs)
        return Outline(
            Meaning(left.literal.possible & right.literal.possible, left.literal.words | right.literal.words),
            left.sources + right.sources,
            left.ties + right.ties,
            left.is_exact and right.is_exact,
            left.attributes | right.attributes,
            left.is_known and right.is_known,
        )

    def _difference(self, op: Op) -> Outline:
        return replace(self.outlines[op.inputs[0]], is_exact=False)


class SetTies(NamedTuple):
    """The ties of a set's members, and what they tell of references."""

    ties: Set[Tie]
    rivals: tuple[tuple[int, bool], ...]
    """References whose descriptions want no ties that members lack; True where a member must be another object."""
    candidates: tuple[int, ...]
    """References that have all ties that the set's description wants, which must be exact."""


class TieLogic:
    """All ties that follow from those of one choice of relations."""

    def __init__(
        self,
        outlines: Mapping[int, Outline],
        references: Sequence[int],
        said: Mapping[int, Set[Tie]],
        order: RelationOrder,
    ) -> None:
        """`said`: the ties of each reference and set, by op."""
        self._outlines, self._order, self._references, self._said = outlines, order, references, said
        self.ties = self._all_ties()
        self._sets: dict[int, SetTies] = {}
        pairs = permutations(references, 2)
        self.rivals = tuple((op, other) for op, other in pairs if self.fits(op, other))
        """(reference, other): all ties that the other's exact description wants, the reference has too."""

    def of(self, op: int) -> SetTies:
        """Return what the ties of the set that an op gives tell."""
        found = self._sets.get(op)
        if found is None:
            ties = set(self._said[op])
            for tie in self._said[op]:
                ties |= {_to(further, tie) for further in self._beyond(tie)}
            others = {tie.anchor for tie in ties}
            rivals = tuple((each, each in others) for each in self._references if self._are_met(ties, each))
            candidates = tuple(each for each in self._references if self.fits(each, op))
            found = self._sets[op] = SetTies(ties, rivals, candidates)
        return found

    def contains(self, one: int, other: int) -> bool:
        """True if the members of the set `other` have all ties that the set `one` wants."""
        return self._are_met(self.of(other).ties, one)

    def fits(self, reference: int, wanted: int) -> bool:
        """True if a reference has all ties that an exact description wants."""
        return self._are_met(self.ties[reference], wanted)

    def _are_met(self, ties: Set[Tie], wanted: int) -> bool:
        return self._outlines[wanted].is_exact and self._said[wanted] <= ties

    def _all_ties(self) -> dict[int, set[Tie]]:
        found: dict[int, set[Tie]] = {op: set() for op in self._references}
        new = [(op, tie) for op in self._references for tie in self._said[op]]
        while new:
            at, tie = new.pop()
            if tie in found[at]:
                continue
            found[at].add(tie)
            inverse = tie.name if tie.kind != RELATED else self._order.inverse.get(tie.name)
            if inverse is not None:
                new.append((tie.anchor, Tie(tie.kind, inverse, at)))
            self.ties = found
            new += [(at, _to(further, tie)) for further in self._beyond(tie)]
            if self._is_order(tie):
                to_this = _to(at, tie)
                new += [(nearer, tie) for nearer in found if to_this in found[nearer]]
        return found

    def _beyond(self, tie: Tie) -> list[int]:
        """Return the objects to which the tie leads by way of its anchor."""
        if not self._is_order(tie):
            return []
        return [each.anchor for each in self.ties[tie.anchor] if each[:2] == tie[:2]]

    def _is_order(self, tie: Tie) -> bool:
        return tie.kind == RELATED and tie.name in self._order.transitive


def _to(anchor: int, tie: Tie) -> Tie:
    """Return the same tie to another object."""
    return tie if anchor == tie.anchor else Tie(tie.kind, tie.name, anchor)


class Members:
    """Knowledge of a set: the most members there can be, None for no limit, and what is possible of each."""

    __slots__ = ("most", "possible")

    def __init__(self, most: int | None, possible: int) -> None:
        self.most, self.possible = most, possible


class Reading:
    """One filling. `said` is what words leave possible of each reference; `possible` what is left of it in the end."""

    __slots__ = ("logic", "possible", "said", "state")

    def __init__(self, state: SearchState, logic: TieLogic, said: dict[int, int], possible: dict[int, int]) -> None:
        self.state, self.logic, self.said, self.possible = state, logic, said, possible


class Reader:
    """Reads fillings of a plan, as far as its references and sets are given by their ops."""

    def __init__(
        self,
        outlines: Mapping[int, Outline],
        references: Sequence[int],
        values: PossibleValues,
        order: RelationOrder,
        logics: dict[Any, dict[Any, TieLogic]],
    ) -> None:
        """`logics` is kept for all plans: what follows from ties is the same for those that differ in words only."""
        self.outlines, self.references, self.values, self.order = outlines, references, values, order
        self._described = [(op, outlines[op]) for op in references]
        self._relations = tuple({t.op: 0 for each in outlines.values() for t in each.ties if t.op is not None})
        structure = tuple((op, outline.ties, outline.is_exact) for op, outline in outlines.items())
        self._logics = logics.setdefault((structure, tuple(references)), {})

    def may_know(self, attribute: str, op: int) -> bool:
        """True if words may tell anything of an attribute of the object or set that an op gives."""
        others = {each for each in self.references if each != op}
        return attribute in self.outlines[op].attributes or any(
            attribute in self.outlines[each].attributes or self.outlines[op].ties for each in others
        )

    def read(self, state: SearchState) -> Reading:
        """Read a filling."""
        picked = state.picked
        said = {op: outline.possible(picked) for op, outline in self._described}
        key = tuple([picked[op][0] for op in self._relations])
        logic = self._logics.get(key)
        if logic is None:
            if len(self._logics) > REMEMBERED:
                self._logics.clear()
            logic = self._logics[key] = self._logic(state)
        return Reading(state, logic, said, self._learnt(state, logic, said) if logic.rivals else said)

    def _logic(self, state: SearchState) -> TieLogic:
        ties = {op: {source.read(state.picked) for source in outline.ties} for op, outline in self.outlines.items()}
        return TieLogic(self.outlines, self.references, ties, self.order)

    def _learnt(self, state: SearchState, logic: TieLogic, said: dict[int, int]) -> dict[int, int]:
        """Rule out what would make an object another reference's object, until nothing more is ruled out."""
        known, values, field_of = dict(said), state.values, self.values.field_of
        is_new = True
        while is_new:
            is_new = False
            for op, rival in logic.rivals:
                missing = known[op] & ~said[rival]
                excluded = known[op] & said[rival] & field_of[missing.bit_length()]
                is_alone = excluded and not missing & ~field_of[missing.bit_length()]
                if is_alone and values[op] != values[rival]:
                    known[op] &= ~excluded
                    is_new = True
        return known

    def members(self, reading: Reading, op: int) -> Members:
        """Return what is known of the set that an op gives."""
        said, field_of, rivals = reading.said, self.values.field_of, reading.logic.of(op).rivals
        possible = self.outlines[op].possible(reading.state.picked)
        before, is_forced = -1, False
        while possible != before:
            before, is_forced = possible, False
            for rival, is_other in rivals:
                missing = possible & ~said[rival]
                if not missing and is_other:
                    return Members(0, possible)
                if not missing:
                    is_forced = True
                elif is_other and not missing & ~field_of[missing.bit_length()]:
                    possible &= ~(said[rival] & field_of[missing.bit_length()])
        return Members(1 if is_forced else None, possible)

    def least(self, reading: Reading, op: int) -> int:
        """Return how many references must be among the members of a set."""
        said, values = self.outlines[op].possible(reading.state.picked), reading.state.values
        if said == self.values.everything and self.outlines[op].is_exact and not self.outlines[op].ties:
            return 1
        return len({values[each] for each in reading.logic.of(op).candidates if not reading.possible[each] & ~said})

    def contains(self, reading: Reading, one: int, other: int, of_other: Members) -> bool:
        """True if the set `one` holds all members of the set `other`, of which this is known."""
        said = self.outlines[one].possible(reading.state.picked)
        return not of_other.possible & ~said and reading.logic.contains(one, other)
