"""Ties that follow from the ties between the objects of a filling, whatever their values.

If b is left of a, and c left of b, then c is left of a, and so on. This depends only on the relations that were picked,
so it is worked out once for each choice of relations and kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import permutations
from typing import NamedTuple

from vqagen.search.outline import RELATED, Outline, Tie
from vqagen.world.relations import RelationOrder


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
