"""Questions about scenes as a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vqagen.errors import counted
from vqagen.files.formats import JSON, JSON_LINES, PARQUET
from vqagen.files.locations import Location, content_hash, locate, require
from vqagen.files.records import RecordSource
from vqagen.frozen import frozen
from vqagen.language.domain_files import DomainFiles, LoadedDomain, PathLike, check_hashes
from vqagen.language.question import RELEASE, Question, record_writer
from vqagen.language.synonyms import vocabulary_record
from vqagen.language.template import PLACE, PLACES, Template
from vqagen.tasks.contract import Item, ItemRecords, Make, RunReport, RunResult, Tally, Task, compiled_scenes
from vqagen.tasks.questions.exclusion import Exclusion, QuestionSelection, TemplateKey, load_exclusion
from vqagen.tasks.questions.family import QuestionTally
from vqagen.tasks.questions.generator import QuestionGenerator, load_families, warn_skipped
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm
from vqagen.world.domain import Domain
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene

if TYPE_CHECKING:
    from vqagen.items.builder import TableBuilder
    from vqagen.items.table import Items
    from vqagen.report.table import Report
    from vqagen.report.verification import VerificationReport
    from vqagen.tasks.questions.columns import QuestionColumns


@frozen
class QuestionTask(Task):
    """Makes questions with their programs and answers."""

    settings: QuestionSettings
    files: DomainFiles
    form: RecordForm = field(default_factory=RecordForm)
    disjoint_from: tuple[Location, ...] = ()
    """Files of questions: none that shares its text or program with one of them is made."""

    key = "questions"
    number_key = "question_index"
    index_key = "scene_index"
    formats = (JSON, JSON_LINES, PARQUET)

    @cached_property
    def excluded_hashes(self) -> dict[str, str]:
        """Role -> content hash of the files `disjoint_from`; computed once."""
        return {"disjoint_from": content_hash(self.disjoint_from)} if self.disjoint_from else {}

    @cached_property
    def domain(self) -> LoadedDomain:
        """The files of the domain, loaded once. Raises VqagenError."""
        return load_families(self.files, self.settings)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the templates with the task if they are loaded: reading them again takes a worker 20 times as long.

        Paths become absolute, as a worker may run in another folder.
        """
        loaded = {"domain": self.domain} if "domain" in self.__dict__ else {}
        paths = tuple(path.absolute() if isinstance(path, Path) else path for path in self.disjoint_from)
        return {**super().__getstate__(), **loaded, "disjoint_from": paths}

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
        """Load the domain and the excluded questions. The generator is made at the first window."""
        domain_hashes = {role: known for role, known in hashes.items() if role != "disjoint_from"}
        check_hashes(domain_hashes, self.domain.hashes)
        exclusion = load_exclusion(self.disjoint_from, hashes.get("disjoint_from", ""))
        generator = cache(lambda: self.generator(self.form.trace, exclusion))
        to_record = record_writer(self.form.dialect, **self.form.to_record(), is_encoded=True)

        def make(items: Iterable[Item], first: int, tally: Tally) -> Iterator[ItemRecords]:
            assert isinstance(tally, QuestionTally)
            for scene, questions in questions_about(items, self.domain.domain, generator(), tally, first):
                yield ItemRecords(scene.index, (to_record(question) for question in questions))

        return make

    def generator(self, marks: bool = False, exclusion: Exclusion | None = None) -> QuestionGenerator:
        """Return the generator of questions as objects; see `QuestionGenerator`."""
        return QuestionGenerator(self.domain.templates, self.domain.synonyms, self.settings, marks, exclusion)

    def tally(self) -> QuestionTally:
        """Return an empty tally."""
        return QuestionTally()

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
        from vqagen.tasks.questions.columns import QuestionColumns

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
        """Check each question of a file against its scene, and return what was found."""
        from vqagen.tasks.questions.verification import verify_file

        return verify_file(source, scenes, given, on_checked)

    @classmethod
    def statistics(cls, items: Items, guessed: Mapping[str, Any] | None, notes: Sequence[str]) -> Report:
        """Return the statistics of a table of items."""
        from vqagen.tasks.questions.statistics import question_statistics

        return question_statistics(items, guessed, notes)


def _answer_types(loaded: LoadedDomain) -> dict[str, str]:
    """Return last function of a program -> type of its answers, if that is no text: {"count": "Integer", …}."""
    lists = {attribute.type for attribute in loaded.domain.attributes if attribute.multi}
    functions = {
        function.name: function.output for function in (template.last_function for template in loaded.templates)
    }
    types = {name: "list" if output in lists else output for name, output in functions.items()}
    return {name: types[name] for name in sorted(types) if types[name] in ("Bool", "Integer", "list", PLACE, PLACES)}


def questions_about(
    items: Iterable[Item], domain: Domain, generator: QuestionGenerator, tally: QuestionTally, first: int
) -> Iterator[tuple[Scene, list[Question]]]:
    """Yield the scenes of a window, each with its questions; scenes before `first` are replayed and not yielded.

    With pairs, `items` may go beyond the end of the run, up to that of the window: those scenes are not yielded either.
    """
    return generator.window(compiled_scenes(items, domain), tally, first)


def question_task(
    files: DomainFiles, settings: QuestionSettings, form: RecordForm, disjoint_from: Sequence[PathLike] = ()
) -> QuestionTask:
    """Return the task for a whole run, its domain loaded and its settings checked. Raises VqagenError."""
    excluded = tuple(require(locate(path), "questions") for path in disjoint_from)
    task = QuestionTask(settings, files, form, excluded)
    if form.reasoning != "none":
        from vqagen.language.reasoning import reasoning_texts  # few runs need it

        reasoning_texts(task.domain.domain)
    _ = task.domain
    return task


# Report -------------------------------------------------------------------------------------------------------------


SHORT = 0.9
"""A family is short when it made less than this share of the families' median."""
SHOWN = 5


class QuestionReport(RunReport):
    """What was made of each family, what was left out, and what fell short."""

    def __init__(
        self, settings: QuestionSettings, templates: Sequence[Template], dialect: str, skipped: Sequence[str] = ()
    ) -> None:
        """`dialect` decides how the records of the output name their templates.

        `skipped` are the ids of templates, and names of files, that were skipped for their mistakes.
        """
        super().__init__("question", "scene")
        self.settings, self.skipped = settings, skipped
        self.tally = QuestionTally()
        """Counts of all questions that were made."""
        self.left_out = Counter[str]()
        """Family -> questions that were made, and that the selection (`--dedupe all`) rejected."""
        self.emptied_scenes = 0
        """Scenes all of whose questions the selection rejected."""
        self._key_of = {template.id: _template_key(template, dialect) for template in templates}

    @property
    def questions(self) -> int:
        """Questions in the output."""
        return self.records

    def add(self, tally: Mapping[str, Any]) -> None:
        """Add the tally of a block."""
        self.tally.add(QuestionTally.from_record(tally))

    def finish(self, result: RunResult) -> None:
        """Take the result of the run, and count the questions that its selection rejected."""
        super().finish(result)
        if result.selection:
            kept = Counter({(file, index): count for file, index, count in result.selection["kept"]})
            made = self.tally.questions
            self.left_out = Counter({family: count - kept[self._key_of[family]] for family, count in made.items()})
            self.emptied_scenes = result.selection["scenes"] - result.selection["scenes_left"]

    def content(self) -> dict[str, Any]:
        """Return the part of the report that is the same for the same settings and inputs."""
        tally = self.tally
        return {
            "questions": self.questions,
            "scenes": tally.scenes,
            "short_scenes": tally.short_scenes,
            **({"parted_pairs": tally.parted_pairs} if self.settings.balance == "pairs" else {}),
            "emptied_scenes": self.emptied_scenes,
            "families": {
                family: {
                    "questions": tally.questions[family] - self.left_out[family],
                    "left_out": self.left_out[family],
                    "tries": tally.tries[family],
                    "failures": dict(tally.failures_of(family)),
                }
                for family in tally.families
            },
            "skipped_templates": list(self.skipped),
            "settings": self.settings.to_record(),
        }

    def summary(self) -> str:
        """Return questions, scenes and families; then which families and scenes fell short, and why."""
        tally, settings = self.tally, self.settings
        if not tally.scenes:
            return f"no questions: there is no scene from index {settings.start_index} on"
        used = sum(1 for made in tally.questions.values() if made)
        about = f"{counted(self.questions, 'question')} about {counted(tally.scenes, 'scene')}"
        lines = [f"{about}, from {used} of {len(tally.families)} families tried"]
        if self.skipped:
            shown = ", ".join(self.skipped[:SHOWN]) + (", …" if len(self.skipped) > SHOWN else "")
            lines.append(f"  skipped: {counted(len(self.skipped), 'bad template')} ({shown})")
        if self.left_out.total():
            emptied = f", and {counted(self.emptied_scenes, 'scene')} with none" if self.emptied_scenes else ""
            lines.append(f"  left out of the whole: {counted(self.left_out.total(), 'more question')}{emptied}")
        if tally.parted_pairs:
            partners = f"{counted(tally.parted_pairs, 'question')} with the partner in a scene outside this run"
            lines.append(f"  parted: {partners}; merge it with the other shards")
        return "\n".join([*lines, *_short_families(tally), *_short_scenes(tally, settings)])


def _template_key(template: Template, dialect: str) -> TemplateKey:
    return ("", template.family) if dialect == RELEASE else (template.file, template.index)


def _short_families(tally: QuestionTally) -> Iterator[str]:
    made_by_family = sorted(tally.questions[family] for family in tally.families) or [0]
    middle = len(made_by_family) // 2
    usual = (made_by_family[middle] + made_by_family[~middle]) / 2  # the median, as `~middle` counts from the end
    short = sorted((tally.questions[family], family) for family in tally.tries if tally.failures_of(family))
    short = [(made, family) for made, family in short if made < SHORT * usual or not made]
    for made, family in short[:SHOWN]:
        why = _format_reasons(tally.failures_of(family))
        beside = f" (median of all families: {usual:,.0f})" if usual else ""
        yield f"  short: {family} made {made:,}{beside}; failed tries: {why}"
    if len(short) > SHOWN:
        yield f"  … and {len(short) - SHOWN} more short families"


def _short_scenes(tally: QuestionTally, settings: QuestionSettings) -> Iterator[str]:
    if tally.short_scenes:
        reasons = Counter[str]()
        for (_, reason), count in tally.failures.items():
            reasons[reason] += count
        why = f"; failed tries: {_format_reasons(reasons)}" if reasons else ""
        wanted, there = settings.templates_per_image, len(tally.families)
        lack = f"questions from fewer than {wanted} families" + ("" if there >= wanted else f": there are {there}")
        if settings.balance == "pairs":
            lack = f"fewer than {counted(wanted, 'question')}"
        yield f"  {tally.short_scenes:,} of {tally.scenes:,} scenes have {lack}{why}"


def _format_reasons(reasons: Counter[str]) -> str:
    return ", ".join(f"{reason} {count:,}×" for reason, count in reasons.most_common())
