"""Dialogs about scenes as a task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from vqagen.files.formats import JSON, JSON_LINES, PARQUET
from vqagen.files.locations import Location
from vqagen.language.domain_files import DomainFiles, check_hashes
from vqagen.tasks.contract import Item, ItemRecords, Make, Tally, Task
from vqagen.tasks.dialog.clevr_dialog import CLEVR_DIALOG
from vqagen.tasks.dialog.dialog_files import DialogColumns
from vqagen.tasks.dialog.generator import DialogGenerator
from vqagen.tasks.dialog.loading import LoadedDialogDomain, load_dialog_domain
from vqagen.tasks.dialog.quotas import PRESETS, AnswerBalance
from vqagen.tasks.dialog.report import DialogReport, DialogTally
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.dialog.visdial import VISDIAL, all_answers, most_objects
from vqagen.tasks.scene_windows import compiled_scenes

DIALOG_FORMATS = (JSON, JSON_LINES, PARQUET, CLEVR_DIALOG, VISDIAL)


@dataclass(frozen=True)
class DialogTask(Task):
    """Makes dialogs with their programs, coreference and answers, which are balanced in each window of scenes."""

    settings: DialogSettings
    files: DomainFiles

    key = "dialogs"
    number_key = "dialog_index"
    index_key = "scene_index"
    formats = DIALOG_FORMATS

    @cached_property
    def domain(self) -> LoadedDialogDomain:
        """The files of the domain, loaded once. Raises VqagenError."""
        return load_dialog_domain(self.files)

    @property
    def inputs(self) -> tuple[Location, ...]:
        """The files and folders that are read besides the scenes."""
        return self.files.inputs

    def hashes(self) -> dict[str, str]:
        """Return the content hash of each input, by its role."""
        return self.domain.hashes

    def load(self, hashes: Mapping[str, str]) -> Make:
        """Load the domain."""
        check_hashes(hashes, self.hashes())
        generator = DialogGenerator(self.domain, self.settings, PRESETS[self.settings.quotas])

        def make(items: Iterable[Item], first: int, tally: Tally) -> Iterator[ItemRecords]:
            assert isinstance(tally, DialogTally)
            balance: AnswerBalance | None = None
            for scene in compiled_scenes(items, self.domain.domain):
                balance = balance or generator.balance(scene.index)
                made = generator.dialogs(scene, balance)
                if scene.index >= first:
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
        """Return the domain's name and the answers that there can be."""
        values = [value for _, value in self.domain.vocabulary.values]
        return {
            "domain": self.files.name,
            "answers": all_answers(values, most_objects(self.domain.domain)),
        }

    @classmethod
    def columns(cls, info: Mapping[str, Any]) -> DialogColumns:
        """Return the columns of every output."""
        return DialogColumns()


def dialog_task(files: DomainFiles, settings: DialogSettings) -> DialogTask:
    """Return the task for a whole run, its domain loaded. Raises VqagenError."""
    task = DialogTask(settings, files)
    _ = task.domain
    return task
