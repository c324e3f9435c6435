"""Dialogs about scenes as a task, and the report of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vqagen.errors import counted
from vqagen.files.formats import JSON, JSON_LINES, PARQUET
from vqagen.files.locations import Location
from vqagen.files.records import RecordSource
from vqagen.frozen import frozen
from vqagen.language.domain_files import DomainFiles, check_hashes
from vqagen.language.synonyms import vocabulary_record
from vqagen.tasks.contract import Item, ItemRecords, Make, RunReport, Tally, Task, compiled_scenes
from vqagen.tasks.dialog.dialog_files import DialogColumns, dialog_of_row
from vqagen.tasks.dialog.loading import LoadedDialogDomain, load_dialog_domain
from vqagen.tasks.dialog.quotas import PRESETS, AnswerBalance
from vqagen.tasks.dialog.search import DialogGenerator
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.world.domain import Domain
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene

if TYPE_CHECKING:
    from vqagen.items.builder import TableBuilder
    from vqagen.items.table import Items
    from vqagen.report.table import Report
    from vqagen.report.verification import VerificationReport

SHOWN_SCENES = 5
"""Scenes with too few dialogs that a summary names."""
MOST_OBJECTS = 10
"""Objects of a scene, for a domain that does not say how many its scenes have: those of CLEVR."""
MOST_COUNTED = 1000
"""Larger numbers of objects are not listed as answers beforehand."""


class DialogTally:
    """Counts of what was made, as JSON: those of a block, or of a whole run."""

    def __init__(self) -> None:
        self.counts: dict[str, Any] = {
            "scenes": 0,
            "relaxed": 0,  # dialogs that were found only without quotas
            "labels": Counter(),
            "captions": Counter(),
            "short": [],  # [scene, image, dialogs, {reason: dialogs that it cost}] of each scene with too few
        }

    def count(self, scene: Scene, dialogs: Sequence[Mapping[str, Any]], failures: Mapping[str, int]) -> None:
        """Count the dialogs of a scene."""
        counts = {
            "scenes": 1,
            "relaxed": sum("relaxed" in dialog for dialog in dialogs),
            "labels": Counter(round["label"] for dialog in dialogs for round in dialog["rounds"]),
            "captions": Counter(dialog["caption"]["label"] for dialog in dialogs),
            "short": [[scene.index, scene.image, len(dialogs), dict(failures)]] if failures else [],
        }
        self.add(counts)

    def add(self, counts: Mapping[str, Any]) -> None:
        """Add the counts of another tally."""
        for name, count in counts.items():
            self.counts[name] += Counter(count) if isinstance(count, Mapping) else count

    def take(self) -> dict[str, Any]:
        """Return the counts, and start again from zero."""
        taken = self.to_record()
        self.counts = DialogTally().counts
        return taken

    def to_record(self) -> dict[str, Any]:
        """Return the counts as JSON."""
        labels, captions = (dict(sorted(self.counts[name].items())) for name in ("labels", "captions"))
        return {**self.counts, "labels": labels, "captions": captions}


class DialogReport(RunReport):
    """The report of a run: dialogs, rounds by label, captions, and the scenes that have too few dialogs."""

    def __init__(self, settings: DialogSettings) -> None:
        super().__init__("dialog", "scene")
        self.settings = settings
        self.tally = DialogTally()

    def add(self, tally: Mapping[str, Any]) -> None:
        """Add the tally of a block."""
        self.tally.add(tally)

    @property
    def is_complete(self) -> bool:
        """True if every scene has all dialogs that were asked for, as far as is known."""
        return not self.tally.counts["short"]

    def content(self) -> dict[str, Any]:
        """Return the part of the report that is the same for the same settings and inputs."""
        counts, keys = self.tally.to_record(), ("index", "image", "dialogs", "missing")
        short = [dict(zip(keys, entry, strict=True)) for entry in counts.pop("short")]
        return {"dialogs": self.records, **counts, "short_scenes": short, "settings": self.settings.to_record()}

    def summary(self) -> str:
        """Return dialogs and scenes; then the scenes that have too few, and why."""
        scenes, relaxed = self.tally.counts["scenes"], self.tally.counts["relaxed"]
        if not scenes:
            return f"no dialogs: there is no scene from index {self.settings.start_index} on"
        made = f"{counted(self.records, 'dialog')} of {counted(self.settings.rounds, 'round')}"
        lines = [f"{made} about {counted(scenes, 'scene')}"]
        lines += [f"  relaxed: {counted(relaxed, 'dialog')} found only without quotas"] if relaxed else []
        return "\n".join([*lines, *self._short()])

    def _short(self) -> Iterator[str]:
        short, wanted = self.tally.counts["short"], self.settings.dialogs_per_image
        if short:
            yield f"  short: {counted(len(short), 'scene')} with fewer than {counted(wanted, 'dialog')}"
        for index, image, made, failures in short[:SHOWN_SCENES]:
            why = ", ".join(f"{reason} {count}×" for reason, count in failures.items())
            yield f"    scene {index} ({image or 'of no image'}): {counted(made, 'dialog')}; {why}"
        if len(short) > SHOWN_SCENES:
            yield f"    … and {counted(len(short) - SHOWN_SCENES, 'more scene')}"


# The task -------------------------------------------------------------------------------------------------------------


@frozen
class DialogTask(Task):
    """Makes dialogs with their programs, coreference and answers, which are balanced in each window of scenes."""

    settings: DialogSettings
    files: DomainFiles

    key = "dialogs"
    number_key = "dialog_index"
    index_key = "scene_index"
    formats = (JSON, JSON_LINES, PARQUET)

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
                dialogs, failures = generator.dialogs(scene, balance)
                if scene.index >= first:
                    tally.count(scene, dialogs, failures)
                    yield ItemRecords(scene.index, dialogs)

        return make

    def tally(self) -> DialogTally:
        """Return an empty tally."""
        return DialogTally()

    def report(self) -> DialogReport:
        """Return an empty report."""
        return DialogReport(self.settings)

    def generator_info(self) -> dict[str, Any]:
        """Return the domain's name and words, and the answers that there can be."""
        values = (value for _, value in self.domain.vocabulary.values)
        return {
            "domain": self.files.known_as,
            "vocabulary": vocabulary_record(self.domain.domain, self.domain.synonyms),
            "answers": all_answers(values, most_objects(self.domain.domain)),
        }

    @classmethod
    def columns(cls, info: Mapping[str, Any]) -> DialogColumns:
        """Return the columns of every output."""
        return DialogColumns()

    @classmethod
    def restored(cls, row: dict[str, Any]) -> dict[str, Any]:
        """Return the dialog that a row was made of; a row of another program, which is no such dialog, as it is."""
        return dialog_of_row(row)

    @classmethod
    def read_items(cls, table: TableBuilder) -> Items:
        """Return the items of a file."""
        from vqagen.tasks.dialog.items import read_dialogs

        return read_dialogs(table)

    @classmethod
    def verify(
        cls,
        source: RecordSource,
        scenes: SceneSource | None,
        given: Mapping[str, Any],
        on_checked: Callable[[int], None],
    ) -> VerificationReport:
        """Return what of a file does not follow from its scenes."""
        from vqagen.tasks.dialog.verification import verify_file

        return verify_file(source, scenes, given, on_checked)

    @classmethod
    def statistics(cls, items: Items, guessed: Mapping[str, Any] | None, notes: Sequence[str]) -> Report:
        """Return the statistics of a table of items."""
        from vqagen.tasks.dialog.statistics import dialog_statistics

        return dialog_statistics(items, guessed, notes)


def all_answers(values: Iterable[str], most: int) -> list[str]:
    """Return the answers that dialogs can have: yes, no, none, the values, and the numbers up to `most` objects.

    >>> all_answers(["red", "cube"], 2)
    ['yes', 'no', 'none', 'red', 'cube', '0', '1', '2']
    """
    return ["yes", "no", "none", *dict.fromkeys(values), *map(str, range(most + 1))]


def most_objects(domain: Domain) -> int:
    """Return how many objects a scene of a domain can have: those of its sampled scenes. Others may have more."""
    match domain.record.get("sampling"):
        case {"objects": [int(), int(most)]} if 0 < most <= MOST_COUNTED:
            return most
    return MOST_OBJECTS


def dialog_task(files: DomainFiles, settings: DialogSettings) -> DialogTask:
    """Return the task for a whole run, its domain loaded. Raises VqagenError."""
    task = DialogTask(settings, files)
    _ = task.domain
    return task
