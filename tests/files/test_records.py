"""Record files: one reader gives the same records from every layout, for every kind, with texts and info."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow
import pytest
from pyarrow import parquet

from vqagen.errors import BadInput
from vqagen.files.records import RecordKind, open_records
from vqagen.language.question import QUESTIONS
from vqagen.world.loading import SCENES

TRIALS = RecordKind("trials", own_keys=("grid", "target"))
RECORDS: list[dict[str, Any]] = [{"grid": [[n, "ü"]], "note": '{"[,'[: n % 5], "n": n} for n in range(40)]
INFO = {"split": "test"}
Write = Callable[[Path], Path]


def written(name: str, text: str | bytes, **beside: object) -> Write:
    """How to write a file, and others beside it whose names end in `_` and a key."""

    def write(folder: Path) -> Path:
        path = folder / name
        content = text.encode() if isinstance(text, str) else text
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        for suffix, value in beside.items():
            Path(f"{path}.{suffix.replace('_', '.')}").write_text(json.dumps(value))
        return path

    return write


def in_folder(folder: Path) -> Path:
    for number, record in enumerate(RECORDS):
        (folder / f"trial_{number}.json").write_text(json.dumps(record, indent=1))
    return folder


def in_columns(folder: Path) -> Path:
    table = pyarrow.Table.from_pylist([{**record, "grid": json.dumps(record["grid"])} for record in RECORDS])
    described = table.replace_schema_metadata({b"vqagen": orjson.dumps(INFO)})
    parquet.write_table(described, folder / "trials.parquet", row_group_size=16)
    return folder / "trials.parquet"


LINES = "".join(json.dumps(record) + "\n" for record in RECORDS)
BESIDE = {**INFO, "generator": {"name": "vqagen"}}
LAYOUTS: dict[str, tuple[str, Write, object]] = {
    "document": ("document", written("t.json", json.dumps({"info": INFO, "trials": RECORDS, "end": 7})), INFO),
    "document, info last": ("document", written("t.gz", json.dumps({"trials": RECORDS, "info": INFO})), INFO),
    "document, no info": ("document", written("t.json", json.dumps({"trials": RECORDS})), {}),
    "list": ("list", written("t.txt", json.dumps(RECORDS)), {}),
    "lines": ("lines", written("t.jsonl", LINES), {}),
    "lines, other name": ("lines", written("t.json", LINES.replace("\n", "\r\n\r\n")), {}),
    "lines, info beside": (
        "lines",
        written("t.jsonl.gz", LINES, info_json={**BESIDE, "generator": {"name": "vqagen", "lines": 40}}),
        BESIDE,
    ),
    "folder": ("files", in_folder, {}),
    "columns": ("parquet", in_columns, INFO),
}
TRIALS_IN_COLUMNS = RecordKind("trials", own_keys=("grid", "target"), json_columns=("grid",))

every_layout = pytest.mark.parametrize("name", LAYOUTS)


@every_layout
def test_every_layout_gives_the_same_records_with_their_info(name: str, tmp_path: Path) -> None:
    layout, write, info = LAYOUTS[name]
    source = open_records(write(tmp_path), TRIALS_IN_COLUMNS)

    assert source.layout == layout
    assert list(source.records()) == RECORDS
    assert source.info == info
    assert source.length in (len(RECORDS), None)


@pytest.mark.quick(12)
@every_layout
@pytest.mark.parametrize(("start", "count"), [(0, 0), (7, 0), (7, 12), (20, 1), (38, 9), (40, 0), (99, 3)])
def test_records_are_read_from_any_index_on(name: str, start: int, count: int, tmp_path: Path) -> None:
    source = open_records(LAYOUTS[name][1](tmp_path), TRIALS_IN_COLUMNS)
    expected = list(enumerate(RECORDS))[start : start + count if count else None]

    assert [(position, record) for position, record, _ in source.entries(start, count)] == expected
    assert [(found.position, orjson.loads(found.text)) for found in source.texts(start, count)] == expected
    assert source.count(start, count) == len(expected)


def test_a_value_that_is_not_an_object_does_not_hide_the_next(tmp_path: Path) -> None:
    source = open_records(written("t.jsonl", '{"grid": 1}\n2\n{"grid": 3}\n')(tmp_path), TRIALS)

    assert [found.value for found in source.read()] == [{"grid": 1}, 2, {"grid": 3}]
    with pytest.raises(BadInput, match=r"t\.jsonl:2: trials\[1\]: expected a trial object, found 2$"):
        list(source.records())


EMPTY = {"t.json": '{"trials": []}', "list.json": "[]", "t.jsonl": "", "t.ndjson.gz": " \n"}


@pytest.mark.parametrize("name", EMPTY)
def test_a_file_without_records_is_one_of_a_kind_that_may_have_none(name: str, tmp_path: Path) -> None:
    path = written(name, EMPTY[name])(tmp_path)

    assert list(open_records(path, TRIALS).read()) == []
    with pytest.raises(BadInput, match=r"no scenes: the list is empty|the file is empty|expected the key 'scenes'"):
        open_records(path, SCENES)


WRONG = [
    (SCENES, '{"info": {}, "scene": []}', "expected the key 'scenes' (a list of scenes) or 'objects' (one scene)"),
    (SCENES, '{"info": {}, "scene": []}', "found 'info', 'scene'; is 'scene' meant?"),
    (QUESTIONS, '{"programs": []}', "'questions' (a list of questions) or 'program' (one question); found 'programs'"),
    (QUESTIONS, '{"programs": []}', "; is 'programs' meant?"),
    (TRIALS, '{"a": 1, "b": 2}', "expected the key 'trials' (a list of trials) or 'grid' (one trial); found 'a', 'b'"),
    (TRIALS, '{"trials": {"one": {}}}', "trials: expected a list of trials, found an object"),
    (TRIALS, "trials", "not trials: expected JSON that begins with '{' or '[', found 't'"),
    (TRIALS, "", "the file is empty"),
    (RecordKind("trials"), '{"info": {}, "scenes": []}', "expected the key 'trials' (a list of trials); found 'info'"),
]


def test_a_file_of_another_kind_is_refused_in_the_words_of_this_kind(tmp_path: Path) -> None:
    for kind, text, message in WRONG:
        path = written("t.json", text)(tmp_path)
        with pytest.raises(BadInput) as caught:
            open_records(path, kind)

        assert message in str(caught.value) and str(caught.value).startswith(f"{path}: ")


def test_columns_of_another_kind_are_refused(tmp_path: Path) -> None:
    path = in_columns(tmp_path)
    with pytest.raises(BadInput, match=r"not scenes: expected the column 'objects'; found 'grid', 'note', 'n'$"):
        open_records(path, SCENES)


def test_a_broken_text_in_a_column_of_json_is_one_line(tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table({"grid": ["[1", "[]"]}), tmp_path / "t.parquet")
    source = open_records(tmp_path / "t.parquet", TRIALS_IN_COLUMNS)
    with pytest.raises(BadInput, match=r"t\.parquet: a text in a column of JSON is not valid JSON: unexpected end"):
        list(source.records())


@pytest.mark.parametrize("part", [b"trial_index", b"first"])
def test_a_text_in_columns_that_is_not_utf_8(part: bytes, tmp_path: Path) -> None:
    """Neither the name of a column nor a value of one gives a traceback."""
    path = tmp_path / "t.parquet"
    table = pyarrow.table({"trial_index": [1], "target": ["first"]})
    parquet.write_table(table, path, compression="none", use_dictionary=False, store_schema=False)
    path.write_bytes(path.read_bytes().replace(part, part[:-1] + b"\xff"))

    with pytest.raises(BadInput, match=r"t\.parquet: not a Parquet file, or damaged: a text is not UTF-8"):
        list(open_records(path, TRIALS_IN_COLUMNS).records())


PACKED = {
    b"BZh91AY&SY": ".bz2",
    b"\xfd7zXZ\x00\x00\x04": ".xz",
    b"PK\x03\x04\x14\x00": ".zip",
}


@pytest.mark.parametrize("beginning", PACKED)
@pytest.mark.parametrize("name", ["t.json", "t.json.packed"])
def test_a_packing_that_cannot_be_read_is_named(beginning: bytes, name: str, tmp_path: Path) -> None:
    path = written(name, beginning)(tmp_path)
    advice = "which cannot be read: unpack the file, or pack it as .gz or .zst$"
    with pytest.raises(BadInput, match=f"compressed as {PACKED[beginning]}, {advice}"):
        open_records(path, TRIALS)
