"""How the items of a catalogue look, and the pictures and texts of trials: the files of a run, by their names."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import product

from vqagen.pictures.canvas import DIRECTOR, PARTICIPANT, GridStyle
from vqagen.pictures.drawing import read_drawing
from vqagen.pictures.grid_picture import GridPainter, Sprites
from vqagen.pictures.grid_text import GridWriter
from vqagen.pictures.sprites import Look, pillow
from vqagen.tasks.director.catalogue import COLOR, ITEM, GridItem, ItemCatalogue, spell_out
from vqagen.tasks.director.settings import BOTH, FILE_ENDINGS, DirectorSettings


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
    return tuple(adjective for adjective in item.properties if catalogue.classes[adjective] == COLOR)


def _others(catalogue: ItemCatalogue, item: GridItem) -> tuple[str, ...]:
    """Return the nouns and adjectives that are true of an item, besides its kind, its color and `item`."""
    nouns = (catalogue.spoken(noun) for noun in item.nouns if noun not in (item.kind, ITEM))
    colors = _colors(catalogue, item)
    return (*nouns, *(spell_out(adjective) for adjective in item.properties if adjective not in colors))


# Files of trials -----------------------------------------------------------------------------------------------------

FOLDER = "images"
HASHES = "sha256"
"""The key of a record under which each of its files has its hash."""
Draw = Callable[[Sequence[str | None], Sequence[bool]], str | bytes]


def hash_of(content: bytes) -> str:
    """Return the hash of a file, as records say it."""
    return hashlib.sha256(content).hexdigest()


class TrialPictures:
    """Makes the files of trials, in the forms and views of the settings."""

    def __init__(self, looks: Mapping[str, Look], settings: DirectorSettings) -> None:
        """Raise BadInput with every picture of the user's that cannot be read, UsageError if an extra is missing."""
        self._draws: dict[str, Draw] = {}
        """Ending of a file -> what draws it."""
        sprites: Sprites | None = None
        views = (PARTICIPANT, DIRECTOR) if settings.view == BOTH else (settings.view,)
        for form, view in product(settings.renders, views):
            style = GridStyle(settings.width, settings.height, not settings.no_figure, view)
            ending = ("-director" if view == DIRECTOR and settings.view == BOTH else "") + FILE_ENDINGS[form]
            if form in ("png", "svg"):
                painter = GridPainter(looks, style, sprites)
                sprites = painter.sprites
                if form == "png":
                    pillow("Image")
                self._draws[ending] = painter.png if form == "png" else painter.svg
            else:
                writer = GridWriter(looks, style)
                self._draws[ending] = {"md": writer.markdown, "ascii": writer.ascii, "json": writer.json}[form]

    def draw(self, number: int, cells: Sequence[str | None], blocked: Sequence[bool]) -> dict[str, bytes]:
        """Return the files of a trial by their names; the first is the picture of its record."""
        files = {f"{FOLDER}/{number:06d}{ending}": draw(cells, blocked) for ending, draw in self._draws.items()}
        return {name: content if isinstance(content, bytes) else content.encode() for name, content in files.items()}
