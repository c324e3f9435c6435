"""Dialogs about scenes as a task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from vqagen.files.locations import Location
from vqagen.files.reading import content_hash
from vqagen.language.domain_files import DomainFiles, check_hashes
from vqagen.tasks.contract import Item, ItemRecords, Make, Tally, Task
from vqagen.tasks.dialog.columns import DialogColumns
from vqagen.tasks.dialog.formats import DIALOG_FORMATS
from vqagen.tasks.dialog.generator import DialogGenerator
from vqagen.tasks.dialog.loading import LoadedDialogDomain, load_dialog_domain
from vqagen.tasks.dialog.prospect import check_quotas
from vqagen.tasks.dialog.quotas import PRESETS, Quotas, quotas_named
from vqagen.tasks.dialog.report import DialogReport, DialogTally
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.dialog.shapes.visdial import all_answers, most_objects
from vqagen.tasks.scene_windows import compiled_scenes


@dataclass(frozen=True)
class DialogTask(Task):
    """Makes dialogs with their programs, coreference and answers. Each scene's depend on the scene alone."""

    settings: DialogSettings
    files: DomainFiles

    key = "dialogs"
    number_key = "dialog_index"
    index_key = "scene_index"
    formats = DIALOG_FORMATS
    WINDOW = 50

    @cached_property
    def domain(self) -> LoadedDialogDomain:
        """The files of the domain, loaded once. Raises VqagenError."""
        return load_dialog_domain(self.files)

    @cached_property
    def quotas(self) -> Quotas:
        """The quotas, loaded once. Raises UsageError or BadInput."""
        quotas = quotas_named(self.settings.quotas)
        check_quotas(quotas, self.settings.rounds)
        return quotas

    @property
    def inputs(self) -> tuple[Location, ...]:
        """The files and folders that are read besides the scenes."""
        return (*self.files.inputs, *self._quota_files)

    @property
    def _quota_files(self) -> tuple[Path, ...]:
        return () if self.settings.quotas in PRESETS else (Path(self.settings.quotas),)

    def hashes(self) -> dict[str, str]:
        """Return the content hash of each input, by its role."""
        quotas = {"quotas": content_hash(self._quota_files)} if self._quota_files else {}
        return {**self.domain.hashes, **quotas}

    def load(self, hashes: Mapping[str, str]) -> Make:
        """Load the domain and the quotas."""
        check_hashes(hashes, self.hashes())
        generator = DialogGenerator(self.domain, self.settings, self.quotas)

        def make(items: Iterable[Item], first: int, tally: Tally) -> Iterator[ItemRecords]:
            assert isinstance(tally, DialogTally)
            for scene in compiled_scenes(items, self.domain.domain):
                if scene.index >= first:
                    made = generator.dialogs(scene)
                    tally.count(scene, made)
                    yield ItemRecords(scene.index, made.records)

        return make

    def tally(self) -> DialogTally:
        """Return an empty tally."""
        return DialogTally()

    def report(self) -> DialogReport:
        """Return an empty report."""
        return DialogReport(self.settings)

    def generator_info(self) -> dict[str, Any]:
        """Return the domain's name, the answers that there can be, and the quotas if they are the user's own."""
        quotas = {"quotas": self.quotas.to_record()} if self._quota_files else {}
        values = [value for _, value in self.domain.vocabulary.values]
        return {
            "domain": self.files.name,
            "answers": all_answers(values, most_objects(self.domain.domain)),
            **quotas,
        }

    @classmethod
    def columns(cls, info: Mapping[str, Any]) -> DialogColumns:
        """Return the columns of every output."""
        return DialogColumns()


def dialog_task(files: DomainFiles, settings: DialogSettings) -> DialogTask:
    """Return the task for a whole run, its domain and quotas loaded. Raises VqagenError."""
    if settings.quotas not in PRESETS and Path(settings.quotas).is_file():  # a worker may work in another folder
        settings = replace(settings, quotas=str(Path(settings.quotas).absolute()))
    task = DialogTask(settings, files)
    _ = task.domain, task.quotas
    return task
