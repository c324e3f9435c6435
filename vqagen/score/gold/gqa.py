"""GQA's questions: one object, id -> question with answer, types, groups and semantic steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vqagen.errors import Fault, describe
from vqagen.files.locations import Location
from vqagen.json.stream import reading
from vqagen.records.fault_list import FaultList
from vqagen.score.answers.kinds import BOOL, TEXT
from vqagen.score.gold.file import OPEN, GoldFile, no_answers
from vqagen.score.gold.item import FieldValue, GoldItem

GROUPS = ("balanced", "structural", "semantic", "steps", "question_length", "answer_type")
_UNCOUNTED = ("exist", "query: name", "choose name")
"""Steps that contain one of these do not count."""


def gqa_file(path: Location, mode: str = "") -> GoldFile:
    """Return the gold file of questions, balanced and unbalanced ones."""

    def read() -> Iterator[GoldItem]:
        faults = FaultList(str(path), "question")
        with reading(path) as reader:
            for id in reader.members():
                record = reader.value()
                if isinstance(record, Mapping) and record.get("answer") is None:
                    raise no_answers(str(path), id)
                found = list(_faults(record))
                if found:
                    faults.add(found, id)
                else:
                    yield _item(id, record)
        faults.finish()

    return GoldFile(str(path), "gqa", read, {}, mode or OPEN, GROUPS)


def _faults(record: object) -> Iterator[Fault]:
    if not isinstance(record, Mapping):
        yield "", f"expected an object, found {describe(record)}"
        return
    for key in ("question", "answer"):
        if not isinstance(record.get(key), str):
            yield key, f"expected text, found {describe(record.get(key))}"
    if not isinstance(record.get("semantic") or [], list):
        yield "semantic", f"expected a list, found {describe(record.get('semantic'))}"
    for key in ("types", "groups"):
        if not isinstance(record.get(key) or {}, Mapping):
            yield key, f"expected an object, found {describe(record.get(key))}"


def _item(id: str, record: Mapping[str, Any]) -> GoldItem:
    types, groups = record.get("types") or {}, record.get("groups") or {}
    text, answer = record["question"], record["answer"]
    is_balanced = record.get("isBalanced")
    fields: dict[str, FieldValue] = {
        "balanced": None if is_balanced is None else "yes" if is_balanced else "no",
        "structural": types.get("structural"),
        "semantic": types.get("semantic"),
        "detailed": types.get("detailed"),
        "group": groups.get("global"),
        "steps": step_count(record.get("semantic") or ()),
        "question_length": len(text.split()),
        "answer_type": BOOL if answer in ("yes", "no") else TEXT,
    }
    return GoldItem(id, TEXT, (answer,), str(record.get("imageId")), fields, question=text)


def step_count(steps: Any) -> int:
    """Return the steps of a question as GQA's script counts them.

    >>> step_count([{"operation": "select", "argument": "cube (3)"}, {"operation": "query", "argument": "name"}])
    1
    """
    said = (f"{step.get('operation')}: {step.get('argument')}" for step in steps if isinstance(step, Mapping))
    return sum(not any(part in each for part in _UNCOUNTED) for each in said)
