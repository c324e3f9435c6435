"""Checks question files: invalid programs, answers of the wrong type and, if scenes are known, wrong answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vqagen.authoring.check.check_report import FileReport
from vqagen.errors import BadInput, Fault, Problem, describe
from vqagen.judge.verification import verify_questions
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.question_files import QUESTIONS
from vqagen.language.question_records import release_answer
from vqagen.records.discovery import find_records
from vqagen.world.loading import SceneSource


def check_questions(path: Path, catalogue: Catalogue, report: FileReport) -> set[int] | None:
    """Add the errors of questions that do not depend on scenes.

    Returns the positions, from 0, of questions whose answers need no verification: those with errors, and those
    without an answer or a program. Returns None if the file cannot be read to its end, or holds more than questions.
    """
    settled, is_whole = set(), True
    try:
        source = find_records(path, QUESTIONS)
        for i, record, *_ in source.read():
            if not isinstance(record, dict):
                report.one_of_many(source.not_an_object(record, i, str(path)))
                is_whole = False
                continue
            faults = list(question_faults(record, catalogue))
            for place, message in faults:
                report.one_of_many(Problem(message, str(path), f"questions[{i}].{place}"))
            if faults or "program" not in record or record.get("answer") is None:
                settled.add(i)
    except BadInput as error:
        for problem in error.problems:
            report.one_of_many(problem)
        return None
    return settled if is_whole else None


def verify_answers(
    path: Path,
    scenes: SceneSource,
    catalogue: Catalogue,
    settled: set[int],
    report: FileReport,
    on_checked: Callable[[int], None],
) -> None:
    """Add an error for each answer that does not follow from its program, except at the `settled` positions."""
    found = verify_questions(path, scenes, catalogue, on_checked)
    for mismatch in found.mismatches:
        if mismatch.position not in settled:
            report.one_of_many(Problem(mismatch.problem, str(path), f"questions[{mismatch.position}]"))
    if found.mismatched > len(found.mismatches):
        last = found.mismatches[-1].position
        report.unlisted += found.mismatched - len(found.mismatches) - sum(i > last for i in settled)


def question_faults(record: Mapping[str, Any], catalogue: Catalogue) -> Iterator[Fault]:
    """Yield the faults of one question. A question without a program or an answer (a test set) has none."""
    if "program" not in record:
        return
    try:
        program = Program.from_records(record["program"], catalogue)
    except BadInput as error:
        yield from ((problem.path, problem.message) for problem in error.problems)
        return
    last = program.nodes[-1].function
    if not catalogue[last].asks:
        yield f"program[{len(program.nodes) - 1}]", f"the last step must give an answer, but {last} gives none"
    elif record.get("answer") is not None and not _is_answer(record["answer"], program.answer_type, catalogue):
        wanted = _wanted(program.answer_type, catalogue)
        yield "answer", f"{last} gives {wanted}; found {describe(record['answer'])}"


def _is_answer(answer: object, type_name: str, catalogue: Catalogue) -> bool:
    """True if the answer has this type in either dialect."""
    if type_name == "Bool":
        return isinstance(answer, bool) or answer in (release_answer(True), release_answer(False))
    if type_name == "Integer":
        return type(answer) is int or (isinstance(answer, str) and answer.isdecimal())
    attribute = catalogue.domain.attribute_of(type_name)
    if attribute is None:
        return True
    listed = answer.split(", ") if attribute.multi and isinstance(answer, str) else answer
    if not attribute.multi:
        return isinstance(listed, str) and listed in attribute.leaves
    return isinstance(listed, list) and all(isinstance(each, str) and each in attribute.leaves for each in listed)


def _wanted(type_name: str, catalogue: Catalogue) -> str:
    attribute = catalogue.domain.attribute_of(type_name)
    if attribute is None:
        return {"Bool": "true or false", "Integer": "a whole number"}.get(type_name, type_name)
    many = "a list of" if attribute.multi else "one of"
    return f"{many} {', '.join(attribute.leaves[:12])}{', …' if len(attribute.leaves) > 12 else ''}"
