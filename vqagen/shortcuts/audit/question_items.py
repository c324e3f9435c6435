"""Reads question files, with or without options, as items of an audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from vqagen.errors import BadInput, Problem, describe
from vqagen.language.question_files import QUESTIONS
from vqagen.records.fault_list import FaultList
from vqagen.records.source import RecordSource
from vqagen.score.gold.phrases import Numbering
from vqagen.score.gold.question_facts import FactReader, QuestionFacts
from vqagen.score.gold.questions import BLOCK_KEYS, OPTION_KEYS
from vqagen.score.scene_lookup import QuestionFault, SceneNames
from vqagen.shortcuts.audit.items import AuditFile, AuditItem
from vqagen.shortcuts.stats.question_statistics import balance_window
from vqagen.shortcuts.stats.sample import clue_of

ID_KEYS = ("question_index", "question_id", "qa_id", "id")


def read_question_items(
    source: RecordSource, names: SceneNames | None, words: Numbering, on_read: Callable[[int], None]
) -> AuditFile:
    """Return the items of a question file. BadInput with all faults of its records, or if it has no answers."""
    file = AuditFile(str(source.path), QUESTIONS.key, [], balance_window(source.info))
    reader, options, scenes = (
        FactReader(file.name),
        FaultList(file.name, "question"),
        FaultList(file.name, "question"),
    )
    places: Counter[str] = Counter()
    for index, record, _ in source.entries():
        facts = reader.facts(record, QUESTIONS.path(index))
        on_read(1)
        if facts is None:
            continue
        if facts.answer is None:
            file.unanswered += 1
            continue
        found = _options(record, facts.answer)
        scene = names.place_of(record) if names else None
        if isinstance(found, str):
            options.add([("options", found)], QUESTIONS.path(index))
        elif isinstance(scene, QuestionFault):
            scenes.add([("", scene.problem)], QUESTIONS.path(index))
        else:
            file.items.append(_item(index, record, facts, found, scene, places[facts.image], words))
            places[facts.image] += 1
    for faults in (reader, options, scenes):
        faults.finish()
    if not file.items:
        message = "no answers in the file: there is nothing to audit" if file.unanswered else "no questions"
        raise BadInput([Problem(message, file.name)])
    return file


def _item(
    index: int,
    record: Mapping[str, Any],
    facts: QuestionFacts,
    options: tuple[str, ...],
    scene: int | None,
    place: int,
    words: Numbering,
) -> AuditItem:
    assert facts.answer is not None
    order = record.get("image_index")
    name = next((record[key] for key in ID_KEYS if record.get(key) is not None), index)
    block = next((record[key] for key in BLOCK_KEYS if record.get(key) is not None), None)
    return AuditItem(
        index,
        str(name),
        clue_of(facts, facts.answer, words),
        facts.image,
        order if type(order) is int else facts.scene_index,
        scene,
        place,
        "" if block is None else str(block),
        options,
        options.index(facts.answer) if options else -1,
        facts.steps,
    )


def _options(record: Mapping[str, Any], answer: str) -> tuple[str, ...] | str:
    """Return the options of a question, empty if it has none, or the fault of its options."""
    key = next((key for key in OPTION_KEYS if record.get(key)), None)
    if key is None:
        return ()
    listed = record[key]
    if not isinstance(listed, list) or not all(isinstance(each, str | int) for each in listed):
        return f"expected a list of texts, found {describe(listed)}"
    options = tuple("yes" if each is True else "no" if each is False else str(each) for each in listed)
    if answer not in options:
        return f"the answer {answer!r} is not among the options {', '.join(options)}"
    if len(set(options)) < max(2, len(options)):
        return f"expected two different options or more, found {', '.join(options)}"
    return options
