"""Verification of questions: every program is run on its scene again, and must give the written answer.

The text must say what the program asks (see `question_texts`), and two questions of a pair must be one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vqagen.errors import BadInput, Problem, as_written
from vqagen.files.source import RecordSource
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.question import same_answer
from vqagen.plugin import Undefined
from vqagen.score.scene_lookup import QuestionFault, records_with_scenes
from vqagen.score.verify.question_texts import QuestionTexts
from vqagen.score.verify.report import Mismatch, VerificationReport
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene

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
    report, pairs = VerificationReport("questions"), dict[int, _Half | None]()
    reader = texts if isinstance(texts, QuestionTexts) else None
    found = records_with_scenes(questions.records(), scenes, catalogue.domain, BATCH, on_checked)
    for position, record, scene in found:
        if position == 0 and record.keys().isdisjoint({"program", "answer"}):
            raise BadInput([Problem("neither programs nor answers, so nothing to verify", str(questions.path))])
        report.checked += 1
        fault = scene if isinstance(scene, QuestionFault) else _fault(record, scene, catalogue, reader)
        unpaired = None if isinstance(scene, QuestionFault) else _pair_fault(pairs, position, record, scene)
        if fault := fault or unpaired:
            report.add(Mismatch(position, *fault, name=_name_of(record)))
    report.unproven["questions of a pair whose other question is not there"] = sum(map(bool, pairs.values()))
    if isinstance(texts, str):
        report.unproven[f"texts not read: {texts}"] = report.checked
    else:
        report.unproven.update(texts.unproven)
    return report


def _fault(
    record: Mapping[str, Any], scene: Scene, catalogue: Catalogue, texts: QuestionTexts | None
) -> QuestionFault | None:
    """Return the first fault of a question about a scene."""
    try:
        program = Program.from_records(record.get("program"), catalogue)
        last = program.nodes[-1].function
        if not catalogue[last].asks:
            return QuestionFault("bad program", f"program[{len(program.nodes) - 1}]: {last} gives no answer")
        outputs = program.outputs(scene)
    except BadInput as error:
        return QuestionFault("bad program", "; ".join(f"{each.path}: {each.message}" for each in error.problems))
    except Undefined as error:
        return QuestionFault("no answer", f"the program has no answer in this scene: {error}")
    right = outputs[-1]
    if "answer" not in record:
        return QuestionFault("answer missing", f"no answer is written; the program gives {as_written(right)}")
    if not same_answer(record["answer"], right):
        message = f"the answer is written as {as_written(record['answer'])}, but the program gives {as_written(right)}"
        return QuestionFault("wrong answer", message)
    return texts.fault(record, scene, program.nodes, outputs) if texts else None


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
    _, is_same_scene, is_same_program, is_same_answer = (one == other for one, other in zip(first, second, strict=True))
    faults = {
        "is about the same scene": is_same_scene,
        "has another program": not is_same_program,
        "has the same answer": is_same_answer,
    }
    why = next((why for why, is_so in faults.items() if is_so), None)
    return QuestionFault("broken pair", f"pair {number}: questions[{first[0]}] {why}") if why else None


def _name_of(record: Mapping[str, Any]) -> str:
    """Return what people call a question: its number and image."""
    index = record.get("image_index")
    image = record.get("image_filename") or ("no image named" if index is None else f"image_index {index}")
    return f"question_index {record.get('question_index')}, {image}"
