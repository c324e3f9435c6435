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
from vqagen.records.kind import RecordKind
from vqagen.records.source import RecordSource
from vqagen.score.answers.kinds import TEXT
from vqagen.score.items.builder import TableBuilder
from vqagen.score.items.table import Gold, Items, Options

ANNOTATIONS = RecordKind("annotations", own_keys=("answers", "multiple_choice_answer"))
QUESTIONS = RecordKind("questions", own_keys=("question", "question_id"))
GROUPS = ("answer_type", "question_type")
_TASKS = ("OpenEnded_", "MultipleChoice_")


def read_vqav2(source: RecordSource, table: TableBuilder) -> Items:
    """Return the annotated questions, with their texts if these are at hand."""
    questions = None if source.layout == "given" else _beside(source.path, QUESTIONS.key)
    listed = find_records(questions, QUESTIONS).records() if questions else ()
    asked = {str(each.get("question_id")): each for each in listed}
    rows = table.rows("answer_type", "question_type", "question_length")
    for index, record in table.records_of(source):
        faults = list(_faults(record))
        if faults:
            table.faults.add(faults, ANNOTATIONS.path(index))
            continue
        question = asked.get(str(record["question_id"]), {})
        gold, text = _gold(record), str(question.get("question", ""))
        table.add(record, index, record["question_id"], table.gold(gold), str(record.get("image_id")))
        rows.add((record.get("answer_type"), record.get("question_type"), text.count(" ") + 1 if text else None))
        choices = question.get("multiple_choices")
        if isinstance(choices, list) and choices:
            options, answer = tuple(map(str, choices)), gold.text
            table.add_choice(Options(options, options.index(answer) if answer in options else None))
        if table.is_learning:
            table.add_learning(text)
    return table.table(GROUPS)


def annotations_of(path: Location) -> Location:
    """Return the file of annotations; `path` is it, or that of their questions. BadInput if there is none."""
    if QUESTIONS.key not in path.name:
        return path
    annotations = _beside(path, ANNOTATIONS.key)
    if annotations is None:
        name = _split_of(path.name).replace("*", ANNOTATIONS.key)
        message = f"questions of VQAv2 have no answers: give the file of annotations, or put {name} beside them"
        raise BadInput([Problem(message, str(path))])
    return annotations


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


def _faults(record: Mapping[str, Any]) -> Iterator[Fault]:
    answers = record.get("answers")
    if not isinstance(record.get("question_id"), int | str):
        yield "question_id", f"expected a number, found {describe(record.get('question_id'))}"
    if not isinstance(answers, list) or not answers:
        yield "answers", f"expected a list of answers, found {describe(answers)}"
    elif not all(isinstance(each, Mapping) and isinstance(each.get("answer"), str) for each in answers):
        yield "answers", "expected an object with the text of an answer for each annotator"
    for key in ("answer_type", "question_type"):
        if isinstance(record.get(key), list | dict):
            yield key, f"expected a text, found {describe(record[key])}"


def _gold(record: Mapping[str, Any]) -> Gold:
    """Return the different answers, the most common first, unless the record names another one."""
    counts = Counter(str(each["answer"]) for each in record["answers"])
    canonical = record.get("multiple_choice_answer")
    answers = tuple(sorted(counts, key=lambda answer: (answer != canonical, -counts[answer], answer)))
    return Gold(TEXT, answers, tuple(counts[answer] for answer in answers))
