"""Outlines: how the sets of objects of a plan are described, as far as the plan tells without a scene.

A set is described by words (filters) and by ties to other objects: related to them, or alike. Where nothing else makes
the set, its description is exact: all objects that fit it are members.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from vqagen.search.description import Description, PlainChoice
from vqagen.search.frame import Pick
from vqagen.search.plan import Apply, Op, Plan
from vqagen.search.vocabulary import Meaning

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


class WordReader:
    """Reads the words of a filling: what they leave possible, or themselves."""

    __slots__ = ("_literal", "_sources")

    def __init__(self, literal: Meaning, sources: Sequence[WordSource]) -> None:
        self._literal, self._sources = literal, list(sources)

    def possible(self, picked: Sequence[Pick]) -> int:
        """Return what the words leave possible."""
        found = self._literal.possible
        for source in self._sources:
            found &= source.meanings[picked[source.op][source.place]].possible
        return found

    def words(self, picked: Sequence[Pick]) -> int:
        """Return the words."""
        found = self._literal.words
        for source in self._sources:
            found |= source.meanings[picked[source.op][source.place]].words
        return found


@dataclass(frozen=True)
class Outline:
    """The description of a set, or of the one object of a set."""

    literal: Meaning
    """The words that the template itself says."""
    words: tuple[WordSource, ...] = ()
    ties: tuple[TieSource, ...] = ()
    is_exact: bool = True
    attributes: frozenset[str] = frozenset()
    """The attributes that may be said."""
    is_known: bool = True
    """False if something else than words and ties makes the set, such as a function of a plug-in."""

    def said(self, source: WordSource, attributes: Set[str]) -> Outline:
        """Return the outline with further words, which say these attributes."""
        words, attributes = (*self.words, source), self.attributes | attributes
        return Outline(self.literal, words, self.ties, self.is_exact, attributes, self.is_known)

    @property
    def reader(self) -> WordReader:
        """The reader of the words in a filling."""
        return WordReader(self.literal, self.words)


def outlines_of(plan: Plan) -> dict[int, Outline]:
    """Return the outlines of all sets and objects of a plan, by op."""
    builder = _OutlineBuilder(plan)
    for op in plan.ops:
        builder.add(op)
    return builder.outlines


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

    def add(self, op: Op) -> None:
        """Add the outline of an op."""
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
            left.words + right.words,
            left.ties + right.ties,
            left.is_exact and right.is_exact,
            left.attributes | right.attributes,
            left.is_known and right.is_known,
        )

    def _difference(self, op: Op) -> Outline:
        return replace(self.outlines[op.inputs[0]], is_exact=False)
