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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from vqagen.files.formats import Record
from vqagen.files.parquet import RecordColumns, pyarrow, refuse_misfits

NUMBER = "dialog_index"
"""The column of a dialog's place in the file."""
REFERENTS = ("focus", "result")
OF_SCENES = {"split": str, "image_index": int, "image_filename": str}


@dataclass(frozen=True)
class DialogColumns(RecordColumns):
    """The columns of dialog records."""

    @property
    def number_key(self) -> str:
        """The column of a dialog's place in the file."""
        return NUMBER

    def types(self) -> dict[str, Any]:
        """Return column -> `pyarrow` type, in the order of the file."""
        text, number = pyarrow().string(), pyarrow().int64()
        mention = _struct(round=number, span=_numbers())
        return {
            NUMBER: number,
            "scene_index": number,
            "dialog": number,
            "relaxed": pyarrow().bool_(),
            "split": text,
            "image_index": number,
            "image_filename": text,
            "caption": _struct(text=text, label=text, variant=number, **_annotation()),
            "rounds": _list_of(_round()),
            "entities": _list_of(_struct(id=number, objects=_numbers(), mentions=_list_of(mention))),
            "objects": text,
        }

    def rows(self, records: Sequence[Record], names: Sequence[str]) -> list[Record]:
        """Return what the columns hold of each record. Raises BadInput for records that do not fit."""
        refuse_misfits(records, OF_SCENES, "dialog")
        return [_row(record) for record in records]

    def restored(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the record that a row was made of."""
        return restored_dialog(row)


def dialog_of_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return the dialog that a row was made of; a row of another program, which is no such dialog, as it is."""
    try:
        return restored_dialog(row)
    except (LookupError, TypeError, ValueError, AttributeError):
        return row


def restored_dialog(row: dict[str, Any]) -> dict[str, Any]:
    """Return the dialog that a row was made of; what is null in the row is left out already."""
    objects = {"objects": orjson.loads(row["objects"])} if "objects" in row else {}
    rounds = [{**each, **_parsed(each)} for each in row["rounds"]]
    return {**row, "caption": {**row["caption"], **_parsed(row["caption"])}, "rounds": rounds, **objects}


# Types ----------------------------------------------------------------------------------------------------------------


def _round() -> Any:
    text, number = pyarrow().string(), pyarrow().int64()
    antecedent = _struct(round=number, entity=number, via=text, span=_numbers(), antecedent_span=_numbers())
    distances = dict.fromkeys(("dependence", "d_reveal", "d_last", "d_ellipsis"), number)
    return _struct(
        question=text,
        answer=text,
        label=text,
        family=text,
        variant=number,
        program=text,
        history=_struct(**{"class": text, **distances, "antecedents": _list_of(antecedent)}),
        referents=_struct(**dict.fromkeys(REFERENTS, _numbers())),
        mentions=_mentions(),
        knowledge_delta=_list_of(text),
    )


def _annotation() -> dict[str, Any]:
    text = pyarrow().string()
    return {"program": text, "mentions": _mentions(), "knowledge_delta": _list_of(text)}


def _mentions() -> Any:
    text, number = pyarrow().string(), pyarrow().int64()
    return _list_of(_struct(entity=number, role=text, span=_numbers()))


def _numbers() -> Any:
    return _list_of(pyarrow().int64())


def _struct(**fields: Any) -> Any:
    return pyarrow().struct(list(fields.items()))


def _list_of(inner: Any) -> Any:
    """Lists, whose items bear the name that Parquet has for them: they come back as the same type."""
    arrow = pyarrow()
    return arrow.list_(arrow.field("element", inner))


# Values ---------------------------------------------------------------------------------------------------------------


def _row(record: Record) -> Record:
    """Return what the columns hold of a record."""
    objects = {"objects": _json(record["objects"])} if "objects" in record else {}
    caption = record["caption"]
    rounds = [{**each, **_texts(each)} for each in record["rounds"]]
    return {**record, "caption": {**caption, **_texts(caption)}, "rounds": rounds, **objects}


def _texts(said: Record) -> dict[str, Any]:
    return {"program": _json(said["program"]), "knowledge_delta": [_json(fact) for fact in said["knowledge_delta"]]}


def _parsed(said: Record) -> dict[str, Any]:
    facts = [orjson.loads(fact) for fact in said["knowledge_delta"]]
    return {"program": orjson.loads(said["program"]), "knowledge_delta": facts}


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


# Files ----------------------------------------------------------------------------------------------------------------


def caption_label(dialog: Mapping[str, Any]) -> str | None:
    """Return the label of the caption of a dialog in CLEVR-Dialog's shape; None if the file does not say it."""
    match dialog:
        case {"template": str(label)} | {"template_info": [{"label": str(label)}, *_]}:
            return label
    return None


def dependences(dialog: Mapping[str, Any]) -> tuple[object, ...]:
    """Return, of each round of a dialog in CLEVR-Dialog's shape, the round that it depends on.

    That number is -1 for the caption and 0 for the first round. Without a graph, the result is empty.
    """
    match dialog:
        case {"graph": {"history": [_, *items]}}:
            return tuple(each.get("dependence") if isinstance(each, Mapping) else None for each in items)
    return ()
