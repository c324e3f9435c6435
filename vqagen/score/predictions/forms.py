"""Forms of prediction records: under which keys they hold the id of a question and the answers to it.

    vqagen     {"question_index": 17, "answer": "yes"}, or "candidates": ["yes", "no"]; dialogs: dialog_index and round
    visual7w   {"qa_id": 17, "candidates": [{"answer": "red"}, {"answer": "blue"}]}
    vqav2      {"question_id": 17, "answer": "yes"}
    gqa        {"questionId": "017", "prediction": "yes"}
    lmms-eval  {"doc_id": 17, "filtered_resps": ["yes"]}

Rounds of dialogs are counted from 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from vqagen.errors import describe
from vqagen.score.predictions.faults import RecordFault
from vqagen.score.predictions.prediction import Prediction

QUESTION_KEYS = ("question_index", "question_id", "qa_id", "questionId", "trial_index", "id", "doc_id")
DIALOG_KEYS = ("dialog_index", "round")
_ANY_KIND = ("id", "doc_id")
_OF_KIND: Mapping[str, tuple[str, ...]] = {
    "trials": ("trial_index", *_ANY_KIND),
    "dialogs": _ANY_KIND,
    "questions": tuple(key for key in QUESTION_KEYS if key != "trial_index"),
}
"""Kind of a file -> the keys of ids of its records; rounds of dialogs have DIALOG_KEYS besides."""
LIST_KEYS = ("candidates", "filtered_resps")
"""Keys of lists of answers, best first."""
ANSWER_KEYS = (*LIST_KEYS, "prediction", "response", "answer")
"""Keys of answers; of several, the first counts: beside a prediction, an `answer` is the right one."""
_NO_ANSWER = ("",)


@dataclass(frozen=True)
class Form:
    """How the records of one format say their id and their answers."""

    name: str
    id_keys: tuple[str, ...]
    answer_keys: tuple[str, ...]

    def fits(self, keys: Collection[str]) -> bool:
        """True if a record with these keys may be of this form."""
        has_id = any(key in keys for key in self.id_keys) or all(key in keys for key in DIALOG_KEYS)
        return has_id and any(key in keys for key in self.answer_keys)


VQAGEN, VISUAL7W, VQAV2, GQA, LMMS_EVAL = "vqagen", "visual7w", "vqav2", "gqa", "lmms-eval"
FORMS: Mapping[str, Form] = {
    form.name: form
    for form in (
        Form(VISUAL7W, ("qa_id",), ("candidates",)),
        Form(GQA, ("questionId",), ("prediction",)),
        Form(VQAV2, ("question_id",), ("answer",)),
        Form(LMMS_EVAL, ("doc_id",), ("filtered_resps",)),
        Form(VQAGEN, QUESTION_KEYS, tuple(reversed(ANSWER_KEYS))),
    )
}
"""All forms, by name. `vqagen` also takes the records of all others."""


def form_of(keys: Collection[str]) -> Form | None:
    """Return the form of a record with these keys; None if it is no prediction."""
    return next((form for form in FORMS.values() if form.fits(keys)), None)


def prediction_of(record: Any, kind: str = "") -> Prediction:
    """Return the prediction that a record of any form is.

    RecordFault if it is none, or if its id is not one of the `kind` of records that it is for: "questions", "dialogs"
    or "trials"; "" for any. A question and a trial may well have the same number.
    """
    if not isinstance(record, dict):
        raise RecordFault(f"expected an object, found {describe(record)}")
    id = _question_id(record, kind)
    found = record.get("answer")
    if type(found) is str and len(record) == 2:  # as in most files
        return Prediction(id, (found,))
    return Prediction(id, _candidates(record))


# Ids ------------------------------------------------------------------------------------------------------------------


def _question_id(record: Mapping[str, Any], kind: str) -> str:
    keys = _OF_KIND.get(kind, QUESTION_KEYS)
    for key in keys:
        if key in record:
            value = record[key]
            return str(value) if type(value) is int else _id_of(value, key)
    has_rounds = kind in ("", "dialogs")
    if has_rounds and all(key in record for key in DIALOG_KEYS):
        dialog, number = DIALOG_KEYS
        return f"{_id_of(record[dialog], dialog)}/{_round(record[number], number)}"
    expected = ", ".join(keys) + (f", or {' and '.join(DIALOG_KEYS)}" if has_rounds else "")
    listed = ", ".join(map(repr, list(record)[:6])) or "an empty object"
    raise RecordFault(f"no id{f' of {kind}' if kind else ''}: expected {expected}; found {listed}")


def _id_of(value: Any, key: str) -> str:
    """Return an id as text. Tables write 17 as "17.0" if another id is missing."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value.strip():
        id = value.strip()
        return id[:-2] if id.endswith(".0") and id[:-2].isdecimal() else id
    raise RecordFault(f"expected a number or a text as id, found {describe(value)}", key)


def _round(value: Any, key: str) -> int:
    id = _id_of(value, key)
    if id.isascii() and id.isdecimal() and len(id) < 10:
        return int(id)
    raise RecordFault(f"expected the number of a round, found {describe(value)}", key)


# Answers --------------------------------------------------------------------------------------------------------------


def _candidates(record: Mapping[str, Any]) -> tuple[str, ...]:
    for key in ANSWER_KEYS:
        if key in record:
            value = record[key]
            if key not in LIST_KEYS:
                return (_text(value, key),)
            if isinstance(value, list):
                return tuple(_text(_inside(each), f"{key}[{place}]") for place, each in enumerate(value)) or _NO_ANSWER
            raise RecordFault(f"expected a list of answers, best first, found {describe(value)}", key)
    raise RecordFault("no answer: expected answer, candidates, prediction or response")


def _inside(candidate: Any) -> Any:
    """Return the answer in Visual7W's `{"answer": …}`, or in a list of one."""
    if isinstance(candidate, list) and len(candidate) == 1:
        return candidate[0]
    return candidate["answer"] if isinstance(candidate, dict) and "answer" in candidate else candidate


def _text(value: Any, key: str) -> str:
    """Return an answer as text: truth values as yes and no, lists with commas; nothing for null."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    if isinstance(value, list):
        return f"[{', '.join(_text(each, key) for each in value)}]"
    raise RecordFault(f"expected an answer (a text, a number, true or false, or a list), found {describe(value)}", key)
