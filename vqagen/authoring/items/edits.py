"""The entries of a catalogue by name, and the edits of the editor's page: each turns a draft into a new draft.

Entries are kinds, items with pictures of their own, adjectives and nouns. A word is true of a kind or item, unclear, or
false; it stands in at most one list of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
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


# Edits ---------------------------------------------------------------------------------------------------------------

Document = dict[str, Any]
Edit = Mapping[str, Any]
NAMING = ("add", "rename", "remove")
"""Actions that are refused where they would be a mistake."""
TRUTHS = ("true", "unclear", "false")
FORMS = ("singular", "plural")
_SECTIONS = {KIND: "kinds", OWN_ITEM: "items", NOUN: "nouns"}
_VALUES = {
    KIND: ("art",),
    OWN_ITEM: ("image_path", "kind", "size"),
    ADJECTIVE: ("paint", "is_physics"),
    NOUN: (),
}
"""Sort -> the keys of its record that `value` sets."""
_OPTIONAL = ("kind", "size")
"""Keys that can be taken away."""


def edited_draft(draft: Mapping[str, Any], edit: Edit) -> Document:
    """Return the draft that an edit leaves. UsageError if it is no edit, or if it cannot be made."""
    action = str(edit.get("action"))
    if action not in EDITS:
        raise UsageError(unknown("action", action, list(EDITS)))
    change, keys = EDITS[action]
    missing = [key for key in keys if key not in edit]
    if missing:
        raise UsageError(f"the edit lacks {', '.join(missing)}")
    new = deepcopy(dict(draft))
    change(new, edit)
    return new


def _set_word(new: Document, edit: Edit) -> None:
    """`name`, `word` and `truth`: true, unclear or false. A word that is true may be a new noun."""
    word, truth = str(edit["word"]), str(edit["truth"])
    entry = find_entry(new, str(edit["name"]))
    if not entry.is_thing:
        raise UsageError(f"words are true of kinds and items; the {entry.sort} {entry.name!r} is neither")
    if truth not in TRUTHS:
        raise UsageError(unknown("truth", truth, TRUTHS))
    known_adjectives, known_nouns = adjectives(new), nouns(new)
    if truth != "true" and word not in known_adjectives and word not in known_nouns:
        raise UsageError(unknown("word", word, [*known_adjectives, *known_nouns]))
    of_true = "properties" if word in known_adjectives else "nouns"
    right = {"true": of_true, "unclear": "unclear", "false": ""}[truth]
    record = _record(new, entry.sort, entry.name)
    for key in WORD_LISTS:
        if key != right and word in record.get(key, ()):
            record[key].remove(word)
    if right and word not in record.setdefault(right, []):
        record[right].append(word)
    if record.get("unclear") == []:
        del record["unclear"]
    if "art" in record:
        record["art"] = record.pop("art")  # the longest stays last


def _set_value(new: Document, edit: Edit) -> None:
    """`name`, `key` and `value`: another value of an entry's record, or a spoken form; "" or null takes it away."""
    key, value = str(edit["key"]), edit["value"]
    entry = find_entry(new, str(edit["name"]))
    if key in FORMS:
        forms = new.setdefault("nouns", {}).setdefault(entry.name, {})
        forms.pop(key, None)
        if value:
            forms[key] = str(value)
        if not forms:
            del new["nouns"][entry.name]
    elif key not in _VALUES[entry.sort]:
        raise UsageError(f"{key} is not for the {entry.sort} {entry.name!r}")
    elif value not in ("", None):
        _record(new, entry.sort, entry.name)[key] = value
    elif key in _OPTIONAL:
        _record(new, entry.sort, entry.name).pop(key, None)
    else:
        raise UsageError(f"{entry.name} needs a value for {key}")


def _add(new: Document, edit: Edit) -> None:
    """`name`, and `art_of` (a kind) or `art`, `image_path`, or `class` and `paint`."""
    name = str(edit["name"]).strip()
    _raise_taken(new, name)
    if edit.get("class"):
        _class_values(new, str(edit["class"]))[name] = {"paint": edit["paint"]} if edit.get("paint") else {}
    elif edit.get("image_path"):
        new.setdefault("items", {})[name] = {"image_path": edit["image_path"]}
    elif edit.get("art_of") or edit.get("art") is not None:
        art = _art_of(new, str(edit["art_of"])) if edit.get("art_of") else edit["art"]
        new["kinds"][name] = {"nouns": [], "properties": [], "art": art}
    else:
        raise UsageError(f"nothing says what {name!r} is; give art, art_of, image_path or class")


def _rename(new: Document, edit: Edit) -> None:
    """`name` and `to`: the entry has another name wherever it is named."""
    old, name = str(edit["name"]), str(edit["to"]).strip()
    entry = find_entry(new, old)
    _raise_taken(new, name)
    if entry.sort == ADJECTIVE:
        place = next(each for each in new["adjectives"] if old in each["values"])
        place["values"] = _renamed_key(place["values"], old, name)
    else:
        for section in dict.fromkeys((_SECTIONS[entry.sort], "nouns")):
            if section in new:
                new[section] = _renamed_key(new[section], old, name)
    for record in _thing_records(new):
        for key in WORD_LISTS:
            if key in record:
                record[key] = [name if word == old else word for word in record[key]]
        if record.get("kind") == old:
            record["kind"] = name


def _remove(new: Document, edit: Edit) -> None:
    """`name`: the entry goes, also from the lists of other entries, as do the forms of nouns that nothing has then."""
    entry = find_entry(new, str(edit["name"]))
    name, used = entry.name, [noun for noun in named(new.get("nouns", {})) if is_used(new, noun)]
    if entry.sort == ADJECTIVE:
        del _class_values(new, entry.adjective_class)[name]
    else:
        new.get(_SECTIONS[entry.sort], {}).pop(name, None)
        new.get("nouns", {}).pop(name, None)
    for record in _thing_records(new):
        for key in WORD_LISTS:
            if key in record:
                record[key] = [word for word in record[key] if word != name]
        if record.get("kind") == name:
            del record["kind"]
    for noun in used:
        if noun not in new["kinds"] and not is_used(new, noun):
            new["nouns"].pop(noun, None)


EDITS: Mapping[str, tuple[Callable[[Document, Edit], None], tuple[str, ...]]] = {
    "word": (_set_word, ("name", "word", "truth")),
    "value": (_set_value, ("name", "key", "value")),
    "add": (_add, ("name",)),
    "rename": (_rename, ("name", "to")),
    "remove": (_remove, ("name",)),
}
"""Action -> the function that changes a copy of the draft, and the keys that its edit needs."""


# Helpers ------------------------------------------------------------------------------------------------------------


def _raise_taken(document: Document, name: str) -> None:
    found = entries(document).get(name)
    if found:
        raise UsageError(f"{found.sort} {name!r} exists already")


def _record(document: Document, sort: str, name: str) -> Document:
    """Return the object of an entry, for writing."""
    if sort == ADJECTIVE:
        found: Document = next(each["values"] for each in document["adjectives"] if name in each["values"])[name]
    else:
        found = document[_SECTIONS[sort]][name]
    return found


def _thing_records(document: Document) -> list[Document]:
    return [record for section in ("kinds", "items") for record in named(document.get(section, {})).values()]


def _class_values(document: Document, name: str) -> Document:
    known = [each["class"] for each in document["adjectives"]]
    if name not in known:
        raise UsageError(unknown("class of adjectives", name, known))
    values: Document = document["adjectives"][known.index(name)]["values"]
    return values


def _art_of(document: Document, kind: str) -> Any:
    known = named(document["kinds"])
    if kind not in known:
        raise UsageError(unknown("kind", kind, list(known)))
    return deepcopy(known[kind]["art"])


def _renamed_key(section: Mapping[str, Any], old: str, new: str) -> Document:
    return {new if key == old else key: value for key, value in section.items()}
