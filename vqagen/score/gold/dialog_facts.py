"""The facts of a dialog, of vqagen or in CLEVR-Dialog's shape, that statistics are made of.

A record in CLEVR-Dialog's shape is an image with its dialogs; of a round it has the label (`template`) and, in the
graph's history, the round that it depends on, from which the distance follows. Files without graphs have no distances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from vqagen.errors import Fault, describe
from vqagen.records.fault_list import FaultList
from vqagen.score.gold.question_facts import image_of
from vqagen.tasks.dialog.dialog_files import DIALOGS, caption_label, dependences
from vqagen.tasks.dialog.rounds import ROUND_KINDS

NONE, ALL, COREF = "None", "All", "Coref"
"""The part of the history that a question needs: nothing, all that was mentioned, or one referent."""


class RoundFacts(NamedTuple):
    """One round."""

    question: str
    answer: str | None
    """The answer as text; None if it is left out."""
    label: str
    family: str
    """The type of the question, such as count."""
    history: str
    """NONE, ALL or COREF."""
    since_told: int | None
    """Rounds since the referring word was told of the referent (`d_reveal`); None if the record does not say."""
    since_mentioned: int | None
    """Rounds since the referent was mentioned at all (`d_last`)."""
    attribute: str = ""
    """The attribute that the question names; "" if it names none, or the record does not say."""


class DialogFacts(NamedTuple):
    """One dialog."""

    image: str
    scene_index: int | None
    caption: str
    caption_label: str
    """"" if the record does not say."""
    rounds: tuple[RoundFacts, ...]


class DialogReader:
    """Reads the records of one file, and collects their faults."""

    def __init__(self, source: str) -> None:
        self._faults = FaultList(source, "dialog")

    def dialogs(self, record: Mapping[str, Any], index: int) -> Iterator[DialogFacts]:
        """Yield the dialogs of a record; none that has faults."""
        path = DIALOGS.path(index)
        if DIALOGS.key in record:
            listed = record[DIALOGS.key]
            if not isinstance(listed, list):
                self._faults.add([(DIALOGS.key, f"expected a list of dialogs, found {describe(listed)}")], path)
                listed = []
            for number, each in enumerate(listed):
                yield from self._checked(record, each, _clevr_dialog, f"{path}.{DIALOGS.key}[{number}]")
        else:
            yield from self._checked(record, record, _native_dialog, path)

    def finish(self) -> None:
        """Raise BadInput if there were faults."""
        self._faults.finish()

    def _checked(self, image: Mapping[str, Any], dialog: Any, read: Any, path: str) -> Iterator[DialogFacts]:
        faults: list[Fault] = []
        if not isinstance(dialog, Mapping):
            faults.append(("", f"expected a dialog, found {describe(dialog)}"))
        else:
            caption, label, rounds = read(dialog, faults)
            scene_index = image.get("scene_index")
            scene_index = scene_index if type(scene_index) is int else None
            found = DialogFacts(image_of(image), scene_index, caption, label, tuple(rounds))
        if faults:
            self._faults.add(faults, path)
        else:
            yield found


Read = tuple[str, str, list[RoundFacts]]
"""The caption, its label and the rounds."""


def _native_dialog(record: Mapping[str, Any], faults: list[Fault]) -> Read:
    caption = record.get("caption")
    if not isinstance(caption, Mapping):
        faults.append(("caption", f"expected an object with the text of the caption, found {describe(caption)}"))
        caption = {}
    text = _text(caption, "text", "caption.text", faults) if caption else ""
    rounds = [
        _round(each, "label", each.get("history"), place, faults) for place, each in _objects(record, "rounds", faults)
    ]
    return text, str(caption.get("label") or ""), rounds


def _clevr_dialog(record: Mapping[str, Any], faults: list[Fault]) -> Read:
    caption = _text(record, "caption", "caption", faults)
    depends = dependences(record)
    rounds = []
    for number, (place, each) in enumerate(_objects(record, "dialog", faults)):
        told = depends[number] if number < len(depends) else None
        since = number - told if type(told) is int else None  # the caption is -1
        rounds.append(_round(each, "template", {"d_reveal": since}, place, faults))
    return caption, caption_label(record) or "", rounds


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


def _round(record: Mapping[str, Any], label_key: str, history: Any, place: str, faults: list[Fault]) -> RoundFacts:
    question = _text(record, "question", f"{place}.question", faults)
    label = _text(record, label_key, f"{place}.{label_key}", faults)
    answer = record.get("answer")
    if isinstance(answer, list | Mapping):
        faults.append((f"{place}.answer", f"expected a number or a text, found {describe(answer)}"))
    history = history if isinstance(history, Mapping) else {}
    return RoundFacts(
        question,
        None if answer is None else {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer),
        label,
        str(record.get("family") or label.partition("-")[0]),
        str(history.get("class") or _history_class(label)),
        _distance(history, "d_reveal", place, faults),
        _distance(history, "d_last", place, faults),
        _attribute(record.get("program")),
    )


def _attribute(program: object) -> str:
    match program:
        case {"args": {"attribute": str(name)}}:
            return name
    return ""


def _history_class(label: str) -> str:
    """Return the part of the history that a label needs; COREF for labels that no kind of round has."""
    return ROUND_KINDS[label].history_class if label in ROUND_KINDS else COREF


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
