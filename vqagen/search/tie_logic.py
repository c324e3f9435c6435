"""Ties that follow from the ties between the objects of a filling, whatever their values.

If b is left of a, and c left of b, then c is left of a, and so on. This depends only on the relations that were picked,
so it is worked out once for each choice of relations and kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from vqagen.search.outline import RELATED, Outline, Tie
from vqagen.world.relation_order import RelationOrder


class SetTies(NamedTuple):
    """The ties of a set's members, and what they tell of references."""

    ties: Set[Tie]
    rivals: tuple[tuple[int, bool], ...]
    """References whose descriptions want no ties that members lack; True where a member must be another object."""
    candidates: tuple[int, ...]
    """References that have all ties that the set's description wants, which must be exact."""
    alike: tuple[Tie, ...]
    """Ties by attributes."""


class TieLogic:
    """All ties that follow from those of one choice of relations."""

    def __init__(
        self,
        outlines: Mapping[int, Outline],
        said: Mapping[int, Sequence[Tie]],
        same_as: Mapping[int, int],
        order: RelationOrder,
    ) -> None:
        """`said`: the ties of each reference and set, by op. `same_as`: reference -> the first one that is the same."""
        self._outlines, self._order, self.same_as = outlines, order, same_as
        self._said = {op: self._resolved(ties) for op, ties in said.items()}
        self.ties = self._all_ties()
        self._sets: dict[int, SetTies] = {}
        own = [op for op in same_as if same_as[op] == op]
        others = [(op, other) for op in own for other in same_as if same_as[other] != op]
        self.rivals = tuple((op, other) for op, other in others if self.fits(op, other))
        """(reference, other): all ties that the other's exact description wants, the reference has too."""
        self.alike = tuple((op, ties) for op in own if (ties := _alike(self.ties[op])))
        self.copies = tuple((op, first) for op, first in same_as.items() if op != first)
        """(reference, first): references that are the same object as an earlier one."""
        self.is_plain = not (self.rivals or self.alike or self.copies)
        """True if nothing can be learnt beyond the words."""

    def of(self, op: int) -> SetTies:
        """Return what the ties of the set that an op gives tell."""
        found = self._sets.get(op)
        if found is None:
            ties = set(self._said[op])
            for tie in self._said[op]:
                ties |= {_to(further, tie) for further in self._beyond(tie)}
            others = {tie.anchor for tie in ties}
            rivals = tuple((each, first in others) for each, first in self.same_as.items() if self._are_met(ties, each))
            candidates = tuple(each for each in self.same_as if self.fits(each, op))
            found = self._sets[op] = SetTies(ties, rivals, candidates, _alike(ties))
        return found

    def contains(self, one: int, other: int) -> bool:
        """True if the members of the set `other` have all ties that the set `one` wants."""
        return self._are_met(self.of(other).ties, one)

    def fits(self, reference: int, wanted: int) -> bool:
        """True if a reference has all ties that an exact description wants."""
        return self._are_met(self.ties[self.same_as[reference]], wanted)

    def between(self, one: int, other: int) -> list[Tie]:
        """Return the ties of a reference to another."""
        return [tie for tie in self.ties[self.same_as[one]] if tie.anchor == self.same_as[other]]

    def _are_met(self, ties: Set[Tie], wanted: int) -> bool:
        return self._outlines[wanted].is_exact and self._said[wanted] <= ties

    def _resolved(self, ties: Sequence[Tie]) -> set[Tie]:
        return {_to(self.same_as.get(tie.anchor, tie.anchor), tie) for tie in ties}

    def _all_ties(self) -> dict[int, set[Tie]]:
        found: dict[int, set[Tie]] = {op: set() for op in self.same_as}
        new = [(first, tie) for op, first in self.same_as.items() for tie in self._said[op]]
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


def _alike(ties: Set[Tie]) -> tuple[Tie, ...]:
    return tuple(sorted(tie for tie in ties if tie.kind != RELATED))
