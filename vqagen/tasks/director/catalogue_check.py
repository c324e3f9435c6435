"""Mistakes in a catalogue of items that no schema can find: words that are unknown, clash, or contradict each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from vqagen.errors import Fault, counted, nearest, unknown
from vqagen.tasks.director.catalogue_words import COLOR, ITEM, name_drawn_item, named, spell_out, spoken_singular

_WORD = re.compile(r"[a-z][a-z0-9_]*")
_LISTS = ("nouns", "properties", "unclear")


def entry_faults(document: Mapping[str, Any], folder: Path) -> Iterator[Fault]:
    """Yield (JSON path, message) of each mistake in a document of the right shape, whose pictures are in `folder`."""
    check = _Check(document, folder)
    yield from check.adjective_faults()
    yield from check.size_faults()
    yield from check.noun_faults()
    yield from check.kind_faults()
    yield from check.item_faults()


class _Check:
    """The words of a catalogue, and what is wrong with them."""

    def __init__(self, document: Mapping[str, Any], folder: Path) -> None:
        self.document, self.folder = document, folder
        self.kinds: dict[str, Any] = named(document["kinds"])
        self.items: dict[str, Any] = named(document.get("items", {}))
        self.adjectives = {name: each["class"] for each in document["adjectives"] for name in named(each["values"])}
        self.colors = [name for name, of_class in self.adjectives.items() if of_class == COLOR]

    @cached_property
    def nouns(self) -> list[str]:
        """All nouns that are true of something."""
        listed = [noun for _, entry in self.things() for noun in entry.get("nouns", ())]
        kinds = [entry.get("kind", name) for name, entry in self.items.items()]
        return [*dict.fromkeys([*self.kinds, *kinds, *listed, ITEM])]

    def things(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the JSON path and entry of each kind and item."""
        for section, entries in (("kinds", self.kinds), ("items", self.items)):
            yield from ((f"{section}.{name}", entry) for name, entry in entries.items())

    # Adjectives and sizes ---------------------------------------------------------------------------------------------

    def adjective_faults(self) -> Iterator[Fault]:
        classes = [each["class"] for each in self.document["adjectives"]]
        known: dict[str, str] = {}
        for number, each in enumerate(self.document["adjectives"]):
            place = f"adjectives[{number}]"
            if each["class"] in classes[:number]:
                yield f"{place}.class", f"the class {each['class']!r} is listed twice; join its values"
            for name, value in named(each["values"]).items():
                path = f"{place}.values.{name}"
                yield from _name_faults(path, name, "adjective")
                if name in known:
                    yield path, f"the adjective {name!r} is in the class {known[name]!r} already"
                known.setdefault(name, each["class"])
                if each["class"] == COLOR and "paint" not in value:
                    yield path, f"the color {name!r} has no paint; add one such as #d62f2f"
        if self.kinds and not self.colors:
            yield "adjectives", f"no class {COLOR!r} with values; drawn items need colors"

    def size_faults(self) -> Iterator[Fault]:
        sizes = self.document["sizes"]
        for number in range(1, len(sizes)):
            if sizes[number] <= sizes[number - 1]:
                yield f"sizes[{number}]", f"expected more than {sizes[number - 1]}, found {sizes[number]}"
        if not self.kinds and not self.items:
            yield "kinds", "no kinds and no items; add some"

    # Nouns ------------------------------------------------------------------------------------------------------------

    def noun_faults(self) -> Iterator[Fault]:
        for name in named(self.document.get("nouns", {})):
            path = f"nouns.{name}"
            yield from _name_faults(path, name, "noun")
            if name in self.adjectives:
                yield path, f"the adjective {name!r} is no noun; take its forms away"
            elif name not in self.nouns and not self.is_unclear(name):
                yield path, f"no item has the noun {name!r}{_meant(name, self.nouns)}"
        yield from self.spoken_faults()

    def is_unclear(self, word: str) -> bool:
        """True if a word is unclear for something."""
        return any(word in entry.get("unclear", ()) for _, entry in self.things())

    def spoken(self, noun: str) -> str:
        """Return the singular of a noun as it is spoken."""
        return spoken_singular(self.document, noun)

    def spoken_faults(self) -> Iterator[Fault]:
        """Yield the nouns that sound like another one, or like an adjective with one."""
        by_sound: dict[str, str] = {}
        for noun in self.nouns:
            sound, place = self.spoken(noun), f"{'kinds' if noun in self.kinds else 'nouns'}.{noun}"
            if sound in by_sound:
                yield place, f"{noun!r} and {by_sound[sound]!r} are both spoken as {sound!r}; give one another singular"
            by_sound.setdefault(sound, noun)
        for noun in self.nouns:
            for adjective in self.adjectives:
                rest = self.spoken(noun).removeprefix(f"{spell_out(adjective)} ")
                if rest != self.spoken(noun) and rest in by_sound:
                    place = f"{'kinds' if noun in self.kinds else 'nouns'}.{noun}"
                    yield place, f"{self.spoken(noun)!r} also reads as {adjective!r} {by_sound[rest]!r}; rename one"

    # Kinds and items --------------------------------------------------------------------------------------------------

    def kind_faults(self) -> Iterator[Fault]:
        for name, entry in self.kinds.items():
            path = f"kinds.{name}"
            yield from self.thing_name_faults(path, name, "kind")
            for key in ("properties", "unclear"):
                for number, word in enumerate(entry.get(key, ())):
                    if word in self.colors:
                        yield f"{path}.{key}[{number}]", f"drawn items have each color; leave out {word!r}"
            yield from self.word_faults(path, entry)

    def item_faults(self) -> Iterator[Fault]:
        drawn = {
            name_drawn_item(color, kind, size): kind
            for kind in self.kinds
            for color in self.colors
            for size in range(1, len(self.document["sizes"]) + 1)
        }
        for name, entry in self.items.items():
            path = f"items.{name}"
            yield from self.thing_name_faults(path, name, "item")
            if name in self.kinds:
                yield path, f'{name!r} is a kind too; rename the item, and give it "kind": "{name}"'
            elif name in drawn:
                yield path, f"{name!r} is the name of an item that is drawn for the kind {drawn[name]!r}; rename it"
            if entry.get("kind") in self.adjectives:
                yield f"{path}.kind", f"{entry['kind']!r} is an adjective; name a kind"
            most = len(self.document["sizes"])
            if entry.get("size", 1) > most:
                yield f"{path}.size", f"expected at most {most}, as there are {counted(most, 'size')}"
            if not (self.folder / entry["image_path"]).is_file():
                yield f"{path}.image_path", f"no picture at {self.folder / entry['image_path']}"
            yield from self.word_faults(path, entry)

    def thing_name_faults(self, path: str, name: str, what: str) -> Iterator[Fault]:
        yield from _name_faults(path, name, what)
        if name in self.adjectives:
            yield path, f"{name!r} is an adjective too; rename one of them"

    def word_faults(self, path: str, entry: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield the words of a kind or item that are unknown, in the wrong list, or in two lists."""
        for number, word in enumerate(entry.get("nouns", ())):
            if word == ITEM:
                yield f"{path}.nouns[{number}]", f"everything is an {ITEM!r}; leave it out"
            elif word in self.adjectives:
                yield f"{path}.nouns[{number}]", f"{word!r} is an adjective; list it under properties"
        for number, word in enumerate(entry.get("properties", ())):
            if word not in self.adjectives and word in self.nouns:
                yield f"{path}.properties[{number}]", f"{word!r} is a noun; list it under nouns"
            elif word not in self.adjectives:
                yield f"{path}.properties[{number}]", unknown("adjective", word, [*self.adjectives])
        for number, word in enumerate(entry.get("unclear", ())):
            if word not in self.adjectives and (word not in self.nouns or word == ITEM):
                known = [*self.adjectives, *(noun for noun in self.nouns if noun != ITEM)]
                yield f"{path}.unclear[{number}]", unknown("adjective or noun", word, known)
        listed = Counter(word for key in _LISTS for word in entry.get(key, ()))
        for word in (word for word, number in listed.items() if number > 1):
            yield path, f"{word!r} is both true and unclear; take it from one list"


def _name_faults(path: str, name: str, what: str) -> Iterator[Fault]:
    if not _WORD.fullmatch(name):
        yield path, f"{name!r} is no name of this {what}; use small letters, digits and underscores"
    elif name == ITEM and what != "noun":  # `nouns` may say how everything is called
        yield path, f"{name!r} is the noun of everything; rename this {what}"


def _meant(name: str, known: list[str]) -> str:
    close = nearest(name, known)
    return f"; did you mean {close!r}?" if close else "; take its forms away"
