"""Outlines: how the sets of objects of a plan are described, as far as the plan tells without a scene.

A set is described by words (filters) and by ties to other objects: related to them, or alike. Where nothing else makes
the set, its description is exact: all objects that fit it are members.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from vqagen.search.description import Description
from vqagen.search.frame import Frame
from vqagen.search.plain_choice import PlainChoice
from vqagen.search.plan import Apply, Op, Plan
from vqagen.search.possible import Meaning

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

    def read(self, frame: Frame) -> Tie:
        """The tie in a filling."""
        return self.tie if self.op is None else self.tie._replace(name=frame.picked[self.op][0])


class WordSource(NamedTuple):
    """An op that says words: `frame.picked[op][place]` is the key of their meaning."""

    op: int
    place: int
    meanings: Mapping[Any, Meaning]


@dataclass(frozen=True)
class Outline:
    """How a set, or the one object of a set, is described."""

    literal: Meaning
    """The words that the template itself says."""
    words: tuple[WordSource, ...] = ()
    ties: tuple[TieSource, ...] = ()
    is_exact: bool = True
    attributes: frozenset[str] = frozenset()
    """The attributes that may be said."""
    is_known: bool = True
    """False if something else than words and ties makes the set, such as a function of a plug-in."""

    def reader(self, part: int) -> Callable[[Frame], int]:
        """Return how to read the words in a filling: what they leave possible (part 0) or themselves (part 1)."""
        if len(self.words) == 1 and not self.literal.words:
            ((op, place, meanings),) = self.words
            return lambda frame: meanings[frame.picked[op][place]][part]
        sources, literal = self.words, self.literal[part]

        def read(frame: Frame) -> int:
            found = literal
            for op, place, meanings in sources:
                bits = meanings[frame.picked[op][place]][part]
                found = found | bits if part else found & bits
            return found

        return read


def outlines_of(plan: Plan) -> dict[int, Outline]:
    """Return the outlines of all sets and objects of a plan, by op."""
    reader = _Reader(plan)
    for op in plan.ops:
        reader.read(op)
    return reader.outlines


class _Reader:
    def __init__(self, plan: Plan) -> None:
        self.catalogue, self.vocabularies = plan.template.catalogue, plan.vocabularies
        self.values = values = plan.vocabularies.values
        self.outlines: dict[int, Outline] = {}
        self.whole = Outline(Meaning(values.everything, 0))
        self.unknown = replace(self.whole, is_exact=False, is_known=False)
        self.functions: dict[str, Callable[[Op], Outline]] = {
            "scene": lambda op: self.whole,
            "unique": self._source,
            "not_unique": self._source,
            "relate": self._relate,
            "intersect": self._intersect,
            "difference": self._difference,
        }
        for name in values.fields:
            self.functions[f"filter_{name}"] = partial(self._filter, name=name)
            self.functions[f"same_{name}"] = partial(self._alike, kind=SAME, name=name)
            self.functions[f"different_{name}"] = partial(self._alike, kind=DIFFERENT, name=name)

    def read(self, op: Op) -> None:
        """Add the outline of an op."""
        if isinstance(op.does, Description):
            self.outlines[op.index] = self._description(op, op.does)
        else:
            read = self.functions.get(op.function)
            self.outlines[op.index] = read(op) if read else self.unknown

    def _source(self, op: Op) -> Outline:
        return self.outlines[op.inputs[0]]

    def _description(self, op: Op, does: Description) -> Outline:
        if does.relates:
            base = replace(self.whole, ties=(self._related(op, does.relation),))
        else:
            base = self.outlines[does.source]
        said = {attribute.name for k, attribute in enumerate(does.vocabulary.attributes) if does.may_say(k)}
        source = WordSource(op.index, 1, self.vocabularies.meanings(does.vocabulary))
        return replace(base, words=(*base.words, source), attributes=base.attributes | said)

    def _filter(self, op: Op, name: str) -> Outline:
        base = replace(self._source(op), attributes=self._source(op).attributes | {name})
        if isinstance(op.does, PlainChoice):
            words = (word for word in self.catalogue.domain.values_of(self.catalogue[op.function].values[0]))
            meanings = {word: self.values.meaning(name, word) for word in words}
            return replace(base, words=(*base.words, WordSource(op.index, 0, meanings)))
        assert isinstance(op.does, Apply)
        meant = self.values.meaning(name, op.does.values[0])
        literal = Meaning(base.literal.possible & meant.possible, base.literal.words | meant.words)
        return replace(base, literal=literal)

    def _relate(self, op: Op) -> Outline:
        relation = op.does.values[0] if isinstance(op.does, Apply) else None
        return replace(self.whole, ties=(self._related(op, relation),))

    def _related(self, op: Op, relation: str | None) -> TieSource:
        return TieSource(Tie(RELATED, relation or "", op.inputs[0]), None if relation else op.index)

    def _alike(self, op: Op, kind: str, name: str) -> Outline:
        return replace(self.whole, ties=(TieSource(Tie(kind, name, op.inputs[0])),))

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
