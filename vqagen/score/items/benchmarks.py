"""Questions of other benchmarks.

Visual7W, telling and pointing: `dataset.json` with images that have `qa_pairs`, and perhaps `boxes`. A pair lists three
wrong options; the right one, its answer, is put before them. Models saw them in an order that the file does not record,
so no letter names an option.

VQAv2: annotations, ten answers to each question, with the questions that lie beside them. The two files of a split
belong together by their names: `v2_mscoco_val2014_annotations.json` and `v2_OpenEnded_mscoco_val2014_questions.json`,
or `annotations.json` and `questions.json`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import Location
from vqagen.files.records import RecordKind, open_records
from vqagen.files.visual7w import IMAGES, PAIRS, candidates_of
from vqagen.score.answers.kinds import TEXT
from vqagen.score.items.builder import TableBuilder
from vqagen.score.items.table import CHOICE, OPEN, Gold, Items, Options


def read_visual7w(table: TableBuilder) -> Items:
    """Return the pairs of a dataset. It is of pointing if the first answer is a number, which names a box."""
    rows, mode = table.rows("type", "split", "question_length"), ""
    for image in table.records():
        pairs: Any = image.get(PAIRS)
        split = image.get("split")
        if not table.wants(image) or not table.check(pairs, list, PAIRS, "a list"):
            continue
        name = str(image.get("image_id", image.get("filename", IMAGES.path(table.index))))
        for number, pair in enumerate(pairs):
            place = f"{PAIRS}[{number}]"
            if isinstance(pair, Mapping) and pair.get("answer") is None:
                table.gold(None, place)
            if _is_pair(pair, place, table) and table.check(split, str | int | float | None, "split", "a text"):
                mode = mode or (CHOICE if type(pair["answer"]) is int else OPEN)
                candidates, text = candidates_of(pair), str(pair.get("question", ""))
                options = Options(candidates, 0, has_letters=False) if len(candidates) > 1 else None
                table.add(pair["qa_id"], table.gold(Gold(TEXT, candidates[:1])), name, options=options)
                rows.add(pair.get("type"), split, text.count(" ") + 1)
                table.learn(text)
    return table.table(("type",), mode or OPEN)


def _is_pair(pair: Any, place: str, table: TableBuilder) -> bool:
    """Return true for a pair without faults."""
    return table.check(pair, Mapping, place, "an object") and all(
        [  # all are looked at
            table.check(pair.get("qa_id"), int | str, f"{place}.qa_id", "a number"),
            table.check(pair["answer"], int | str, f"{place}.answer", "a text or the number of a box"),
            table.check(pair.get("multiple_choices") or [], list, f"{place}.multiple_choices", "a list"),
            table.check(pair.get("type"), str | int | float | None, f"{place}.type", "a text"),
        ]
    )


ANNOTATIONS = RecordKind("annotations", own_keys=("answers", "multiple_choice_answer"))
QUESTIONS = RecordKind("questions", own_keys=("question", "question_id"))
_TASKS = ("OpenEnded_", "MultipleChoice_")


def read_vqav2(table: TableBuilder) -> Items:
    """Return the annotated questions, with their texts if these are at hand."""
    questions = None if table.source.layout == "given" else _beside(table.source.path, QUESTIONS.key)
    listed = open_records(questions, QUESTIONS).records() if questions else ()
    asked = {str(each.get("question_id")): each for each in listed}
    rows = table.rows("answer_type", "question_type", "question_length")
    for record in table.records():
        if not _is_annotated(record, table):
            continue
        question, gold, options = asked.get(str(record["question_id"]), {}), _gold(record), None
        text, choices = str(question.get("question", "")), question.get("multiple_choices")
        if isinstance(choices, list) and choices:
            texts = tuple(map(str, choices))
            options = Options(texts, texts.index(gold.text) if gold.text in texts else None)
        table.add(record["question_id"], table.gold(gold), str(record.get("image_id")), options=options)
        rows.add(record.get("answer_type"), record.get("question_type"), text.count(" ") + 1 if text else None)
        table.learn(text)
    return table.table(("answer_type", "question_type"))


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


def _is_annotated(record: Mapping[str, Any], table: TableBuilder) -> bool:
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
