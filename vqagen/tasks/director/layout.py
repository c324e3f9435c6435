"""Layouts: the items of a grid, drawn without a question in mind, and every description that fits some of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, product
from random import Random
from typing import NamedTuple

from vqagen.bits import Objects, union_of
from vqagen.rng import pick, shuffled
from vqagen.tasks.director.catalogue import ITEM, ItemCatalogue

EMPTY = -1
"""Stands in a grid where no item is."""
MOST_ADJECTIVES = 2
KIND_SHARE, COLOR_SHARE = 1.3, 1.0
"""Of ten items there are three kinds and three colors: so many as the root of the items by each share."""


class ItemDescription(NamedTuple):
    """A noun and adjectives that are said of items in a grid. Sets are cells."""

    noun: str
    adjectives: tuple[str, ...]
    """In their spoken order, at most one of a class."""
    is_physics: bool
    fitting: Objects
    without: tuple[Objects, ...]
    """For each adjective what fits if it is not said."""


class LayoutMaker:
    """Draws the items of grids from a catalogue."""

    def __init__(self, catalogue: ItemCatalogue) -> None:
        self.catalogue = catalogue
        self._alike: dict[str, dict[str, list[int]]] = {}
        """Kind -> color, or "" -> the places of its items in the catalogue."""
        self._sharing: dict[str, list[str]] = {}
        """Noun or quality -> the kinds of which it is true, if there are several."""
        physics = []
        for place, item in enumerate(catalogue.items):
            color = next((word for word in item.properties if word in catalogue.paints), "")
            if item.kind not in self._alike and not catalogue.physics.isdisjoint(item.properties):
                physics.append(item.kind)
            self._alike.setdefault(item.kind, {}).setdefault(color, []).append(place)
            for word in (*item.nouns, *item.properties):
                if word not in catalogue.paints and item.kind not in self._sharing.setdefault(word, []):
                    self._sharing[word].append(item.kind)
        self._words = {
            False: [word for word, kinds in self._sharing.items() if len(kinds) > 1 and word != ITEM],
            True: [word for word in catalogue.classes if word in catalogue.physics and word in self._sharing],
        }
        """Whether a layout is to be asked about physics -> the words that two of its kinds can share."""
        self._kinds = {False: [*self._alike], True: physics or [*self._alike]}
        self._several: dict[tuple[str, ...], bool] = {}
        """Words -> whether they are true of items of several kinds."""

    def draw(self, cells: int, items: int, is_physics: bool, rng: Random) -> list[int]:
        """Return the item in each cell, or EMPTY. In half of the layouts two kinds share a noun or a quality."""
        kind_number, color_number = (max(2, round((items / share) ** 0.5)) for share in (KIND_SHARE, COLOR_SHARE))
        words, kinds = self._words[is_physics], list[str]()
        if words and rng.random() < 0.5:
            kinds = shuffled(rng, self._sharing[pick(rng, words)])[:2]
        kinds += [kind for kind in shuffled(rng, self._kinds[is_physics]) if kind not in kinds]
        kinds = kinds[:kind_number]
        colors = shuffled(rng, list(dict.fromkeys(color for kind in kinds for color in self._alike[kind])))[
            :color_number
        ]
        grid = [EMPTY] * cells
        for cell in shuffled(rng, range(cells))[:items]:
            alike = self._alike[pick(rng, kinds)]
            grid[cell] = pick(rng, alike[pick(rng, [color for color in colors if color in alike] or [*alike])])
        return grid

    def is_said(self, noun: str, adjectives: Sequence[str]) -> bool:
        """False for a wider noun that, with its adjectives, is one kind, such as "sharp plant": nobody says that."""
        if noun == ITEM or noun in self._alike:
            return True
        words = (noun, *(word for word in adjectives if word not in self.catalogue.paints))
        if words not in self._several:
            fitting = {item.kind for item in self.catalogue.items if item.true.issuperset(words)}
            self._several[words] = len(fitting) > 1
        return self._several[words]


@lru_cache(maxsize=4)
def layout_maker(catalogue: ItemCatalogue) -> LayoutMaker:
    """Return what draws from a catalogue, the same each time: what it works out serves all designs."""
    return LayoutMaker(catalogue)


def describe_items(maker: LayoutMaker, grid: Sequence[int]) -> Iterator[ItemDescription]:
    """Yield every description that fits an item of a grid, and of which nobody can doubt which items it fits."""
    catalogue = maker.catalogue
    items = [(1 << cell, catalogue.items[item]) for cell, item in enumerate(grid) if item >= 0]
    true, possible = dict[str, Objects](), dict[str, Objects]()
    for cell, item in items:
        for word in item.true:
            true[word] = true.get(word, 0) | cell
            possible[word] = possible.get(word, 0) | cell
        for word in item.unclear:
            possible[word] = possible.get(word, 0) | cell
    nouns = dict.fromkeys(noun for _, item in items for noun in item.nouns)
    for noun, adjectives in product(nouns, _adjectives(catalogue, true)):
        fitting, doubtful = true[noun], possible[noun]
        for word in adjectives:
            fitting &= true[word]
            doubtful &= possible[word]
        if not fitting or doubtful != fitting or (noun, adjectives) == (ITEM, ()):
            continue
        if maker.is_said(noun, adjectives):
            others = combinations(adjectives, len(adjectives) - 1) if adjectives else ()
            without = tuple(_all_true(true, (noun, *words)) for words in others)[::-1]
            is_physics = not catalogue.physics.isdisjoint(adjectives)
            yield ItemDescription(noun, adjectives, is_physics, fitting, without)


def _adjectives(catalogue: ItemCatalogue, true: dict[str, Objects]) -> list[tuple[str, ...]]:
    """Return what can be said before a noun: up to two adjectives of different classes."""
    said: list[tuple[str, ...]] = [()]
    classes = catalogue.classes
    for word in classes:
        if word in true:
            said += [
                (*before, word)
                for before in said
                if len(before) < MOST_ADJECTIVES and all(classes[other] != classes[word] for other in before)
            ]
    return said


def _all_true(true: dict[str, Objects], words: Sequence[str]) -> Objects:
    cells = true[words[0]]
    for word in words[1:]:
        cells &= true[word]
    return cells


def cells_of(grid: Sequence[int]) -> Objects:
    """Return the cells with an item."""
    return union_of(cell for cell, item in enumerate(grid) if item >= 0)
