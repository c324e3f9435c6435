"""The edits of the editor's page: each turns a draft of a catalogue and a JSON object into a new draft."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from vqagen.authoring.items.changes import Traits, add_entry, copied_art, remove_entries, rename_entry, set_entries
from vqagen.authoring.items.entries import KIND, OWN_ITEM, WORD_LISTS, entries
from vqagen.errors import UsageError, unknown

Document = Mapping[str, Any]
NAMING = ("add", "rename", "remove")
"""Actions that are refused where they would be a mistake."""
_VALUES = ("art", "image_path", "kind", "size", "paint", "is_physics")
"""Keys of records that `value` sets."""


def edited_draft(draft: Document, edit: Mapping[str, Any]) -> Document:
    """Return the draft that an edit leaves. UsageError if it is no edit, or if it cannot be made."""
    action = str(edit.get("action"))
    if action not in EDITS:
        raise UsageError(unknown("action", action, list(EDITS)))
    change, keys = EDITS[action]
    missing = [key for key in keys if key not in edit]
    if missing:
        raise UsageError(f"the edit lacks {', '.join(missing)}")
    return change(draft, edit)


def _set_words(draft: Document, edit: Mapping[str, Any]) -> Document:
    """`name`, `word` and `truth`: true, unclear or false."""
    word, truth = str(edit["word"]), edit["truth"]
    if truth == "true" and word not in entries(draft):
        traits = Traits(nouns=(word,))
    else:
        traits = Traits(
            true=(word,) if truth == "true" else (),
            unclear=(word,) if truth == "unclear" else (),
            false=(word,) if truth == "false" else (),
        )
    return set_entries(draft, [str(edit["name"])], traits)


def _set_value(draft: Document, edit: Mapping[str, Any]) -> Document:
    """`name`, `key` and `value`: another value of an entry's record, or a spoken form; "" or null takes it away."""
    name, key, value = str(edit["name"]), str(edit["key"]), edit["value"]
    if key in ("singular", "plural"):
        return _set_form(draft, name, key, str(value or ""))
    if key not in _VALUES:
        raise UsageError(unknown("key", key, _VALUES))
    if value in ("", None):
        return _without(draft, name, key)
    return set_entries(draft, [name], Traits(**{key: value}))


def _set_form(draft: Document, name: str, key: str, value: str) -> Document:
    new = deepcopy(dict(draft))
    forms = new.setdefault("nouns", {}).setdefault(name, {})
    forms.pop(key, None)
    if value:
        forms[key] = value
    if not forms:
        del new["nouns"][name]
    return new


def _without(draft: Document, name: str, key: str) -> Document:
    new = deepcopy(dict(draft))
    sections = {KIND: "kinds", OWN_ITEM: "items"}
    entry = entries(draft)[name]
    if key in ("art", "image_path", *WORD_LISTS) or entry.sort not in sections:
        raise UsageError(f"{name} needs a value for {key}")
    new[sections[entry.sort]][name].pop(key, None)
    return new


def _add(draft: Document, edit: Mapping[str, Any]) -> Document:
    """`name`, and `art_of` (a kind) or `art`, `image_path`, or `class` and `paint`."""
    traits = Traits(
        art=copied_art(draft, str(edit["art_of"])) if edit.get("art_of") else edit.get("art"),
        image_path=edit.get("image_path") or None,
        paint=edit.get("paint") or None,
    )
    return add_entry(draft, str(edit["name"]).strip(), traits, str(edit.get("class") or ""))


def _rename(draft: Document, edit: Mapping[str, Any]) -> Document:
    return rename_entry(draft, str(edit["name"]), str(edit["to"]).strip())


def _remove(draft: Document, edit: Mapping[str, Any]) -> Document:
    return remove_entries(draft, [str(edit["name"])], everywhere=edit.get("everywhere") is True)


EDITS: Mapping[str, tuple[Callable[[Document, Mapping[str, Any]], Document], tuple[str, ...]]] = {
    "word": (_set_words, ("name", "word", "truth")),
    "value": (_set_value, ("name", "key", "value")),
    "add": (_add, ("name",)),
    "rename": (_rename, ("name", "to")),
    "remove": (_remove, ("name",)),
}
"""Action -> the function that returns the changed draft, and the keys that its edit needs."""
