"""The catalogue of items: their nouns, properties, colors and sizes, and how they are drawn.

Below stand the mistakes in a catalogue's words that no schema can find: they may be unknown, clash, or contradict each
other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, Fault, Problem, counted, nearest, unknown
from vqagen.files.locations import require, shipped
from vqagen.files.parsing import parse_json, read_text, show_path
from vqagen.files.records import RecordSource
from vqagen.files.schema import problem_in, schema_faults
from vqagen.pictures.drawing import drawing_faults

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


_IN_ART = re.compile(r"kinds\..+\.art(\[|$)")
"""The path of something inside a drawing, whose faults `drawing_faults` knows better than the schema."""
SHIPPED_CATALOGUE = "metadata/director.json"


@dataclass(frozen=True)
class GridItem:
    """One item that can stand in a cell."""

    name: str
    kind: str
    """Items of one kind look alike but for color and size."""
    size: int
    """The size level, from 1."""
    nouns: tuple[str, ...]
    """From the narrowest to `item`."""
    properties: tuple[str, ...]
    """The adjectives that are true, in their spoken order."""
    unclear: frozenset[str]
    """Nouns and adjectives that people may not agree on."""
    picture: str = ""
    """The file of the user's own picture, relative to the catalogue's folder; "" for a drawn item."""

    @cached_property
    def true(self) -> frozenset[str]:
        """Nouns and adjectives that are true."""
        return frozenset((*self.nouns, *self.properties))


@dataclass(frozen=True, eq=False)
class ItemCatalogue:
    """A catalogue, read and checked. `record` is its document; `folder` is where its pictures are."""

    record: Mapping[str, Any] = field(repr=False)
    folder: Path

    def to_record(self) -> dict[str, Any]:
        """Return the document as an output's `info` holds it."""
        return {key: value for key, value in self.record.items() if key not in ("$schema", COMMENT)}

    @cached_property
    def classes(self) -> dict[str, str]:
        """Adjective -> its class, in the spoken order."""
        return {
            value: adjectives["class"]
            for adjectives in self.record["adjectives"]
            for value in named(adjectives["values"])
        }

    @cached_property
    def paints(self) -> dict[str, str]:
        """Color -> its paint, such as `#d62728`."""
        colors = (adjectives for adjectives in self.record["adjectives"] if adjectives["class"] == COLOR)
        return {name: entry["paint"] for adjectives in colors for name, entry in named(adjectives["values"]).items()}

    @cached_property
    def physics(self) -> frozenset[str]:
        """The adjectives that say how a thing behaves, which no picture shows."""
        values = (pair for adjectives in self.record["adjectives"] for pair in named(adjectives["values"]).items())
        return frozenset(name for name, entry in values if entry.get("is_physics"))

    @cached_property
    def sizes(self) -> tuple[float, ...]:
        """The share of a tile's side that an item of each size level fills."""
        return tuple(self.record["sizes"])

    @cached_property
    def items(self) -> tuple[GridItem, ...]:
        """All items, drawn ones first, in the order of the document."""
        return (*self._drawn_items(), *self._pictured_items())

    @cached_property
    def by_name(self) -> dict[str, GridItem]:
        """Name -> item."""
        return {item.name: item for item in self.items}

    @cached_property
    def nouns(self) -> tuple[str, ...]:
        """All nouns, also those of which it is unclear whether they are true."""
        words = (word for item in self.items for word in (*item.nouns, *sorted(item.unclear)))
        return tuple(dict.fromkeys(word for word in words if word not in self.classes))

    def spoken(self, noun: str) -> str:
        """Return a noun as it is spoken, such as `pair of scissors`."""
        return spoken_singular(self.record, noun)

    def describe(self, noun: str, adjectives: Iterable[str]) -> str:
        """Return a description such as "sharp red tool", with its adjectives in the spoken order."""
        return " ".join((*map(spell_out, self.in_order(adjectives)), self.spoken(noun)))

    def _drawn_items(self) -> Iterator[GridItem]:
        for kind, entry in named(self.record["kinds"]).items():
            nouns = (kind, *entry.get("nouns", ()), ITEM)
            unclear = frozenset(entry.get("unclear", ()))
            for color in self.paints:
                properties = self.in_order({*entry.get("properties", ()), color})
                for size in range(1, len(self.sizes) + 1):
                    yield GridItem(name_drawn_item(color, kind, size), kind, size, nouns, properties, unclear)

    def _pictured_items(self) -> Iterator[GridItem]:
        for name, entry in named(self.record.get("items", {})).items():
            kind = entry.get("kind", name)
            nouns = tuple(dict.fromkeys((kind, *entry.get("nouns", ()), ITEM)))
            properties = self.in_order(entry.get("properties", ()))
            unclear = frozenset(entry.get("unclear", ()))
            yield GridItem(name, kind, entry.get("size", 1), nouns, properties, unclear, entry["image_path"])

    def in_order(self, properties: Iterable[str]) -> tuple[str, ...]:
        """Return properties in their spoken order, without those that are none."""
        properties = frozenset(properties)
        return tuple(adjective for adjective in self.classes if adjective in properties)


def load_catalogue_file(path: Path | str | None = None) -> ItemCatalogue:
    """Return the catalogue of a file, by default the shipped one. BadInput with every fault, UsageError without it."""
    file = require(Path(path or shipped(SHIPPED_CATALOGUE)), "catalogue")
    text = read_text(file)
    may_change = "image_path" in text  # the pictures, which may be others by now
    return _read(text, file) if may_change else _read_once(text, file)


def _read(text: str, file: Path) -> ItemCatalogue:
    document = parse_json(text, str(file))
    faults = list(catalogue_faults(document, file.parent))
    if faults:
        raise BadInput([problem_in(str(file), *fault, text) for fault in faults])
    return ItemCatalogue(document, file.parent)


_read_once = lru_cache(maxsize=4)(_read)
"""The same, once in a process: to read a catalogue takes half of a run of few trials."""


def catalogue_of(source: RecordSource) -> ItemCatalogue | None:
    """Return the catalogue in the `info` of trials; None if there is none. BadInput for what is no catalogue."""
    document = source.info.get("catalogue")
    if document is None:
        return None
    try:
        catalogue = ItemCatalogue(document, source.path.parent if isinstance(source.path, Path) else Path())
        _ = catalogue.by_name, catalogue.nouns, catalogue.physics, catalogue.sizes
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        message = f"the catalogue of items cannot be read ({what}); generate the trials again"
        raise BadInput([Problem(message, str(source.path), "info.catalogue")]) from None
    return catalogue


def catalogue_faults(document: Any, folder: Path) -> Iterator[Fault]:
    """Yield (JSON path, message) of each mistake in a catalogue whose pictures are in `folder`."""
    wrong = shape_faults(document)
    yield from wrong or entry_faults(document, folder)
    for kind, entry in _drawn_kinds(document).items():
        art = show_path(("kinds", kind, "art"))
        yield from ((art + path, message) for path, message in drawing_faults(entry["art"]))


def shape_faults(document: Any) -> list[Fault]:
    """Return the (JSON path, message) of what has not the shape of a catalogue, drawings aside.

    The schema takes 0.2 s to check those of the shipped catalogue.
    """
    bare = {kind: {**entry, "art": []} for kind, entry in _drawn_kinds(document).items()}
    faults = schema_faults({**document, "kinds": {**document["kinds"], **bare}} if bare else document, "director")
    return [fault for fault in faults if not _IN_ART.match(fault[0])]


def _drawn_kinds(document: Any) -> dict[str, Any]:
    """Return the kinds with a drawing of what may be a catalogue."""
    kinds = document.get("kinds") if isinstance(document, dict) else None
    entries = named(kinds).items() if isinstance(kinds, dict) else ()
    return {kind: entry for kind, entry in entries if isinstance(entry, dict) and "art" in entry}


# Mistakes in words ----------------------------------------------------------------------------------------------------


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
        self.adjectives = {
            name: of_class["class"] for of_class in document["adjectives"] for name in named(of_class["values"])
        }
        self.colors = [name for name, of_class in self.adjectives.items() if of_class == COLOR]
        drawn = product(self.colors, self.kinds, range(1, len(document["sizes"]) + 1)) if self.items else ()
        self.drawn = {name_drawn_item(color, kind, size): kind for color, kind, size in drawn}
        listed = [noun for entry in self.things for noun in entry.get("nouns", ())]
        kinds = [entry.get("kind", name) for name, entry in self.items.items()]
        self.nouns = [*dict.fromkeys([*self.kinds, *kinds, *listed, ITEM])]
        """All nouns that are true of something."""


def _adjective_faults(document: Mapping[str, Any]) -> Iterator[Fault]:
    classes = [of_class["class"] for of_class in document["adjectives"]]
    known: dict[str, str] = {}
    for number, of_class in enumerate(document["adjectives"]):
        base = f"adjectives[{number}]"
        if of_class["class"] in classes[:number]:
            yield f"{base}.class", f"the class {of_class['class']!r} is listed twice; join its values"
        for name, value in named(of_class["values"]).items():
            path = f"{base}.values.{name}"
            yield from _name_faults(path, name, "adjective")
            if name in known:
                yield path, f"the adjective {name!r} is in the class {known[name]!r} already"
            known.setdefault(name, of_class["class"])
            if of_class["class"] == COLOR and "paint" not in value:
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
