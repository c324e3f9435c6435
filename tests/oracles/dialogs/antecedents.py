"""Checks of the `history` of a round: its class, how far back it refers, and its antecedents (5.1, 5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oracles.dialogs.discourse import Discourse, Request
from oracles.dialogs.judging import Judged
from oracles.dialogs.labels import COREFERENCE, LABELS, STANDALONE

from vqagen.errors import as_written, describe

Record = Mapping[str, Any]


def antecedent_faults(at: int, record: Record, written: Sequence[Record], judged: Judged) -> Iterator[str]:
    """Yield what is wrong with the history of a round; `written` are the caption and all rounds."""
    history = record.get("history")
    if not isinstance(history, Mapping):
        yield f"history: expected an object, found {describe(history)}"
        return
    request = judged.discourse.turns[at].request
    label = LABELS[request.label]
    for key, expected in _expected(at, request, record, written, judged.discourse).items():
        if history.get(key) not in expected:
            yield f"history.{key} is {as_written(history.get(key))}, expected {as_written(expected[0])}"
    antecedents = history.get("antecedents")
    if not isinstance(antecedents, list) or not all(isinstance(each, Mapping) for each in antecedents):
        yield f"history.antecedents: expected a list of objects, found {describe(antecedents)}"
        return
    if label.history_class != COREFERENCE:
        if antecedents:
            yield "history.antecedents: expected none, because the question refers to no entity"
        return
    yield from _antecedents(at, antecedents, record, written, judged)


def _expected(
    at: int, request: Request, record: Record, written: Sequence[Record], discourse: Discourse
) -> dict[str, list[Any]]:
    """Return each key of a history and the values that it may have."""
    label = LABELS[request.label]
    found: dict[str, list[Any]] = {
        "class": [label.history_class or "None"],
        "dependence": dependence_of(at, request, discourse),
        "d_reveal": [None],
        "d_last": [None],
        "d_ellipsis": [1 if label.reference == "ellipsis" or label.about == "sim" else None],
    }
    if label.history_class == COREFERENCE:
        found["d_reveal"] = [at - each for each in revealing_rounds(at, request, discourse)]
        found["d_last"] = [at - _last_mention(at, record, written)]
    return found


def revealing_rounds(at: int, request: Request, discourse: Discourse) -> list[int]:
    """Return the rounds that told the values of "the earlier …" of its object, the last first.

    For other references, return the round before.
    """
    if LABELS[request.label].reference != "early":
        return [at - 1]
    assert request.focus is not None
    world = discourse.worlds[0]
    rounds = [
        max(entity.values[attribute].round for attribute in request.descriptor)
        for entity in discourse.singles
        if entity.round < at and world[entity.number] == world[request.focus] and entity.has(request.descriptor)
    ]
    told = discourse.told_of(discourse.entities[request.focus])
    rounds.append(max(told[attribute].round for attribute in request.descriptor))
    return sorted({each for each in rounds if each < at}, reverse=True)


def dependence_of(at: int, request: Request, discourse: Discourse) -> list[int | None]:
    """Return the reference's number of the round that a question depends on: the caption is -1, the first round 0."""
    if request.label in STANDALONE:
        return [None]
    return [each - 1 for each in revealing_rounds(at, request, discourse)]


def _last_mention(at: int, record: Record, written: Sequence[Record]) -> int:
    """Return the last round before that mentions the entity that a round refers to, by the mentions of the record."""
    entities = [each.get("entity") for each in record.get("mentions", ()) if each.get("role") in ("focus", "group")]
    rounds = [
        earlier
        for earlier in range(at)
        for mention in written[earlier].get("mentions", ())
        if mention.get("entity") in entities
    ]
    return max(rounds, default=-1)


# Antecedents ------------------------------------------------------------------------------------------------------


def _antecedents(
    at: int, antecedents: Sequence[Record], record: Record, written: Sequence[Record], judged: Judged
) -> Iterator[str]:
    request = judged.discourse.turns[at].request
    ways = _ways(at, request, judged)
    given = [each.get("via") for each in antecedents]
    if given != [via for via, _ in ways]:
        yield f"history.antecedents are via {given}, expected {[via for via, _ in ways]}"
        return
    for antecedent, (via, rounds) in zip(antecedents, ways, strict=True):
        place = f"history.antecedents via {via}"
        if antecedent.get("round") not in rounds:
            yield f"{place}: the round is {as_written(antecedent.get('round'))}, expected {as_written(rounds[0])}"
            continue
        entity, own = antecedent.get("entity"), _entity(record, ("focus", "group"))
        if via == "ellipsis" and LABELS[request.label].about == "sim":
            own = _entity(written[at - 1], ("focus",))
        if entity != own:
            yield f"{place}: the entity is {as_written(entity)}, expected {as_written(own)}"
        span = None if via == "ellipsis" else _span(record, ("focus", "group"))
        if antecedent.get("span") != span:
            yield f"{place}: the span is {antecedent.get('span')}, expected {span}"
        there = [m.get("span") for m in written[antecedent["round"]].get("mentions", ()) if m.get("entity") == entity]
        if there and antecedent.get("antecedent_span") not in there:
            yield f"{place}: antecedent_span is {antecedent.get('antecedent_span')}, expected {there[0]}"
        if not there:
            yield f"{place}: round {antecedent['round']} does not mention entity {as_written(entity)}"


def _ways(at: int, request: Request, judged: Judged) -> list[tuple[str, list[int]]]:
    """Return how a question refers back, each with the rounds that the antecedent may be in."""
    label, before = LABELS[request.label], [at - 1]
    if label.reference == "early":
        found = [("np", revealing_rounds(at, request, judged.discourse))]
        return [*found, ("ellipsis", before)] if label.about == "sim" else found
    if label.reference == "ellipsis":
        said = [("pronoun", before)] if "focus" in judged.readings[at].spans else []
        return [*said, ("ellipsis", before)]
    return [(label.reference, before)]


def _entity(record: Record, roles: tuple[str, ...]) -> object:
    return next((each.get("entity") for each in record.get("mentions", ()) if each.get("role") in roles), None)


def _span(record: Record, roles: tuple[str, ...]) -> object:
    return next((each.get("span") for each in record.get("mentions", ()) if each.get("role") in roles), None)
