"""Reads dialog files as items of an audit: one for each round, with the history that comes before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from vqagen.errors import BadInput, Problem
from vqagen.language.domain_files import find_domain, load_catalogue
from vqagen.records.fault_list import FaultList
from vqagen.records.source import RecordSource
from vqagen.score.gold.dialog_facts import DialogFacts, DialogReader, RoundFacts
from vqagen.score.gold.phrases import Numbering
from vqagen.score.gold.question_facts import QuestionFacts, answer_kind
from vqagen.score.scene_lookup import QuestionFault, SceneNames
from vqagen.shortcuts.audit.items import AuditFile, AuditItem
from vqagen.shortcuts.stats.sample import clue_of
from vqagen.tasks.dialog.dialog_files import DIALOGS


class _Dialog(NamedTuple):
    """Where a dialog stands."""

    record: int
    number: int
    scene: int | None
    order: int | None


def read_dialog_items(
    source: RecordSource, names: SceneNames | None, words: Numbering, on_read: Callable[[int], None]
) -> AuditFile:
    """Return the rounds of a dialog file. BadInput with all faults of its records, or if it has no answers."""
    file = AuditFile(str(source.path), DIALOGS.key, [])
    reader, scenes, number = DialogReader(file.name), FaultList(file.name, "dialog"), 0
    for index, record, _ in source.entries():
        order = record.get("image_index")
        scene = names.place_of(record) if names else None
        if isinstance(scene, QuestionFault):
            scenes.add([("", scene.problem)], DIALOGS.path(index))
            scene = None
        for dialog in reader.dialogs(record, index):
            about = _Dialog(index, number, scene, order if type(order) is int else dialog.scene_index)
            file.items += _rounds(dialog, about, words)
            file.unanswered += sum(each.answer is None for each in dialog.rounds)
            number += 1
        on_read(1)
    reader.finish()
    scenes.finish()
    if not file.items:
        message = "no answers in the file: there is nothing to audit" if file.unanswered else "no dialogs"
        raise BadInput([Problem(message, file.name)])
    return file


def _family(asked: RoundFacts, answer: str) -> str:
    """Return the label of a round and the attribute that it names, which belongs to what is asked for.

    A record that does not name the attribute has values of CLEVR for answers, as CLEVR-Dialog's files have.
    """
    attribute = asked.attribute or (_attributes().get(answer, "") if answer_kind(answer) == "other" else "")
    return f"{asked.label} {attribute}".rstrip()


@cache
def _attributes() -> Mapping[str, str]:
    """Return the attribute of each value in the domain that commands take by default."""
    domain = load_catalogue(find_domain())[0].domain
    return {value: name for name in domain.value_types for value in domain.values_of(name)}


def _rounds(dialog: DialogFacts, about: _Dialog, words: Numbering) -> Iterator[AuditItem]:
    """Yield the rounds of a dialog that have answers."""
    history = dialog.caption
    for place, each in enumerate(dialog.rounds):
        if each.answer is not None:
            named = ("", _family(each, each.answer), each.family, each.answer)
            facts = QuestionFacts(each.question, dialog.image, dialog.scene_index, *named, steps=None, pair=None)
            clue = clue_of(facts, each.answer, words)
            name = f"{about.number}/{place}"
            yield AuditItem(
                about.record, name, clue, dialog.image, about.order, about.scene, place=place, history=history
            )
        history = f"{history} {each.question} {each.answer or ''}"
