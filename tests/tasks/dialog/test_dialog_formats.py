"""Dialogs come in every format through the one runner: workers, shards, merges, resumed runs and conversions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from handmade_dialogs import DIALOGS as HANDMADE, HandmadeTask
from pyarrow import parquet

from vqagen import BadInput, UsageError, convert, export_file, merge, write_records
from vqagen.authoring.check.checking import check_paths
from vqagen.files.records import open_records
from vqagen.tasks import TASKS, TaskEntry
from vqagen.tasks.dialog.dialog_files import DialogColumns, dialog_of_row
from vqagen.tasks.record_files import DIALOGS as DIALOG_RECORDS
from vqagen.tasks.settings import RunSettings

FORMATS = TASKS["dialogs"].formats
FOREIGN = TASKS["dialogs"].foreign
SETTINGS = RunSettings(start_index=0, count=11)


@pytest.fixture(autouse=True)
def _handmade(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TASKS, "dialogs", TaskEntry("handmade_dialogs:HandmadeTask", FORMATS, FOREIGN))


def write(out: str, form: str, shard: str | None = None) -> None:
    """Write the dialogs that were made by hand."""
    write_records(HandmadeTask(SETTINGS), out, format=form, shard=shard)


def write_foreign(form: str) -> None:
    write("records.json", "json")
    export_file("records.json", "dialogs.json", form)


def name_of(form: str, before: str = "") -> str:
    return f"{before}dialogs.{form}"


def contents(place: str) -> list[bytes]:
    """The file, and the info beside it."""
    return [path.read_bytes() for path in (Path(place), Path(f"{place}.info.json")) if path.exists()]


def test_check_says_that_dialogs_are_verified_elsewhere() -> None:
    """Dialogs have objects, and are no scenes."""
    for form in FORMATS:
        write(name_of(form), form)
        report = check_paths([Path(name_of(form))])
        assert [(file.kind, len(file.not_checked)) for file in report.files] == [("dialogs", 1)]


@pytest.mark.quick("parquet")
@pytest.mark.parametrize("source", FORMATS)
def test_dialogs_become_any_format_with_the_bytes_of_its_run(source: str) -> None:
    """Parquet, too, holds all of a dialog."""
    write(name_of(source), source)
    differing = []
    for form in FORMATS:
        run, made = name_of(form, f"{form}-run-"), name_of(form, f"{form}-made-")
        write(run, form)
        convert(name_of(source), made, format=form)
        differing += [form] if contents(made) != contents(run) else []

    assert differing == []


@pytest.mark.quick(1)
@pytest.mark.parametrize("form", FOREIGN)
@pytest.mark.parametrize("source", FORMATS)
def test_any_output_becomes_the_same_file_of_another_tool(form: str, source: str) -> None:
    """Which merges as a shard of its own, with the number of its dialogs, and becomes nothing else."""
    write("dialogs.json", "json")
    write(name_of(source, "other-"), source)
    made = export_file("dialogs.json", "one.json", form)
    export_file(name_of(source, "other-"), "two.json", form)
    merged = merge(["one.json"], "merged.json")

    assert contents("one.json") == contents("two.json") == contents("merged.json")
    assert (made, merged.records) == (("dialogs", 45), 45)
    message = f"one.json is written as {form}, which does not hold all of a dialog: take a file in json"
    with pytest.raises(UsageError, match=message):
        convert("one.json", "made.json")


@pytest.mark.quick(1)
@pytest.mark.parametrize("form", FOREIGN)
def test_shards_of_another_tool_merge(form: str) -> None:
    """Version 1.0 wrote such: the lists behind them are made anew."""
    write("dialogs.json", "json")
    export_file("dialogs.json", "whole.json", form)
    for number in (1, 2):
        write(f"{number}.json", "json", f"{number}/2")
        export_file(f"{number}.json", f"part-{number}.json", form)
    merge(["part-2.json", "part-1.json"], "merged.json")

    assert contents("merged.json") == contents("whole.json")
    with pytest.raises(UsageError, match=f"shards of several formats do not merge: {form} and others"):
        merge(["1.json", "part-2.json"], "mixed.json")


def test_what_no_file_of_another_tool_is_made_of() -> None:
    write("dialogs.json", "json")
    for out, form, message in (
        ("made.json", "visual7w", "visual7w is made of questions, and these are dialogs; dialogs become clevr-dialog"),
        ("made.jsonl", "visdial", "dialogs go to files that end in .json"),
        ("dialogs.json", "visdial", "dialogs.json"),
    ):
        with pytest.raises(UsageError, match=message):
            export_file("dialogs.json", out, form, force=True)
    with pytest.raises(UsageError, match=r"--format visdial was removed in version 2.0: .* export FILE --to visdial"):
        convert("dialogs.json", "made.json", format="visdial")


@pytest.mark.quick(1)
@pytest.mark.parametrize("form", FOREIGN)
def test_a_changed_shard_does_not_merge(form: str) -> None:
    """Each of its texts counts, wherever it stands."""
    write_foreign(form)
    text = Path("dialogs.json").read_text()
    for word in ("red", "What color is it", "leftmost", "CLEVR_val_000001"):
        if word not in text:
            continue
        Path("dialogs.json").write_text(text.replace(word, "x", 1))
        with pytest.raises(BadInput, match="the records have the checksum"):
            merge(["dialogs.json"], "merged.json")


NO_VISDIAL = [
    ('"question":0,', '"question":700,', "data.dialogs[0]: not a dialog of such a file"),
    ('"question":0,', '"question":"0",', "data.dialogs[0]: not a dialog of such a file"),
    ('{"image_id"', '4, {"image_id"', "data.dialogs[0]: not a dialog of such a file"),
    ('"questions"', '"question"', "data.questions: expected a list of texts"),
    ('"dialogs"', '"dialog"', "0 dialogs, not 45: the file was changed"),
    ('"dialog_id":3', '"dialog_id":7', "dialogs[3]: dialog_id is 7, not 3: the file was changed"),
    ("]}, ", "", "not valid JSON"),
]


def test_what_is_no_file_of_visdial_is_said_with_its_place() -> None:
    write_foreign("visdial")
    text, missed = Path("dialogs.json").read_text(), []
    for old, new, message in NO_VISDIAL:
        Path("dialogs.json").write_text(text.replace(old, new, 1))
        with pytest.raises(BadInput) as caught:
            merge(["dialogs.json"], "merged.json")
        missed += [] if message in str(caught.value) else [(new, str(caught.value))]

    assert missed == []
    assert not Path("merged.json").exists()


# Parquet --------------------------------------------------------------------------------------------------------------


def test_a_dialog_is_a_row_whose_answers_are_texts() -> None:
    write("dialogs.parquet", "parquet")
    table = parquet.read_table("dialogs.parquet")
    rounds = table.column("rounds").to_pylist()[0]

    assert table.column_names == [
        *("dialog_index", "scene_index", "dialog", "relaxed", "split", "image_index", "image_filename"),
        *("caption", "rounds", "entities", "objects"),
    ]
    assert [each["answer"] for each in rounds[:3]] == ["red", "metal", "2"]
    assert json.loads(rounds[5]["program"]) == HANDMADE[0]["rounds"][5]["program"]
    assert table.to_pandas()["rounds"][0][0]["question"] == "What color is it?"


def test_dialogs_are_read_from_parquet_as_from_json() -> None:
    """Statistics found texts where dialogs have programs and facts."""
    write("dialogs.parquet", "parquet")
    write("dialogs.json", "json")
    columns, document = (
        list(open_records(f"dialogs.{form}", DIALOG_RECORDS).records()) for form in ("parquet", "json")
    )

    assert columns == document
    assert len(columns) == 45


@pytest.mark.parametrize("value", [None, 3, [{"question": "What?"}]])
def test_a_row_of_another_program_is_left_as_it_is(value: object) -> None:
    """Readers of dialogs then say what is wrong with it."""
    row = {"dialog_index": 0, "caption": {"program": "{", "knowledge_delta": []}, "rounds": value}

    assert dialog_of_row(row) == row


def test_every_key_of_a_dialog_has_a_place_in_the_columns() -> None:
    """Arrow drops keys that a type does not have."""
    columns = DialogColumns()
    for record in HANDMADE:
        (row,) = columns.rows([record], [])
        assert columns.restored(row) == record
        assert record.keys() <= columns.types().keys()
        assert {field.name for field in columns.types()["rounds"].value_type} == row["rounds"][0].keys()


@pytest.mark.parametrize(("key", "value"), [("split", 3), ("image_index", "7"), ("image_filename", ["a.png"])])
def test_what_a_column_cannot_hold_is_said(key: str, value: object) -> None:
    record = {**HANDMADE[0], key: value}
    with pytest.raises(BadInput, match=f"{key}: a column holds"):
        DialogColumns().rows([record], [])
