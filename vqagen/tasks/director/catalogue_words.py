"""The words of a catalogue's document: how they are spoken, and mistakes in them that no schema can find.

Words may be unknown, clash, or contradict each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from vqagen.errors import Fault, counted, nearest, unknown

ITEM = "item"
"""The noun of every item."""
COLOR = "color"
"""The class of adjectives that drawn items are painted in."""
COMMENT = "comment"


def named(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return named entries without a comment among them."""
    return {name: entry for name, entry in entries.items() if name != COMMENT}


def name_drawn_item(color: str, kind: str, size: int) -> str:
    """Return the name of the item that is drawn for a kind in a color and size level, such as `red_apple_3`."""
    return f"{color}_{kind}_{size}"


def spell_out(name: str) -> str:
    """Return the words of a name.

    >>> spell_out("ice_lolly")
    'ice lolly'
    """
    return name.replace("_", " ")


def spoken_singular(document: Mapping[str, Any], noun: str) -> str:
    """Return a noun as it is spoken, such as `pair of scissors`."""
    forms: Mapping[str, str] = document.get("nouns", {}).get(noun, {})
    return forms.get("singular", spell_out(noun))


_WORD = re.compile(r"[a-z][a-z0-9_]*")
_LISTS = ("nouns", "properties", "unclear")


def entry_faults(document: Mapping[str, Any], folder: Path) -> Iterator[Fault]:
    """Yield (JSON path, message) of each mistake in a document of the right shape, whose pictures are in `folder`."""
    words, sizes = _Words(document), document["sizes"]
    yield from _adjective_faults(document)
    if words.kinds and not words.colors:
        yield "adjectives", f"no class {COLOR!r} with values; drawn items need colors"
    for number in range(1, len(sizes)):
        if sizes[number] <= sizes[number - 1]:
            yield f"sizes[{number}]", f"expected more than {sizes[number - 1]}, found {sizes[number]}"
    if not words.things:
        yield "kinds", "no kinds and no items; add some"
    yield from _noun_faults(document, words)
    for name, entry in words.kinds.items():
        path = f"kinds.{name}"
        yield from _thing_name_faults(path, name, "kind", words)
        for key in ("properties", "unclear"):
            for number, word in enumerate(entry.get(key, ())):
                if word in words.colors:
                    yield f"{path}.{key}[{number}]", f"drawn items have each color; leave out {word!r}"
        yield from _word_faults(path, entry, words)
    for name, entry in words.items.items():
        yield from _thing_name_faults(f"items.{name}", name, "item", words)
        yield from _item_faults(name, entry, words, len(sizes), folder)
        yield from _word_faults(f"items.{name}", entry, words)


class _Words:
    """The words of a catalogue."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.kinds: dict[str, Any] = named(document["kinds"])
        self.items: dict[str, Any] = named(document.get("items", {}))
        self.things = [*self.kinds.values(), *self.items.values()]
        self.adjectives = {name: each["class"] for each in document["adjectives"] for name in named(each["values"])}
        self.colors = [name for name, of_class in self.adjectives.items() if of_class == COLOR]
        drawn = product(self.colors, self.kinds, range(1, len(document["sizes"]) + 1)) if self.items else ()
        self.drawn = {name_drawn_item(color, kind, size): kind for color, kind, size in drawn}
        listed = [noun for entry in self.things for noun in entry.get("nouns", ())]
        kinds = [entry.get("kind", name) for name, entry in self.items.items()]
        self.nouns = [*dict.fromkeys([*self.kinds, *kinds, *listed, ITEM])]
        """All nouns that are true of something."""


def _adjective_faults(document: Mapping[str, Any]) -> Iterator[Fault]:
    classes = [each["class"] for each in document["adjectives"]]
    known: dict[str, str] = {}
    for number, each in enumerate(document["adjectives"]):
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


def _noun_faults(document: Mapping[str, Any], words: _Words) -> Iterator[Fault]:
    """Yield nouns with forms that nothing has, and those that sound like another one, or like an adjective with one."""
    for name in named(document.get("nouns", {})):
        path = f"nouns.{name}"
        yield from _name_faults(path, name, "noun")
        if name in words.adjectives:
            yield path, f"the adjective {name!r} is no noun; take its forms away"
        elif name not in words.nouns and not any(name in entry.get("unclear", ()) for entry in words.things):
            close = nearest(name, words.nouns)
            hint = f"did you mean {close!r}?" if close else "take its forms away"
            yield path, f"no item has the noun {name!r}; {hint}"
    sounds = {noun: spoken_singular(document, noun) for noun in words.nouns}
    by_sound: dict[str, str] = {}
    for noun, sound in sounds.items():
        first = by_sound.setdefault(sound, noun)
        if first != noun:
            yield (
                _place_of(noun, words),
                f"{noun!r} and {first!r} are both spoken as {sound!r}; give one another singular",
            )
    for (noun, sound), adjective in product(sounds.items(), words.adjectives):
        rest = sound.removeprefix(f"{spell_out(adjective)} ")
        if rest != sound and rest in by_sound:
            yield _place_of(noun, words), f"{sound!r} also reads as {adjective!r} {by_sound[rest]!r}; rename one"


def _place_of(noun: str, words: _Words) -> str:
    return f"{'kinds' if noun in words.kinds else 'nouns'}.{noun}"


def _item_faults(name: str, entry: Mapping[str, Any], words: _Words, sizes: int, folder: Path) -> Iterator[Fault]:
    """Yield what is wrong with an item with a picture of its own, but for its words."""
    path = f"items.{name}"
    if name in words.kinds:
        yield path, f'{name!r} is a kind too; rename the item, and give it "kind": "{name}"'
    elif name in words.drawn:
        yield path, f"{name!r} is the name of an item that is drawn for the kind {words.drawn[name]!r}; rename it"
    if entry.get("kind") in words.adjectives:
        yield f"{path}.kind", f"{entry['kind']!r} is an adjective; name a kind"
    if entry.get("size", 1) > sizes:
        yield f"{path}.size", f"expected at most {sizes}, as there are {counted(sizes, 'size')}"
    if not (folder / entry["image_path"]).is_file():
        yield f"{path}.image_path", f"no picture at {folder / entry['image_path']}"


def _thing_name_faults(path: str, name: str, what: str, words: _Words) -> Iterator[Fault]:
    yield from _name_faults(path, name, what)
    if name in words.adjectives:
        yield path, f"{name!r} is an adjective too; rename one of them"


def _word_faults(path: str, entry: Mapping[str, Any], words: _Words) -> Iterator[Fault]:
    """Yield the words of a kind or item that are unknown, in the wrong list, or in two lists."""
    for number, word in enumerate(entry.get("nouns", ())):
        if word == ITEM:
            yield f"{path}.nouns[{number}]", f"everything is an {ITEM!r}; leave it out"
        elif word in words.adjectives:
            yield f"{path}.nouns[{number}]", f"{word!r} is an adjective; list it under properties"
    for number, word in enumerate(entry.get("properties", ())):
        if word not in words.adjectives:
            is_noun = word in words.nouns
            message = (
                f"{word!r} is a noun; list it under nouns"
                if is_noun
                else unknown("adjective", word, [*words.adjectives])
            )
            yield f"{path}.properties[{number}]", message
    known = [*words.adjectives, *(noun for noun in words.nouns if noun != ITEM)]
    for number, word in enumerate(entry.get("unclear", ())):
        if word not in known:
            yield f"{path}.unclear[{number}]", unknown("adjective or noun", word, known)
    listed = Counter(word for key in _LISTS for word in entry.get(key, ()))
    for word in (word for word, number in listed.items() if number > 1):
        yield path, f"{word!r} is both true and unclear; take it from one list"


def _name_faults(path: str, name: str, what: str) -> Iterator[Fault]:
    if not _WORD.fullmatch(name):
        yield path, f"{name!r} is no name of this {what}; use small letters, digits and underscores"
    elif name == ITEM and what != "noun":  # `nouns` may say how everything is called
        yield path, f"{name!r} is the noun of everything; rename this {what}"
