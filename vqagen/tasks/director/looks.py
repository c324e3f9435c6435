"""How the items of a catalogue look: a drawing in a color and size, or a picture of the user's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache

from vqagen.pictures.drawing import read_drawing
from vqagen.pictures.looks import Look
from vqagen.tasks.director.catalogue import GridItem, ItemCatalogue
from vqagen.tasks.director.catalogue_words import COLOR, ITEM, spell_out


@lru_cache(maxsize=4)
def looks_of(catalogue: ItemCatalogue) -> Mapping[str, Look]:
    """Return the look of each item, by its name, in the order of the catalogue; the same ones each time."""
    tops: dict[str, int] = defaultdict(int)
    for item in catalogue.items:
        tops[item.kind] = max(tops[item.kind], item.size)
    drawings = {
        kind: read_drawing(entry["art"], f"kinds.{kind}.art")
        for kind, entry in catalogue.record["kinds"].items()
        if kind in tops
    }
    return {
        item.name: Look(
            name=item.name,
            words=catalogue.describe(item.kind, _colors(catalogue, item)),
            drawing=None if item.picture else drawings[item.kind],
            paint="" if item.picture else catalogue.paints[_colors(catalogue, item)[0]],
            picture=catalogue.folder / item.picture if item.picture else None,
            scale=_share(catalogue, item.size) / (_share(catalogue, tops[item.kind]) if item.picture else 1),
            properties=_others(catalogue, item),
            size=item.size,
            sizes=tops[item.kind],
        )
        for item in catalogue.items
    }


def _share(catalogue: ItemCatalogue, size: int) -> float:
    return catalogue.sizes[min(size, len(catalogue.sizes)) - 1]


def _colors(catalogue: ItemCatalogue, item: GridItem) -> tuple[str, ...]:
    return tuple(each for each in item.properties if catalogue.classes[each] == COLOR)


def _others(catalogue: ItemCatalogue, item: GridItem) -> tuple[str, ...]:
    """Return the nouns and adjectives that are true of an item, besides its kind, its color and `item`."""
    nouns = (catalogue.spoken(noun) for noun in item.nouns if noun not in (item.kind, ITEM))
    colors = _colors(catalogue, item)
    return (*nouns, *(spell_out(each) for each in item.properties if each not in colors))
