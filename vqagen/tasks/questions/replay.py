"""Fillings taken over to other scenes: the same words, which must mean something there too."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

from vqagen.bits import Objects
from vqagen.language.catalogue import Value
from vqagen.plugin import Undefined
from vqagen.search.description import Description, Pick, PlainChoice
from vqagen.search.instantiate import Filling, Search
from vqagen.search.plan import Op
from vqagen.search.state import Balance, SceneTables, SearchState


def replay(search: Search, tables: SceneTables, picked: Sequence[Pick]) -> Filling | None:
    """Return the filling with the words of these picks; None if the scene does not meet what it presupposes.

    Or if the search refuses it for its words.
    """
    plan = search.plan
    sizes = len(plan.ops), len(plan.stages), 0
    state = SearchState(tables, Random(0), sizes, Balance(), set(), 0, lambda state: False)  # nothing is drawn
    try:
        if not all(_settle(state, op, pick) for op, pick in zip(plan.ops, picked, strict=True)):
            return None
    except Undefined:
        return None
    if search.is_trivial and search.is_trivial(state):
        return None
    return Filling(plan, tuple(state.picked), tuple(state.values))


def _settle(state: SearchState, op: Op, pick: Pick) -> bool:
    """Compute an op with the words of a pick; True if its result is one that the search could have chosen."""
    does, values, scene = op.does, state.values, state.scene
    outcome: Value
    if isinstance(does, Description):
        relation, code, _ = pick
        fits = scene.everything
        for _, name, word in does.vocabulary.parts[code]:
            fits &= scene.having[name][word]
        among: Objects = values[does.source]
        if relation is not None:
            if relation not in scene.related:
                return False
            among = scene.related[relation][among]
        outcome = among & fits
        if not does.suits(code, outcome):
            return False
        pick = (relation, code, fits)
    else:
        words = pick if isinstance(does, PlainChoice) else does.values
        outcome = does.run(scene, *[values[i] for i in op.inputs], *words)
    state.picked[op.index] = pick
    values[op.index] = outcome
    return all(check.test(state) for check in op.checks)


def coinciding(filling: Filling) -> set[tuple[int, int]]:
    """Return the pairs of references, by their ops, that mean the same object.

    The two of which a question asks whether they are the same object are no such pair.
    """
    ops, values = filling.plan.ops, filling.values
    references = [op.index for op in ops if op.function == "unique"]
    asked = ops[-1].inputs if ops[-1].function == "equal_object" else ()
    return {
        (one, two)
        for one, two in combinations(references, 2)
        if values[one] == values[two] and not {one, two} <= {*asked}
    }
