"""Rounds of dialogs, of vqagen and in CLEVR-Dialog's shape, as items.

A record in CLEVR-Dialog's shape is an image with its dialogs; of a round it has the label (`template`) and, in the
graph's history, the round that it depends on, from which the distance follows. Files without graphs have no distances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from vqagen.errors import Fault, describe
from vqagen.language.domain_files import find_domain, load_catalogue
from vqagen.records.source import RecordSource
from vqagen.score.answers.kinds import WORD
from vqagen.score.items.builder import FieldRows, TableBuilder, gold_of
from vqagen.score.items.table import Items
from vqagen.tasks.dialog.dialog_files import DIALOGS, caption_label, dependences
from vqagen.tasks.dialog.rounds import ROUND_KINDS

GROUPS = ("answer_type", "category", "label", "history", "round", "distance", "scene_size")
NAMED = ("category", "label", "attribute", "caption", "history")
PLACED = ("round", "distance", "mentioned", "question_length")
INDEPENDENT, WHOLE, DEPENDENT = "None", "All", "Coref"
"""The part of the history that a question needs, as files say it: nothing, all that was mentioned, or one referent."""
HISTORIES = {INDEPENDENT: "independent", WHOLE: "whole history", DEPENDENT: "dependent"}


class Round(NamedTuple):
    """One round."""

    question: str
    answer: str | None
    """The answer as text; None if it is left out."""
    label: str
    family: str
    """The type of the question, such as count."""
    history: str
    """INDEPENDENT, WHOLE or DEPENDENT."""
    since_told: int | None
    """Rounds since the referring word was told of the referent (`d_reveal`); None if the record does not say."""
    since_mentioned: int | None
    """Rounds since the referent was mentioned at all (`d_last`)."""
    attribute: str = ""
    """The attribute that the question names; "" if it names none, or the record does not say."""


class Dialog(NamedTuple):
    """One dialog."""

    caption: str
    caption_label: str
    """"" if the record does not say."""
    rounds: list[Round]


def read_dialogs(source: RecordSource, table: TableBuilder) -> Items:
    """Return the rounds of a dialog file; a dialog's number is its `dialog_index`, else its place in the file."""
    number = 0
    rows = table.rows(*NAMED), table.rows(*PLACED), table.rows("family")
    for index, record in table.records_of(source):
        for dialog in dialogs_of(record, index, table):
            name = record.get("dialog_index", number)
            number += 1
            if table.wants(record):
                _add(dialog, record, index, str(name), table, rows)
    return table.table(GROUPS, typed=True)


def _add(
    dialog: Dialog, record: Mapping[str, Any], index: int, name: str, table: TableBuilder, rows: Sequence[FieldRows]
) -> None:
    """Add the rounds of a dialog."""
    named, placed, families = rows
    history = dialog.caption
    for at, each in enumerate(dialog.rounds):
        if each.answer is None:
            table.require_unanswered(f"{DIALOGS.path(index)}.rounds[{at}]")
        gold = None if each.answer is None else gold_of(each.answer)
        table.add(record, index, f"{name}/{at}", table.gold(gold))
        needed, length = HISTORIES.get(each.history, each.history), each.question.count(" ") + 1
        named.add((each.family, each.label, each.attribute or None, dialog.caption_label or None, needed))
        placed.add((at + 1, each.since_told, each.since_mentioned, length))
        if table.is_learning:
            families.add((_family(each),))
            table.add_learning(each.question, history)
            history = f"{history} {each.question} {each.answer or ''}"


def _family(asked: Round) -> str:
    """Return the label of a round and the attribute that it names, which belongs to what is asked for.

    A record that does not name the attribute has values of CLEVR for answers, as CLEVR-Dialog's files have.
    """
    answer = asked.answer or ""
    attribute = asked.attribute or (_attributes().get(answer, "") if gold_of(answer).kind == WORD else "")
    return f"{asked.label} {attribute}".rstrip()


@cache
def _attributes() -> Mapping[str, str]:
    """Return the attribute of each value in the domain that commands take by default."""
    domain = load_catalogue(find_domain())[0].domain
    return {value: name for name in domain.value_types for value in domain.values_of(name)}


# Records --------------------------------------------------------------------------------------------------------------


def dialogs_of(record: Mapping[str, Any], index: int, table: TableBuilder) -> Iterator[Dialog]:
    """Yield the dialogs of a record; none that has faults, which the table collects."""
    path = DIALOGS.path(index)
    if DIALOGS.key not in record:
        found = [(path, record)]
    elif isinstance(record[DIALOGS.key], list):
        found = [(f"{path}.{DIALOGS.key}[{number}]", each) for number, each in enumerate(record[DIALOGS.key])]
    else:
        fault = f"expected a list of dialogs, found {describe(record[DIALOGS.key])}"
        table.faults.add([(DIALOGS.key, fault)], path)
        return
    for place, each in found:
        faults: list[Fault] = []
        if not isinstance(each, Mapping):
            faults.append(("", f"expected a dialog, found {describe(each)}"))
        elif each is record:
            dialog = _native_dialog(each, faults)
        else:
            dialog = _clevr_dialog(each, faults)
        if faults:
            table.faults.add(faults, place)
        else:
            yield dialog


def _native_dialog(record: Mapping[str, Any], faults: list[Fault]) -> Dialog:
    caption = record.get("caption")
    if not isinstance(caption, Mapping):
        faults.append(("caption", f"expected an object with the text of the caption, found {describe(caption)}"))
        caption = {}
    text = _text(caption, "text", "caption.text", faults) if caption else ""
    rounds = [
        _round(each, "label", each.get("history"), place, faults) for place, each in _objects(record, "rounds", faults)
    ]
    return Dialog(text, str(caption.get("label") or ""), rounds)


def _clevr_dialog(record: Mapping[str, Any], faults: list[Fault]) -> Dialog:
    caption = _text(record, "caption", "caption", faults)
    depends = dependences(record)
    rounds = []
    for number, (place, each) in enumerate(_objects(record, "dialog", faults)):
        told = depends[number] if number < len(depends) else None
        since = number - told if type(told) is int else None  # the caption is -1
        rounds.append(_round(each, "template", {"d_reveal": since}, place, faults))
    return Dialog(caption, caption_label(record) or "", rounds)


def _objects(record: Mapping[str, Any], key: str, faults: list[Fault]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects of a list with their paths."""
    listed = record.get(key)
    if not isinstance(listed, list):
        faults.append((key, f"expected a list of rounds, found {describe(listed)}"))
        return
    for number, each in enumerate(listed):
        if isinstance(each, Mapping):
            yield f"{key}[{number}]", each
        else:
            faults.append((f"{key}[{number}]", f"expected a round, found {describe(each)}"))


def _round(record: Mapping[str, Any], label_key: str, history: Any, place: str, faults: list[Fault]) -> Round:
    question = _text(record, "question", f"{place}.question", faults)
    label = _text(record, label_key, f"{place}.{label_key}", faults)
    answer = record.get("answer")
    if isinstance(answer, list | Mapping):
        faults.append((f"{place}.answer", f"expected a number or a text, found {describe(answer)}"))
    history = history if isinstance(history, Mapping) else {}
    needed = ROUND_KINDS[label].history_class if label in ROUND_KINDS else DEPENDENT
    return Round(
        question,
        None if answer is None else {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer),
        label,
        str(record.get("family") or label.partition("-")[0]),
        str(history.get("class") or needed),
        _distance(history, "d_reveal", place, faults),
        _distance(history, "d_last", place, faults),
        _attribute(record.get("program")),
    )


def _attribute(program: object) -> str:
    match program:
        case {"args": {"attribute": str(name)}}:
            return name
    return ""


def _text(record: Mapping[str, Any], key: str, place: str, faults: list[Fault]) -> str:
    text = record.get(key)
    if isinstance(text, str):
        return text
    faults.append((place, f"expected text, found {describe(text)}"))
    return ""


def _distance(history: Mapping[str, Any], key: str, place: str, faults: list[Fault]) -> int | None:
    number = history.get(key)
    if number is None or type(number) is int:
        return number
    faults.append((f"{place}.history.{key}", f"expected a number of rounds, found {describe(number)}"))
    return None
