"""Manner of a question: whether its words fit what the listener knows, and how long ago its object was talked of.

A text may have parts that are said on a condition: "the [far|earlier] <D>". Such words claim that the condition holds.
"""

from __future__ import annotations

from collections.abc import Mapping

from oracles.dialogs.closure import consider, learn
from oracles.dialogs.discourse import Discourse, Request
from oracles.dialogs.knowledge import Knowledge
from oracles.dialogs.meanings import mentioned_in
from oracles.dialogs.sentences import Reading
from oracles.dialogs.verdicts import Verdict

from vqagen.bits import only
from vqagen.tasks.dialog.template import BACK, FAR, NEAR, SURE, UNSURE
from vqagen.world.scene import Scene

RECENT = 2
"""What was talked of in one of so many last rounds is "the cube", and not "the earlier cube"."""


def manner_verdicts(
    reading: Reading, request: Request, discourse: Discourse, known: Knowledge, has_come_back: bool, scene: Scene
) -> list[Verdict]:
    """Return a fault if the words of a question do not fit the dialog so far.

    It is but a weakness to presuppose an object where one that was mentioned stands, as only the scene shows.
    """
    if not any(reading.claims) or request.focus is None:
        return []
    state = _state(request, discourse, known, has_come_back)
    faults = [_fault(claims, state) for claims in sorted(reading.claims, key=sorted)]
    if None in faults:
        return []
    claim = next(filter(None, faults))
    if claim in (SURE, f"not {UNSURE}") and _is_mentioned_there(request, discourse, scene):
        return [Verdict("presupposed", f"nothing tells that anything stands there ({request.relation})")]
    return [Verdict("misworded", f"its words are those for {claim!r}, which does not hold")]


def _state(request: Request, discourse: Discourse, known: Knowledge, has_come_back: bool) -> Mapping[str, bool]:
    """Return each condition, and whether it holds."""
    assert request.focus is not None
    is_far = discourse.round - last_talked_of(request.focus, discourse) > RECENT
    state = {NEAR: not is_far, FAR: is_far, BACK: is_far and not has_come_back}
    if request.relation:
        is_known = _is_something_there(request, known)
        state |= {SURE: is_known, UNSURE: not is_known}
    return state


def _is_something_there(request: Request, known: Knowledge) -> bool:
    """Return whether a listener knows that an object stands in the relation to the focus."""
    quantity = ("related", request.focus, request.relation)
    least, _ = consider(known, quantity)
    if least == 0:
        known = known.copy()
        known.tells_apart = True
        learn(known, ())
    return known.least(quantity) > 0


def _is_mentioned_there(request: Request, discourse: Discourse, scene: Scene) -> bool:
    assert request.focus is not None
    world = discourse.worlds[0]
    return bool(scene.related[request.relation][only(world[request.focus])] & mentioned_in(world, discourse))


def _fault(claims: frozenset[str], state: Mapping[str, bool]) -> str | None:
    """Return a claim that does not hold, if there is one."""
    for claim in sorted(claims):
        condition = claim.removeprefix("not ")
        if claim != f"not {BACK}" and state.get(condition) != (claim == condition):
            return claim
    return None


def last_talked_of(entity: int, discourse: Discourse) -> int:
    """Return the last round that was about the object of a single entity, or asked about it."""
    world = discourse.worlds[0]
    same = {each.number for each in discourse.singles if world[each.number] == world[entity]}
    rounds = [
        at
        for at, turn in enumerate(discourse.turns)
        if not same.isdisjoint((turn.request.focus, turn.request.group, turn.result))
    ]
    introduced = min((discourse.entities[each].round for each in same), default=0)
    return max([introduced, *rounds])
