"""Options for questions, from which no rule that sees only the options can tell the right one.

Questions are dealt into exchange blocks (see `blocks`): those of one family and length, or of one family, so that the
question tells little either; then what is left of one function. Options are answers that the scene makes plausible:
values that its objects have, numbers up to that of its objects; or, with `hard`, answers that follow from a mistake
(see `plausible`). A question that fits into no block is left out. Options of questions for places are the objects that
are the answers of the block; all of it are about one scene, in whose picture letters mark them (see `pictures.marks`).

Questions and scenes are read as streams, and read again to be written. Of each question only what decides its options
is kept, some hundred bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from vqagen.dataset.blocks import NO_SCENE, Dealt, Posed, deal
from vqagen.dataset.plausible import Plausible
from vqagen.dataset.settings import ChoiceSettings
from vqagen.errors import BadInput, FaultList, Problem, as_written, counted
from vqagen.files.formats import JSON, JSON_LINES, Arrangement, choose_format, record_file
from vqagen.files.info import without_run
from vqagen.files.locations import content_hash
from vqagen.files.output import check_output
from vqagen.files.records import RecordSource, given_records, open_records
from vqagen.items.scene_lookup import QuestionFault, records_with_scenes
from vqagen.language.catalogue import Catalogue
from vqagen.language.domain_files import (
    DomainFiles,
    PathLike,
    find_domain,
    input_hashes,
    load_catalogue,
    synonyms_file,
)
from vqagen.language.program import Program
from vqagen.language.question import MARKS, OPTION_KEYS, QUESTIONS, family_name, same_answer
from vqagen.language.synonyms import load_synonyms
from vqagen.pictures.marks import LETTERS
from vqagen.plugin import Undefined
from vqagen.tasks.record_files import check_origin, generator_of, shipped_domain
from vqagen.world.loading import SCENES, SceneSource, find_scenes
from vqagen.world.scene import Scene

Record = dict[str, Any]
CHOICES, CHOICE, BLOCK, MISTAKES, ROTATION = "choices", "choice", "block", "mistakes", "rotation"
PAIR = "pair"
NO_BLOCK = "too few questions of the same kind have the other answers"
FORMATS = (JSON, JSON_LINES)
BATCH = 2000
"""Questions that are read, and whose scenes are held, at once."""
Records = PathLike | Mapping[str, Any] | Iterable[Mapping[str, Any]]
"""A file or folder, a document, or records."""
OnDone = Callable[[int], None]


@dataclass
class ChoiceReport:
    """The result: how many questions have options, and why others have none."""

    questions: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    """Number of options -> questions."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Reason -> questions."""
    mistakes: Counter[str] = field(default_factory=Counter)
    """The mistake of a wrong option -> options."""

    def summary(self) -> str:
        """Return the result for people, in a few lines."""
        sizes = ", ".join(f"{number:,} of {size}" for size, number in sorted(self.sizes.items(), reverse=True))
        first = f"{self.sizes.total():,} of {counted(self.questions, 'question')} have options" + (
            sizes and f": {sizes}"
        )
        rest = [f"left out: {number:,} ({reason})" for reason, number in self.left_out.most_common()]
        return "\n".join([first, *rest])

    def to_record(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "questions": self.questions,
            "options": {str(size): number for size, number in sorted(self.sizes.items())},
            "left_out": dict(self.left_out),
            "mistakes": dict(self.mistakes.most_common()),
        }


def write_choices(
    questions: PathLike,
    scenes: PathLike,
    out: PathLike,
    settings: ChoiceSettings | None = None,
    *,
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    synonyms: PathLike | None = None,
    plugins: PathLike | Sequence[PathLike] = (),
    force: bool = False,
    on_read: OnDone = lambda _: None,
) -> ChoiceReport:
    """Give options to the questions of a file, and write those that have any to `out`, JSON or JSON Lines.

    The domain is by default the shipped one that the file names. `on_read` is called now and then with the number of
    questions read since, for a progress bar. Raises UsageError before anything is read if `out` cannot be written, and
    BadInput for questions without program, scene or right answer, with all that is wrong.
    """
    settings, target = settings or ChoiceSettings(), str(out)
    form = choose_format(target, None, FORMATS, "questions with options")
    check_output(target, force, [str(questions), str(scenes)])
    source, found = open_records(str(questions), QUESTIONS), find_scenes(scenes)
    given: dict[str, Any] = {"metadata": metadata, "synonyms": synonyms, "plugins": plugins}
    files = find_domain(domain or (None if metadata else shipped_domain(source.info)), **given)
    posed = _posed(source, found, files, settings, on_read)
    dealt = deal(posed, settings)
    report = reported(posed, dealt, settings)
    info = {**without_run(source.info), "choices": {"settings": settings.to_record(), **report.to_record()}}
    with record_file(target, form, info, Arrangement("questions", "", "scene", 0)) as writer:
        writer.write(_with_options(source, posed, dealt, settings))
    return report


def with_choices(
    questions: Sequence[Record],
    scenes: Records,
    settings: ChoiceSettings | None = None,
    files: DomainFiles | None = None,
) -> tuple[list[Record], ChoiceReport]:
    """Return the questions that can be given options, in their order, each with these, and how many have none.

    Each record gets `choices`, the texts of its options, `choice`, the place of the right one, and `block`: questions
    of a block have the same options; with `hard`, `mistakes` too, one for each option, None for the right one. Of
    questions for places, options and answers are letters, and `marks` are the objects that these are on.
    """
    settings = settings or ChoiceSettings()
    source = given_records(questions, QUESTIONS)
    found = find_scenes(scenes) if isinstance(scenes, str | Path) else given_records(scenes, SCENES)
    posed = _posed(source, found, files or find_domain(), settings)
    dealt = deal(posed, settings)
    return list(_with_options(source, posed, dealt, settings)), reported(posed, dealt, settings)


# Reading --------------------------------------------------------------------------------------------------------------


def _posed(
    source: RecordSource,
    scenes: SceneSource,
    files: DomainFiles,
    settings: ChoiceSettings,
    on_read: OnDone = lambda _: None,
) -> list[Posed]:
    """Read questions and scenes, and return what decides the options of each. BadInput with all faults."""
    if (generator_of(source).get("records") or {}).get("hide_answers"):
        message = "made with --hide-answers: options follow from programs and answers, which are left out"
        raise BadInput([Problem(message, str(source.path))])
    catalogue, plugins = load_catalogue(files)
    hashes = input_hashes(files, catalogue.domain, plugins)
    checked = {role: partial(str, hashes.get(role, "")) for role in ("metadata", "plugins")}
    if scenes.files:
        checked["scenes"] = partial(content_hash, scenes.files)
    check_origin(source, checked)
    plausible = Plausible(
        catalogue, load_synonyms(synonyms_file(files, catalogue.domain), catalogue.domain), settings.hard
    )
    posed, faults = list[Posed](), FaultList(str(source.path), "question")
    found = records_with_scenes(source.records(), scenes, catalogue.domain, BATCH, on_read)
    for position, record, scene in found:
        _refuse_options(record, source, position)
        fault = _fault_or_posed(record, scene, catalogue, plausible)
        if isinstance(fault, Posed):
            posed.append(fault)
        else:
            faults.add([fault], QUESTIONS.path(position))
    faults.finish()
    if not posed:
        raise BadInput([Problem("no questions, so there is nothing to give options to", str(source.path))])
    return posed


def _refuse_options(record: Record, source: RecordSource, position: int) -> None:
    taken = next((key for key in (*OPTION_KEYS, CHOICE, MISTAKES, MARKS) if key in record), None)
    if taken:
        message = f"the question has options already, under {taken!r}; give the file that it was made from"
        raise BadInput([Problem(message, str(source.path), QUESTIONS.path(position))])


def _fault_or_posed(
    record: Record, scene: Scene | QuestionFault, catalogue: Catalogue, plausible: Plausible
) -> Posed | tuple[str, str]:
    """Return what decides the options of a question, or its fault: a JSON path inside the record, and what is wrong."""
    if isinstance(scene, QuestionFault):
        return "", scene.problem
    if not record.get("program"):
        return "program", "the question has no program, which is run to tell wrong options from right ones"
    try:
        program = Program.from_records(record["program"], catalogue)
        outputs = program.outputs(scene)
    except BadInput as error:
        first = error.problems[0]
        hint = f" (domain {catalogue.domain.name}; --domain names another)" if "unknown" in first.message else ""
        return first.path, f"{first.message}{hint}"
    except Undefined as error:
        return "program", f"it has no answer in this scene: {error}"
    if not same_answer(record.get("answer"), outputs[-1], catalogue.domain.answer_words):
        written, right = as_written(record.get("answer")), as_written(outputs[-1])
        return "answer", f"{written} is not the answer of the program, which is {right}; see `vqagen verify`"
    posed = plausible.posed(program, scene, outputs, _family(record))
    words = catalogue.domain.answer_words if isinstance(outputs[-1], int) else {}
    return posed._replace(
        answer=words.get(posed.answer, posed.answer), wrong=tuple(words.get(text, text) for text in posed.wrong)
    )


def _family(record: Record) -> str:
    """Return the family of a question, by its template file and the number in it; "" if the record does not say it."""
    number = record.get("question_family_index")
    return "" if number is None else family_name(record.get("template_filename"), number)


def _with_options(
    source: RecordSource, posed: Sequence[Posed], dealt: Sequence[Dealt | None], settings: ChoiceSettings
) -> Iterator[Record]:
    """Yield the questions that have options, read once more, in their order; with rotations, one for each of these."""
    index = 0
    for record, question, options in zip(source.records(), posed, dealt, strict=True):
        if options is None:
            continue
        mistakes = dict(zip(question.wrong, question.mistakes, strict=False))
        for turn in range(len(options.options) if settings.rotations else 1):
            texts = [*options.options[turn:], *options.options[:turn]]
            at = texts.index(question.answer)
            written = {**record, CHOICES: texts, CHOICE: at, BLOCK: options.block}
            if question.scene != NO_SCENE:
                written |= {"answer": LETTERS[at], CHOICES: [*LETTERS[: len(texts)]], MARKS: [*map(int, texts)]}
            if settings.hard:
                written[MISTAKES] = [mistakes.get(text) for text in texts]
            if settings.rotations:
                written |= {ROTATION: turn, "question_index": index}
            if turn:
                written.pop(PAIR, None)  # a pair has one question of each scene
            index += 1
            yield written


def reported(posed: Sequence[Posed], dealt: Sequence[Dealt | None], settings: ChoiceSettings) -> ChoiceReport:
    """Return the report of questions and their options."""
    report = ChoiceReport(len(posed))
    for question, options in zip(posed, dealt, strict=True):
        if options:
            mistakes = dict(zip(question.wrong, question.mistakes, strict=False))
            report.sizes[len(options.options)] += 1
            report.mistakes.update(mistakes[option] for option in options.options if option in mistakes)
        elif question.wrong:
            report.left_out[NO_BLOCK] += 1
        else:
            report.left_out[question.lacks] += 1
    return report
