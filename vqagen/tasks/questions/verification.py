"""Verification: every answer of a file must follow from its scene or grid.

Every program of a question is run on its scene again, and must give the written answer. The text must say what the
program asks (see `QuestionTexts`), and two questions of a pair must be one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Any

import orjson

from vqagen.errors import BadInput, Problem, as_written, describe
from vqagen.files.locations import content_hash
from vqagen.files.records import RecordSource
from vqagen.items.answers import text_of
from vqagen.items.scene_lookup import QuestionFault, records_with_scenes
from vqagen.language.catalogue import Catalogue, Function, Value
from vqagen.language.domain_files import (
    find_domain,
    input_hashes,
    is_written_as_path,
    load_catalogue,
)
from vqagen.language.program import Program
from vqagen.language.question import (
    MARKS,
    RELEASE,
    SPOT_KEYS,
    TEXT,
    answer_places,
    same_answer,
    same_json,
    unmarked,
)
from vqagen.language.synonyms import vocabulary_record
from vqagen.language.template import PLACE, PLACES
from vqagen.pictures.marks import LETTERS, markable
from vqagen.plugin import Undefined
from vqagen.report.verification import Mismatch, VerificationReport
from vqagen.tasks.questions.settings import QuestionSettings
from vqagen.tasks.questions.texts import QuestionTexts, texts_at_hand
from vqagen.tasks.record_files import check_origin, generator_of
from vqagen.tasks.whole import CHANGED_FILE, UNREAD_FILE, missing_ends, unknown_settings, whole_records
from vqagen.world.domain import Domain
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene


def verify_file(
    source: RecordSource,
    scenes: SceneSource | None,
    given: Mapping[str, Any],
    on_checked: Callable[[int], None],
) -> VerificationReport:
    """Check questions by the files of the domain that is `given`; see `Task.verify`."""
    assert scenes is not None
    files, domain = find_domain(**given), given["domain"]
    is_own_folder = domain is not None and is_written_as_path(domain) and files.templates.exists()
    worded_by = [role for role in ("templates", "synonyms") if given[role] or is_own_folder]
    catalogue, plugins = load_catalogue(files)
    hashes = {"plugins": "", **input_hashes(files, catalogue.domain, plugins)}
    checked = {role: partial(str, hashes.get(role, "")) for role in ("metadata", "plugins", *worded_by)}
    if scenes.files:
        checked["scenes"] = partial(content_hash, scenes.files)
    check_origin(source, checked)
    texts = texts_at_hand(source, files, hashes, worded_by)
    return verify_questions(source, scenes, catalogue, texts, on_checked)


BATCH = 2000
"""Questions whose scenes are held at once."""
_Half = tuple[int, int, int, str]
"""The first question of a pair: its position, its scene, a hash of its program, and its answer."""


def verify_questions(
    questions: RecordSource,
    scenes: SceneSource,
    catalogue: Catalogue,
    texts: QuestionTexts | str = "no templates are given",
    on_checked: Callable[[int], None] = lambda _: None,
) -> VerificationReport:
    """Check every question of any dialect. `texts` reads the texts, or says why they are not read.

    `on_checked` is called now and then with the number of questions checked since.
    """
    report, pairs, numbers = VerificationReport("questions"), dict[int, _Half | None](), dict[int, object]()
    report.remarks += [*missing_ends(questions, scenes), *unknown_settings(questions, QuestionSettings)]
    blocks: dict[str, list[Any]] = {}
    reader, is_ours = texts if isinstance(texts, QuestionTexts) else None, bool(generator_of(questions))
    is_text = is_ours and questions.info.get("dialect") in (TEXT, RELEASE)
    records = whole_records(questions, report, "question_index")
    located = records_with_scenes(records, scenes, catalogue.domain, BATCH, on_checked)
    for position, record, scene in located:
        if position == 0 and record.keys().isdisjoint({"program", "answer"}):
            raise BadInput([Problem("neither programs nor answers, so nothing to verify", str(questions.path))])
        report.checked += 1
        fault = scene if isinstance(scene, QuestionFault) else _fault(record, scene, catalogue, reader, is_ours)
        if not fault and is_text and not isinstance(record["answer"], str):
            fault = QuestionFault("wrong answer", f"expected text as the answer, found {describe(record['answer'])}")
        unpaired = None if isinstance(scene, QuestionFault) else _pair_fault(pairs, position, record, scene)
        unpaired = unpaired or _block_fault(blocks, record)
        if not fault and isinstance(scene, Scene) and is_ours:
            fault = _number_fault(numbers, record.get("scene_index"), scene)
        if fault := fault or unpaired:
            report.add(Mismatch(position, *fault, name=_name_of(record)))
    report.unproven["questions of a pair whose other question is not there"] = sum(map(bool, pairs.values()))
    report.unproven["letters on objects that no question asks for"] = sum(
        len(marks) - len(answers) for _, marks, *answers in blocks.values()
    )
    if isinstance(texts, str):
        report.unproven[f"texts, and any mentions and reasonings, not read: {texts}"] = report.checked
        if is_ours and report.checked:
            report.add(Mismatch(None, UNREAD_FILE, texts))
    else:
        report.unproven.update(texts.unproven)
        words = vocabulary_record(texts.loaded.domain, texts.loaded.synonyms)
        if texts.is_certain and generator_of(questions).get("vocabulary", words) != words:
            report.add(Mismatch(None, CHANGED_FILE, "the vocabulary in its info is not that of its domain"))
    read = "texts that could be read match" if report.unproven.total() else "texts match"
    report.proved = f"answers recomputed; {'texts not checked' if reader is None else f'{read} their templates'}"
    return report


def _fault(
    record: Mapping[str, Any], scene: Scene, catalogue: Catalogue, texts: QuestionTexts | None, is_ours: bool
) -> QuestionFault | None:
    """Return the first fault of a question about a scene."""
    try:
        program = Program.from_records(record.get("program"), catalogue)
        last = program.nodes[-1].function
        if not catalogue[last].asks:
            return QuestionFault("bad program", f"program[{len(program.nodes) - 1}]: {last} gives no answer")
        outputs = program.outputs(scene)
    except BadInput as error:
        return QuestionFault(
            "bad program", "; ".join(f"{problem.path}: {problem.message}" for problem in error.problems)
        )
    except Undefined as error:
        return QuestionFault("no answer", f"the program has no answer in this scene: {error}")
    right = outputs[-1]
    if "answer" not in record:
        return QuestionFault("answer missing", f"no answer is written; the program gives {as_written(right)}")
    if not same_answer(unmarked(record), right, catalogue.domain.answer_words):
        message = f"the answer is written as {as_written(record['answer'])}, but the program gives {as_written(right)}"
        return QuestionFault("wrong answer", f"{message}; marks: {record[MARKS]}" if record.get(MARKS) else message)
    return (
        _trace_fault(record, program, outputs, texts is not None and texts.has_traces)
        or (texts.fault(record, scene, program.nodes, outputs) if texts else None)
        or (texts.reasoning_fault(record, scene, program, right) if texts else None)
        or _options_fault(record, scene, catalogue[last], catalogue.domain)
        or _places_fault(record, scene, catalogue[last], right)
        or _field_fault(record, scene, catalogue[last], is_ours)
    )


def _trace_fault(
    record: Mapping[str, Any], program: Program, outputs: Sequence[Value], is_needed: bool
) -> QuestionFault | None:
    """Return the fault of what is written as the results of a program's steps, if anything is, or has to be."""
    written = record.get("trace")
    right = orjson.loads(orjson.dumps(program.readable(outputs)))
    if (written is None and not is_needed) or same_json(written, right):
        return None
    steps = zip_longest(written if isinstance(written, list) else (), right)
    number, (found, wanted) = next((n, pair) for n, pair in enumerate(steps) if not same_json(*pair))
    message = f"trace[{number}]: written as {as_written(found, wanted)}, but the step gives {as_written(wanted, found)}"
    return QuestionFault("wrong trace", message)


def _number_fault(numbers: dict[int, object], number: object, scene: Scene) -> QuestionFault | None:
    """Return the fault if the first question about a scene, whose number `numbers` holds, numbers it otherwise."""
    first = numbers.setdefault(scene.index, number)
    if first == number:
        return None
    why = f"scene_index is {as_written(number)}, but {as_written(first)} in an earlier question about the image"
    return QuestionFault("wrong image", why)


def _pair_fault(
    halves: dict[int, _Half | None], position: int, record: Mapping[str, Any], scene: Scene
) -> QuestionFault | None:
    """Return the fault if a question and an earlier one of its pair are no pair: one program, two scenes, two answers.

    `halves` holds the first question of each pair; None if both were read.
    """
    number = record.get("pair")
    if number is None:
        return None
    if type(number) is not int:
        return QuestionFault("broken pair", f"pair must be a whole number, found {as_written(number)}")
    second = position, scene.index, hash(repr(record.get("program"))), repr(record.get("answer"))
    if number not in halves:
        halves[number] = second
        return None
    first, halves[number] = halves[number], None
    if first is None:
        return QuestionFault("broken pair", f"pair {number}: two questions before have this number")
    faults = {
        "is about the same scene": first[1] == second[1],
        "has another program": first[2] != second[2],
        "has the same answer": first[3] == second[3],
    }
    why = next((why for why, is_so in faults.items() if is_so), None)
    return QuestionFault("broken pair", f"pair {number}: questions[{first[0]}] {why}") if why else None


@lru_cache(maxsize=1000)
def _stem(image: str) -> str:
    return PurePosixPath(image).stem


def _options_fault(record: Mapping[str, Any], scene: Scene, function: Function, domain: Domain) -> QuestionFault | None:
    """Return the fault of the `choices` of a question whose answer is right: `choice` is the place of the answer.

    Options are different texts of one kind: numbers, values of one attribute, or at most two truths; or letters, for
    different objects that can be seen.
    """
    options, choice, marks = record.get("choices"), record.get("choice"), record.get(MARKS)
    if not options and choice in (None, -1) and not marks:
        return None
    if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
        return QuestionFault("wrong options", f"choices: expected a list of texts, found {describe(options)}")
    answer = record["answer"]
    right = text_of(tuple(answer) if isinstance(answer, list) else answer)
    attribute = domain.attribute_of(function.output)
    known = set(attribute.values if attribute and right in attribute.values else options)
    odd = [option for option in options if option.isdecimal() != right.isdecimal() or option not in known]
    odd += options[2:] if function.output == "Bool" else []
    position = options.index(right) if right in options else None
    rows = [
        (len({*options}) < len(options), "choices: an option stands there twice"),
        (bool(marks) and function.output not in (PLACE, PLACES), "marks: only questions for places have letters"),
        (
            marks not in (None, []) and not _have_letters(marks, options, scene),
            f"marks: expected an object that can be seen for each letter in choices, found {as_written(marks)}",
        ),
        (position is None, f"choices: the answer {right!r} is not among them"),
        (bool(odd), f"choices: {odd and odd[0]!r} is of another kind than the answer {right!r}"),
        (
            "choice" in record and (type(choice) is not int or choice != position),
            f"choice: written as {as_written(choice)}, but the answer {right!r} stands at {position}",
        ),
    ]
    return next((QuestionFault("wrong options", why) for is_wrong, why in rows if is_wrong), None)


def _have_letters(marks: object, options: list[str], scene: Scene) -> bool:
    """Tell whether `marks` are different objects that can be seen, as many as `options` has letters."""
    if not isinstance(marks, list):
        return False
    objects = {*map(repr, marks)}  # 1, 1.0 and true are told apart
    is_each_seen = len(objects) == len(marks) and objects <= {*map(repr, markable(scene.record))}
    return is_each_seen and options == [*LETTERS[: len(marks)]]


def _block_fault(blocks: dict[str, list[Any]], record: Mapping[str, Any]) -> QuestionFault | None:
    """Return the fault of a question with marks if an earlier one of its block has others, or its answer.

    `blocks` holds of each block the scene and the marks, and the answers so far.
    """
    if not (isinstance(marks := record.get(MARKS), list) and marks):
        return None
    about, answer = [record.get("scene_index"), marks], record.get("answer")
    first = blocks.setdefault(repr((record.get("block"), record.get("rotation"))), about.copy())
    if first[:2] != about or answer in first[2:]:
        message = f"marks: an earlier question of the block has others than {marks}, or the answer {answer!r}"
        return QuestionFault("broken block", message)
    first.append(answer)
    return None


def _places_fault(
    record: Mapping[str, Any], scene: Scene, function: Function, answer: Sequence[int]
) -> QuestionFault | None:
    """Return the fault of the points or boxes of an answer, which are those of its objects in the scene."""
    right = answer_places(scene.record, answer) if function.output in (PLACE, PLACES) else {}
    for key in SPOT_KEYS:
        written, wanted = record.get(key), right.get(key)
        if not same_json(written, wanted):
            message = (
                f"{key}: written as {as_written(written, wanted)}, but the objects have {as_written(wanted, written)}"
            )
            return QuestionFault(f"wrong {key}", message)
    return None


def _field_fault(record: Mapping[str, Any], scene: Scene, function: Function, is_ours: bool) -> QuestionFault | None:
    """Return the fault of a field that follows from scene or program; other generators may have types of their own."""
    split = scene.record.get("split")
    right = {"split": split, "question_type": function.asks, "image": _stem(scene.image)}
    for key, wanted in right.items() if is_ours else [("split", split)] if split else ():
        if record.get(key, wanted) != wanted:
            written, expected = as_written(record[key]), as_written(wanted)
            return QuestionFault(f"wrong {key}", f"{key}: written as {written}, but {expected} follows from the scene")
    return None


def _name_of(record: Mapping[str, Any]) -> str:
    """Return what people call a question: its number and image."""
    index = record.get("image_index")
    image = record.get("image_filename") or ("no image named" if index is None else f"image_index {index}")
    return f"question_index {record.get('question_index')}, {image}"
