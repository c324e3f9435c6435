"""Perspective-taking trials as a task: what a design can make with a catalogue, and the trials. An item is a number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from vqagen.errors import UsageError
from vqagen.files.formats import JSON, JSON_LINES
from vqagen.files.locations import content_hash, shipped
from vqagen.files.records import RecordSource
from vqagen.frozen import frozen
from vqagen.language.domain_files import PathLike, check_hashes
from vqagen.rng import below, pick, stream
from vqagen.tasks.contract import CountTally, Item, ItemRecords, Make, OptionClues, RunReport, Tally, Task
from vqagen.tasks.director.catalogue import SHIPPED_CATALOGUE, ItemCatalogue, load_catalogue_file
from vqagen.tasks.director.design import WINDOW, Cell, Design, RecordMaker, Trial
from vqagen.tasks.director.instructions import (
    SHIPPED_INSTRUCTIONS,
    find_instruction_files,
    load_instructions,
    with_shipped,
)
from vqagen.tasks.director.layout import make_loose, make_strict, partner_of
from vqagen.tasks.director.pictures import HASHES, TrialPictures, hash_of, looks_of
from vqagen.tasks.director.question_table import MOST_ADJECTIVES, Question, question_table
from vqagen.tasks.director.rules import NONE, TYPES
from vqagen.tasks.director.settings import REFERENCE, DirectorSettings
from vqagen.tasks.director.trial_plan import TrialPlan
from vqagen.tasks.director.views import KINDS
from vqagen.world.loading import SceneSource

if TYPE_CHECKING:
    from vqagen.items.builder import TableBuilder
    from vqagen.items.table import Items
    from vqagen.report.table import Report
    from vqagen.report.verification import VerificationReport

TRIES = 100
"""Draws of a trial that is to differ from the others of its window."""


QuestionGroup = tuple[TrialPlan, list[Question]]
"""Questions that are alike, as wide a noun and as many adjectives, and the plan of their trials."""


class TrialMaker:
    """Makes the trials of a design. Raises UsageError naming each cell of the design that nothing can be made for."""

    def __init__(self, catalogue: ItemCatalogue, settings: DirectorSettings) -> None:
        self.catalogue, self._settings = catalogue, settings
        table, is_loose = question_table(catalogue), settings.compat == REFERENCE
        self._questions = table.plain_questions if is_loose else table.questions
        self._make = make_loose if is_loose else make_strict
        self._groups_of = cache(self._find_groups)

    def check(self) -> None:
        """Raise UsageError if there is a cell that nothing can be made for: each reason once, with its cells."""
        cells: dict[str, list[Cell]] = {}
        for cell in Design(self._settings, 0).leaves():
            for fault in self._faults_of(cell):
                cells.setdefault(fault, []).append(cell)
        if cells:
            reasons = (f"  {_format_cells(of_fault)}: {fault}" for fault, of_fault in cells.items())
            raise UsageError("\n".join(("this design cannot be made:", *reasons)))

    def make_new(self, cell: Cell, rng: Random, known: set[object]) -> Trial:
        """Return a trial of a cell that is not `known`, and note it there. UsageError if there seems to be none."""
        groups = self._groups_of(cell.rule, cell.rule_class, cell.is_physics)
        for _ in range(TRIES):
            plan, questions = pick(rng, groups)
            trial = self._make(cell, questions[int(rng.random() * len(questions))], plan, questions, rng)
            key = (trial.question, cell.rule, trial.blocked, *trial.grid)
            if key not in known:
                known.add(key)
                return trial
        raise UsageError(f"{cell}: {TRIES} draws in a row made a trial again; choose a larger grid or more items")

    def _faults_of(self, cell: Cell) -> Iterator[str]:
        """Yield why no trial of a cell can be made: what a question without adjectives lacks, or else its words."""
        if self._groups_of(cell.rule, cell.rule_class, cell.is_physics):
            return
        is_asked = any(question.is_physics == cell.is_physics for question in self._questions)
        no_words = "the catalogue has no such question" + " with so few items, cells and sizes" * is_asked
        yield from tuple(TrialPlan(self._settings, cell.rule, cell.rule_class, 0).faults()) or (no_words,)

    def _find_groups(self, rule: str, rule_class: str, is_physics: bool) -> tuple[QuestionGroup, ...]:
        groups: dict[tuple[int, str], QuestionGroup] = {}
        for adjectives in range(MOST_ADJECTIVES + 1):
            plan = TrialPlan(self._settings, rule, rule_class, adjectives)
            if any(plan.faults()):
                continue
            for question in self._questions:
                alike = len(question.adjectives) == adjectives and question.is_physics == is_physics
                if alike and plan.fits(question):
                    groups.setdefault((adjectives, question.width), (plan, []))[1].append(question)
        return tuple(groups.values())


def _format_cells(cells: list[Cell]) -> str:
    """Return cells of a design in few words, such as `control and test trials, topmost and bottommost, physics`.

    Not every type need occur with every rule and kind.
    """
    parts = (
        " and ".join(dict.fromkeys(TYPES[cell.is_test] for cell in cells)) + " trials",
        " and ".join(dict.fromkeys(cell.rule if cell.rule != NONE else "no rule" for cell in cells)),
        " and ".join(dict.fromkeys("physics" if cell.is_physics else "no physics" for cell in cells)),
    )
    return ", ".join(parts)


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
    """Makes trials in windows, whose shares are exact. A trial depends on the seed and its window."""

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
        maker, recorder = self.maker, self.records
        rng, known = stream(self.settings.seed, TRIALS, window), set[object]()
        for number, cell in enumerate(Design(self.settings, window).cells(), start=window * self.WINDOW // 2):
            trial = maker.make_new(cell, rng, known)
            form = pick(rng, recorder.forms_of(trial))
            if not self.settings.paired:
                yield trial, form, None
                continue
            pair = [trial, partner_of(trial)]
            first = below(rng, 2)  # the order does not give away which is the test
            yield pair[first], form, number
            yield pair[1 - first], form, number

    def report(self) -> TrialReport:
        """Return an empty report."""
        return TrialReport()

    def info(self, generator: dict[str, Any]) -> dict[str, Any]:
        """Return the output's `info`, with a copy of the catalogue."""
        return {"generator": generator, "catalogue": self.catalogue.to_record()}

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
