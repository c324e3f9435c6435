"""VQAv2's annotations, ten answers to each question, with the questions that lie beside them.

The two files of a split belong together by their names: `v2_mscoco_val2014_annotations.json` and
`v2_OpenEnded_mscoco_val2014_questions.json`, or `annotations.json` and `questions.json`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, Fault, Problem, describe
from vqagen.files.locations import Location
from vqagen.records.discovery import find_records
from vqagen.records.fault_list import FaultList
from vqagen.records.kind import RecordKind
from vqagen.score.answers.kinds import TEXT
from vqagen.score.gold.file import OPEN, GoldFile
from vqagen.score.gold.item import FieldValue, GoldItem

ANNOTATIONS = RecordKind("annotations", own_keys=("answers", "multiple_choice_answer"))
QUESTIONS = RecordKind("questions", own_keys=("question", "question_id"))
GROUPS = ("answer_type", "question_type")
_TASKS = ("OpenEnded_", "MultipleChoice_")


def vqav2_file(path: Location, mode: str = "") -> GoldFile:
    """Return the gold file of annotations; `path` is their file, or that of their questions. BadInput without them."""
    annotations, questions = _files(path)

    def read() -> Iterator[GoldItem]:
        texts = dict(_questions(questions)) if questions else {}
        faults = FaultList(str(annotations), "annotation")
        for index, record, _ in find_records(annotations, ANNOTATIONS).entries():
            found = list(_faults(record))
            if found:
                faults.add(found, ANNOTATIONS.path(index))
            else:
                yield _item(record, texts.get(str(record["question_id"]), {}))
        faults.finish()

    return GoldFile(str(annotations), "vqav2", read, {}, mode or OPEN, GROUPS)


def _files(path: Location) -> tuple[Location, Location | None]:
    """Return the file of annotations, and that of questions if it is there."""
    if QUESTIONS.key not in path.name:
        return path, _beside(path, QUESTIONS.key)
    annotations = _beside(path, ANNOTATIONS.key)
    if annotations is None:
        name = _split_of(path.name).replace("*", ANNOTATIONS.key)
        message = f"questions of VQAv2 have no answers: give the file of annotations, or put {name} beside them"
        raise BadInput([Problem(message, str(path))])
    return annotations, path


def _beside(path: Location, part: str) -> Path | None:
    """Return the questions, or the annotations, of the same split in the same folder."""
    if not isinstance(path, Path):
        return None
    files = sorted(path.parent.glob(f"*{part}*"))
    return next((each for each in files if _split_of(each.name) == _split_of(path.name)), None)


def _split_of(name: str) -> str:
    """Return what the names of the two files of a split have in common.

    >>> _split_of("v2_OpenEnded_mscoco_val2014_questions.json")
    'v2_mscoco_val2014_*.json'
    """
    for task in _TASKS:
        name = name.replace(task, "")
    return name.replace(QUESTIONS.key, "*").replace(ANNOTATIONS.key, "*")


def _questions(path: Location) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the id and the record of each question."""
    for record in find_records(path, QUESTIONS).records():
        yield str(record.get("question_id")), record


def _faults(record: Mapping[str, Any]) -> Iterator[Fault]:
    answers = record.get("answers")
    if not isinstance(record.get("question_id"), int | str):
        yield "question_id", f"expected a number, found {describe(record.get('question_id'))}"
    if not isinstance(answers, list) or not answers:
        yield "answers", f"expected a list of answers, found {describe(answers)}"
    elif not all(isinstance(each, Mapping) and isinstance(each.get("answer"), str) for each in answers):
        yield "answers", "expected an object with the text of an answer for each annotator"


def _item(record: Mapping[str, Any], question: Mapping[str, Any]) -> GoldItem:
    counts = Counter(str(each["answer"]) for each in record["answers"])
    canonical = record.get("multiple_choice_answer")
    answers = tuple(sorted(counts, key=lambda answer: (answer != canonical, -counts[answer], answer)))
    text, options = str(question.get("question", "")), question.get("multiple_choices")
    listed = tuple(map(str, options)) if isinstance(options, list) else ()
    fields: dict[str, FieldValue] = {
        "answer_type": record.get("answer_type"),
        "question_type": record.get("question_type"),
        "question_length": text.count(" ") + 1 if text else None,
    }
    return GoldItem(
        str(record["question_id"]),
        TEXT,
        answers,
        str(record.get("image_id")),
        fields,
        listed,
        text,
        weights=tuple(counts[answer] for answer in answers),
        right=listed.index(answers[0]) if answers[0] in listed else None,
    )
