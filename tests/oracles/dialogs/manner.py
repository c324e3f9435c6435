"""Manner of a question: whether its words fit what the listener knows, and how long ago its object was talked of.

A text may have parts that are said on a condition: "the [far|earlier] <D>". Such words claim that the condition holds.
"""

from __future__ import annotations

from oracles.dialogs.closure import consider, learn
from oracles.dialogs.discourse import Discourse, Request
from oracles.dialogs.facts import Next, Stands
from oracles.dialogs.knowledge import TOLD, Knowledge
from oracles.dialogs.meanings import mentioned_in
from oracles.dialogs.readings import Reading
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
    if request.focus is None or reading.cases == {frozenset()}:
        return []
    is_far = discourse.round - last_talked_of(request.focus, discourse) > RECENT
    name = {FAR if is_far else NEAR} if request.descriptor else set[str]()
    back = {BACK} if is_far and not has_come_back else set[str]()
    doubts = _doubts(request, discourse, known) if _has_doubt(reading) else [set[str]()]
    if any(name | doubt <= case <= name | doubt | back for case in reading.cases for doubt in doubts):
        return []
    if any(name | {SURE} <= case for case in reading.cases) and _is_mentioned_there(request, discourse, scene):
        return [Verdict("presupposed", f"nothing tells that anything stands there ({request.relation})")]
    return [Verdict("misworded", f"it is not said where these hold: {sorted(name | doubts[0] | back)}")]


def _has_doubt(reading: Reading) -> bool:
    """True if the question is of what may not be there."""
    return any({SURE, UNSURE} & case for case in reading.cases)


def _doubts(request: Request, discourse: Discourse, known: Knowledge) -> list[set[str]]:
    """Return the conditions that may be taken to hold: whether a listener knows that an object stands there.

    What the text tells decides. What only follows from it may be said either way: "the next thing behind it", and "the
    next thing behind it, if there is one".
    """
    quantity = ("related", request.focus, request.relation)
    least, _ = consider(known, quantity)
    if least > 0 and _is_told(request, discourse, known):
        return [{SURE}]
    if least == 0:
        known = known.copy()
        known.tells_apart = True
        learn(known, ())
    return [{SURE}, {UNSURE}] if known.least(quantity) > 0 else [{UNSURE}]


def _is_told(request: Request, discourse: Discourse, known: Knowledge) -> bool:
    """Return whether an answer or a caption says that an object stands there, in these words or from its side."""
    assert request.focus is not None
    quantity = known.canonical(("related", request.focus, request.relation))
    if known.reasons.get(quantity, TOLD) == TOLD:
        return True
    side, inverse = (known.name(request.focus), request.relation), known.logic.inverse
    told = [(fact.entity, fact.relation, fact.of) for fact in discourse.facts if isinstance(fact, Next | Stands)]
    return any(
        side in ((known.name(of), relation), (known.name(one), inverse.get(relation))) for one, relation, of in told
    )


def _is_mentioned_there(request: Request, discourse: Discourse, scene: Scene) -> bool:
    assert request.focus is not None
    world = discourse.worlds[0]
    return bool(scene.related[request.relation][only(world[request.focus])] & mentioned_in(world, discourse))


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
