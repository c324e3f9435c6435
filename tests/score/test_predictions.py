"""Prediction files: every format gives the same predictions, and no fault of one is passed over."""

from __future__ import annotations

import csv
import gzip
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from vqagen.errors import BadInput, FieldFault, InputWarning, UsageError, VqagenError
from vqagen.score.predictions.reading import CONFLICT, lowest, read_predictions
from vqagen.score.predictions.records import Prediction, PredictionReader

ANSWERS = ("yes", "2", "Café, au lait")
EXPECTED = [(str(number), (answer,)) for number, answer in enumerate(ANSWERS)]

Write = Callable[[Path], Path]


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def listed(*keys: str) -> list[dict[str, Any]]:
    id_key, answer_key = keys
    return [{id_key: number, answer_key: answer} for number, answer in enumerate(ANSWERS)]


def as_lines(records: Sequence[Any]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def as_table(folder: Path, name: str, separator: str) -> Path:
    with (folder / name).open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(["index", "question", "answer", "prediction"])
        writer.writerows([number, "What?", "gold", answer] for number, answer in enumerate(ANSWERS))
    return folder / name


def inspect_samples() -> list[dict[str, Any]]:
    return [{"id": number, "epoch": 1, "output": {"completion": answer}} for number, answer in enumerate(ANSWERS)]


def as_log(path: Path, samples: Sequence[dict[str, Any]]) -> Path:
    """Write a log with Inspect itself."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log

    spec = EvalSpec(created="2026-01-01T00:00:00Z", task="t", dataset=EvalDataset(), model="m", config=EvalConfig())
    log = EvalLog(eval=spec, samples=[EvalSample(input="", target="", **sample) for sample in samples])
    write_eval_log(log, str(path))
    return path


def as_archive(folder: Path) -> Path:
    return as_log(folder / "log.eval", inspect_samples()[::-1])


def as_visual7w(folder: Path) -> Path:
    records = [
        {"qa_id": number, "question": "What?", "candidates": [{"answer": answer}]}
        for number, answer in enumerate(ANSWERS)
    ]
    return written(folder / "result.json", json.dumps(records))


def as_parquet(folder: Path) -> Path:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(listed("question_index", "answer")), folder / "p.parquet")
    return folder / "p.parquet"


FILES: dict[str, Write] = {
    "lines": lambda to: written(to / "p.jsonl", as_lines(listed("question_index", "answer"))),
    "list": lambda to: written(to / "p.json", json.dumps(listed("id", "prediction"), indent=1)),
    "document": lambda to: written(to / "p.json", json.dumps({"info": {}, "predictions": listed("id", "answer")})),
    "mark of byte order": lambda to: written(to / "p.jsonl", "\ufeff" + as_lines(listed("id", "answer"))),
    "packed": lambda to: written(
        to / "p.jsonl.gz", gzip.compress(as_lines(listed("question_index", "answer")).encode())
    ),
    "columns": as_parquet,
    "visual7w": as_visual7w,
    "vqav2": lambda to: written(to / "results.json", json.dumps(listed("question_id", "answer"))),
    "gqa": lambda to: written(to / "gqa.json", json.dumps(listed("questionId", "prediction"))),
    "lmms-eval": lambda to: written(
        to / "samples.jsonl",
        as_lines([{"doc_id": at, "target": "gold", "filtered_resps": [each]} for at, each in enumerate(ANSWERS)]),
    ),
    "lmms-eval with documents": lambda to: written(
        to / "logs.json",
        json.dumps(
            {
                "args": {},
                "logs": [
                    {
                        "doc_id": 9 - at,
                        "doc": {"id": str(at), "answer": "gold"},
                        "resps": [[each]],
                        "filtered_resps": [each],
                    }
                    for at, each in enumerate(ANSWERS)
                ],
            }
        ),
    ),
    "lmms-eval with ids in a metric": lambda to: written(
        to / "samples.jsonl",
        as_lines(
            [
                {"doc_id": 9 - at, "filtered_resps": [each], "exact_match": {"id": str(at), "score": 1.0}}
                for at, each in enumerate(ANSWERS)
            ]
        ),
    ),
    "llava": lambda to: written(
        to / "answers.jsonl",
        as_lines(
            [
                {"question_id": at, "prompt": "What?", "text": each, "answer_id": "x7", "model_id": "m", "metadata": {}}
                for at, each in enumerate(ANSWERS)
            ]
        ),
    ),
    "openai batch": lambda to: written(
        to / "batch.jsonl",
        as_lines(
            [
                {
                    "id": f"batch_req_{at}",
                    "custom_id": str(at),
                    "error": None,
                    "response": {
                        "status_code": 200,
                        "body": {"choices": [{"index": 0, "message": {"role": "assistant", "content": each}}]},
                    },
                }
                for at, each in enumerate(ANSWERS)
            ]
        ),
    ),
    "openai batch of responses": lambda to: written(
        to / "batch.jsonl",
        as_lines(
            [
                {
                    "custom_id": str(at),
                    "response": {
                        "status_code": 200,
                        "body": {
                            "output": [
                                {"type": "reasoning", "summary": []},
                                {"type": "message", "content": [{"text": each}]},
                            ]
                        },
                    },
                }
                for at, each in enumerate(ANSWERS)
            ]
        ),
    ),
    "id -> answer": lambda to: written(to / "p.json", json.dumps(dict(enumerate(ANSWERS)), indent=1)),
    "id -> record": lambda to: written(
        to / "p.json", json.dumps({at: {"answer": "gold", "pred": each} for at, each in enumerate(ANSWERS)})
    ),
    "results": lambda to: written(to / "p.json", json.dumps({"model": "m", "results": listed("id", "answer")})),
    "results by id": lambda to: written(to / "p.json", json.dumps({"results": dict(enumerate(ANSWERS)), "n": 3})),
    "clevr": lambda to: written(to / "answers.txt", "\n".join(ANSWERS)),
    "csv": lambda to: as_table(to, "p.csv", ","),
    "tsv": lambda to: as_table(to, "p.tsv", "\t"),
    "csv of a spreadsheet": lambda to: as_table(to, "p.csv", ";"),
    "csv of another name": lambda to: as_table(to, "p.out", ","),
    "inspect archive": as_archive,
    "inspect json": lambda to: as_log(to / "log.json", inspect_samples()),
}


def found_in(source: Any, kind: str = "") -> list[Prediction]:
    """Return each id with its answers."""
    found = read_predictions(source, kind)
    return [(id, found.contents[code]) for id, code in found.by_id.items()]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name.startswith("inspect") else ()) for name in FILES]
)
def test_every_format_gives_the_same_predictions(name: str, tmp_path: Path) -> None:
    """Recognised by the content; a right answer beside the prediction of a table is passed over."""
    path = FILES[name](tmp_path)
    assert found_in(path) == found_in(str(path)) == EXPECTED
    assert read_predictions(path).is_in_order == (name == "clevr")


def test_predictions_in_memory() -> None:
    """A list of records, or a dict of id -> answer; a wrong one is named by its place or id."""
    assert found_in(listed("question_index", "answer"), "questions") == EXPECTED
    assert found_in(dict(enumerate(ANSWERS))) == EXPECTED
    assert found_in({"3/5": True, "3/6": ["red", "blue"]}, "dialogs") == [("3/5", ("yes",)), ("3/6", ("[red, blue]",))]
    assert repr(read_predictions({1: "yes"})) == "<1 prediction>"
    for source, message in (
        ([{"id": 1}], r"predictions\[0\]: no answer"),
        ({7: {}}, r"\[7\].answer: expected an answer"),
    ):
        with pytest.raises(BadInput, match=message):
            read_predictions(source)


# Names ----------------------------------------------------------------------------------------------------------------

PREDICTED = (
    *("prediction", "pred", "predicted", "predicted_answer", "model_answer", "model_output", "output", "response"),
    *("answer_pred", "generated_text", "completion", "generation", "final_answer", "Prediction", "modelAnswer"),
)
"""Names of predictions, beside which an `answer` is a copy of the right one."""
HARMLESS = (
    *(
        "prompt",
        "model_id",
        "answer_id",
        "doc",
        "question",
        "image",
        "category",
        "metadata",
        "latency_ms",
        "Unnamed: 0",
    ),
    *("gt", "gt_answer", "ground_truth", "gold", "label", "target", "score", "correct", "usage", "gpt_score", "source"),
)
"""Names of columns that leave `answer` the prediction."""
UNCLEAR = ("text", "gpt4o", "reasoning", "result", "A", "choices", "raw")
"""Names of columns that may be the prediction beside `answer`."""


def in_all_forms(record: dict[str, Any], folder: Path) -> Iterator[Any]:
    """Yield a record in memory, as another mapping than a dict, in JSON and in a table."""
    yield [record]
    yield [MappingProxyType(record)]
    yield written(folder / "p.jsonl", as_lines([record]))
    with (folder / "p.csv").open("w", newline="") as file:
        csv.writer(file).writerows([record, record.values()])
    yield folder / "p.csv"


@pytest.mark.quick(8)
@pytest.mark.parametrize(("name", "is_prediction"), [(name, name in PREDICTED) for name in (*PREDICTED, *HARMLESS)])
def test_a_copy_of_the_right_answer_is_never_the_prediction(name: str, is_prediction: bool, tmp_path: Path) -> None:
    """Beside ids and descriptions an answer is the prediction, in any order of the keys."""
    record = {"id": 1, "answer": "gold", name: "own"} if is_prediction else {"id": 1, name: "other", "answer": "own"}
    for keys in (list(record), list(record)[::-1]):
        turned = {key: record[key] for key in keys}
        assert [found_in(source) for source in in_all_forms(turned, tmp_path)] == [[("1", ("own",))]] * 4


@pytest.mark.parametrize(
    "names", [*(("answer", name) for name in UNCLEAR), ("prediction", "pred"), ("output", "text"), ("response", "pred")]
)
def test_of_two_keys_that_may_be_the_prediction_none_is_taken(names: tuple[str, str], tmp_path: Path) -> None:
    """The message names both and the option that decides; with it, any key is taken."""
    first, second = names
    for source in in_all_forms({"id": 1, first: "one", second: "other"}, tmp_path):
        with pytest.raises(BadInput, match=f"'{first}' and '{second}' may each be the prediction: .*--prediction-key"):
            read_predictions(source)
        for name, answer in ((first, "one"), (second, "other")):
            assert read_predictions(source, prediction_key=name).contents == ((answer,),)


@pytest.mark.parametrize("name", ["gt_answer", "ground_truth", "target", "label", "gold", "gpt4o"])
def test_a_right_answer_or_an_unknown_key_alone_is_no_prediction(name: str, tmp_path: Path) -> None:
    for source in in_all_forms({"id": 1, name: "gold"}, tmp_path):
        with pytest.raises(BadInput, match=f"no answer: expected answer, .*'{name}'.*--prediction-key"):
            read_predictions(source)


MIXED = [
    ({"id": 1, "answer": "a"}, {"id": 2, "answer": "a", "pred": "b"}),
    ({"id": 1, "answer": "a", "pred": "b"}, {"id": 2, "answer": "a"}),
    ({"id": 1, "answer": "a"}, {"id": 2, "answer": "a", "candidates": ["b"]}),
    ({"id": 1, "answer": "a", "candidates": ["b"]}, {"id": 2, "answer": "a"}),
    ({"id": 1, "answer": "a"}, {"id": 2, "pred": "a"}),
    ({"id": 1, "answer": "a"}, {"question_id": 2, "answer": "a"}),
    ({"doc_id": 0, "doc": {"id": 1}, "pred": "a"}, {"doc_id": 1, "pred": "a"}),
]


@pytest.mark.parametrize("records", MIXED)
def test_keys_that_change_within_a_file_are_refused(records: Sequence[dict[str, Any]]) -> None:
    with pytest.raises(BadInput, match=r"predictions\[1\]: id and prediction stand under .*; in earlier records under"):
        read_predictions(records)


QUESTIONS: dict[str, Any] = {
    "q.jsonl": [{"question_index": 0, "question": "?", "answer": "yes", "image_filename": "a.png"}],
    "split.jsonl": [{"question_index": 0, "question": "?", "answer": "yes", "split": "val"}],
    "lines.jsonl": [{"id": 0, "answer": "yes", "program": []}],
    "gqa.json": {"0001": {"question": "?", "answer": "yes", "semantic": []}},
    "ids.json": {"0001": {"question": "?", "answer": "yes"}},
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_file_of_questions_is_no_file_of_predictions(name: str, tmp_path: Path) -> None:
    """Nor are its records in memory: all of their answers are right. Beside a prediction they do no harm."""
    records = QUESTIONS[name]
    path = written(tmp_path / name, as_lines(records) if isinstance(records, list) else json.dumps(records))

    for source in (path, records):
        with pytest.raises(BadInput, match=r"holds questions, not predictions|a question, not a prediction"):
            read_predictions(source)
    assert found_in([{"id": 0, "program": [], "question": "?", "answer": "yes", "pred": "no"}]) == [("0", ("no",))]


def test_requests_that_failed_are_missing_and_said(tmp_path: Path) -> None:
    bodies: list[Any] = [{"choices": [{"message": {"content": "yes"}}]}, {"error": {}}, None]
    responses = [body and {"status_code": 200 if "choices" in body else 429, "body": body} for body in bodies]
    records = [{"custom_id": str(at), "response": each, "error": None} for at, each in enumerate(responses)]
    path = written(tmp_path / "batch.jsonl", as_lines([*records, {"custom_id": "3", "error": {"code": "expired"}}]))

    with pytest.warns(InputWarning, match=r"batch.jsonl: 3 requests failed, so that no prediction was made"):
        assert found_in(path) == [("0", ("yes",))]


def test_a_model_that_differs_within_a_file_may_be_the_prediction() -> None:
    """Its name is the same in all records."""
    records = [{"id": number, "answer": "gold", "model": answer} for number, answer in enumerate(ANSWERS)]

    assert read_predictions([{**each, "model": "a"} for each in records]).total == 3
    assert read_predictions(records, prediction_key="model").contents[0] == ("yes",)
    with pytest.raises(BadInput, match="'answer' and 'model' may each be the prediction"):
        read_predictions(records)


def test_log_likelihoods_of_options_are_no_answers() -> None:
    with pytest.raises(BadInput, match="found the log-likelihoods of options"):
        read_predictions([{"doc_id": 0, "filtered_resps": [[-1.5, False], [-0.5, True]]}])


def test_lines_that_begin_with_ids_are_no_lines_of_answers(tmp_path: Path) -> None:
    for separator in "\t,;:":
        path = written(tmp_path / "p.txt", "".join(f"{at}{separator} yes\n" for at in (17, 3, 8)))
        with pytest.raises(BadInput, match="each line has an id and an answer: write their names in a first line"):
            read_predictions(path)
    assert found_in(written(tmp_path / "p.txt", "2, I think\nyes\n"))[0] == ("0", ("2, I think",))


def test_predictions_of_one_id_are_duplicates_and_in_conflict_if_they_differ() -> None:
    found = read_predictions([{"id": id, "answer": answer} for id, answer in zip("1122131", "aabcaaa", strict=True)])

    assert (found.total, found.duplicated, found.contents) == (7, ("1", "2", "1", "1"), (("a",), ("b",), ("c",)))
    assert found.by_id == {"1": 0, "2": CONFLICT, "3": 0}
    assert lowest(found.duplicated, 3) == ("1", "2")


RECORDS: list[tuple[dict[str, Any], Prediction]] = [
    ({"id": 1, "answer": True}, ("1", ("yes",))),
    ({"id": " 1 ", "answer": False}, ("1", ("no",))),
    ({"id": 1.0, "answer": 2.0}, ("1", ("2",))),
    ({"id": "1.0", "answer": 2.5}, ("1", ("2.5",))),
    ({"id": "0017", "answer": "a"}, ("17", ("a",))),
    ({"id": np.int64(17), "answer": np.float64(2)}, ("17", ("2",))),
    ({"id": "000", "answer": float("nan")}, ("0", ("",))),
    ({"id": "a-1.0", "answer": None}, ("a-1.0", ("",))),
    ({"id": 1, "answer": ["red", "blue"]}, ("1", ("[red, blue]",))),
    ({"id": 1, "answer": []}, ("1", ("[]",))),
    ({"id": 1, "candidates": ["a", {"answer": 2}, False]}, ("1", ("a", "2", "no"))),
    ({"id": 1, "candidates": []}, ("1", ("",))),
    ({"id": 1, "answer": "gold", "prediction": "own"}, ("1", ("own",))),
    ({"dialog_index": 3, "round": 5, "answer": "a"}, ("3/5", ("a",))),
    ({"question_index": 1, "id": 2, "answer": "a"}, ("1", ("a",))),
]


@pytest.mark.parametrize(("kind", "right"), [("questions", 0), ("dialogs", 1), ("trials", 2)])
def test_ids_of_another_kind_of_file_are_no_ids(kind: str, right: int, tmp_path: Path) -> None:
    """Question 7 and trial 7 are not the same, whatever the format says of them."""
    ids = ({"question_index": 7}, {"dialog_index": 7, "round": 0}, {"trial_index": 7})
    for number, id in enumerate(ids):
        name, table = tmp_path / "p.jsonl", tmp_path / "p.csv"
        name.write_text(json.dumps({**id, "answer": "yes"}))
        table.write_text(f"{','.join(id)},answer\n{','.join(map(str, id.values()))},yes\n")
        for path in (name, table):
            if number == right:
                assert [candidates for _, candidates in found_in(path, kind)] == [("yes",)]
            else:
                with pytest.raises(BadInput, match=f"no id of {kind}: expected"):
                    read_predictions(path, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["questions", "dialogs", "trials"])
def test_ids_in_a_log_of_trials_are_those_of_trials(kind: str, tmp_path: Path) -> None:
    as_log(tmp_path / "log.json", [{"id": 7, "epoch": 1, "metadata": {"trial_type": "test"}}])
    if kind != "trials":
        with pytest.raises(BadInput, match=f"no id of {kind}: expected .*found 'trial_index'"):
            read_predictions(tmp_path / "log.json", kind)
    else:
        assert [id for id, _ in found_in(tmp_path / "log.json", kind)] == ["7"]


def test_the_prediction_of_a_record() -> None:
    assert [PredictionReader().read(record) for record, _ in RECORDS] == [prediction for _, prediction in RECORDS]


NO_PREDICTIONS: list[tuple[Any, str]] = [
    (["a"], "expected an object, found a list of 1"),
    ({}, "no id: expected question_index, .* doc_id, or dialog_index and round; found an empty object"),
    ({"answer": "a", "Id": 1}, "no id: .* found 'answer', 'Id'"),
    ({"id": 1}, "no answer: expected answer, candidates"),
    ({"id": None, "answer": "a"}, "expected a number or a text as id, found null"),
    ({"id": True, "answer": "a"}, "expected a number or a text as id, found true"),
    ({"id": "9" * 5000, "answer": "a"}, "expected a number or a text as id, found '999"),
    ({"id": 1e17, "answer": "a"}, "expected a number or a text as id, found "),
    ({"id": 1.5, "answer": "a"}, "expected a number or a text as id, found 1.5"),
    ({"id": 1, "answer": {"a": 1}}, r"expected an answer \(.*\), found an object"),
    ({"id": 1, "candidates": "a"}, "expected a list of answers, best first, found 'a'"),
    ({"id": 1, "candidates": [{"a": 1}]}, "expected an answer .* found an object"),
    ({"dialog_index": 1, "round": -1, "answer": "a"}, "expected the number of a round, found -1"),
]


def test_a_record_that_is_no_prediction() -> None:
    for record, message in NO_PREDICTIONS:
        with pytest.raises(FieldFault, match=message):
            PredictionReader().read(record)


# Faults of files ------------------------------------------------------------------------------------------------------


def message_of(path: Path) -> str:
    with pytest.raises(VqagenError) as error:
        read_predictions(path)
    assert error.value.exit_code == 3
    return str(error.value).replace(f"{path}", path.name)


def test_broken_lines_are_counted_and_the_first_are_located(tmp_path: Path) -> None:
    """One message for all of them."""
    lines = as_lines([{"id": number, "answer": "yes"} for number in range(2000)]).splitlines()
    for place in range(7, 2000, 80):
        lines[place] = lines[place][:-3]
    lines[1200] = '{"id": 1200}'
    path = written(tmp_path / "p.jsonl", "\n".join([*lines, "", ""]))

    with pytest.raises(BadInput) as error:
        read_predictions(path)
    shown = str(error.value).replace(str(path), "p.jsonl").splitlines()
    assert shown[:2] == [
        "p.jsonl:8:24: not valid JSON: the line ends inside a value",
        "p.jsonl:88:25: not valid JSON: the line ends inside a value",
    ]
    assert shown[20:] == ["p.jsonl: … and 6 more faults in other predictions"]


UNREADABLE: list[tuple[str, str | bytes, str]] = [
    ("p.jsonl", "", "p.jsonl: the file is empty"),
    ("p.jsonl", " \n", "p.jsonl: the file is empty"),
    ("p.jsonl", "yes\nno\n", "p.jsonl: not predictions: expected JSON records with an id"),
    ("p.json", '{"model": "m", "pred": "yes"}', "p.json: not predictions: expected JSON records with an id"),
    ("p.json", '["yes", "no"]', "p.json: not predictions: expected JSON records with an id"),
    ("p.json", '[{"id": 1, "answer": "a"}', "p.json:1:26: predictions[0]: not valid JSON: expected ',' or ']'"),
    ("p.json", '[{"id": 1}]', "p.json: predictions[0]: no answer: expected answer, candidates"),
    ("p.json", '{"questions": []}', "p.json: holds questions, not predictions; the file of questions comes first"),
    ("p.json", '{"info": {}, "dialogs": []}', "p.json: holds dialogs, not predictions"),
    (
        "q.jsonl",
        '{"question_index": 0, "answer": "yes", "program": []}',
        "q.jsonl: holds questions, not predictions (their key 'program')",
    ),
    ("p.csv", "a,b\n1,2\n", "p.csv:1:1: expected a column of ids (question_index"),
    ("p.csv", "id,answer\n1,yes,no\n2,no\n", "p.csv:2:1: expected 2 columns, found 3"),
    ("p.csv", 'id,answer\n1,"yes\n', "p.csv:2:1: not a CSV table: unexpected end of data"),
    ("p.csv", "id,answer,answer\n1,yes,no\n", "p.csv:1:1: several columns are named answer"),
    ("p.csv", "id,answer\n,yes\n", "p.csv:2:1: id: expected a number or a text as id, found ''"),
    ("p.csv", b"id,answer\n1,caf\xe9\n2,x\n3,y\n", "not UTF-8 text"),
    ("p.csv", b"id,answer\n1,caf\xe9\n", "p.csv:2:6: not UTF-8 text"),
    ("p.txt", b"yes\n" * 20000 + b"caf\xe9\nno\n", "p.txt:20001:4: not UTF-8 text"),
    ("p.jsonl", gzip.compress(b"{}", mtime=0), "compressed: give the file a name that ends in .gz"),
    ("p.out", b"\xef\xbb\xbf\x0b\x0c-", "p.out: not predictions"),
]


def test_a_file_without_readable_predictions(tmp_path: Path) -> None:
    """Exit code 3, and the place."""
    found = [(message, message_of(written(tmp_path / name, text))) for name, text, message in UNREADABLE]
    assert [pair for pair in found if pair[0] not in pair[1]] == []


@pytest.mark.slow
def test_an_archive_that_is_no_log_is_rejected(tmp_path: Path) -> None:
    """A spreadsheet is one."""
    with zipfile.ZipFile(tmp_path / "results.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "")

    assert "a zip archive that is no log of Inspect AI" in message_of(tmp_path / "results.xlsx")


@pytest.mark.slow
def test_a_damaged_archive_is_reported(tmp_path: Path) -> None:
    """It is read as it was written, or not at all."""
    content = as_archive(tmp_path).read_bytes()
    second_entry = content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 1)
    for place, value in ((6, 121), (8, 32), (10, 77)):
        spoiled = bytearray(content)
        spoiled[second_entry + place] = value
        assert found_in(written(tmp_path / "log.eval", bytes(spoiled))) == EXPECTED
    for end in (-1, -40, len(content) // 2):
        assert "log.eval: damaged or cut off" in message_of(written(tmp_path / "log.eval", content[:end]))


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="predictions not found"):
        read_predictions(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="a file, not a folder"):
        read_predictions(tmp_path)


# Logs of Inspect ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_later_epochs_are_left_out_with_a_warning(tmp_path: Path) -> None:
    samples = [{**sample, "epoch": epoch} for sample in inspect_samples() for epoch in (1, 2)]
    path = as_log(tmp_path / "log.json", samples)

    with pytest.warns(InputWarning, match="3 samples of later epochs left out"):
        assert found_in(path) == EXPECTED


@pytest.mark.slow
def test_a_sample_without_completion_has_the_answer_of_its_scorer(tmp_path: Path) -> None:
    """And none without one; a log without samples is none."""
    scored = {"cell_answer": {"value": 1, "answer": "B2"}}
    samples = [{"id": 0, "epoch": 1, "output": {"completion": ""}, "scores": scored}, {"id": 1, "epoch": 1}]

    assert found_in(as_log(tmp_path / "log.json", samples)) == [("0", ("B2",)), ("1", ("",))]
    assert "no samples in this log" in message_of(as_log(tmp_path / "none.json", []))
    bare = written(tmp_path / "bare.json", '{"version": 2, "eval": {}, "samples": []}')
    assert "bare.json: damaged or cut off, or no log of Inspect AI" in message_of(bare)
    packed_up = written(tmp_path / "log.eval", b"PK\x03\x04 and nothing else")
    assert "damaged or cut off, or a zip archive that is no log of Inspect AI" in message_of(packed_up)


# Laws -----------------------------------------------------------------------------------------------------------------

LINES = st.lists(
    st.sampled_from(
        [
            '{"id": 1, "answer": "yes"}',
            '{"id": 1, "answer": "no"}',
            '{"id": "2", "candidates": ["Café", 3]}',
            '{"id": 3}',
            '{"answer": "yes"}',
            '{"id": 4, "answer": "ye',
            "",
        ]
    ),
    min_size=1,
    max_size=8,
)


def plainly_read(lines: Sequence[str]) -> tuple[dict[str, set[tuple[str, ...]]], int]:
    """Collect the answers to each id, and count faults, with nothing but `json`."""
    found: dict[str, set[tuple[str, ...]]] = {}
    faults = 0
    for line in filter(None, lines):
        try:
            record = json.loads(line)
            answers = record["candidates"] if "candidates" in record else [record["answer"]]
            found.setdefault(str(record["id"]), set()).add(tuple(map(str, answers)))
        except (ValueError, KeyError):
            faults += 1
    return found, faults


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=LINES, random=st.randoms(use_true_random=False))
def test_any_order_of_lines_gives_the_same_counts(lines: list[str], random: Any, tmp_path: Path) -> None:
    """A first line that is sound tells the format."""
    random.shuffle(lines)
    lines.insert(0, '{"id": 0, "answer": "yes"}')
    path = written(tmp_path / "p.jsonl", "\n".join(lines))
    expected, faults = plainly_read(lines)

    try:
        found = read_predictions(path)
    except BadInput as error:
        more = re.search(r"and (\d+) more", error.problems[-1].message)
        assert faults == (len(error.problems) - 1 + int(more[1]) if more else len(error.problems))
    else:
        held = {id: {found.contents[code]} if code != CONFLICT else expected[id] for id, code in found.by_id.items()}
        assert (held, faults) == (expected, 0)
        assert {id for id, answers in expected.items() if len(answers) > 1} == {
            id for id, code in found.by_id.items() if code == CONFLICT
        }
