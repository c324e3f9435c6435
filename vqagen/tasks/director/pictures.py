"""Pictures and texts of trials: the files of a run, by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from vqagen.pictures.canvas import DIRECTOR, PARTICIPANT, GridStyle
from vqagen.pictures.grid_picture import GridPainter
from vqagen.pictures.grid_text import GridWriter
from vqagen.pictures.looks import Look
from vqagen.tasks.director.settings import BOTH, FILE_ENDINGS, DirectorSettings

FOLDER = "images"
Draw = Callable[[Sequence[str | None], Sequence[bool]], str | bytes]


class _File(NamedTuple):
    """A kind of file that each trial has."""

    ending: str
    draw: Draw


class TrialPictures:
    """Makes the files of trials, in the forms and views of the settings."""

    def __init__(self, looks: Mapping[str, Look], settings: DirectorSettings) -> None:
        """Raise BadInput with every picture of the user's that cannot be read, UsageError if an extra is missing."""
        self._files = tuple(_files(looks, settings))

    def draw(self, number: int, cells: Sequence[str | None], blocked: Sequence[bool]) -> dict[str, bytes]:
        """Return the files of a trial by their names; the first is the picture of its record."""
        files = {}
        for ending, draw in self._files:
            content = draw(cells, blocked)
            files[f"{FOLDER}/{number:06d}{ending}"] = content if isinstance(content, bytes) else content.encode()
        return files


def _files(looks: Mapping[str, Look], settings: DirectorSettings) -> Iterator[_File]:
    views = (PARTICIPANT, DIRECTOR) if settings.view == BOTH else (settings.view,)
    styles: list[tuple[str, GridStyle]] = []
    for view in views:
        ending = "-director" if view == DIRECTOR and settings.view == BOTH else ""
        styles.append((ending, GridStyle(settings.width, settings.height, not settings.no_figure, view)))
    painter: GridPainter | None = None
    for form in settings.renders:
        for ending, style in styles:
            if form in ("png", "svg"):
                painter = painter.restyled(style) if painter else GridPainter(looks, style)
                if form == "png":
                    painter.require_png()
                yield _File(ending + FILE_ENDINGS[form], painter.png if form == "png" else painter.svg)
            else:
                writer = GridWriter(looks, style)
                write = {"md": writer.markdown, "ascii": writer.ascii, "json": writer.json}[form]
                yield _File(ending + FILE_ENDINGS[form], write)
