"""References: the entity that "it", "them" or "the earlier red thing" is, and what is wrong with saying so."""

from __future__ import annotations

from typing import NamedTuple

from oracles.dialogs.discourse import Discourse, Entity, Request, Values
from oracles.dialogs.labels import LABELS
from oracles.dialogs.readings import Reading
from oracles.dialogs.verdicts import Verdict


class Resolved(NamedTuple):
    """A question with its references, and the faults of these; no request if a reference is to nothing."""

    request: Request | None
    verdicts: tuple[Verdict, ...] = ()


def resolve(reading: Reading, discourse: Discourse) -> Resolved:
    """Return the question of a reading with its references resolved (licensing: 3.3; pronouns and groups: 3.4)."""
    slots = reading.slots
    request = Request(
        reading.label,
        relation=slots.get("R", ""),
        attribute=slots.get("A", "") or next(iter(slots.get("V", ())), ""),
        value=next(iter(slots.get("V", {}).values()), ""),
        descriptor=slots.get("D", {}),
    )
    match LABELS[reading.label].reference:
        case "group":
            return _group(request, discourse)
        case "pronoun":
            return _pronoun(request, discourse)
        case "ellipsis":
            return _ellipsis(request, discourse)
        case "early":
            return _early(request, discourse)
    return Resolved(request)


def _unlicensed(why: str) -> Resolved:
    return Resolved(None, (Verdict("unlicensed", why),))


# Pronouns and groups ----------------------------------------------------------------------------------------------


def _group(request: Request, discourse: Discourse) -> Resolved:
    group = discourse.group
    if group is None:
        single = discourse.topic
        why = "the round before is about one object" if single else "the round before is about no set"
        return _unlicensed(f"'them' has no antecedent: {why}")
    asked = discourse.previous.request.group
    is_part = asked is not None and asked != group.number
    rivals = (Verdict("antecedents", "'them' may be the set asked about before, or its part"),) if is_part else ()
    return Resolved(request._replace(group=group.number), rivals)


def _pronoun(request: Request, discourse: Discourse) -> Resolved:
    topic = discourse.topic
    if topic is None:
        group = discourse.group
        why = "is about a set that is not said to be one object" if group else "introduces no single object"
        return _unlicensed(f"'it' has no antecedent: the round before {why}")
    return Resolved(request._replace(focus=topic.number), _competition(discourse))


def _competition(discourse: Discourse) -> tuple[Verdict, ...]:
    """Return a weakness if the round before had a single focus and found another single object."""
    turn = discourse.previous
    label = LABELS.get(turn.request.label)
    if label is None or label.family == "seek" or turn.request.focus is None:
        return ()
    if turn.result is None or turn.result == turn.request.focus or not discourse.entities[turn.result].is_single:
        return ()
    return (Verdict("antecedents", "'it' may be the object asked about before, or the one found there"),)


def _ellipsis(request: Request, discourse: Discourse) -> Resolved:
    turn = discourse.previous
    before, label = turn.request.label, LABELS[request.label]
    if label.family == "seek":
        if not before.startswith(("seek-attr-imm", "seek-attr-rel-imm")):
            return _unlicensed(f"the elided object has no antecedent: the round before is {before}")
        topic = discourse.topic
        if topic is None:
            return _unlicensed("the elided object has no antecedent: the round before found none")
        return Resolved(request._replace(focus=topic.number))
    if not before.startswith(f"{label.family}-obj-rel-imm"):
        return _unlicensed(f"the elided question has no antecedent: the round before is {before}")
    focus = turn.request.focus
    if focus is None:
        return _unlicensed("the elided object has no antecedent")
    return Resolved(request._replace(focus=focus), _competition(discourse))


# Earlier objects --------------------------------------------------------------------------------------------------


def _early(request: Request, discourse: Discourse) -> Resolved:
    verdicts: tuple[Verdict, ...] = ()
    if LABELS[request.label].about == "sim":
        turn = discourse.previous
        if not turn.request.label.startswith("seek-attr-imm"):
            why = f"the elided attribute has no antecedent: the round before is {turn.request.label}"
            return _unlicensed(why)
        request = request._replace(attribute=turn.request.attribute)
    described = [entity for entity in discourse.singles if discourse.is_told(entity, request.descriptor)]
    if not described:
        return _missing(request, discourse)
    entity = max(described, key=lambda each: each.number)
    verdicts += tuple(Verdict("unlicensed", why) for why in _faults(request.descriptor, described, discourse))
    return Resolved(request._replace(focus=entity.number), verdicts)


def _missing(request: Request, discourse: Discourse) -> Resolved:
    words = _words(request.descriptor)
    if any(entity.has(request.descriptor) for entity in discourse.entities):
        return _unlicensed(f"'the earlier {words}' is only a set that is not said to be one object")
    return _unlicensed(f"'the earlier {words}' has no antecedent: no single object was said to be so")


def _faults(descriptor: Values, described: list[Entity], discourse: Discourse) -> list[str]:
    words, faults = _words(descriptor), []
    if any(len({world[entity.number] for entity in described}) > 1 for world in discourse.worlds):
        rounds = ", ".join(str(entity.round) for entity in described)
        faults.append(f"'the earlier {words}' may be several objects, of the rounds {rounds}")
    sets = [entity for entity in discourse.entities if not entity.is_single and entity.has(descriptor)]
    if sets:
        faults.append(f"'the earlier {words}' may be of the set of such objects of round {sets[0].round}")
    topic = discourse.topic
    if topic in described:
        faults.append(f"'the earlier {words}' is the object of the round before, which is 'it'")
    return faults


def _words(descriptor: Values) -> str:
    return " ".join(descriptor.values())
