"""Files and folders of trials, found and read as records; also those of the reference's shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, PlaceError, Problem, describe
from vqagen.files.locations import Location, locate
from vqagen.files.shipped import require
from vqagen.records.discovery import find_records
from vqagen.records.info import find_info_beside
from vqagen.records.source import RecordSource
from vqagen.score.file_kinds import SAMPLES, TRIALS, first_kind, record_file

SETTINGS: Mapping[str, tuple[tuple[type, ...], str]] = {
    **dict.fromkeys(("start_index", "count", "width", "height"), ((int,), "a whole number")),
    **dict.fromkeys(("fill", "blocked", "related", "related_blocked"), ((int, float), "a number")),
    **dict.fromkeys(("test_share", "size_share", "vertical_share", "horizontal_share"), ((int, float), "a number")),
    "physics_share": ((int, float), "a number"),
    **dict.fromkeys(("questions", "suffix", "compat", "view"), ((str,), "a text")),
    **dict.fromkeys(("paired", "figure", "no_figure"), ((bool,), "true or false")),
    "render": ((list,), "a list"),
}
"""Setting that trials are compared with, or shown by -> (the types of its values, the expected value in messages)."""


@dataclass(frozen=True)
class TrialFile:
    """Trials that have been found and not yet read."""

    source: RecordSource
    info: Mapping[str, Any]
    """Empty for files of other tools."""

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the run that made the trials, if they are known. BadInput for values of other types."""
        found = self._generator.get("settings")
        given = {name: found[name] for name in SETTINGS if name in found} if isinstance(found, Mapping) else {}
        faults = [
            Problem(f"expected {expected}, found {describe(given[name])}", str(self.source.path), setting_path(name))
            for name, (types, expected) in SETTINGS.items()
            if name in given and not (isinstance(given[name], types) and (bool in types or given[name] is not True))
        ]
        if faults:
            raise BadInput(faults)
        return given

    @property
    def window(self) -> int | None:
        """Trials in a window of the run; None if it is unknown."""
        match self._generator:
            case {"arrangement": {"window": int(window)}}:
                return window
        return None

    @property
    def is_of_reference_shape(self) -> bool:
        """True for samples in the shape of the reference's dataset."""
        return self.source.kind is SAMPLES

    @property
    def folder(self) -> Location | None:
        """The folder of the records, which pictures are relative to; None if that is not a local folder."""
        return self.source.path.parent if isinstance(self.source.path, Path) else None

    @property
    def _generator(self) -> Mapping[str, Any]:
        found = self.info.get("generator")
        return found if isinstance(found, Mapping) else {}


def setting_path(name: str) -> str:
    """Return the JSON path of a setting in the file."""
    return f"info.generator.settings.{name}"


def find_trials(path: Location | str) -> TrialFile:
    """Find the trials of a folder or file. UsageError where there is none, BadInput for what are no trials."""
    path = require(locate(path), TRIALS.key)
    if path.is_dir() and record_file(path) is None:
        raise PlaceError(f"no trials in folder {path}: expected {TRIALS.key}.jsonl or {TRIALS.key}.json in it")
    file = record_file(path) or path
    source = find_records(file, SAMPLES if first_kind(file) is SAMPLES else TRIALS)
    info = source.info or find_info_beside(file)
    return TrialFile(source, info if isinstance(info, Mapping) else {})
