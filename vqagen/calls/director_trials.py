"""Director trials as typed calls: their design, their records, and folders of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vqagen.calls.keyword_settings import make_settings, shows_settings
from vqagen.exchange.participant_lists import ListPlan, ListReport, write_lists
from vqagen.language.domain_files import PathLike
from vqagen.run.items import number_items
from vqagen.run.options import RunOptions
from vqagen.run.progress import OnProgress
from vqagen.run.windows import Span
from vqagen.run.writing import write_records
from vqagen.tasks.contract import RunReport
from vqagen.tasks.director.catalogue import load_catalogue_file
from vqagen.tasks.director.design import number_of_trials
from vqagen.tasks.director.maker import CellFeasibility, TrialMaker
from vqagen.tasks.director.settings import DirectorSettings
from vqagen.tasks.director.task import DirectorTask, director_task


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
    task = director_task(chosen, catalogue, templates)
    return _records_of_numbers(task)


def export_trials(
    trials: PathLike,
    out: PathLike,
    *,
    lists: int,
    per_list: int,
    seed: int = 0,
    force: bool = False,
) -> ListReport:
    """Write lists of the trials in a folder for participants, balanced over the cells of the design.

    The lists are one CSV table. Raises UsageError if a cell has too few trials, or pairs cannot be kept apart.
    """
    return write_lists(str(trials), str(out), ListPlan(lists, per_list, seed), force)


def _records_of_numbers(task: DirectorTask) -> Iterator[dict[str, Any]]:
    """Yield the records of a task about numbers, made in this process."""
    make, span = task.load(task.hashes()), Span(task.settings.start_index, task.settings.count)
    for window in number_items(task.item, span, task.window).windows(span.first):
        for about in make(window, span.first, task.tally()):
            yield from map(dict, about.records)
