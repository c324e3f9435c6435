"""The trials of an evaluation: read from a folder that `vqagen director generate` made, or generated on the spot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from vqagen.errors import BadInput, Problem, UsageError, counted
from vqagen.files.fault_list import FaultList
from vqagen.run.trials import trials as generated_trials
from vqagen.score.file_kinds import SAMPLES, find_trials
from vqagen.score.origin import settings_of
from vqagen.tasks.director.catalogue import ItemCatalogue, catalogue_of, load_catalogue_file
from vqagen.tasks.director.reading import WrittenTrial, read_trial


@dataclass(frozen=True)
class LoadedTrial:
    """A trial and its record."""

    trial: WrittenTrial
    record: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class TrialSet:
    """Trials with their catalogue of items."""

    name: str
    folder: Path | None
    """Their pictures are relative to it; None for trials that were just made."""
    trials: tuple[LoadedTrial, ...] = field(repr=False)
    catalogue: ItemCatalogue = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)
    """The settings that made the trials, as far as they are known."""


def read_trials(dataset: str) -> TrialSet:
    """Read the trials of a folder or file. BadInput with their faults."""
    source = find_trials(dataset)
    name, catalogue = str(source.path), catalogue_of(source)
    if source.kind is SAMPLES:
        raise UsageError(f"{name} is of the shape of another generator; generate trials without --format reference")
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
    trials, faults = list[LoadedTrial](), FaultList(name, "trial")
    for position, record in enumerate(records):
        read = read_trial(record, catalogue)
        if isinstance(read, WrittenTrial):
            trials.append(LoadedTrial(read, record))
        else:
            faults.add(read, f"trials[{position}]")
    faults.finish()
    if not trials:
        raise BadInput([Problem("no trials", name)])
    return TrialSet(name, folder, tuple(trials), catalogue, settings)
