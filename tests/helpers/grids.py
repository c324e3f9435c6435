"""Looks and grids for the tests of grid pictures and texts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from random import Random

from vqagen.pictures.sprites import Look
from vqagen.tasks.director.catalogue import load_catalogue_file
from vqagen.tasks.director.pictures import looks_of

Grid = tuple[list[str | None], list[bool]]
"""Items and blocked cells, row by row."""


@cache
def shipped_looks() -> Mapping[str, Look]:
    return looks_of(load_catalogue_file())


def random_grid(seed: int, width: int = 4, height: int = 4) -> Grid:
    """A grid with 60 % items and 40 % blocked cells."""
    random, names = Random(seed), list(shipped_looks())
    cells = range(width * height)
    return [random.choice(names) if random.random() < 0.6 else None for _ in cells], [
        random.random() < 0.4 for _ in cells
    ]
