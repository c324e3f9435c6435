"""Rounds of dialogs, of vqagen and in CLEVR-Dialog's shape, as gold items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vqagen.records.source import RecordSource
from vqagen.score.answers.kinds import BOOL, INTEGER, WORD, Answer
from vqagen.score.gold.dialog_facts import ALL, COREF, NONE, DialogReader, RoundFacts
from vqagen.score.gold.file import OPEN, GoldFile, Splits, file_info, no_answers
from vqagen.score.gold.item import FieldValue, GoldItem
from vqagen.score.gold.question_facts import answer_kind
from vqagen.score.gold.scenes import SceneFields
from vqagen.tasks.dialog.dialog_files import DIALOGS

GROUPS = ("answer_type", "category", "label", "history", "round", "distance", "scene_size")
NONE_THERE = "none"
"""The answer about the next object where there is none."""
HISTORIES: Mapping[str, str] = {NONE: "independent", ALL: "whole history", COREF: "dependent"}
"""Class of a round -> the part of the history that its question depends on."""


def dialog_file(source: RecordSource, split: str = "", scenes: SceneFields | None = None) -> GoldFile:
    """Return the gold file of dialogs; a dialog's number is its `dialog_index`, else its place in the file."""

    def read() -> Iterator[GoldItem]:
        reader, splits, number = DialogReader(str(source.path)), Splits(split), 0
        for index, record, _ in source.entries():
            place = {} if scenes is None else scenes.of(record, index)
            for dialog in reader.dialogs(record, index):
                name = record.get("dialog_index", number)
                number += 1
                if not splits.has(record):
                    continue
                for at, facts in enumerate(dialog.rounds):
                    if facts.answer is None:
                        raise no_answers(str(source.path), f"{DIALOGS.path(index)}.rounds[{at}]")
                    yield _item(f"{name}/{at}", at + 1, facts, dialog.image, place)
        reader.finish()
        splits.finish(str(source.path), "dialog")
        if scenes is not None:
            scenes.finish()

    return GoldFile(str(source.path), "dialogs", read, file_info(source), OPEN, GROUPS, (NONE_THERE,))


def _item(id: str, round: int, facts: RoundFacts, image: str, scene: Mapping[str, FieldValue]) -> GoldItem:
    kind, answer = _answer(facts)
    fields: dict[str, FieldValue] = {
        "answer_type": kind,
        "category": facts.family,
        "label": facts.label,
        "history": HISTORIES.get(facts.history, facts.history),
        "round": round,
        "distance": facts.since_told,
        "question_length": facts.question.count(" ") + 1,
        **scene,
    }
    return GoldItem(id, kind, (answer,), image, fields, question=facts.question)


def _answer(facts: RoundFacts) -> tuple[str, Answer]:
    text: Any = facts.answer
    kind = answer_kind(text)
    if kind == "yes/no":
        return BOOL, text == "yes"
    return (INTEGER, int(text)) if kind == "number" else (WORD, text)
