"""Records of dialog files as texts to judge: native ones, and images with dialogs in CLEVR-Dialog's shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from vqagen.errors import describe
from vqagen.score.dialogs.judging import Asked, Transcript
from vqagen.tasks.dialog.dialog_files import DIALOGS, caption_label, dependences

Record = Mapping[str, Any]


class WrittenDialog(NamedTuple):
    """One dialog of a file."""

    name: str
    """The name of the dialog in reports."""
    text: Transcript | None
    """None if the record does not hold a dialog's texts, answers and labels."""
    record: Record
    is_native: bool
    fault: str = ""
    """What is wrong with the record if it has no text."""
    dependences: tuple[object, ...] = ()
    """Round -> the round that it depends on by the graph of CLEVR-Dialog; empty if the file has none."""


def dialogs_of(record: Record, position: int) -> Iterator[WrittenDialog]:
    """Yield the dialogs of a record at a place of its file."""
    if DIALOGS.key not in record:
        number = record.get("dialog_index", position)
        yield _written(f"dialog {number}", record, is_native=True)
        return
    listed = record[DIALOGS.key]
    image = record.get("image_filename") or f"image_index {record.get('image_index')}"
    if not isinstance(listed, list):
        fault = f"expected a list of dialogs, found {describe(listed)}"
        yield WrittenDialog(f"{DIALOGS.path(position)} ({image})", None, record, False, fault)
        return
    for number, dialog in enumerate(listed):
        yield _written(f"dialog {number} of {image}", dialog, is_native=False)


def _written(name: str, record: object, is_native: bool) -> WrittenDialog:
    if not isinstance(record, Mapping):
        return WrittenDialog(name, None, {}, is_native, f"expected a dialog, found {describe(record)}")
    try:
        text = _native(record) if is_native else _clevr_dialog(record)
    except _Missing as fault:
        return WrittenDialog(name, None, record, is_native, str(fault))
    return WrittenDialog(name, text, record, is_native, dependences=() if is_native else dependences(record))


class _Missing(Exception):
    """A part of a dialog that its record lacks."""


def _native(record: Record) -> Transcript:
    caption = _part(record, "caption", Mapping)
    rounds = [_asked(each, "label", f"rounds[{i}]") for i, each in enumerate(_part(record, "rounds", list))]
    return Transcript(_part(caption, "text", str, "caption."), _part(caption, "label", str, "caption."), rounds)


def _clevr_dialog(record: Record) -> Transcript:
    rounds = [_asked(each, "template", f"dialog[{i}]") for i, each in enumerate(_part(record, "dialog", list))]
    return Transcript(_part(record, "caption", str), caption_label(record), rounds)


def _asked(record: object, label: str, place: str) -> Asked:
    if not isinstance(record, Mapping):
        raise _Missing(f"{place}: expected a round, found {describe(record)}")
    if "answer" not in record:
        raise _Missing(f"{place}.answer is missing")
    question, name = (_part(record, key, str, f"{place}.") for key in ("question", label))
    return Asked(question, _answer(record["answer"], name), name)


def _answer(written: Any, label: str) -> Any:
    """Return an answer as it is judged: a number for questions that count. Of CLEVR-Dialog and vqagen 0.1 it is one."""
    is_number = isinstance(written, str) and written.isdecimal() and label.startswith("count")
    return int(written) if is_number else written


def _part(record: Record, key: str, kind: Any, path: str = "") -> Any:
    found = record.get(key)
    if not isinstance(found, kind):
        raise _Missing(f"{path}{key}: expected {_NOUNS[kind]}, found {describe(found)}")
    return found


_NOUNS: dict[Any, str] = {str: "text", list: "a list", Mapping: "an object"}
