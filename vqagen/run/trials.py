"""Typed calls that make director trials, apart from the others since they load numpy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vqagen.language.domain_files import PathLike
from vqagen.run.making import make_settings, records_of, shows_settings
from vqagen.run.options import RunOptions
from vqagen.run.progress import OnProgress
from vqagen.run.writing import write_records
from vqagen.tasks.contract import RunReport
from vqagen.tasks.director.catalogue import load_catalogue_file
from vqagen.tasks.director.design import number_of_trials
from vqagen.tasks.director.settings import DirectorSettings
from vqagen.tasks.director.task import CellFeasibility, DirectorTask, TrialMaker, director_task


def write_trials(
    out: PathLike,
    settings: DirectorSettings,
    *,
    catalogue: PathLike | None = None,
    templates: PathLike | None = None,
    format: str | None = None,
    options: RunOptions | None = None,
    shard: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> RunReport:
    """Make director trials with items of a catalogue, and write them to the folder `out`; see `write_records`."""
    task = director_task(settings, catalogue, templates)
    return write_records(task, out, format=format, options=options, shard=shard, on_progress=on_progress)


def trial_design(settings: DirectorSettings, *, catalogue: PathLike | None = None) -> list[tuple[CellFeasibility, int]]:
    """Return for each cell of a design what can be made, and how many trials (or pairs) a run makes of it."""
    maker = TrialMaker(load_catalogue_file(None if catalogue is None else str(catalogue)), settings)
    numbers = number_of_trials(settings, DirectorTask.WINDOW)
    return [(each, numbers[each.cell]) for each in maker.feasibility]


@shows_settings(DirectorSettings)
def trials(
    *, catalogue: PathLike | None = None, templates: PathLike | None = None, **settings: Any
) -> Iterator[dict[str, Any]]:
    """Yield the records of director trials as `vqagen director generate` makes them, without pictures.

    `settings` are the fields of `DirectorSettings`: count, and others such as seed, width or paired. Raises VqagenError
    before the first trial for a design that cannot be made.
    """
    chosen = make_settings(DirectorSettings, {"render": ("none",), **settings})
    return records_of(director_task(chosen, catalogue, templates))
