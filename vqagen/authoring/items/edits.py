"""The edits of the editor's page: each turns a draft of a catalogue and a JSON object into a new draft.

A word is true of a kind or item, unclear, or false; it stands in at most one list of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from vqagen.authoring.items.entries import (
    ADJECTIVE,
    KIND,
    NOUN,
    OWN_ITEM,
    WORD_LISTS,
    adjectives,
    entries,
    find_entry,
    is_used,
    nouns,
)
from vqagen.errors import UsageError, unknown
from vqagen.tasks.director.catalogue_words import named

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
