"""Redundancy: a question whose answer a reader of the dialog so far can conclude (3.5)."""

from __future__ import annotations

from oracles.dialogs.closure import consider, learn
from oracles.dialogs.discourse import Discourse, Request
from oracles.dialogs.facts import Next, Quantity, Single
from oracles.dialogs.knowledge import TOLD, Knowledge
from oracles.dialogs.labels import LABELS
from oracles.dialogs.meanings import NO, presupposed, quantity_of

UNMET = 10**6
"""An entity that the text has not introduced."""


def why_redundant(request: Request, known: Knowledge, discourse: Discourse) -> str:
    """Return why the answer of a question follows from what is known; "" if it does not."""
    label = LABELS[request.label]
    if label.family == "seek":
        return _why_value_known(request, known)
    if label.about in ("all", "other"):
        repeated = _why_all_counted(request, discourse)
        if repeated:
            return repeated
        learn(known, presupposed(request, discourse))
    if label.about == "attribute-group" and request.group is not None:
        described = discourse.entities[request.group].values.get(request.attribute)
        if described is not None:
            return f"every member of the set is said to be {described.value}"
    if label.about == "group" and request.group is not None:
        least, most = known.size_of(request.group)
        return f"the set is known to have {least}" if least == most else ""
    return _why_number_known(quantity_of(request, discourse.round), label.family == "count", known)


def _why_number_known(quantity: Quantity, is_count: bool, known: Knowledge) -> str:
    least, most = consider(known, quantity)
    reason = known.reasons.get(known.canonical(quantity), TOLD)
    if least == most:
        return f"the number is known to be {least} ({reason})"
    if not is_count and least > 0:
        return f"there is known to be at least {least} ({reason})"
    return ""


def _why_all_counted(request: Request, discourse: Discourse) -> str:
    """Return the earlier round that makes a question about all or the other objects redundant (rules 11 and 12)."""
    if discourse.were_asked("count-all", "count-other"):
        return "all objects or the other ones are counted already"
    others = discourse.were_asked("exist-other")
    if request.label == "exist-other" and others:
        return "the same is asked already"
    if any(turn.answer == NO for turn in others):
        return "there is known to be no other object"
    rests = {turn.result for turn in others}
    if any(turn.request.group in rests for turn in discourse.were_asked("count-all-group")):
        return "the other objects are counted already"
    return ""


def _why_value_known(request: Request, known: Knowledge) -> str:
    focus = request.focus
    assert focus is not None
    if LABELS[request.label].about == "attr-rel":
        beyond: Quantity = ("related", focus, request.relation)
        least, most = consider(known, beyond)
        if most == 0:
            return f"nothing is known to stand there ({known.reasons.get(known.canonical(beyond), TOLD)})"
        value = _value_found(request, known) if least else None
    else:
        value = known.value(focus, request.attribute)
    return "" if value is None else f"its {request.attribute} is known to be {value}"


def _value_found(request: Request, known: Knowledge) -> str | None:
    """Return the value of the object that is there, if it is known whichever that is."""
    found = _entity_found(request, known)
    if found is None:
        found, known = UNMET, known.copy()
        assert request.focus is not None
        learn(known, [Single(UNMET), Next(UNMET, request.relation, request.focus)])
    return known.value(found, request.attribute)


def _entity_found(request: Request, known: Knowledge) -> int | None:
    """Return the entity that is known to be the next in a relation, or by itself there."""
    assert request.focus is not None
    focus, relation = known.name(request.focus), request.relation
    if (focus, relation) in known.following:
        return known.following[focus, relation]
    inverse = known.logic.inverse.get(relation)
    back = [of for (of, r), entity in known.following.items() if (r, entity) == (inverse, focus)]
    if back:
        return back[0]
    there = [one for one, r, other in known.standing if (r, other) == (relation, focus) and one in known.singles]
    if known.most(("related", focus, relation)) == 1:
        return there[0] if there else None
    place = known.range_of(("related", focus, relation))
    for one in there if relation in known.logic.total else ():
        own = known.range_of(("related", one, relation))
        if own[0] == own[1] == place[0] - 1 == place[1] - 1:
            return one
    return None
