"""The catalogue of items: their nouns, properties, colors and sizes, and how they are drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, Fault, Problem
from vqagen.files.parsing import parse_json, read_text, show_path
from vqagen.files.records import RecordSource
from vqagen.files.schema import schema_faults
from vqagen.files.shipped import require, shipped
from vqagen.pictures.drawing import drawing_faults
from vqagen.tasks.director.catalogue_words import (
    COLOR,
    COMMENT,
    ITEM,
    entry_faults,
    name_drawn_item,
    named,
    spell_out,
    spoken_singular,
)
from vqagen.world.findings import problem_in

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
        return {value: each["class"] for each in self.record["adjectives"] for value in named(each["values"])}

    @cached_property
    def paints(self) -> dict[str, str]:
        """Color -> its paint, such as `#d62728`."""
        colors = (each for each in self.record["adjectives"] if each["class"] == COLOR)
        return {name: entry["paint"] for each in colors for name, entry in named(each["values"]).items()}

    @cached_property
    def physics(self) -> frozenset[str]:
        """The adjectives that say how a thing behaves, which no picture shows."""
        values = (pair for each in self.record["adjectives"] for pair in named(each["values"]).items())
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
        return " ".join((*map(spell_out, self._in_order(set(adjectives))), self.spoken(noun)))

    def _drawn_items(self) -> Iterator[GridItem]:
        for kind, entry in named(self.record["kinds"]).items():
            nouns = (kind, *entry.get("nouns", ()), ITEM)
            unclear = frozenset(entry.get("unclear", ()))
            for color in self.paints:
                properties = self._in_order({*entry.get("properties", ()), color})
                for size in range(1, len(self.sizes) + 1):
                    yield GridItem(name_drawn_item(color, kind, size), kind, size, nouns, properties, unclear)

    def _pictured_items(self) -> Iterator[GridItem]:
        for name, entry in named(self.record.get("items", {})).items():
            kind = entry.get("kind", name)
            nouns = tuple(dict.fromkeys((kind, *entry.get("nouns", ()), ITEM)))
            properties = self._in_order(set(entry.get("properties", ())))
            unclear = frozenset(entry.get("unclear", ()))
            yield GridItem(name, kind, entry.get("size", 1), nouns, properties, unclear, entry["image_path"])

    def _in_order(self, properties: set[str]) -> tuple[str, ...]:
        return tuple(each for each in self.classes if each in properties)


def load_catalogue_file(path: Path | str | None = None) -> ItemCatalogue:
    """Return the catalogue of a file, by default the shipped one. BadInput with every fault, UsageError without it."""
    place = require(Path(path or shipped(SHIPPED_CATALOGUE)), "catalogue")
    text = read_text(place)
    may_change = "image_path" in text  # the pictures, which may be others by now
    return _read(text, place) if may_change else _read_once(text, place)


def _read(text: str, place: Path) -> ItemCatalogue:
    document = parse_json(text, str(place))
    faults = list(catalogue_faults(document, place.parent))
    if faults:
        raise BadInput([problem_in(str(place), *fault, text) for fault in faults])
    return ItemCatalogue(document, place.parent)


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
