"""Prediction records: under which keys they hold the id of an item and the answers to it.

    {"question_index": 17, "answer": "yes"}, or "candidates": ["yes", "no"], best first        vqagen
    {"dialog_index": 3, "round": 5, "answer": "yes"}                                           vqagen; rounds from 0 on
    {"qa_id": 17, "candidates": [{"answer": "red"}, {"answer": "blue"}]}                       Visual7W
    {"question_id": 17, "answer": "yes"}, {"questionId": "017", "prediction": "yes"}           VQAv2, GQA
    {"question_id": 17, "prompt": "…", "text": "yes", "answer_id": "…", "model_id": "…"}       LLaVA
    {"doc_id": 3, "doc": {"id": "17"}, "target": "no", "filtered_resps": ["yes"]}              lmms-eval
    {"index": 17, "answer": "no", "prediction": "yes"}                                         VLMEvalKit
    {"custom_id": "17", "response": {"body": {"choices": […]}}, "error": null}                 OpenAI's batches

Any key of an id goes with any name of a prediction. Beside a prediction, an `answer` is a copy of the right one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from vqagen.errors import BadInput, FieldFault, Problem, counted, describe, warn
from vqagen.extras import needed
from vqagen.files.locations import Location, natural_order
from vqagen.files.records import RecordKind
from vqagen.items.answers import text_of
from vqagen.items.places import MARK_KEYS
from vqagen.items.table import plain_id

_ANY_KIND = ("custom_id", "id", "index", "doc_id")
QUESTION_KEYS = ("question_index", "question_id", "qa_id", "questionId", "trial_index", *_ANY_KIND)
DIALOG_KEYS = ("dialog_index", "round")
PLACE_KEYS = ("index", "doc_id")
"""Keys under which some tools number their rows: VLMEvalKit (unless the table has ids), lmms-eval, and Inspect here."""
_ASKED = ("question", "prompt")
_LONGEST_ID = 1000
_OF_KIND: Mapping[str, tuple[str, ...]] = {
    "trials": ("trial_index", *_ANY_KIND),
    "dialogs": _ANY_KIND,
    "questions": tuple(key for key in QUESTION_KEYS if key != "trial_index"),
}
"""Kind of a file -> the keys of ids of its records; rounds of dialogs have DIALOG_KEYS besides."""
_OF_QUESTIONS = (
    *("program", "multiple_choices", "rounds", "dialog", "trial_type", "semantic", "answers"),
    *("template_filename", "question_family_index"),
)
"""Keys of records that are no predictions, although they have an id and an answer: all would be right."""
_BESIDE_TEXTS = (
    *("image_filename", "image_index", "imageId", "split", "answer_type", "question_type", "family"),
    *("choices", "options", "problem", "solution"),
)
"""Further ones, if the text of a question stands beside them."""


def _plain(key: str) -> str:
    return "".join(filter(str.isalnum, key.lower()))


def _names(text: str) -> frozenset[str]:
    return frozenset(map(_plain, text.split()))


_HINT = "name the key of the predictions by --prediction-key"
_BOTH = {"answer", "candidates"}
"""Names that records of one file may have in turn."""
LIST_KEYS = ("candidates", "filtered_resps")
"""Keys of lists of answers, best first."""
_PLAIN = (str, int, bool)
"""Types of answers that need no look at what they hold."""
_ANSWERS = _names("answer ans")
"""The prediction if it stands alone; beside a prediction the right answer."""
_TEXTS = _names("text")
"""The prediction in LLaVA's files; elsewhere it may be the question."""
_PREDICTIONS = _TEXTS | _names(
    """
    candidates filtered_resps prediction predictions pred preds predict predicted predicted_answer predicted_label
    prediction_text answer_pred answer_prediction pred_answer pred_text parsed_pred model_answer model_output
    model_outputs model_response model_prediction model_pred model_reply llm_answer llm_output llm_response vlm_answer
    vlm_output output outputs output_text text_output raw_output raw_response raw_prediction response responses reply
    generated generated_text generated_answer generated_response generation generations completion completions
    final_answer parsed_answer extracted_answer given_answer student_answer user_answer
    """
)
_HARMLESS = _names(
    """
    question_index question_id qa_id trial_index custom_id id index doc_id dialog_index round
    question question_text prompt prompts input inputs query instruction system_prompt messages conversations
    image images image_id image_index image_filename image_name image_path image_url filename file path picture scene
    split subset dataset data_source source category l2_category type question_type answer_type family task metadata
    meta info extra_info doc arguments resps model model_id model_name answer_id request_id uid uuid hash key timestamp
    time date created latency duration runtime elapsed usage cost seed temperature finish_reason stop_reason logprob
    logprobs prob probability confidence score scores accuracy acc correct is_correct hit exact_match reward error
    status status_code version language lang epoch step rank object method token_counts
    answers gt gt_answer gt_answers ground_truth gold gold_answer gold_label target targets label labels reference
    references reference_answer ref expected expected_answer correct_answer right_answer true_answer true_label solution
    """
)
"""Ids, descriptions, measurements and, in the last lines, copies of the right answer."""
_DESCRIBES = re.compile(
    r"(unnamed.*|.*[ _-](ids?|idx|index|ms|s|secs?|seconds|time|tokens?|hash|path|url|file|name|type|score))?", re.I
)
"""Further names of ids and measurements; "" and "Unnamed: 0" are pandas' own index."""

Prediction = tuple[str, tuple[str, ...]]
"""The id of an item as text ("17"; of a round "3/5": dialog and round), and the answers, best first, as text."""
Entry = tuple[Any, str, int | None]
"""A record, or the FieldFault of an unreadable one; the JSON path of its place; its line."""


class PredictionReader:
    """Reads the records of one source, which must all have their ids, and their predictions, under the same key."""

    def __init__(self, kind: str = "", prediction_key: str = "") -> None:
        """`kind` is that of the records to predict for: "questions", "dialogs" or "trials"; "" for any.

        A question and a trial may well have the same number. `prediction_key` names the predictions; by default the
        names of the keys decide.
        """
        self._keys, self._has_rounds = _OF_KIND.get(kind, QUESTION_KEYS), kind in ("", "dialogs")
        self._kind, self._wanted = kind, prediction_key
        self._shapes: dict[tuple[str, ...], tuple[str, str, list[str]]] = {}
        """The keys of records -> those of the id and of the prediction, and those that may tell the question."""
        self._used, self._copies = set[str](), False
        self._model: Any = None
        self.asked: dict[str, str] = {}
        """The id of an item -> the question, or the prompt, that its record tells."""
        self.id_key = ""
        """The key of the ids so far."""

    def read(self, record: Any) -> Prediction | None:
        """Return the prediction that a record is; None for a request that failed.

        FieldFault if it is none, if its id is not one of the kind, or if earlier records are of another form.
        """
        if type(record) is not dict and not isinstance(record, Mapping):
            fault = FieldFault("", f"expected an object, found {describe(record)}")
            raise record if isinstance(record, FieldFault) else fault
        if "custom_id" in record and _has_failed(record):
            return None
        if "doc_id" in record:  # the id itself is in lmms-eval's document, or in a metric of its task
            parts = [part for part in record.values() if isinstance(part, Mapping)]
            record = {key: part[key] for part in parts for key in (*self._keys, *_ASKED) if key in part} | dict(record)
        shape = tuple(record)
        id_key, key, asked_keys = self._shapes.get(shape) or self._learn(shape)
        value, found = record[id_key], record[key]
        id = str(value) if type(value) is int and id_key != "round" else _id_of(record, id_key)
        if asked_keys and type(asked := next(filter(None, map(record.get, asked_keys)), None)) is str:
            self.asked[id] = asked
        if "model" in record and not self._wanted and _plain(key) in _ANSWERS:
            self._model = self._model or record["model"]
            if record["model"] != self._model:
                raise FieldFault("model", f"differs, so that {key!r} and 'model' may each be the prediction: {_HINT}")
        is_plain = type(found) in _PLAIN and key not in LIST_KEYS
        return id, (text_of(found),) if is_plain else _candidates(found, key)

    def _learn(self, shape: tuple[str, ...]) -> tuple[str, str, list[str]]:
        """Return the keys of the id, of the prediction and of the question in records that have these keys."""
        id_key, key = self._id_key(shape), prediction_key_of(shape, self._wanted)
        if not self._wanted and (question := question_key(shape)):
            raise FieldFault("", f"a question, not a prediction (its key {question!r})")
        copies = any(other != key and _plain(other) in _ANSWERS for other in shape)
        is_other = bool(self._used - {key}) and (copies or self._copies or not self._used | {key} <= _BOTH)
        if is_other or self.id_key not in ("", id_key):
            earlier = ", ".join(sorted(self._used | {self.id_key}))
            raise FieldFault("", f"id and prediction stand under {id_key}, {key}; in earlier records under {earlier}")
        self._used.add(key)
        self._copies, self.id_key = self._copies or copies, id_key
        found = self._shapes[shape] = id_key, key, [name for name in _ASKED if name in shape]
        return found

    def _id_key(self, shape: tuple[str, ...]) -> str:
        """Return the key of the id; "round" for both DIALOG_KEYS."""
        if self._has_rounds and all(key in shape for key in DIALOG_KEYS):
            return "round"
        found = next((key for key in self._keys if key in shape), None)
        if found is None:
            expected = ", ".join(self._keys) + (f", or {' and '.join(DIALOG_KEYS)}" if self._has_rounds else "")
            listed = ", ".join(map(repr, shape[:6])) or "an empty object"
            of_kind = f" of {self._kind}" if self._kind else ""
            raise FieldFault("", f"no id{of_kind}: expected {expected}; found {listed}")
        return found


def _id_of(record: Mapping[str, Any], key: str) -> str:
    """Return an id as text; of a round, those of the dialog and of the round."""
    if key == "round":
        dialog, number = (_id_of({"": record[part]}, "") for part in DIALOG_KEYS)
        if number.isascii() and number.isdecimal() and len(number) < 10:
            return f"{dialog}/{number}"
        raise FieldFault("round", f"expected the number of a round, found {describe(record['round'])}")
    value = record[key].tolist() if hasattr(record[key], "tolist") else record[key]  # a number of numpy
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:  # larger ones have lost digits
        value = int(value)
    id = str(value).strip() if isinstance(value, int | str) and not isinstance(value, bool) else ""
    if not 0 < len(id) <= _LONGEST_ID:
        raise FieldFault(key, f"expected a number or a text as id, found {describe(value)}")
    return plain_id(id)


def has_id(keys: Collection[str]) -> bool:
    """Return true if some of the keys hold an id."""
    return any(key in keys for key in QUESTION_KEYS) or all(key in keys for key in DIALOG_KEYS)


def is_known(key: str) -> bool:
    """Return true for a key that records of predictions have."""
    return _plain(key) in _PREDICTIONS | _ANSWERS | _HARMLESS


def prediction_key_of(keys: Iterable[str], wanted: str = "") -> str:
    """Return the key of the predictions in records with these keys: `wanted`, or the only one whose name says so.

    FieldFault if there is none, or if several may be: `answer` may be a copy of the right one beside an unknown key.
    """
    listed = list(keys)
    if wanted:
        found = [key for key in listed if key == wanted]
    else:
        found = [key for key in listed if _plain(key) in _PREDICTIONS]
        answers = [key for key in listed if _plain(key) in _ANSWERS]
        if not found and answers:
            unknown = [key for key in listed if not (is_known(key) or _DESCRIBES.fullmatch(key))]
            found = answers + [key for key in unknown if key not in _OF_QUESTIONS]
        elif any(_plain(key) in _TEXTS for key in found):
            found = [*answers, *found]
    if len(found) == 1:
        return found[0]
    if found:
        raise FieldFault("", f"{' and '.join(map(repr, found[:6]))} may each be the prediction: {_HINT}")
    expected = repr(wanted) if wanted else "answer, candidates, prediction, response or another name of a prediction"
    shown = ", ".join(map(repr, listed[:12])) or "an empty object"
    raise FieldFault("", f"no answer: expected {expected}; found {shown}" + (f"; {_HINT}" if not wanted else ""))


def question_key(keys: Collection[str], *more: str) -> str | None:
    """Return a key by which a record with these keys is a question with its right answer; None for a prediction.

    Some keys say so beside the text of a question, and `more` in any record.
    """
    if any(_plain(key) in _PREDICTIONS for key in keys):
        return None
    telling = {*_OF_QUESTIONS, *more, *(_BESIDE_TEXTS if "question" in keys else ())}
    return next((key for key in keys if key in telling), None)


def _candidates(value: Any, key: str) -> tuple[str, ...]:
    if key not in LIST_KEYS:
        return (_text(_said(value), key),)
    if not isinstance(value, list | tuple):
        raise FieldFault(key, f"expected a list of answers, best first, found {describe(value)}")
    alone = [answer[0] if isinstance(answer, list) and len(answer) == 1 else answer for answer in value]
    return tuple(_text(_said(answer), f"{key}[{place}]") for place, answer in enumerate(alone)) or ("",)


def _said(value: Any) -> Any:
    """Return the answer in Visual7W's `{"answer": …}`, or the text in a response of OpenAI's API."""
    match value:
        case {"answer": text} | {"body": {"choices": [{"message": {"content": text}} | {"text": text}, *_]}}:
            return text
        case {"body": {"output": [*_, {"content": [{"text": text}, *_]}]}}:
            return text
    return value


def _has_failed(record: Mapping[str, Any]) -> bool:
    """Return true for a line of a batch without response."""
    response = record.get("response", True)
    has_status = isinstance(response, Mapping) and "status_code" in response
    return bool(record.get("error")) or response is None or (has_status and response["status_code"] != 200)


def _text(value: Any, key: str) -> str:
    """Return an answer as text: truth values as yes and no, lists with commas; nothing for null."""
    value = value.tolist() if hasattr(value, "tolist") else value
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, Mapping) and any(each in first for each in MARK_KEYS):
        return json.dumps(value)
    if value is None or value != value:  # NaN, as pandas has it for nothing
        return ""
    if isinstance(value, list | tuple):
        if key.startswith("filtered_resps") and any(isinstance(part, float) for part in value):
            raise FieldFault(key, "expected answers, found the log-likelihoods of options")
        return f"[{', '.join(_text(part, key) for part in value)}]"
    if isinstance(value, str | int):
        return text_of(value)
    if isinstance(value, float):
        return str(value).removesuffix(".0")
    raise FieldFault(key, f"expected an answer (a text, a number, true or false, or a list), found {describe(value)}")


# Logs of Inspect AI ---------------------------------------------------------------------------------------------------
#
# The completion of each sample, whose id is that of the question. Inspect reads its logs; of several epochs the first
# counts.


ARCHIVE_BEGINNING = b"PK\x03\x04"
SAMPLES = RecordKind("samples", ("epoch",))
_LEFT_OUT = {"messages", "events", "store", "attachments"}
"""The long fields of a sample, which are not even read."""


def log_samples(path: Location, is_archive: bool) -> Iterator[Entry]:
    """Yield the samples of a log as records, in the order of their ids. BadInput for a log without samples."""
    logs, form = needed("inspect_ai.log", "inspect", "a log of Inspect AI"), "eval" if is_archive else "json"
    try:
        samples = logs.read_eval_log(str(path), format=form, exclude_fields=_LEFT_OUT).samples or []
    except Exception as error:  # whatever the libraries that Inspect calls raise for a spoiled file
        archive = "a zip archive that is no log of Inspect AI (unpack it, or save a spreadsheet as CSV)"
        hint = archive if is_archive else "no log of Inspect AI"
        raise BadInput([Problem(f"damaged or cut off, or {hint}: {error}", str(path))]) from None
    if not samples:
        raise BadInput([Problem("no samples in this log: was the evaluation interrupted?", str(path))])
    first = [sample for sample in samples if sample.epoch == 1]
    if left_out := len(samples) - len(first):
        warn(Problem(f"{counted(left_out, 'sample')} of later epochs left out: the first epoch counts", str(path)))
    for number, sample in enumerate(sorted(first, key=lambda sample: natural_order(str(sample.id)))):
        yield {_id_key(sample): sample.id, "answer": _answer(sample)}, SAMPLES.path(number), None


def _id_key(sample: Any) -> str:
    """Return the key of a sample's id: of a trial, if it was evaluated as one; Inspect numbers samples without id."""
    if "trial_type" in sample.metadata:
        return "trial_index"
    return "index" if isinstance(sample.id, int) else "id"


def _answer(sample: Any) -> str:
    """Return the completion; without one, the answer that a scorer found. Empty after an error."""
    answers = (score.answer for score in (sample.scores or {}).values())
    completion: str = sample.output.completion
    return completion if completion.strip() else next((answer for answer in answers if isinstance(answer, str)), "")
