"""Questions about scenes as a task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vqagen.files.formats import JSON, JSON_LINES, PARQUET
from vqagen.files.locations import Location, content_hash, locate
from vqagen.files.records import RecordSource
from vqagen.files.shipped import require
from vqagen.language.domain_files import DomainFiles, LoadedDomain, PathLike, check_hashes
from vqagen.language.question import Question, record_writer
from vqagen.language.synonyms import vocabulary_record
from vqagen.tasks.contract import Item, ItemRecords, Make, Tally as AnyTally, Task
from vqagen.tasks.questions.chosen_templates import load_families, warn_skipped
from vqagen.tasks.questions.columns import QuestionColumns
from vqagen.tasks.questions.exclusion import Exclusion, QuestionSelection, load_exclusion
from vqagen.tasks.questions.generator import QuestionGenerator
from vqagen.tasks.questions.report import QuestionReport, Tally
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm
from vqagen.tasks.scene_windows import compiled_scenes
from vqagen.world.domain import Domain
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene

if TYPE_CHECKING:
    from vqagen.items.builder import TableBuilder
    from vqagen.items.table import Items
    from vqagen.report.table import Report
    from vqagen.report.verification import VerificationReport


@dataclass(frozen=True)
class QuestionTask(Task):
    """Makes questions with their programs and answers."""

    settings: QuestionSettings
    files: DomainFiles
    form: RecordForm = field(default_factory=RecordForm)
    disjoint_from: tuple[Location, ...] = ()
    """Files of questions that must not be asked again."""

    key = "questions"
    number_key = "question_index"
    index_key = "scene_index"
    formats = (JSON, JSON_LINES, PARQUET)

    @cached_property
    def excluded_hashes(self) -> dict[str, str]:
        """The content hash of the questions that must not be asked, by its role. Taken once."""
        return {"disjoint_from": content_hash(self.disjoint_from)} if self.disjoint_from else {}

    @cached_property
    def domain(self) -> LoadedDomain:
        """The files of the domain, loaded once. Raises VqagenError."""
        return load_families(self.files, self.settings)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the templates with the task if they are loaded: reading them again takes a worker 20 times as long.

        A worker may work in another folder.
        """
        loaded = {"domain": self.domain} if "domain" in self.__dict__ else {}
        found = tuple(path.absolute() if isinstance(path, Path) else path for path in self.disjoint_from)
        return {**super().__getstate__(), **loaded, "disjoint_from": found}

    @property
    def window_setting(self) -> str:
        """The setting that says how many scenes make a window."""
        return "reset_counts_every"

    @property
    def reads_ahead(self) -> bool:
        """True if the partner of a pair may be a later scene."""
        return self.settings.reads_ahead

    @property
    def inputs(self) -> tuple[Location, ...]:
        """The files and folders that are read besides the scenes."""
        return (*self.files.inputs, *self.disjoint_from)

    def hashes(self) -> dict[str, str]:
        """Return the content hash of each input, by its role."""
        return {**self.domain.hashes, **self.excluded_hashes}

    def load(self, hashes: Mapping[str, str]) -> Make:
        """Load the domain and what must not be asked. Templates are made ready when the first window comes."""
        domain_hashes = {role: known for role, known in hashes.items() if role != "disjoint_from"}
        check_hashes(domain_hashes, self.domain.hashes)
        exclusion = load_exclusion(self.disjoint_from, hashes.get("disjoint_from", ""))
        generator = cache(lambda: self.generator(self.form.trace, exclusion))
        to_record = record_writer(self.form.dialect, **self.form.to_record(), is_encoded=True)

        def make(items: Iterable[Item], first: int, tally: AnyTally) -> Iterator[ItemRecords]:
            assert isinstance(tally, Tally)
            for scene, questions in questions_about(items, self.domain.domain, generator(), tally, first):
                yield ItemRecords(scene.index, (to_record(each) for each in questions))

        return make

    def generator(self, marks: bool = False, exclusion: Exclusion | None = None) -> QuestionGenerator:
        """Return the generator of questions as objects; see `QuestionGenerator`."""
        return QuestionGenerator(self.domain.templates, self.domain.synonyms, self.settings, marks, exclusion)

    def tally(self) -> Tally:
        """Return an empty tally."""
        return Tally()

    def report(self) -> QuestionReport:
        """Return an empty report; warn of the templates that are skipped for their mistakes."""
        skipped = self.domain.skipped
        warn_skipped(skipped)
        return QuestionReport(self.settings, self.domain.templates, self.form.dialect, [bad.id for bad in skipped])

    def generator_info(self) -> dict[str, Any]:
        """Return the domain's name and words, the form of the records, and the families by their number."""
        families = [template.id for template in self.domain.templates]
        return {
            "domain": self.files.known_as,
            "vocabulary": vocabulary_record(self.domain.domain, self.domain.synonyms),
            "records": self.form.to_record(),
            "families": families,
            "answer_types": _answer_types(self.domain),
        }

    def info(self, generator: dict[str, Any]) -> dict[str, Any]:
        """Return the output's `info`, which names the dialect."""
        return {"generator": generator, "dialect": self.form.dialect}

    @classmethod
    def columns(cls, info: Mapping[str, Any]) -> QuestionColumns:
        """Return the columns of an output with this info."""
        generator = info["generator"]
        form = RecordForm(info["dialect"], **generator["records"])
        are_paired = generator.get("settings", {}).get("balance") == "pairs"
        return QuestionColumns(form, generator.get("answer_types", {}), are_paired)

    @classmethod
    def selection(cls, info: Mapping[str, Any]) -> QuestionSelection | None:
        """Return what chooses from all questions if the settings have a rule about the whole output."""
        return QuestionSelection() if info["generator"]["settings"]["dedupe"] == "all" else None

    @classmethod
    def read_items(cls, table: TableBuilder) -> Items:
        """Return the items of a file."""
        from vqagen.tasks.questions.items import read_questions

        return read_questions(table)

    @classmethod
    def verify(
        cls,
        source: RecordSource,
        scenes: SceneSource | None,
        given: Mapping[str, Any],
        on_checked: Callable[[int], None],
    ) -> VerificationReport:
        """Return what of a file does not follow from its scenes."""
        from vqagen.tasks.questions.verification import verify_file

        return verify_file(source, scenes, given, on_checked)

    @classmethod
    def statistics(cls, items: Items, guessed: Mapping[str, Any] | None, notes: Sequence[str]) -> Report:
        """Return the statistics of a table of items."""
        from vqagen.tasks.questions.statistics import question_statistics

        return question_statistics(items, guessed, notes)


def _answer_types(loaded: LoadedDomain) -> dict[str, str]:
    """Return last function of a program -> type of its answers, if these are not texts: Bool, Integer or list."""
    lists = {attribute.type for attribute in loaded.domain.attributes if attribute.multi}
    functions = {function.name: function.output for function in (each.last_function for each in loaded.templates)}
    types = {name: "list" if output in lists else output for name, output in functions.items()}
    return {name: types[name] for name in sorted(types) if types[name] in ("Bool", "Integer", "list")}


def questions_about(
    items: Iterable[Item], domain: Domain, generator: QuestionGenerator, tally: Tally, first: int
) -> Iterator[tuple[Scene, list[Question]]]:
    """Yield each scene of a window from scene `first` on with its questions; those before it are only replayed.

    With pairs all scenes of the window are read, and none after the end of the run is yielded.
    """
    return generator.window(compiled_scenes(items, domain), tally, first)


def question_task(
    files: DomainFiles, settings: QuestionSettings, form: RecordForm, disjoint_from: Sequence[PathLike] = ()
) -> QuestionTask:
    """Return the task for a whole run, its domain loaded and its settings checked. Raises VqagenError."""
    excluded = tuple(require(locate(path), "questions") for path in disjoint_from)
    task = QuestionTask(settings, files, form, excluded)
    _ = task.domain
    return task
