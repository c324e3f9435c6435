"""A new task gets everything from the contract: workers, shards, merge, formats, resume, folders; proved with a toy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from toy_task import DigitSettings, DigitTask, PicturedDigitTask

from vqagen import RunOptions, UsageError, VqagenError, merge, write_records
from vqagen.files.formats import JSON
from vqagen.run.blocks import part_of
from vqagen.run.output import make_destination
from vqagen.run.runner import Progress
from vqagen.tasks import TASKS, TaskEntry, task_named

COUNT = 23
SETTINGS = DigitSettings(start_index=2, count=COUNT)
FILES = ["digits.json", "digits.jsonl.gz", "digits.parquet"]


@pytest.fixture(autouse=True)
def _toys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One line for each task."""
    monkeypatch.chdir(tmp_path)
    formats = ("json", "jsonl", "parquet")
    monkeypatch.setitem(TASKS, "digits", TaskEntry("toy_task:DigitTask", formats))
    monkeypatch.setitem(TASKS, "pictured_digits", TaskEntry("toy_task:PicturedDigitTask", formats))


@pytest.fixture(params=[*FILES, "folder"])
def out(request: pytest.FixtureRequest) -> str:
    """Each format, and a folder."""
    return str(request.param)


def write(out: str | Path, shard: str | None = None, **options: object) -> None:
    task = PicturedDigitTask(SETTINGS) if "folder" in str(out) else DigitTask(SETTINGS)
    on_progress = options.pop("on_progress", lambda _: None)
    write_records(task, out, shard=shard, options=RunOptions(**options), on_progress=on_progress)


def contents(place: str | Path) -> dict[str, bytes]:
    """Every file of an output, by its name inside it."""
    place = Path(place)
    files = sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
    beside = [path for path in [Path(f"{place}.info.json")] if path.exists()]
    return {
        path.relative_to(place.parent).as_posix().removeprefix(place.name): path.read_bytes() for path in files + beside
    }


def stop_at(items: int) -> Callable[[Progress], None]:
    def stop(progress: Progress) -> None:
        if progress.items == items:
            raise VqagenError("stopped")

    return stop


@pytest.mark.slow
def test_workers_make_the_same(out: str) -> None:
    write(out)
    write(f"two-{out}", workers=2)

    assert contents(f"two-{out}") == contents(out) != {}


@pytest.mark.quick(1)
def test_shards_merge_to_the_same(out: str) -> None:
    shards = 4
    write(out)
    for number in range(1, shards + 1):
        write(f"{number}-{out}", f"{number}/{shards}")
    merged = merge([f"{number}-{out}" for number in range(shards, 0, -1)], f"merged-{out}")

    assert contents(f"merged-{out}") == contents(out)
    assert (merged.records, merged.noun) == (45, "pictured_digit" if out == "folder" else "digit")


@pytest.mark.quick(2)
def test_a_stopped_run_is_finished_with_the_same_bytes(out: str) -> None:
    items = 14
    write(out)
    with pytest.raises(VqagenError, match="stopped"):
        write(f"cut-{out}", on_progress=stop_at(items))
    place = Path(f"cut-{out}")
    assert part_of(place).exists() and not place.exists()
    write(place, resume=True)

    assert contents(place) == contents(out)
    assert not part_of(place).exists()
    write(place, resume=True)  # nothing is left to do


def test_a_file_of_a_stopped_run_that_is_lost_is_made_again() -> None:
    """A block counts only with all of its files."""
    write("folder")
    with pytest.raises(VqagenError, match="stopped"):
        write("cut-folder", on_progress=stop_at(14))
    Path("cut-folder.part/files/images/7.txt").write_bytes(b"")
    write("cut-folder", resume=True)

    assert contents("cut-folder") == contents("folder")


def test_a_folder_is_replaced_as_one_and_only_if_it_is_ours() -> None:
    write("folder")
    before = contents("folder")
    Path("folder/images/stray.txt").write_bytes(b"")
    with pytest.raises(UsageError, match="output folder exists already; give --force to replace it"):
        write("folder")
    write("folder", force=True)
    assert contents("folder") == before

    Path("my-folder").mkdir()
    Path("my-folder/thesis.txt").write_text("all of it")
    with pytest.raises(UsageError, match="my-folder is a folder of something else"):
        write("my-folder", force=True)
    assert contents("my-folder") == {"/thesis.txt": b"all of it"}


def test_a_folder_with_records_of_another_program_is_not_replaced() -> None:
    """The file of its records has the name that ours would have."""
    Path("folder").mkdir()
    for info in ('{"generator": {"name": "another"}}', '{"generator": "another"}', "[]", "null"):
        Path("folder/pictured_digits.json").write_text(f'{{"info": {info}, "pictured_digits": []}}')
        before = contents("folder")
        with pytest.raises(UsageError, match="folder is a folder of something else"):
            write("folder", force=True)

        assert contents("folder") == before


def test_shards_with_files_of_one_name_are_refused() -> None:
    for number in (1, 2):
        write(f"{number}-folder", f"{number}/2")
    Path("2-folder/images/3.txt").write_bytes(b"another")
    with pytest.raises(VqagenError, match=r"2-folder/images/3\.txt: 1-folder/images/3\.txt has the same name"):
        merge(["1-folder", "2-folder"], "folder")

    assert not Path("folder").exists()


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_folder_has_a_record_file_of_any_format(form: str) -> None:
    write_records(PicturedDigitTask(SETTINGS), "folder", format=form)
    write_records(PicturedDigitTask(SETTINGS), "folder", format=form, options=RunOptions(resume=True))
    other = "json" if form == "jsonl" else "jsonl"
    with pytest.raises(UsageError, match=f"of another format \\({form}, not {other}\\); --force replaces it"):
        write_records(PicturedDigitTask(SETTINGS), "folder", format=other, options=RunOptions(resume=True))
    write_records(PicturedDigitTask(SETTINGS), "folder", format=other, options=RunOptions(force=True))

    assert Path(f"folder/pictured_digits.{other}").exists()


def test_a_folder_that_is_read_or_the_current_one_is_no_output() -> None:
    """With `force`, a merge replaced the shard that it read."""
    for name in (".", ".."):
        with pytest.raises(UsageError, match="is the current folder or holds it; name another folder"):
            write_records(PicturedDigitTask(SETTINGS), name)
    for number in (1, 2):
        write(f"{number}-folder", f"{number}/2")
    with pytest.raises(UsageError, match="output 1-folder is in use by the same run; name another folder"):
        merge(["1-folder", "2-folder"], "1-folder", force=True)
    destination = make_destination("1-folder", JSON, "pictured_digits")
    for read in ("1-folder", "1-folder/pictured_digits.json", "."):
        with pytest.raises(UsageError, match="output 1-folder is in use by the same run; name another folder"):
            destination.check(force=True, inputs=[read])
    destination.check(force=True, inputs=["2-folder", "1-folder.json"])


@pytest.mark.quick(1)
@pytest.mark.parametrize("killed_at", ["rename", "settle", "drop_replaced"])
def test_a_run_killed_while_its_folder_gets_its_name_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, killed_at: str
) -> None:
    """The blocks of the part stayed in the output, and the folder that was replaced beside it."""

    def kill(*given: Any) -> None:
        if killed_at == "rename":  # the old folder has another name, and the part has its own still
            Path(given[0]).replace(given[1])
        raise SystemExit

    write("folder")
    write("cut-folder")
    with monkeypatch.context() as patch:
        patch.setattr("vqagen.run.output." + ("os.rename" if killed_at == "rename" else killed_at), kill)
        with pytest.raises(SystemExit):
            write("cut-folder", force=True)
    write("cut-folder", resume=True)

    assert contents("cut-folder") == contents("folder")
    assert sorted(path.name for path in Path().iterdir()) == ["cut-folder", "folder"]


def test_a_merge_of_folders_that_fails_leaves_all_as_it_was() -> None:
    """It left a part, and the next merge wanted `force`; or it deleted the part of an unfinished run."""
    for number in (1, 2):
        write(f"{number}-folder", f"{number}/2")
    records = Path("2-folder/pictured_digits.json")
    right = records.read_bytes()
    records.write_bytes(right.replace(b'"digit":2', b'"digit":3', 1))
    with pytest.raises(VqagenError, match="stopped"):
        write("folder", on_progress=stop_at(14))
    before = sorted(Path().rglob("*"))
    with pytest.raises(VqagenError, match="the file was changed"):
        merge(["1-folder", "2-folder"], "folder", force=True)
    with pytest.raises(VqagenError, match="the file was changed"):
        merge(["1-folder", "2-folder"], "other-folder")
    assert sorted(Path().rglob("*")) == before

    records.write_bytes(right)
    merge(["1-folder", "2-folder"], "folder", force=True)
    write("whole-folder")
    assert contents("folder") == contents("whole-folder")
    assert oct(Path("folder").stat().st_mode) == oct(Path("whole-folder").stat().st_mode)


def test_a_shard_with_a_changed_index_does_not_merge_to_parquet() -> None:
    """The merge ran without end, or into a KeyError or TypeError."""
    for number in (1, 2):
        write(f"{number}.json", f"{number}/2")
    shard = Path("1.json")
    content = shard.read_bytes()
    for index in (b"1", b"700", b'"x"', b"7.5", b"null", b"true"):
        shard.write_bytes(content.replace(b'"number":7', b'"number":' + index, 1))
        with pytest.raises(VqagenError, match=r"1\.json: digits\[9\]: number is .*: the file was changed after it was"):
            merge(["1.json", "2.json"], "digits.parquet")

    assert not Path("digits.parquet").exists()


def test_progress_and_messages_name_the_items_of_the_task() -> None:
    seen: list[tuple[str, str]] = []
    write("digits.json", on_progress=lambda progress: seen.append((progress.item, progress.noun)))

    assert set(seen) == {("number", "digit")}
    for shard in ("1/3", "3/3"):
        write(f"{shard[0]}.json", shard)
    with pytest.raises(VqagenError, match="shard 2/3 is missing"):
        merge(["1.json", "3.json"], "whole.json")
    write_records(DigitTask(DigitSettings(start_index=2, count=5)), "a.json")
    write_records(DigitTask(DigitSettings(start_index=9, count=3)), "b.json")
    with pytest.raises(VqagenError, match="numbers 7 to 8 are in no shard: make them with --start-index 7 --count 2"):
        merge(["a.json", "b.json"], "whole.json")
    with pytest.raises(UsageError, match=r"there are more shards than numbers \(23\)"):
        write("many.json", "1/24")


def test_every_task_is_what_the_list_says() -> None:
    """The commands offer its formats before it loads."""
    for key, entry in TASKS.items():
        task = task_named(key)
        said = (task.key, tuple(form.name for form in task.formats), task.makes_files)

        assert said == (key, entry.formats, key == "pictured_digits" or entry.makes_files)
