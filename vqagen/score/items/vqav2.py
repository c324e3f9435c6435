"""VQAv2's annotations, ten answers to each question, with the questions that lie beside them.

The two files of a split belong together by their names: `v2_mscoco_val2014_annotations.json` and
`v2_OpenEnded_mscoco_val2014_questions.json`, or `annotations.json` and `questions.json`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, Problem
from vqagen.files.discovery import open_records
from vqagen.files.kind import RecordKind
from vqagen.files.locations import Location
from vqagen.score.answers.kinds import TEXT
from vqagen.score.items.builder import TableBuilder
from vqagen.score.items.table import Gold, Items, Options

ANNOTATIONS = RecordKind("annotations", own_keys=("answers", "multiple_choice_answer"))
QUESTIONS = RecordKind("questions", own_keys=("question", "question_id"))
GROUPS = ("answer_type", "question_type")
_TASKS = ("OpenEnded_", "MultipleChoice_")


def read_vqav2(table: TableBuilder) -> Items:
    """Return the annotated questions, with their texts if these are at hand."""
    questions = None if table.source.layout == "given" else _beside(table.source.path, QUESTIONS.key)
    listed = open_records(questions, QUESTIONS).records() if questions else ()
    asked = {str(each.get("question_id")): each for each in listed}
    rows = table.rows("answer_type", "question_type", "question_length")
    for record in table.records():
        if not _is_right(record, table):
            continue
        question, gold, options = asked.get(str(record["question_id"]), {}), _gold(record), None
        text, choices = str(question.get("question", "")), question.get("multiple_choices")
        if isinstance(choices, list) and choices:
            texts = tuple(map(str, choices))
            options = Options(texts, texts.index(gold.text) if gold.text in texts else None)
        table.add(record["question_id"], table.gold(gold), str(record.get("image_id")), options=options)
        rows.add(record.get("answer_type"), record.get("question_type"), text.count(" ") + 1 if text else None)
        table.learn(text)
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


def _is_right(record: Mapping[str, Any], table: TableBuilder) -> bool:
    """Return true for a record without faults."""
    answers = record.get("answers") or None
    found = [
        table.check(record.get("question_id"), int | str, "question_id", "a number"),
        table.check(answers, list, "answers", "a list of answers"),
        *(table.check(record.get(key), str | int | None, key, "a text") for key in ("answer_type", "question_type")),
    ]
    for number, each in enumerate(answers if isinstance(answers, list) else ()):
        given = each.get("answer") if isinstance(each, Mapping) else None
        found.append(table.check(given, str, f"answers[{number}].answer", "the text of an annotator's answer"))
    return all(found)


def _gold(record: Mapping[str, Any]) -> Gold:
    """Return the different answers, the most common first, unless the record names another one."""
    counts = Counter(str(each["answer"]) for each in record["answers"])
    canonical = record.get("multiple_choice_answer")
    answers = tuple(sorted(counts, key=lambda answer: (answer != canonical, -counts[answer], answer)))
    return Gold(TEXT, answers, tuple(counts[answer] for answer in answers))
