"""A filling made for one scene, taken over to another: the same words, with what they pick there.

The other scene must meet all that the template presupposes: every step has a result, every description suits its node,
and every constraint holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from vqagen.bits import Objects
from vqagen.language.registry import Value
from vqagen.plugin import RELATION, SAMENESS, Undefined
from vqagen.search.degeneracy import Lane, lane_of
from vqagen.search.description import Description, PlainChoice
from vqagen.search.filling import Filling
from vqagen.search.frame import Frame, Pick, Test
from vqagen.search.plan import Op, Plan
from vqagen.search.tables import SceneTables


class Replay:
    """A plan whose fillings can be taken over to other scenes."""

    def __init__(self, plan: Plan, is_trivial: Test | None = None) -> None:
        """`is_trivial`: which fillings are refused for their words, as in the search."""
        self._plan, self._is_trivial = plan, is_trivial
        self._lanes = tuple(lane_of(plan.ops, op) for op in plan.ops if op.role in (RELATION, SAMENESS))

    def __len__(self) -> int:
        """Return how many relations the plan has, likenesses among them."""
        return len(self._lanes)

    def filling(self, tables: SceneTables, picked: Sequence[Pick]) -> Filling | None:
        """Return the filling with the words of these picks; None if the scene does not meet what it presupposes."""
        frame = self._frame(tables)
        try:
            for op, pick in zip(self._plan.ops, picked, strict=True):
                if not _settle(frame, op, pick):
                    return None
        except Undefined:
            return None
        if self._is_trivial and self._is_trivial(frame):
            return None
        return Filling(self._plan, tuple(frame.picked), tuple(frame.values))

    def idle(self, tables: SceneTables, filling: Filling) -> tuple[int, ...]:
        """Return which relations of a filling of this scene are idle: without them the answer is the same.

        They are numbered in the order of the program, likenesses among them.
        """
        frame = self._frame(tables)
        frame.values[:], frame.picked[:] = filling.values, filling.picked
        lanes = enumerate(zip(self._lanes, frame.shadows, strict=True))
        return tuple(number for number, (lane, shadow) in lanes if _is_idle(frame, lane, shadow))

    def _frame(self, tables: SceneTables) -> Frame:
        ops, stages = len(self._plan.ops), len(self._plan.stages)
        return Frame(tables, _NO_RANDOM, ops, stages, len(self._lanes), (), set(), 0, lambda frame: False)


class _NoRandom(Random):
    def random(self) -> float:
        raise AssertionError("nothing is drawn")


_NO_RANDOM = _NoRandom(0)


def _settle(frame: Frame, op: Op, pick: Pick) -> bool:
    """Compute an op with the words of a pick; True if its result is one that the search could have chosen."""
    does, values = op.does, frame.values
    if isinstance(does, Description):
        relation, code, _ = pick
        fits = _described(frame, does, code)
        among: Objects = values[does.source]
        if relation is not None:
            if relation not in frame.scene.related:
                return False
            among = frame.scene.related[relation][values[does.source]]
        outcome: Value = among & fits
        if not does.suits(code, outcome):
            return False
        frame.picked[op.index] = (relation, code, fits)
    else:
        words = pick if isinstance(does, PlainChoice) else does.values
        outcome = does.run(frame.scene, *[values[i] for i in op.inputs], *words)
        frame.picked[op.index] = pick
    values[op.index] = outcome
    return all(check.test(frame) for check in op.checks)


def _described(frame: Frame, does: Description, code: int) -> Objects:
    """Return the objects of the scene that a description fits."""
    vocabulary, objects = does.vocabulary, frame.scene.everything
    for attribute, word in zip(vocabulary.attributes, vocabulary.said(code).words, strict=True):
        if word is not None:
            objects &= frame.scene.having[attribute.name][word]
    return objects


def _is_idle(frame: Frame, lane: Lane, shadow: list[Value]) -> bool:
    for step in lane.steps.values():
        step(frame, shadow)
    last = len(frame.values) - 1
    return last not in lane.changed or shadow[last] == frame.values[last]
