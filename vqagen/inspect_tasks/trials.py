"""The trials of an evaluation as samples: read from a folder that `vqagen director generate` made, or generated.

A sample shows the grid as a picture or as text, and has all that the scorer and the report need in its metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText

from vqagen.errors import BadInput, FaultList, Problem, UsageError, counted
from vqagen.extras import needed
from vqagen.files.pictures import picture_at
from vqagen.inspect_tasks.scoring import CHANCES
from vqagen.inspect_tasks.tools import png_uri
from vqagen.pictures.canvas import GridStyle
from vqagen.pictures.grid_text import BLOCKED, MATERIAL, SYMBOL, GridWriter
from vqagen.pictures.sprites import Look
from vqagen.rng import pick, stream
from vqagen.run.making import trials as generated_trials
from vqagen.tasks.director.catalogue import ItemCatalogue, catalogue_of, load_catalogue_file
from vqagen.tasks.director.pictures import looks_of
from vqagen.tasks.director.policies import POLICIES, expected_accuracy
from vqagen.tasks.director.reading import WrittenTrial, read_trial
from vqagen.tasks.director.rules import PARTICIPANT
from vqagen.tasks.director.views import Views, kinds_of_cells
from vqagen.tasks.prompts import DIRECTOR, request, system_prompt
from vqagen.tasks.record_files import SAMPLES, find_trials, settings_of

if TYPE_CHECKING:
    from vqagen.pictures.grid_picture import GridPainter


@dataclass(frozen=True)
class TrialSet:
    """Trials with their catalogue of items."""

    name: str
    folder: Path | None
    """Their pictures are relative to it; None for trials that were just made."""
    trials: tuple[WrittenTrial, ...] = field(repr=False)
    catalogue: ItemCatalogue = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)
    """The settings that made the trials, as far as they are known."""


def read_trials(dataset: str) -> TrialSet:
    """Read the trials of a folder or file. BadInput with their faults."""
    source = find_trials(dataset)
    name, catalogue = str(source.path), catalogue_of(source)
    if source.kind is SAMPLES:
        raise UsageError(f"{name} is of the shape of another generator; name the trials that it was made of")
    if catalogue is None:
        what = "no catalogue of items in the info; generate the trials with `vqagen director generate`"
        raise BadInput([Problem(what, name, "info.catalogue")])
    folder = source.path.parent if isinstance(source.path, Path) else None
    return _trial_set(name, folder, source.records(), catalogue, settings_of(source))


def make_trials(count: int, settings: Mapping[str, Any]) -> TrialSet:
    """Make trials with the shipped catalogue. Raises VqagenError for settings that are wrong or cannot be met."""
    records = generated_trials(count=count, **settings)
    as_read = (orjson.loads(orjson.dumps(record)) for record in records)  # tuples are lists in files
    return _trial_set(counted(count, "generated trial"), None, as_read, load_catalogue_file(), settings)


def _trial_set(
    name: str,
    folder: Path | None,
    records: Iterable[Mapping[str, Any]],
    catalogue: ItemCatalogue,
    settings: Mapping[str, Any],
) -> TrialSet:
    trials, faults = list[WrittenTrial](), FaultList(name, "trial")
    for position, record in enumerate(records):
        read = read_trial(record, catalogue)
        if isinstance(read, WrittenTrial):
            trials.append(read)
        else:
            faults.add(read, f"trials[{position}]")
    faults.finish()
    if not trials:
        raise BadInput([Problem("no trials", name)])
    return TrialSet(name, folder, tuple(trials), catalogue, settings)


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
        self._text = (text, _BLOCKS[block_text])
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

    def content(self, trial: WrittenTrial, has_director: bool) -> ContentImage | ContentText:
        """Return the grid of a trial."""
        if not self.is_picture:
            return ContentText(text=self._written(trial))
        file = self._file(trial, has_director)
        return ContentImage(image=str(file) if file else png_uri(self._drawn(trial, has_director)))

    def _file(self, trial: WrittenTrial, has_director: bool) -> Path | None:
        """Return the picture in the folder of the trials; None if one must be drawn. BadInput if it is missing."""
        image, folder = trial.image, self._trials.folder
        if image is None or folder is None or not image.endswith(".png") or not self._is_own_view:
            return None
        if self._has_figure and not has_director:
            return None
        path = f"trials[{trial.index}].image"
        file = picture_at(self._trials.name, path, image, [folder])
        if file is None:
            message = f"no picture {folder / image}; generate the trials again, or use another format"
            raise BadInput([Problem(message, self._trials.name, path)])
        return file

    def _drawn(self, trial: WrittenTrial, has_director: bool) -> bytes:
        style = GridStyle(trial.width, trial.height, self._has_figure and has_director)
        if style not in self._painters:
            needed("PIL", "draw", "drawing the pictures of trials")
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
        writer = GridWriter(self.looks, GridStyle(trial.width, trial.height), *self._text)
        return _WRITERS[self.format](writer, trial.cells, _is_blocked(trial))


def _is_blocked(trial: WrittenTrial) -> list[bool]:
    return [bool(trial.blocked >> cell & 1) for cell in range(len(trial.cells))]


def samples_of(trials: TrialSet, grids: GridContent, story: str, block_text: int, thought: str) -> Iterator[Sample]:
    """Yield the sample of each trial. Media stand in the samples: Inspect rejects those that a solver adds."""
    system = system_prompt(story, block_text, thought, grids.is_picture)
    has_director = story == DIRECTOR
    for trial in trials.trials:
        text = ContentText(text=request(story, trial.instruction if has_director else trial.twin_instruction))
        yield Sample(
            id=trial.index,
            input=[
                ChatMessageSystem(content=system),
                ChatMessageUser(content=[grids.content(trial, has_director), text]),
            ],
            target=trial.labels(trial.answer if has_director else trial.twin_answers),
            metadata={
                **_conditions(trial),
                "story": story,
                "format": grids.format,
                "kinds": kinds_of_cells(Views(trial), has_director),
                **_policies(trial, has_director),
            },
        )


def _conditions(trial: WrittenTrial) -> dict[str, Any]:
    """Return the conditions of a trial. `condition` names the four crossed ones, so that they can be grouped by."""
    frame, physics = trial.frame or "none", "yes" if trial.is_physics else "no"
    return {
        "trial_type": trial.group,
        "rule_class": trial.rule_class,
        "rule": trial.rule,
        "frame": frame,
        "physics": physics,
        "condition": f"{trial.group}/{trial.rule_class}/{frame}/{'physics' if trial.is_physics else 'no physics'}",
        "pair": trial.pair,
        "cluster": f"trial {trial.index}" if trial.pair is None else f"pair {trial.pair}",
    }


def _policies(trial: WrittenTrial, has_director: bool) -> dict[str, Any]:
    """Return the cell that each policy answers with, as a label, and how probably it is right.

    Without a director, no cell is blocked, and all that fits is right.
    """
    seen = trial if has_director else replace(trial, blocked=0, frame=PARTICIPANT, answer=trial.participant_answers)
    views = Views(seen)
    chosen = {name: trial.labels(choose(views)) for name, (_, choose) in POLICIES.items()}
    cells = {name: pick(stream(0, f"policy {name}", trial.index), cells) for name, cells in chosen.items() if cells}
    return {
        "policies": cells,
        CHANCES: {name: expected_accuracy(choose, views) for name, (_, choose) in POLICIES.items()},
    }
