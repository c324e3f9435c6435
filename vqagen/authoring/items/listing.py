"""Lists and descriptions of the entries of a catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from vqagen.authoring.items.entries import (
    ADJECTIVE,
    KIND,
    OWN_ITEM,
    TRUE,
    adjectives,
    find_entry,
    nouns,
    things,
    uses,
)
from vqagen.errors import UsageError, unknown
from vqagen.tasks.director.catalogue_words import COLOR, ITEM, name_drawn_item, spoken_plural, spoken_singular


@dataclass(frozen=True)
class ThingRow:
    """A kind or own item in a list."""

    name: str
    sort: str
    nouns: tuple[str, ...]
    properties: tuple[str, ...]
    unclear: tuple[str, ...]

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return asdict(self)


def list_things(document: Mapping[str, Any], words: Sequence[str] = ()) -> list[ThingRow]:
    """Return kinds and own items for which each of `words` is true or unclear. UsageError for an unknown word."""
    known = [*adjectives(document), *nouns(document)]
    faults = [unknown("word", word, known) for word in words if word not in known]
    if faults:
        raise UsageError("\n".join(faults))
    colors = [name for name, entry in adjectives(document).items() if entry.adjective_class == COLOR]
    rows = []
    for entry in things(document).values():
        lists = [tuple(entry.record.get(key, ())) for key in ("nouns", "properties", "unclear")]
        fitting = {ITEM, entry.record.get("kind", entry.name), *(word for words in lists for word in words)}
        if fitting.union(colors if entry.sort == KIND else ()).issuperset(words):
            rows.append(ThingRow(entry.name, entry.sort, *lists))
    return rows


def describe_entry(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return what is known about an entry: its sort, its spoken forms, its record, and the entries that list it."""
    drawn = _describe_drawn_item(document, name)
    if drawn is not None:
        return drawn
    entry = find_entry(document, name)
    described: dict[str, Any] = {"name": name, "sort": entry.sort}
    if entry.sort == ADJECTIVE:
        described["class"] = entry.adjective_class
    elif entry.sort != OWN_ITEM:
        described["singular"] = spoken_singular(document, name)
        described["plural"] = spoken_plural(document, name)
    described |= {key: value for key, value in entry.record.items() if key not in described}
    if not entry.is_thing or uses(document, name):
        users = uses(document, name)
        described["true_of"] = [user for user, truth in users.items() if truth == TRUE]
        described["unclear_for"] = [user for user, truth in users.items() if truth != TRUE]
    return described


def _describe_drawn_item(document: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """Return what is known about one drawn item, such as `red_apple_3`; None if this is no name of one."""
    colors = [word for word, entry in adjectives(document).items() if entry.adjective_class == COLOR]
    sizes = range(1, len(document["sizes"]) + 1)
    kinds = [entry for entry in things(document).values() if entry.sort == KIND]
    for color, entry, size in product(colors, kinds, sizes):
        if name == name_drawn_item(color, entry.name, size):
            return {
                "name": name,
                "sort": "drawn item",
                "kind": entry.name,
                "size": size,
                "nouns": [entry.name, *entry.record.get("nouns", ()), ITEM],
                "properties": [*entry.record.get("properties", ()), color],
                "unclear": list(entry.record.get("unclear", ())),
            }
    return None
