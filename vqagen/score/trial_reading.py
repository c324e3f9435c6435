"""Reads the trials of a file with the items in their cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from vqagen.errors import Fault
from vqagen.files.source import RecordSource
from vqagen.score.file_kinds import SAMPLES
from vqagen.score.origin import settings_of
from vqagen.tasks.director.catalogue import ItemCatalogue, catalogue_of, load_catalogue_file
from vqagen.tasks.director.reading import WrittenTrial, read_sample, read_trial
from vqagen.tasks.director.settings import ALWAYS

FOREIGN = "samples of another tool: ties, needless words and needless rules are notes"
UNSAID = "no info beside the trials: judged with the catalogue that vqagen ships, without settings"


class TrialReader(NamedTuple):
    """Reads the records of a file with the items in their cells, which `Views` need."""

    read: Callable[[Mapping[str, Any]], WrittenTrial | list[Fault]]
    catalogue: ItemCatalogue | None
    """That of the info, else the shipped one; None for samples of another tool, which describe their items."""
    remark: str
    """What the trials are read by in place of what their file does not say; "" if it says all."""


def trial_reader(source: RecordSource) -> TrialReader:
    """Return what reads the trials or samples of a source."""
    catalogue, suffix = catalogue_of(source), str(settings_of(source).get("suffix", ALWAYS))
    remark = "" if catalogue else FOREIGN if source.kind is SAMPLES else UNSAID
    if source.kind is SAMPLES:
        return TrialReader(partial(read_sample, catalogue=catalogue, suffix=suffix), catalogue, remark)
    catalogue = catalogue or load_catalogue_file()
    return TrialReader(partial(read_trial, catalogue=catalogue), catalogue, remark)
