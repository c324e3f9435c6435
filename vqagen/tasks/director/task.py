"""Perspective-taking trials as a task: what a design can make with a catalogue, and the trials. An item is a number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vqagen.errors import UsageError
from vqagen.files.formats import JSON, JSON_LINES
from vqagen.files.locations import content_hash, shipped
from vqagen.files.records import RecordSource
from vqagen.frozen import frozen
from vqagen.language.domain_files import PathLike, check_hashes
from vqagen.rng import pick, stream
from vqagen.tasks.contract import CountTally, Item, ItemRecords, Make, OptionClues, RunReport, Tally, Task
from vqagen.tasks.director.catalogue import SHIPPED_CATALOGUE, ItemCatalogue, load_catalogue_file
from vqagen.tasks.director.design import DESIGN, WINDOW, RecordMaker, Trial
from vqagen.tasks.director.instructions import (
    SHIPPED_INSTRUCTIONS,
    find_instruction_files,
    load_instructions,
    with_shipped,
)
from vqagen.tasks.director.pictures import HASHES, TrialPictures, hash_of, looks_of
from vqagen.tasks.director.settings import DirectorSettings
from vqagen.tasks.director.trial_maker import TrialMaker
from vqagen.tasks.director.views import KINDS
from vqagen.world.loading import SceneSource

if TYPE_CHECKING:
    from vqagen.items.builder import TableBuilder
    from vqagen.items.table import Items
    from vqagen.report.table import Report
    from vqagen.report.verification import VerificationReport

TRIALS = "trials"


class TrialReport(RunReport):
    """The report of a run: how many trials of which type and rule class."""

    def __init__(self) -> None:
        super().__init__("trial", "trial")
        self._counts: Counter[str] = Counter()

    def add(self, tally: Mapping[str, Any]) -> None:
        """Add the tally of a block."""
        self._counts.update(tally)

    def summary(self) -> str:
        """Return the counts in a line for each type."""
        by_type: dict[str, list[str]] = {}
        for name, count in sorted(self._counts.items()):
            trial_type, _, rule_class = name.partition(" ")
            by_type.setdefault(trial_type, []).append(f"{rule_class} {count:,}")
        return "\n".join((super().summary(), *(f"{name}: {', '.join(counts)}" for name, counts in by_type.items())))

    def content(self) -> dict[str, Any]:
        """Return the counts as JSON."""
        return {**super().content(), "by_type_and_rule": dict(sorted(self._counts.items()))}


@frozen
class DirectorTask(Task):
    """Makes trials in windows, whose shares are balanced. A trial depends on the seed and its window."""

    settings: DirectorSettings
    catalogue_file: Path
    wording_files: Path

    key = TRIALS
    index_key = "trial_index"
    item = "trial"
    reads_scenes = False
    formats = (JSON_LINES, JSON)
    makes_files = True
    answer_kinds = KINDS
    WINDOW = WINDOW

    @cached_property
    def catalogue(self) -> ItemCatalogue:
        """The catalogue, loaded once. Raises VqagenError."""
        return load_catalogue_file(self.catalogue_file)

    @cached_property
    def maker(self) -> TrialMaker:
        """What makes the trials. Raises VqagenError for a design that cannot be made."""
        maker = TrialMaker(self.catalogue, self.settings)
        maker.check()
        return maker

    @cached_property
    def records(self) -> RecordMaker:
        """What words and records the trials. Raises VqagenError."""
        settings, wording = self.settings, load_instructions(self.wording_files, self.settings.suffix)
        return RecordMaker(self.catalogue, wording, settings.width, settings.height)

    @cached_property
    def pictures(self) -> TrialPictures:
        """What draws the trials. Raises VqagenError."""
        return TrialPictures(looks_of(self.catalogue) if self.settings.renders else {}, self.settings)

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The catalogue, its pictures, and the templates."""
        return (self.catalogue_file, *self._pictures, self.wording_files)

    @cached_property
    def _pictures(self) -> tuple[Path, ...]:
        items = self.catalogue.items
        return tuple(self.catalogue.folder / item.picture for item in items if item.picture)

    def hashes(self) -> dict[str, str]:
        """Return the content hash of each input, by its role."""
        return {
            "catalogue": content_hash((self.catalogue_file, *self._pictures)),
            "templates": content_hash([file.path for file in with_shipped(find_instruction_files(self.wording_files))]),
        }

    def load(self, hashes: Mapping[str, str]) -> Make:
        """Load the catalogue and the templates."""
        check_hashes(hashes, self.hashes())
        recorder, pictures = self.records, self.pictures

        def make(items: Iterable[Item], first: int, tally: Tally) -> Iterator[ItemRecords]:
            assert isinstance(tally, CountTally)
            trials = None
            for item in items:
                if trials is None:
                    trials = self.trials(item.index // self.WINDOW)
                trial, form, pair = next(trials)
                if item.index < first:
                    continue
                names, blocked = recorder.grid_of(trial)
                record = recorder.record(item.index, trial, form, names)
                if pair is not None:
                    record["pair"] = pair
                files = pictures.draw(item.index, names, blocked)
                if files:
                    record["image"] = next(iter(files))
                    record[HASHES] = {name: hash_of(content) for name, content in files.items()}
                tally[f"{record['trial_type']} {record['rule_class']}"] += 1
                yield ItemRecords(item.index, [record], files)

        return make

    def trials(self, window: int) -> Iterator[tuple[Trial, Any, int | None]]:
        """Yield the trials of a window from its first on, without end: trial, form of the instruction, pair."""
        rng, pair = stream(self.settings.seed, "texts", window), window * self.WINDOW // 2
        for number, trials in enumerate(self.maker.trials(window), start=pair):
            form = pick(rng, self.records.forms_of(trials[0]))
            for trial in trials:
                yield trial, form, number if self.settings.paired else None

    def report(self) -> TrialReport:
        """Return an empty report."""
        return TrialReport()

    def info(self, generator: dict[str, Any]) -> dict[str, Any]:
        """Return the output's `info`, with a copy of the catalogue."""
        return {"generator": generator, "design": DESIGN, "catalogue": self.catalogue.to_record()}

    @classmethod
    def read_items(cls, table: TableBuilder) -> Items:
        """Return the items of a file."""
        from vqagen.tasks.director.items import read_trials

        return read_trials(table)

    @classmethod
    def verify(
        cls,
        source: RecordSource,
        scenes: SceneSource | None,
        given: Mapping[str, Any],
        on_checked: Callable[[int], None],
    ) -> VerificationReport:
        """Return what of a file does not follow from its grids."""
        from vqagen.tasks.director.verification import verify_trials

        return verify_trials(source, given["templates"], on_checked)

    @classmethod
    def policy_statistics(cls, source: RecordSource, on_read: Callable[[int], None]) -> Report:
        """Return the statistics of trials, with the policies that miss a view or words."""
        from vqagen.tasks.director.statistics import trial_statistics

        return trial_statistics(source, on_read)

    @classmethod
    def option_clues(cls, source: RecordSource) -> tuple[Sequence[OptionClues], Sequence[str]]:
        """Return what the items in open cells tell without the instruction."""
        from vqagen.tasks.director.statistics import option_clues

        return option_clues(source)


def director_task(
    settings: DirectorSettings, catalogue: PathLike | None = None, templates: PathLike | None = None
) -> DirectorTask:
    """Return the task for a whole run, loaded and checked. Raises VqagenError before anything is written."""
    if settings.paired and settings.count % 2 + settings.start_index % 2:
        raise UsageError("--paired makes two trials of a pair: --start-index and --count must be even")
    catalogue_file = _absolute(Path(catalogue or shipped(SHIPPED_CATALOGUE)))
    wording_files = _absolute(Path(templates or shipped(SHIPPED_INSTRUCTIONS)))
    task = DirectorTask(settings, catalogue_file, wording_files)
    _ = task.maker, task.records, task.pictures
    return task


def _absolute(path: Path) -> Path:
    """Return the place of a file for a worker, which may work in another folder."""
    return path.absolute() if path.exists() else path
