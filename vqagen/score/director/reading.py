"""Reads the trials of a file, also of the reference's shape, with the words and items that they are judged by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from vqagen.files.shipped import shipped
from vqagen.json.parsing import parse_json, read_text
from vqagen.json.stream import reading
from vqagen.score.director.case import Found
from vqagen.score.director.samples import SampleReader
from vqagen.score.director.text_checks import FRAMED
from vqagen.score.director.trial import TrialFault, label, read_trial
from vqagen.score.director.trial_files import TrialFile
from vqagen.score.director.vocabulary import Vocabulary, read_vocabulary

Read = Callable[[Mapping[str, Any]], Found | list[TrialFault]]
"""Returns the trial of a record, or every fault of its form."""
SHIPPED_CATALOGUE = "metadata/director.json"
TOTALS = ("total_samples", "control_samples", "test_samples")
"""Keys of a document of the reference that count its samples."""


@dataclass
class TrialReading:
    """The trials of one file, and what is known besides about them."""

    file: TrialFile
    remarks: list[str] = field(default_factory=list)
    """What the trials are judged by in place of what their file does not say."""
    _types: dict[str, int] = field(default_factory=dict)
    """Type -> samples read."""

    @cached_property
    def is_foreign(self) -> bool:
        """True for samples of another tool, whose words are those of the reference."""
        return self.file.is_of_reference_shape and "catalogue" not in self.file.info

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the run that made the trials; for samples of another tool, its looser rules."""
        return {"compat": "reference"} if self.is_foreign else self.file.settings

    @cached_property
    def vocabulary(self) -> Vocabulary | None:
        """The vocabulary of the catalogue in the info, or else the shipped one; None for samples of another tool."""
        source = str(self.file.source.path)
        if self.is_foreign:
            self.remarks.append("samples of another tool: ties, needless words and needless rules are notes")
            return None
        if "catalogue" in self.file.info:
            return read_vocabulary(self.file.info["catalogue"], source)
        self.remarks.append("no info beside the trials: judged with the catalogue that vqagen ships, without settings")
        path = shipped(SHIPPED_CATALOGUE)
        return read_vocabulary(parse_json(read_text(path), str(path)), str(path))

    @cached_property
    def read(self) -> Read:
        """Reads a record."""
        if self.file.is_of_reference_shape:
            return SampleReader(self.vocabulary, FRAMED.get(str(self.settings.get("suffix")))).read
        assert self.vocabulary is not None
        return native_read(self.vocabulary)

    def records(self) -> Iterator[Mapping[str, Any]]:
        """Yield the records. BadInput for a record that is not an object."""
        for record in self.file.source.records():
            if self.file.is_of_reference_shape:
                type_ = str(record.get("sample_type"))
                self._types[type_] = self._types.get(type_, 0) + 1
            yield record

    def faults(self) -> Iterator[TrialFault]:
        """Yield the faults of the file, once its records have been read."""
        if self.vocabulary is not None:
            sizes = list(self.vocabulary.sizes)
            if any(later <= earlier for earlier, later in pairwise(sizes)):
                message = f"sizes must grow with their level, found {sizes}"
                yield TrialFault("O12", "info.catalogue.sizes", message)
        if self.file.is_of_reference_shape and self.file.source.layout == "document":
            yield from self._total_faults()

    def _total_faults(self) -> Iterator[TrialFault]:
        counts = (sum(self._types.values()), self._types.get("control", 0), self._types.get("test", 0))
        expected = dict(zip(TOTALS, counts, strict=True))
        with reading(self.file.source.path) as reader:
            found = {key: reader.value() for key in reader.members() if key in expected}
        for key, value in found.items():
            if value != expected[key]:
                yield TrialFault("O1", key, f"written as {value}, but there are {expected[key]}")


def native_read(vocabulary: Vocabulary) -> Read:
    """Return the function that reads the records of `vqagen director`."""

    def read(record: Mapping[str, Any]) -> Found | list[TrialFault]:
        trial = read_trial(record)
        if isinstance(trial, list):
            return trial
        unknown = [cell for cell, name in enumerate(trial.cells) if name is not None and name not in vocabulary.items]
        if not unknown:
            return Found(trial, vocabulary, vocabulary.items)
        return [
            TrialFault(
                "O1",
                f"cells[{cell}]",
                f"{label(cell, trial.width)} holds {trial.cells[cell]!r}, which is not in the catalogue",
            )
            for cell in unknown
        ]

    return read
