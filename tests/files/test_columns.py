"""Parquet: every record of every dialect and option comes back, other tools read it, and its bytes are settled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from commands import Commands
from families import SHIPPED, Collection
from pyarrow import json as arrow_json, parquet

from vqagen.errors import BadInput, UsageError
from vqagen.files.formats import encode_lines
from vqagen.files.parquet import describe_columns
from vqagen.language.question import Question, read_questions, record_writer, release_answer
from vqagen.tasks.questions.columns import QuestionColumns
from vqagen.tasks.questions.family import QuestionTally
from vqagen.tasks.questions.generator import QuestionGenerator
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm
from vqagen.world.scene import compile_scene

Record = dict[str, Any]
INFO = {"dialect": "generator", "generator": {"name": "vqagen", "records": {"trace": True}}, "ümlaut": [1]}
OPTIONS = [
    QuestionColumns(RecordForm(dialect, trace, hidden, "none" if hidden else "text"))
    for dialect, trace, hidden in product(("text", "generator", "release"), *[(False, True)] * 2)
    if not (trace and hidden)
]


@cache
def questions(collection: Collection) -> tuple[Question, ...]:
    """About a few sampled scenes, from many templates."""
    materials = collection.materials
    task = QuestionGenerator(
        materials.templates, materials.synonyms, QuestionSettings(templates_per_image=20), marks=True
    )
    scenes = [compile_scene(record, materials.domain, i) for i, record in enumerate(collection.sampled(6, seed=3))]
    return tuple(question for _, made in task.window(scenes, QuestionTally()) for question in made)


def records(collection: Collection, columns: QuestionColumns) -> list[Record]:
    write = record_writer(columns.form.dialect, **columns.form.to_record())
    return [write(replace(question, question_index=number)) for number, question in enumerate(questions(collection))]


def blocks(items: Sequence[Record], *sizes: int) -> list[list[Record]]:
    """Cut into pieces of these sizes; the rest is the last."""
    ends = [sum(sizes[:number]) for number in range(len(sizes) + 1)]
    return [list(items[start:end]) for start, end in zip(ends, [*ends[1:], None], strict=True)]


def write(path: Path, columns: QuestionColumns, batches: Sequence[Sequence[Record]]) -> Path:
    with path.open("wb") as file:
        columns.write(batches, file, INFO)
    return path


def test_a_record_that_is_only_encoded_is_written_as_any_other() -> None:
    """As a line and as a row: its program is made of pieces, and is the same list."""
    dialect = "release"
    columns = QuestionColumns(RecordForm(dialect, trace=True))
    plain, encoded = (
        [record_writer(dialect, trace=True, is_encoded=is_encoded)(each) for each in questions(SHIPPED[0])]
        for is_encoded in (False, True)
    )

    assert encode_lines(encoded) == encode_lines(plain)
    assert columns.rows(encoded, ["program"]) == columns.rows(plain, ["program"])


def as_read(record: Record) -> Record:
    """What Parquet makes of a record: answers are text, and the rest is what it would be in JSON."""
    answer = {"answer": release_answer(record["answer"])} if "answer" in record else {}
    return {**json.loads(json.dumps(record)), **answer}


# There and back -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("collection", [SHIPPED[0], pytest.param(SHIPPED[1], marks=pytest.mark.slow)], ids=str)
def test_every_record_comes_back(collection: Collection, tmp_path: Path) -> None:
    for columns in OPTIONS:
        made = records(collection, columns)
        path = write(tmp_path / "q.parquet", columns, blocks(made, 40, 0, 30))

        assert list(read_questions(path)) == [as_read(record) for record in made]


def test_options_decide_the_columns_whatever_the_data(tmp_path: Path) -> None:
    for columns in OPTIONS:
        made = records(SHIPPED[0], columns)[:30]
        for number, batches in enumerate(([], [made])):
            path = write(tmp_path / f"{number}.parquet", columns, batches)
            assert parquet.read_schema(path).remove_metadata() == columns.schema
        assert set(columns.schema.names) >= made[0].keys()


def test_what_a_scene_lacks_is_null_and_comes_back_as_nothing(tmp_path: Path) -> None:
    columns = QuestionColumns(RecordForm())
    bare = {key: records(SHIPPED[0], columns)[0][key] for key in ("question_index", "question", "answer", "program")}
    path = write(tmp_path / "q.parquet", columns, [[bare]])

    assert list(read_questions(path)) == [as_read(bare)]
    assert parquet.read_table(path).column("split").null_count == 1


# The file -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [[20, 30], [0, 20, 0, 0, 30, 0], [0, 0], []])
def test_each_batch_with_rows_is_a_row_group(given: list[int], tmp_path: Path) -> None:
    import pandas  # not while tests are collected: each process would take half a second for it

    columns = OPTIONS[0]
    path = write(tmp_path / "q.parquet", columns, blocks(records(SHIPPED[0], columns), *given)[:-1])
    file = parquet.ParquetFile(path)

    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [size for size in given if size]
    assert len(pandas.read_parquet(path)) == sum(given)


def test_questions_are_numbered_over_the_file(tmp_path: Path) -> None:
    columns = OPTIONS[0]
    unnumbered = [{**record, "question_index": 0} for record in records(SHIPPED[0], columns)]
    path = write(tmp_path / "q.parquet", columns, blocks(unnumbered, 20, 0, 30))

    assert [record["question_index"] for record in read_questions(path)] == list(range(len(unnumbered)))


def test_questions_that_are_chosen_at_the_end_come_in_columns_too(vqagen_: Commands) -> None:
    """Until then they are lines, in another form than that of the file."""
    Path("scenes.json").write_text(json.dumps({"scenes": SHIPPED[0].sampled(4, seed=3)}))
    for name in ("q.parquet", "q.json"):
        vqagen_.done(f"generate --scenes scenes.json --only zero_hop.json --dedupe all -o {name}")

    expected = [record["question"] for record in json.loads(Path("q.json").read_bytes())["questions"]]
    assert parquet.read_table("q.parquet").column("question").to_pylist() == expected != []


def test_the_info_is_in_the_metadata(tmp_path: Path) -> None:
    path = write(tmp_path / "q.parquet", OPTIONS[0], [])

    assert describe_columns(path)[2] == INFO == json.loads(parquet.read_schema(path).metadata[b"vqagen"])


# Other tools --------------------------------------------------------------------------------------------------------


def test_arrow_reads_default_lines(tmp_path: Path) -> None:
    """A column has one type: yes, 3 and red are all text."""
    given = records(SHIPPED[0], QuestionColumns(RecordForm()))
    (tmp_path / "q.jsonl").write_bytes(encode_lines(given))

    answers = arrow_json.read_json(tmp_path / "q.jsonl")["answer"].to_pylist()

    assert answers == [each.answer for each in questions(SHIPPED[0])]
    assert {"yes", "1", "metal"} <= set(answers)


@pytest.mark.slow
def test_datasets_reads_it_without_a_network(tmp_path: Path) -> None:
    """The first batch is empty, and its row group would be where the number of rows to read at once is taken from."""
    columns = QuestionColumns(RecordForm("release", trace=True))
    given = records(SHIPPED[0], columns)
    path = write(tmp_path / "q.parquet", columns, [[], *blocks(given, 30, 0)])
    program = """
import json, sys
from datasets import load_dataset
rows = load_dataset("parquet", data_files=sys.argv[1], split="train", cache_dir=sys.argv[2])
print(json.dumps([rows[0], len(rows)]))
"""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", program, str(path), str(tmp_path / "cache")]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    first, rows = json.loads(ran.stdout.splitlines()[-1])

    assert rows == len(given)
    assert first["program"] == given[0]["program"]
    assert first["mentions"] == given[0]["mentions"]
    assert list(map(json.loads, first["trace"])) == given[0]["trace"]


# What is wrong ------------------------------------------------------------------------------------------------------


def test_values_that_do_not_fit_are_told_with_their_scenes() -> None:
    given = [record for record in records(SHIPPED[0], OPTIONS[0]) if record["image_index"] < 2]
    second = next(number for number, record in enumerate(given) if record["image_index"] == 1)
    for record in given[second:]:
        record.update(image_index="b7", split=3)
    more = len(given) - second - 1
    with pytest.raises(BadInput) as raised:
        OPTIONS[0].table(given)
    advice = "change it in the scenes, or write JSON Lines (.jsonl)"

    assert str(raised.value).splitlines() == [
        f"scene {given[second]['image_filename']}: split: a column holds text, found 3 (and of {more} more questions); "
        + advice,
        f"scene {given[second]['image_filename']}: image_index: a column holds a whole number, found 'b7' "
        f"(and of {more} more questions); {advice}",
    ]


def test_a_column_of_whole_numbers_takes_no_others() -> None:
    columns = QuestionColumns(RecordForm(hide_answers=True))
    for value in (1.0, True, 2**63, [1], "1"):
        with pytest.raises(BadInput, match=r"^scene a\.png: image_index: a column holds a whole number, found "):
            columns.table([{"image_filename": "a.png", "image_index": value}])


SPOILED = {
    "empty": lambda content: b"",
    "other": lambda content: b'{"questions": []}',
    "cut off": lambda content: content[:-9],
    "no beginning": lambda content: content[1000:],
    "changed inside": lambda content: content[:40] + b"\xff" * 2000 + content[2040:],
}


def test_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "q.parquet", OPTIONS[0], [records(SHIPPED[0], OPTIONS[0])])
    content = path.read_bytes()
    for spoil in SPOILED.values():
        path.write_bytes(spoil(content))
        with pytest.raises(BadInput, match=r"q\.parquet: not a Parquet file, damaged or cut off: [^\n]*$"):
            list(read_questions(path))


def test_other_columns_are_no_questions(tmp_path: Path) -> None:
    path = tmp_path / "q.parquet"
    parquet.write_table(pyarrow.table({"a": [1], "b": [2]}), path)
    with pytest.raises(BadInput, match=r"expected a column 'program', 'question' or 'answer'; found 'a', 'b'$"):
        list(read_questions(path))

    assert describe_columns(path)[2] == {}


def test_a_missing_library_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "q.parquet", OPTIONS[0], [])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for use in (lambda: list(read_questions(path)), lambda: QuestionColumns().table([])):
        with pytest.raises(UsageError, match=r"^Parquet needs pyarrow; install it: pip install 'vqagen\[parquet\]'$"):
            use()
