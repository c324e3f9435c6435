"""The least number of objects that a plan needs, counted once from its functions, constraints and relations.

Nobody can ask for the fourth object of a chain where there are three. The search would find that out anew in each
scene, after hundreds of options. An example: "the number of cubes right of A and left of B" has four objects at least,
A and B, which must differ, and two that show that the relations matter: one left of B alone, one right of A alone. None
of the four is counted, so that the answer is at most the size of the scene less four.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import combinations, count
from typing import NamedTuple

from vqagen.language.catalogue import Value
from vqagen.plugin import FILTER, RELATION, SAMENESS
from vqagen.search.degeneracy import Lane, make_lanes
from vqagen.search.description import Description
from vqagen.search.filling import TOO_FEW, UNBALANCED
from vqagen.search.plan import Op, Plan

MOST_COUNTED = 4
"""The most objects of a scene whose counts are compared with the refused answers: in larger ones few are impossible."""
_FILTER, _RELATED = "filter", "related"


class LeastObjects(NamedTuple):
    """The objects that every filling of a plan has, at least."""

    objects: int
    counted: int = 0
    """Those in the set that is counted for the answer."""
    uncounted: int = 0
    is_count: bool = False
    """True if the answer is the number of objects in a set."""

    def refusal(self, size: int, refused: Container[Value]) -> str:
        """Return why no scene of so many objects has a filling whose answer is not `refused`; "" if one may have it."""
        if size < self.objects:
            return TOO_FEW
        numbers = range(self.counted, size - self.uncounted + 1)
        is_limited = self.is_count and size <= MOST_COUNTED
        return UNBALANCED if is_limited and all(number in refused for number in numbers) else ""


def least_objects(plan: Plan, policy: str) -> LeastObjects:
    """Count the objects that a plan needs under a policy of degeneracy. A scene may need more for other reasons."""
    needed = _Needed(plan, policy)
    objects = needed.most_different(set().union(*needed.inside, *needed.outside))
    last = plan.ops[-1]
    if last.function != "count":
        return LeastObjects(objects)
    counted, uncounted = (needed.most_different(sets[last.inputs[0]]) for sets in (needed.inside, needed.outside))
    return LeastObjects(objects, counted, uncounted, is_count=True)


class _Needed:
    """Objects, as numbers, of which some are known to be in or outside of the set that an op gives.

    An object that is an op's result has the number of the op; others have further numbers. Two numbers may stand for
    the same object unless they are in one of the pairs of `different`.
    """

    def __init__(self, plan: Plan, policy: str) -> None:
        self._plan, self._new = plan, count(len(plan.ops))
        self.inside: list[set[int]] = [set() for _ in plan.ops]
        self.outside: list[set[int]] = [set() for _ in plan.ops]
        self.different: set[frozenset[int]] = set()
        for op in plan.ops:
            self._add_result(op)
        for lane in make_lanes(plan, policy) if policy == "all" else ():
            if self._kind(plan.ops[lane.relation]) == _RELATED:
                self._add_witness(lane)
        for op in (*plan.ops, *reversed(plan.ops), *plan.ops):
            self._pass_on(op)
        for inside, outside in zip(self.inside, self.outside, strict=True):
            self.different |= {frozenset((one, other)) for one in inside for other in outside}

    def most_different(self, objects: Iterable[int]) -> int:
        """Return how many of these objects, at least, are different ones."""
        most, ordered = 0, sorted(objects)
        for first in ordered:
            chosen = [first]
            for each in ordered:
                if all(frozenset((each, other)) in self.different for other in chosen):
                    chosen.append(each)
            most = max(most, len(chosen))
        return most

    def _kind(self, op: Op) -> str:
        """Return what is known of an op's result; "" if nothing is, as of a plug-in's function."""
        if isinstance(op.does, Description):
            return _RELATED if op.does.relates else _FILTER
        if not op.function or self._plan.template.catalogue[op.function].source:
            return ""
        return {RELATION: _RELATED, SAMENESS: _RELATED, FILTER: _FILTER}.get(op.role, op.function)

    def _add_result(self, op: Op) -> None:
        """Add the objects that an op must find: a relation leads to others than its anchor."""
        kind = self._kind(op)
        if kind == _RELATED:
            self.outside[op.index].add(op.inputs[0])
            if isinstance(op.does, Description) and op.does.reducer is None:
                self._add_members(op.index, 1)
        elif kind == "unique":
            self.inside[op.inputs[0]].add(op.index)
        elif kind == "not_unique":
            self._add_members(op.inputs[0], 2)
        for differing in (check.differing for check in op.checks if check.differing):
            self._add_difference(differing)

    def _add_difference(self, differing: tuple[int, ...]) -> None:
        """Two references differ. Two sets have an object between them, and two objects if neither is empty."""
        if all(self._plan.ops[i].function == "unique" for i in differing):
            self.different.add(frozenset(differing))
        for op in self._plan.ops:
            if op.function == "union" and {*op.inputs} == {*differing}:
                self._add_members(op.index, 2 if all(self.inside[i] for i in differing) else 1)

    def _add_members(self, op: int, number: int) -> None:
        """Add so many different objects to a set."""
        members = [next(self._new) for _ in range(number)]
        self.inside[op].update(members)
        self.different |= {frozenset(pair) for pair in combinations(members, 2)}

    def _add_witness(self, lane: Lane) -> None:
        """Add an object without which a relation were idle: not its anchor, and found only without the relation."""
        ops, witness, at = self._plan.ops, next(self._new), lane.relation
        self.outside[at].add(witness)
        self.different.add(frozenset((witness, ops[at].inputs[0])))
        while len(readers := [op for op in ops if at in op.inputs]) == 1:
            (reader,) = readers
            kind = self._kind(reader)
            others = [i for i in reader.inputs if i != at]
            if kind not in (_FILTER, "union", "intersect") or set(others) & set(lane.changed):
                return
            for other in others:
                (self.inside if kind == "intersect" else self.outside)[other].add(witness)
            at = reader.index

    def _pass_on(self, op: Op) -> None:
        """Bring together what is known of the sets that an op takes and gives."""
        kind, at = self._kind(op), op.index
        for source in op.inputs:
            if kind in (_FILTER, "intersect"):
                self.inside[source] |= self.inside[at]
                self.outside[at] |= self.outside[source]
            elif kind == "union":
                self.inside[at] |= self.inside[source]
                self.outside[source] |= self.outside[at]
        if kind == "union":
            self.outside[at] |= set.intersection(*[self.outside[source] for source in op.inputs])
