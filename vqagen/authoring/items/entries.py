"""The entries of a catalogue by name: kinds, items with pictures of their own, adjectives and nouns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vqagen.errors import UsageError, unknown
from vqagen.tasks.director.catalogue_words import ITEM, named

KIND, OWN_ITEM, ADJECTIVE, NOUN = "kind", "item", "adjective", "noun"
"""Sorts of entries. A kind is a noun too, and is listed as a kind."""
WORD_LISTS = ("nouns", "properties", "unclear")
"""Keys of kinds and items that list words."""


@dataclass(frozen=True)
class Entry:
    """One name in a catalogue."""

    name: str
    sort: str
    record: Mapping[str, Any]
    """The object of this name in the document; empty for a noun that is spoken as it is written."""
    adjective_class: str = ""

    @property
    def is_thing(self) -> bool:
        """True if words can be true of it: for a kind or an item."""
        return self.sort in (KIND, OWN_ITEM)


def entries(document: Mapping[str, Any]) -> dict[str, Entry]:
    """Return all entries by name: kinds, items, adjectives in their spoken order, then nouns."""
    found: dict[str, Entry] = {}
    for entry in (*_things(document), *_adjectives(document), *_nouns(document)):
        found.setdefault(entry.name, entry)
    return found


def find_entry(document: Mapping[str, Any], name: str) -> Entry:
    """Return the entry of a name. UsageError with the nearest name if there is none."""
    known = entries(document)
    if name not in known:
        raise UsageError(unknown("entry", name, list(known)))
    return known[name]


def things(document: Mapping[str, Any]) -> dict[str, Entry]:
    """Return kinds and items by name."""
    return {entry.name: entry for entry in _things(document)}


def adjectives(document: Mapping[str, Any]) -> dict[str, Entry]:
    """Return adjectives by name, in their spoken order."""
    return {entry.name: entry for entry in _adjectives(document)}


def nouns(document: Mapping[str, Any]) -> list[str]:
    """Return all nouns: kinds, the wider ones, and the noun of every item."""
    kinds = [entry.record.get("kind", entry.name) for entry in _things(document)]
    return [*dict.fromkeys([*kinds, *(entry.name for entry in _nouns(document)), ITEM])]


def is_used(document: Mapping[str, Any], word: str) -> bool:
    """True if a kind or item lists a word or has it as kind."""
    return any(
        entry.record.get("kind") == word or any(word in entry.record.get(key, ()) for key in WORD_LISTS)
        for entry in _things(document)
    )


def _things(document: Mapping[str, Any]) -> Iterator[Entry]:
    for name, record in named(document["kinds"]).items():
        yield Entry(name, KIND, record)
    for name, record in named(document.get("items", {})).items():
        yield Entry(name, OWN_ITEM, record)


def _adjectives(document: Mapping[str, Any]) -> Iterator[Entry]:
    for each in document["adjectives"]:
        for name, record in named(each["values"]).items():
            yield Entry(name, ADJECTIVE, record, each["class"])


def _nouns(document: Mapping[str, Any]) -> Iterator[Entry]:
    """Yield the nouns that are no kind: listed ones, unclear ones, and those with spoken forms."""
    given = named(document.get("nouns", {}))
    known = {*adjectives(document)}
    listed = [
        word
        for entry in _things(document)
        for word in (*entry.record.get("nouns", ()), *entry.record.get("unclear", ()))
        if word not in known
    ]
    for name in dict.fromkeys([*listed, *given]):
        if name not in document["kinds"]:
            yield Entry(name, NOUN, given.get(name, {}))
