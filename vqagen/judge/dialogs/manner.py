"""Manner of a question: whether its words fit what the listener knows, and how long ago its object was talked of.

A text may have parts that are said on a condition: "the [far|earlier] <D>". Such words claim that the condition holds.
"""

from __future__ import annotations

from collections.abc import Mapping

from vqagen.judge.dialogs.closure import consider, learn
from vqagen.judge.dialogs.discourse import Discourse, Request
from vqagen.judge.dialogs.knowledge import Knowledge
from vqagen.judge.dialogs.sentences import Reading
from vqagen.tasks.dialog.template import BACK, FAR, NEAR, RECENT, SURE, UNSURE


def why_misworded(
    reading: Reading, request: Request, discourse: Discourse, known: Knowledge, has_come_back: bool
) -> str:
    """Return why the words of a question do not fit the dialog so far; "" if they do."""
    if not any(reading.claims) or request.focus is None:
        return ""
    state = _state(request, discourse, known, has_come_back)
    faults = [_fault(claims, state) for claims in sorted(reading.claims, key=sorted)]
    return "" if "" in faults else faults[0]


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


def _fault(claims: frozenset[str], state: Mapping[str, bool]) -> str:
    for claim in sorted(claims):
        condition = claim.removeprefix("not ")
        if claim != f"not {BACK}" and state.get(condition) != (claim == condition):
            holds = "holds" if state.get(condition) else "does not hold"
            return f"its words are those for {claim!r}, but {condition!r} {holds}"
    return ""


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
