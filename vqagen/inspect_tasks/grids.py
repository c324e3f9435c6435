"""The grid of a trial as a model gets it: as a picture or as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_ai.model import ContentImage, ContentText

from vqagen.errors import BadInput, Problem, counted
from vqagen.inspect_tasks.tools import check_pillow, png_uri
from vqagen.inspect_tasks.trials import LoadedTrial, TrialSet
from vqagen.pictures.canvas import PARTICIPANT, GridStyle
from vqagen.pictures.grid_text import BLOCKED, MATERIAL, SYMBOL, GridWriter, TextStyle
from vqagen.pictures.looks import Look
from vqagen.tasks.director.pictures import looks_of
from vqagen.tasks.director.reading import WrittenTrial

if TYPE_CHECKING:
    from vqagen.pictures.grid_picture import GridPainter

IMAGE, ASCII, JSON, MARKDOWN = FORMATS = "image", "ascii", "json", "md"
_WRITERS: Mapping[str, Callable[..., str]] = {
    ASCII: GridWriter.ascii,
    JSON: GridWriter.json,
    MARKDOWN: GridWriter.markdown,
}
_BLOCKS = (BLOCKED, SYMBOL, MATERIAL)
"""How texts show blocked cells, for each description of them in the prompts."""


class GridContent:
    """Shows the grids of trials in one format.

    A picture in the folder of the trials is taken as it is if it is a PNG of the participant's view, and shows the
    director only where there is one. Other pictures are drawn, and so need the extra `draw`.
    """

    def __init__(self, trials: TrialSet, format: str, text: str, block_text: int) -> None:
        self.format = format
        self._trials, settings = trials, trials.settings
        self._text = TextStyle(text, _BLOCKS[block_text])
        self._painters: dict[GridStyle, GridPainter] = {}
        # Files of earlier versions say `figure`; trials that were just made say only what was asked for.
        self._has_figure = bool(settings.get("figure", not settings.get("no_figure", trials.folder is not None)))
        self._is_own_view = settings.get("view", PARTICIPANT) != "director"

    @property
    def is_picture(self) -> bool:
        """True if pictures are shown."""
        return self.format == IMAGE

    @cached_property
    def looks(self) -> Mapping[str, Look]:
        """How each item of the catalogue looks."""
        return looks_of(self._trials.catalogue)

    def content(self, each: LoadedTrial, has_director: bool) -> ContentImage | ContentText:
        """Return the grid of a trial."""
        if not self.is_picture:
            return ContentText(text=self._written(each.trial))
        file = self._file(each, has_director)
        return ContentImage(image=str(file) if file else png_uri(self._drawn(each.trial, has_director)))

    def _file(self, each: LoadedTrial, has_director: bool) -> Path | None:
        """Return the picture in the folder of the trials; None if one must be drawn. BadInput if it is missing."""
        image, folder = each.trial.image, self._trials.folder
        if image is None or folder is None or not image.endswith(".png") or not self._is_own_view:
            return None
        if self._has_figure and not has_director:
            return None
        file = folder / image
        if not file.is_file():
            message = f"no picture {file}; generate the trials again, or use another format"
            raise BadInput([Problem(message, self._trials.name, f"trials[{each.trial.index}].image")])
        return file

    def _drawn(self, trial: WrittenTrial, has_director: bool) -> bytes:
        style = GridStyle(trial.width, trial.height, self._has_figure and has_director)
        if style not in self._painters:
            check_pillow("drawing the pictures of trials")
            self._raise_unfound_pictures()
            from vqagen.pictures.grid_picture import GridPainter

            self._painters[style] = GridPainter(self.looks, style)
        return self._painters[style].png(trial.cells, _is_blocked(trial))

    def _raise_unfound_pictures(self) -> None:
        """Raise BadInput if items have pictures of their own: a folder of trials does not hold their files."""
        unfound = [look.name for look in self.looks.values() if look.picture and not look.picture.is_file()]
        if unfound:
            what = f"no files of {counted(len(unfound), 'own picture')}, such as that of {unfound[0]}"
            message = f"{what}; generate the trials with --render png, or use another format"
            raise BadInput([Problem(message, self._trials.name, "info.catalogue.items")])

    def _written(self, trial: WrittenTrial) -> str:
        writer = GridWriter(self.looks, GridStyle(trial.width, trial.height), self._text)
        return _WRITERS[self.format](writer, trial.cells, _is_blocked(trial))


def _is_blocked(trial: WrittenTrial) -> list[bool]:
    return [bool(trial.blocked >> cell & 1) for cell in range(len(trial.cells))]
