"""Changes of a catalogue's document: add, set, rename and remove entries. Each returns a new document.

A word is true of a kind or item, unclear, or false; it stands in at most one list of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vqagen.art.drawing import drawing_faults
from vqagen.authoring.items.entries import (
    ADJECTIVE,
    KIND,
    NOUN,
    OWN_ITEM,
    WORD_LISTS,
    Entry,
    adjectives,
    entries,
    find_entry,
    nouns,
    uses,
)
from vqagen.errors import BadInput, Problem, UsageError, unknown
from vqagen.files.output import linked
from vqagen.files.shipped import require
from vqagen.json.parsing import parse_json, read_text
from vqagen.json.text import locate
from vqagen.tasks.director.catalogue_words import named

Document = dict[str, Any]
_SECTIONS = {KIND: "kinds", OWN_ITEM: "items", NOUN: "nouns"}
_OWN_KEYS = {
    KIND: ("art",),
    OWN_ITEM: ("image_path", "kind", "size"),
    ADJECTIVE: ("paint", "is_physics"),
    NOUN: (),
}
"""Sort -> the keys of its record that only it has."""
_OPTIONS = {"image_path": "--image", "is_physics": "--physics", "art": "--art"}
"""Key -> its option, where that is not the key itself."""
_ADVICE_SHOWN = 8


@dataclass(frozen=True)
class Traits:
    """What is said about an entry. None leaves what is there."""

    true: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    """Nouns that are true; unlike those of `true`, they may be new."""
    singular: str | None = None
    plural: str | None = None
    art: Any = None
    image_path: str | None = None
    kind: str | None = None
    size: int | None = None
    paint: str | None = None
    is_physics: bool | None = None

    def own(self) -> dict[str, Any]:
        """Return the keys of a record that are given."""
        keys = [key for each in _OWN_KEYS.values() for key in each]
        return {key: getattr(self, key) for key in keys if getattr(self, key) is not None}

    @property
    def has_words(self) -> bool:
        """True if a word is said to be true, unclear or false."""
        return bool(self.true or self.unclear or self.false or self.nouns)


# Adding and setting -------------------------------------------------------------------------------------------------


def add_entry(document: Mapping[str, Any], name: str, traits: Traits, adjective_class: str = "") -> Document:
    """Return a document with a new kind (`traits.art`), item (`traits.image_path`), adjective or noun."""
    if name in entries(document):
        raise UsageError(f"{entries(document)[name].sort} {name!r} exists already; `set` changes it")
    new = _copied(document)
    if adjective_class:
        sort, values = ADJECTIVE, _class_values(new, adjective_class)
        values[name] = {}
    else:
        sort = KIND if traits.art is not None else OWN_ITEM if traits.image_path is not None else NOUN
        new.setdefault(_SECTIONS[sort], {})[name] = {"nouns": [], "properties": []} if sort == KIND else {}
    if sort == NOUN and (traits.singular is None and traits.plural is None):
        raise UsageError(f"nothing says what {name!r} is; give --art, --image, --class, or --singular or --plural")
    _add_traits(new, Entry(name, sort, {}, adjective_class), traits)
    return new


def set_entries(document: Mapping[str, Any], names: Sequence[str], traits: Traits) -> Document:
    """Return a document in which some entries have other traits."""
    if traits == Traits():
        raise UsageError("nothing to change; give --is, --unclear, --not, --plural or another trait")
    new = _copied(document)
    for entry in [find_entry(document, name) for name in dict.fromkeys(names)]:
        _add_traits(new, entry, traits)
    return new


def _add_traits(document: Document, entry: Entry, traits: Traits) -> None:
    faults = [
        f"{_OPTIONS.get(key, f'--{key}')} is not for the {entry.sort} {entry.name!r}"
        for key in traits.own()
        if key not in _OWN_KEYS[entry.sort]
    ]
    if traits.has_words and not entry.is_thing:
        faults.append(f"words are true of kinds and items; the {entry.sort} {entry.name!r} is neither")
    has_spoken = traits.singular is not None or traits.plural is not None
    if has_spoken and entry.sort == ADJECTIVE:
        faults.append(f"--singular and --plural are for nouns, and {entry.name!r} is an adjective")
    if faults:
        raise UsageError("\n".join(faults))
    if has_spoken:
        forms = document.setdefault("nouns", {}).setdefault(entry.name, {})
        given = {"singular": traits.singular, "plural": traits.plural}
        forms |= {key: text for key, text in given.items() if text is not None}
    if entry.sort == NOUN:
        return
    record = record_of(document, entry)
    is_art_last = "art" not in record or list(record)[-1] == "art"
    if traits.has_words:
        _set_words(record, document, traits)
    record |= traits.own()
    if is_art_last and "art" in record:
        record["art"] = record.pop("art")  # the longest stays last


def record_of(document: Document, entry: Entry) -> Document:
    """Return the object of an entry in a document, for writing; that of a noun is made if it is missing."""
    if entry.sort == ADJECTIVE:
        found: Document = _class_values(document, entry.adjective_class)[entry.name]
        return found
    section: Document = document.setdefault(_SECTIONS[entry.sort], {})
    made: Document = section.setdefault(entry.name, {})
    return made


def _set_words(record: Document, document: Mapping[str, Any], traits: Traits) -> None:
    known_nouns, known_adjectives = nouns(document), adjectives(document)
    known = [*known_adjectives, *known_nouns]
    given = (*traits.true, *traits.unclear, *traits.false, *traits.nouns)
    faults = [unknown("word", word, known) for word in given if word not in known and word not in traits.nouns]
    faults += [f"{word!r} is said to be several of true, unclear and false" for word in _repeated(traits)]
    if faults:
        hint = "; --noun adds a new noun" if any(each.startswith("unknown") for each in faults) else ""
        raise UsageError("\n".join(faults) + hint)
    for word in given:
        right = _list_for(word, traits, known_adjectives)
        for key in WORD_LISTS:
            if key != right and word in record.get(key, ()):
                record[key] = [each for each in record[key] if each != word]
        if right and word not in record.get(right, ()):
            record[right] = [*record.get(right, ()), word]
    if record.get("unclear") == []:
        del record["unclear"]


def _list_for(word: str, traits: Traits, known_adjectives: Container[str]) -> str:
    """Return the key of the list that a word belongs to; "" if it is false."""
    if word in traits.nouns:
        return "nouns"
    if word in traits.true:
        return "properties" if word in known_adjectives else "nouns"
    return "unclear" if word in traits.unclear else ""


def _repeated(traits: Traits) -> list[str]:
    groups = [{*traits.true, *traits.nouns}, {*traits.unclear}, {*traits.false}]
    given = dict.fromkeys(word for group in groups for word in sorted(group))
    return [word for word in given if sum(word in group for group in groups) > 1]


# Renaming and removing ----------------------------------------------------------------------------------------------


def rename_entry(document: Mapping[str, Any], old: str, new: str) -> Document:
    """Return a document in which an entry has another name, wherever it is named."""
    entry = find_entry(document, old)
    if new in entries(document):
        raise UsageError(f"{entries(document)[new].sort} {new!r} exists already")
    changed = _copied(document)

    def renamed(word: str) -> str:
        return new if word == old else word

    if entry.sort == ADJECTIVE:
        place = next(each for each in changed["adjectives"] if old in each["values"])
        place["values"] = _renamed_key(place["values"], renamed)
    else:
        for section in dict.fromkeys((_SECTIONS[entry.sort], "nouns")):
            if section in changed:
                changed[section] = _renamed_key(changed[section], renamed)
    _each_word(changed, lambda words: [renamed(word) for word in words])
    for record in named(changed.get("items", {})).values():
        if record.get("kind") == old:
            record["kind"] = new
    return changed


def _renamed_key(section: Mapping[str, Any], renamed: Callable[[str], str]) -> Document:
    return {renamed(key): value for key, value in section.items()}


def remove_entries(document: Mapping[str, Any], names: Sequence[str], everywhere: bool = False) -> Document:
    """Return a document without some entries.

    UsageError if a kind or item that stays lists one of them; with `everywhere`, it is taken from there too.
    """
    gone = dict.fromkeys(names)
    found = [find_entry(document, name) for name in gone]
    faults = []
    for entry in found:
        left = [user for user in uses(document, entry.name) if user not in gone]
        if left and not everywhere:
            shown = ", ".join(left[:_ADVICE_SHOWN]) + (", …" if len(left) > _ADVICE_SHOWN else "")
            faults.append(f"{entry.sort} {entry.name!r} is used by {shown}; --everywhere removes it there too")
    if faults:
        raise UsageError("\n".join(faults))
    changed = _copied(document)
    for entry in found:
        if entry.sort == ADJECTIVE:
            del _class_values(changed, entry.adjective_class)[entry.name]
        else:
            changed[_SECTIONS[entry.sort]].pop(entry.name, None)
            changed.get("nouns", {}).pop(entry.name, None)
    _each_word(changed, lambda words: [word for word in words if word not in gone])
    for record in named(changed.get("items", {})).values():
        if record.get("kind") in gone:
            del record["kind"]
    for noun in named(document.get("nouns", {})):  # the spoken forms of nouns that nothing has any more
        if uses(document, noun) and not uses(changed, noun) and noun not in changed["kinds"]:
            changed["nouns"].pop(noun, None)
    return changed


# Helpers ------------------------------------------------------------------------------------------------------------


def _copied(document: Mapping[str, Any]) -> Document:
    return deepcopy(dict(document))


def _class_values(document: Document, name: str) -> Document:
    known = [each["class"] for each in document["adjectives"]]
    if name not in known:
        raise UsageError(unknown("class of adjectives", name, known))
    values: Document = document["adjectives"][known.index(name)]["values"]
    return values


def _each_word(document: Document, change: Callable[[Iterable[str]], list[str]]) -> None:
    """Change every list of words of kinds and items."""
    for section in ("kinds", "items"):
        for record in named(document.get(section, {})).values():
            for key in WORD_LISTS:
                if key in record:
                    record[key] = change(record[key])


# Traits that are read -----------------------------------------------------------------------------------------------


def read_art(path: Path | str) -> Any:
    """Return the drawing in a JSON file. Raise BadInput with its mistakes."""
    place = require(Path(path), "drawing")
    text = read_text(place)
    art = parse_json(text, str(place))
    faults = list(drawing_faults(art))
    if faults:
        raise BadInput(Problem(message, str(place), at, *locate(text, at)) for at, message in faults)
    return art


def copied_art(document: Mapping[str, Any], kind: str) -> Any:
    """Return a copy of the drawing of a kind. UsageError if there is no such kind."""
    known = named(document["kinds"])
    if kind not in known:
        raise UsageError(unknown("kind", kind, list(known)))
    return deepcopy(known[kind]["art"])


def picture_path(catalogue: Path, picture: Path | str) -> str:
    """Return the path of a picture as a catalogue names it: relative to its folder. UsageError if there is none."""
    require(Path(picture), "picture")
    return Path(os.path.relpath(linked(Path(picture)), linked(catalogue.parent))).as_posix()
