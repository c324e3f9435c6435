"""Facts that a dialog has conveyed, in words: the `knowledge_delta` of its rounds, gathered for each object."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

SCENE = "scene"
Fact = Mapping[str, Any]
FactKey = tuple[str, ...]
"""The fact's question, such as ("related", "left"): a number that answers it replaces that there is any."""


class KnownFacts:
    """Facts about the objects of a scene (`#3`) and about the scene."""

    def __init__(self, relation_words: Mapping[str, str]) -> None:
        """`relation_words`: relation -> how it is said, "left of"."""
        self._relations = relation_words
        self._by_subject: dict[str, dict[FactKey, str]] = {}
        self._numbers: set[tuple[str, FactKey]] = set()

    def add(self, facts: Iterable[Fact]) -> KnownFacts:
        """Add facts; return these with all before."""
        for fact in facts:
            say = _WORDS.get(str(fact.get("fact")), _as_it_is)
            subject = f"#{fact['object']}" if "object" in fact else SCENE
            key, words, is_number = say(fact, self._relations)
            known = self._by_subject.setdefault(subject, {})
            if is_number or (subject, key) not in self._numbers:
                known[key] = words
            if is_number:
                self._numbers.add((subject, key))
        return self

    def lines(self) -> list[str]:
        """Return a line for each object, in the order in which they were told of, and for the scene.

        Values come first. That there is something red goes without saying where an object is told to be red.
        """
        shown = {
            name: [facts[key] for key in sorted(facts, key=lambda key: key[0] != "attribute")]
            for name, facts in self._by_subject.items()
            if name != SCENE
        }
        seen = {f"some {words}" for said in shown.values() for words in said}
        of_scene = [words for words in self._by_subject.get(SCENE, {}).values() if words not in seen]
        return [f"{name}: {', '.join(said)}" for name, said in [*shown.items(), (SCENE, of_scene)] if said]


Words = tuple[FactKey, str, bool]
"""The key of a fact, its words, and true if it is a number that replaces that there is any."""
Relations = Mapping[str, str]


def _attribute(fact: Fact, _: Relations) -> Words:
    return ("attribute", str(fact["attribute"])), str(fact["value"]), True


def _related_count(fact: Fact, relations: Relations) -> Words:
    relation, count = str(fact["relation"]), fact["count"]
    return ("related", relation), f"{count or 'nothing'} {relations.get(relation, relation)} it", True


def _related_exists(fact: Fact, relations: Relations) -> Words:
    relation = str(fact["relation"])
    there = "something" if fact["exists"] else "nothing"
    return ("related", relation), f"{there} {relations.get(relation, relation)} it", False


def _alike_count(fact: Fact, _: Relations) -> Words:
    attribute, count = str(fact["attribute"]), fact["count"]
    others = f"{count} others" if count > 1 else "1 other" if count else "no other"
    return ("alike", attribute), f"{others} of its {attribute}", True


def _alike_exists(fact: Fact, _: Relations) -> Words:
    attribute = str(fact["attribute"])
    return ("alike", attribute), f"{'others' if fact['exists'] else 'no other'} of its {attribute}", False


def _value_count(fact: Fact, _: Relations) -> Words:
    return ("value", str(fact["attribute"]), str(fact["value"])), f"{fact['count'] or 'no'} {fact['value']}", True


def _value_exists(fact: Fact, _: Relations) -> Words:
    there = "some" if fact["exists"] else "no"
    return ("value", str(fact["attribute"]), str(fact["value"])), f"{there} {fact['value']}", False


def _scene_count(fact: Fact, _: Relations) -> Words:
    count = fact["count"]
    return ("size",), "1 object" if count == 1 else f"{count} objects", True


def _rest_exists(fact: Fact, _: Relations) -> Words:
    return ("rest",), "not all had been mentioned" if fact["exists"] else "all had been mentioned", False


def _group(fact: Fact, _: Relations) -> Words:
    objects, size, values = fact["objects"], fact["size"], " ".join(map(str, (fact.get("values") or {}).values()))
    number = "some" if size is None else str(size)
    members = " ".join(f"#{each}" for each in objects)
    said = " ".join(filter(None, (f"a set of {number}", values)))
    return ("group", members), f"{said} ({members})" if members else said, True


def _as_it_is(fact: Fact, _: Relations) -> Words:
    text = json.dumps(fact, ensure_ascii=False)
    return (text,), text, True


_WORDS: Mapping[str, Callable[[Fact, Relations], Words]] = {
    "attribute": _attribute,
    "related-count": _related_count,
    "related-exists": _related_exists,
    "alike-count": _alike_count,
    "alike-exists": _alike_exists,
    "value-count": _value_count,
    "value-exists": _value_exists,
    "scene-count": _scene_count,
    "rest-exists": _rest_exists,
    "group": _group,
}
