"""Formats of other tools, with entries in place of records, get everything from the contract; proved with toys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from toy_task import DigitSettings, DigitTask

from vqagen import RunOptions, UsageError, VqagenError, convert, merge, write_records
from vqagen.tasks import TASKS, TaskEntry

SETTINGS = DigitSettings(start_index=2, count=23)
RECORDS = {"json": "made.json", "jsonl": "made.jsonl", "parquet": "made.parquet"}
SHAPES = ("numbers", "spellings")


class NonZeros:
    """Keeps the digits that are not zero."""

    reads = ("digit",)

    def keeps(self, record: Mapping[str, Any]) -> bool:
        return bool(record["digit"])

    def to_record(self) -> dict[str, Any]:
        return {}


class PickyDigitTask(DigitTask):
    """Chooses from all records of an output."""

    key = "picky_digits"

    @classmethod
    def selection(cls, info: Mapping[str, Any]) -> NonZeros:
        return NonZeros()


@pytest.fixture(autouse=True)
def _toys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TASKS, "digits", TaskEntry("toy_task:DigitTask", (*RECORDS, *SHAPES)))
    monkeypatch.setitem(TASKS, "picky_digits", TaskEntry("test_shapes:PickyDigitTask", (*RECORDS, *SHAPES)))


def write(out: str, form: str, shard: str | None = None, kind: type[DigitTask] = DigitTask) -> None:
    write_records(kind(SETTINGS), out, format=form, shard=shard, options=RunOptions(force=True))


def contents(place: str) -> list[bytes]:
    """The file, and the info beside it."""
    return [path.read_bytes() for path in (Path(place), Path(f"{place}.info.json")) if path.exists()]


def test_an_entry_may_hold_many_records_and_a_list_about_all_of_them_may_stand_behind() -> None:
    write("numbers.json", "numbers")
    write("spellings.json", "spellings")
    numbers, spellings = json.loads(Path("numbers.json").read_text()), json.loads(Path("spellings.json").read_text())

    assert numbers[:2] == [{"number": 2, "digits": [2, 0, 0]}, {"number": 4, "digits": [4, 0, 0]}]
    assert [each["place"] for each in spellings["places"]] == list(range(45))
    assert [each["text"] for each in spellings["places"]][:6] == [0, 1, 1, 2, 3, 3]
    assert spellings["texts"][:4] == ["2 of 2", "0 of 2", "4 of 4", "0 of 4"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [DigitTask, PickyDigitTask])
def test_converting_makes_the_bytes_of_the_run(shape: str, kind: type[DigitTask]) -> None:
    """Also if the run chooses from all records."""
    write("run.json", shape, kind=kind)
    for form, name in RECORDS.items():
        write(name, form, kind=kind)
        converted = convert(name, "converted.json", format=shape, force=True)

        assert contents("converted.json") == contents("run.json")
        assert converted.records == (45 if kind is DigitTask else 23)


@pytest.mark.parametrize("shape", SHAPES)
def test_shards_of_one_shape_merge_to_it_without_its_name(shape: str) -> None:
    """No ending asks for it, and they can become nothing else."""
    write("run.json", shape)
    for number in (1, 2):
        write(f"{number}.json", shape, f"{number}/2")
    merged = merge(["1.json", "2.json"], "merged.json")

    assert contents("merged.json") == contents("run.json")
    assert merged.records == 45


@pytest.mark.parametrize("form", ["json", "parquet", "spellings"])
def test_entries_do_not_become_records(form: str) -> None:
    """They do not hold all of a record."""
    write("numbers.json", "numbers")
    out = "converted.parquet" if form == "parquet" else "converted.json"
    with pytest.raises(UsageError, match=r"numbers.json is written as numbers, which does not hold all of a digit"):
        convert("numbers.json", out, format=form)

    assert not Path(out).exists()


def test_entries_that_were_changed_do_not_merge() -> None:
    """Also texts in the lists behind them."""
    for shape, old, new, message in (
        ("numbers", b"[4,0,0]", b"[5,0,0]", "the records have the checksum"),
        ("spellings", b"4 of 4", b"5 of 4", "the records have the checksum"),
        ("spellings", b'"place":3', b'"place":4', r"digits\[3\]: place is 4, not 3: the file was changed"),
        ("numbers", b'{"number":4,"digits":[4,0,0]},\n', b"", "digits, not 15: the file was changed"),
        ("numbers", b'{"number":4,"digits":[4,0,0]}', b"4", r"numbers\[1\]: expected a number object, found 4"),
    ):
        write("made.json", shape)
        made = Path("made.json").read_bytes()
        assert old in made
        Path("made.json").write_bytes(made.replace(old, new, 1))
        with pytest.raises(VqagenError, match=message):
            convert("made.json", "converted.json", format=shape)

        assert not Path("converted.json").exists()


def test_a_run_is_resumed_in_its_own_shape_only() -> None:
    write("made.json", "numbers")
    with pytest.raises(UsageError, match=r"another format \(numbers, not spellings\); --force replaces it"):
        write_records(DigitTask(SETTINGS), "made.json", format="spellings", options=RunOptions(resume=True))
