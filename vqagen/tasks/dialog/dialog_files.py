"""Dialog files, read as records: dialogs, or images with a list of dialogs as in CLEVR-Dialog's own files.

In Parquet, typed columns have a row for each dialog, as `pyarrow`, `pandas` and `datasets` read them:

    split image_filename                   text
    dialog_index scene_index image_index dialog   whole numbers
    relaxed                                true, or null
    caption     {text, label, variant, program, mentions, knowledge_delta}
    rounds      a list of {question, answer, label, family, variant, program, history, referents, mentions,
                knowledge_delta}
    entities    a list of {id, objects, mentions}
    objects     a JSON text

What has other keys from round to round is JSON in text: a `program`, and each fact of a `knowledge_delta`. What a scene
lacks, such as a split, is null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from vqagen.files.formats import Record
from vqagen.files.parquet import RecordColumns, pyarrow, refuse_misfits

NUMBER = "dialog_index"
"""The column of a dialog's place in the file."""
OF_SCENES = {"split": str, "image_index": int, "image_filename": str}
_MENTIONS = [{"entity": int, "role": str, "span": [int]}]
_DISTANCES = dict.fromkeys(("dependence", "d_reveal", "d_last", "d_ellipsis"), int)
_ANTECEDENTS = [{"round": int, "entity": int, "via": str, "span": [int], "antecedent_span": [int]}]
_ROUND = {
    **dict.fromkeys(("question", "answer", "label", "family"), str),
    "variant": int,
    "program": str,
    "history": {"class": str, **_DISTANCES, "antecedents": _ANTECEDENTS},
    "referents": {"focus": [int], "result": [int]},
    "mentions": _MENTIONS,
    "knowledge_delta": [str],
}
_CAPTION = {"text": str, "label": str, "variant": int, "program": str, "mentions": _MENTIONS, "knowledge_delta": [str]}
COLUMNS: Mapping[str, Any] = {
    **dict.fromkeys((NUMBER, "scene_index", "dialog"), int),
    "relaxed": bool,
    **OF_SCENES,
    "caption": _CAPTION,
    "rounds": [_ROUND],
    "entities": [{"id": int, "objects": [int], "mentions": [{"round": int, "span": [int]}]}],
    "objects": str,
}
"""Column -> its type, in the order of the file."""


class DialogColumns(RecordColumns):
    """The columns of dialog records."""

    number_key = NUMBER

    def types(self) -> dict[str, Any]:
        """Return column -> `pyarrow` type, in the order of the file."""
        return {name: _arrow_type(kind) for name, kind in COLUMNS.items()}

    def rows(self, records: Sequence[Record], names: Sequence[str]) -> list[Record]:
        """Return what the columns hold of each record. Raises BadInput for records that do not fit."""
        refuse_misfits(records, OF_SCENES, "dialog")
        return list(map(_row, records))

    def restored(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the record that a row was made of."""
        return dialog_of_row(row)


def _arrow_type(kind: Any) -> Any:
    arrow = pyarrow()
    if isinstance(kind, dict):
        return arrow.struct([(name, _arrow_type(inside)) for name, inside in kind.items()])
    if isinstance(kind, list):  # its items bear the name that Parquet has for them: they come back as the same type
        return arrow.list_(arrow.field("element", _arrow_type(kind[0])))
    return {int: arrow.int64, str: arrow.string, bool: arrow.bool_}[kind]()


def _row(record: Record) -> Record:
    """Return what the columns hold of a record."""
    objects = {"objects": _json(record["objects"])} if "objects" in record else {}
    return {**record, "caption": _flat(record["caption"]), "rounds": list(map(_flat, record["rounds"])), **objects}


def _flat(sentence: Record) -> dict[str, Any]:
    """Return a caption or a round with its program and its facts as texts."""
    facts = list(map(_json, sentence["knowledge_delta"]))
    return {**sentence, "program": _json(sentence["program"]), "knowledge_delta": facts}


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def dialog_of_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return the dialog that a row was made of, whose nulls are left out; a row of another program as it is."""
    try:
        objects = {"objects": orjson.loads(row["objects"])} if "objects" in row else {}
        return {**row, "caption": _parsed(row["caption"]), "rounds": list(map(_parsed, row["rounds"])), **objects}
    except (LookupError, TypeError, ValueError, AttributeError):
        return row


def _parsed(sentence: Record) -> dict[str, Any]:
    facts = list(map(orjson.loads, sentence["knowledge_delta"]))
    return {**sentence, "program": orjson.loads(sentence["program"]), "knowledge_delta": facts}


# Reading dialogs of either kind of file -------------------------------------------------------------------------------


def dialogs_in(record: Mapping[str, Any]) -> Iterator[tuple[Any, str]]:
    """Yield each dialog of a record with its place in it: the record itself at "", or at such as `dialogs[2].`."""
    if "dialogs" not in record:
        yield record, ""
        return
    listed = record["dialogs"]
    for number, dialog in enumerate(listed if isinstance(listed, list) else [listed]):
        yield dialog, f"dialogs[{number}]."


def rounds_key(place: str) -> tuple[str, str]:
    """Return the key of the rounds of a dialog at a place, and the key of the label of each."""
    return ("dialog", "template") if place else ("rounds", "label")


def parts_of(dialog: Any, place: str) -> Iterator[tuple[object, Any, str, str]]:
    """Yield (value, its type, its JSON path, the type in words) for each part that a dialog must have, in order.

    Stop at the first value of another type: the parts behind it cannot be asked for.
    """
    rounds, label = rounds_key(place)
    yield dialog, Mapping, place.removesuffix("."), "a dialog"
    caption = dialog.get("caption")
    if place:
        yield caption, str, f"{place}caption", "text"
    else:
        yield caption, Mapping, "caption", "an object with the text of the caption"
        yield caption.get("text"), str, "caption.text", "text"
    yield dialog.get(rounds), list, place + rounds, "a list of rounds"
    for number, round in enumerate(dialog[rounds]):
        where = f"{place}{rounds}[{number}]"
        yield round, Mapping, where, "a round"
        yield round.get("question"), str, f"{where}.question", "text"
        yield round.get(label), str, f"{where}.{label}", "text"


def caption_of(dialog: Mapping[str, Any]) -> tuple[str, str]:
    """Return the text and the label of a caption; the label is "" if the file does not say it."""
    match dialog:
        case {"caption": {"text": text, **rest}}:
            return text, str(rest.get("label") or "")
        case {"template": str(label)} | {"template_info": [{"label": str(label)}, *_]}:
            return dialog["caption"], label
    return dialog["caption"], ""


def dependences(dialog: Mapping[str, Any]) -> tuple[object, ...]:
    """Return, of each round of a dialog in CLEVR-Dialog's shape, the round that it depends on.

    That number is -1 for the caption and 0 for the first round. Without a graph, the result is empty.
    """
    match dialog:
        case {"graph": {"history": [_, *items]}}:
            return tuple(item.get("dependence") if isinstance(item, Mapping) else None for item in items)
    return ()
