"""A new task gets everything from the contract: workers, shards, merge, formats, resume, folders; proved with a toy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from toy_task import DigitSettings, DigitTask, PicturedDigitTask

from vqagen.api import RunOptions, UsageError, VqagenError, merge, write_records
from vqagen.run.output.journal import journal_of, part_of
from vqagen.run.progress import Progress
from vqagen.tasks import TASKS, task_named

COUNT = 23
SETTINGS = DigitSettings(start_index=2, count=COUNT)
FILES = ["digits.json", "digits.jsonl", "digits.jsonl.gz", "digits.parquet", "digits.list"]


@pytest.fixture(autouse=True)
def _toys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One line for each task."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TASKS, "digits", "toy_task:DigitTask")
    monkeypatch.setitem(TASKS, "pictured_digits", "toy_task:PicturedDigitTask")


@pytest.fixture(params=[*FILES, "folder"])
def out(request: pytest.FixtureRequest) -> str:
    """Each format, and a folder."""
    return str(request.param)


def write(out: str | Path, shard: str | None = None, **options: object) -> None:
    task = PicturedDigitTask(SETTINGS) if "folder" in str(out) else DigitTask(SETTINGS)
    form = "list" if str(out).endswith(".list") else None
    on_progress = options.pop("on_progress", lambda _: None)
    write_records(task, out, format=form, shard=shard, options=RunOptions(**options), on_progress=on_progress)


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


def test_workers_make_the_same(out: str) -> None:
    write(out)
    write(f"two-{out}", workers=2)

    assert contents(f"two-{out}") == contents(out) != {}


def test_a_cluster_makes_the_same() -> None:
    write("folder")
    write("local-folder", cluster="local:1")

    assert contents("local-folder") == contents("folder")


@pytest.mark.parametrize("shards", [2, COUNT])
def test_shards_merge_to_the_same(out: str, shards: int) -> None:
    write(out)
    for number in range(1, shards + 1):
        write(f"{number}-{out}", f"{number}/{shards}")
    merged = merge([f"{number}-{out}" for number in range(shards, 0, -1)], f"merged-{out}", format=_format_of(out))

    assert contents(f"merged-{out}") == contents(out)
    assert (merged.records, merged.noun) == (45, "pictured_digit" if out == "folder" else "digit")


def _format_of(out: str) -> str | None:
    return "list" if out.endswith(".list") else None


@pytest.mark.parametrize("items", [2, 6, 14, 23])
def test_a_stopped_run_is_finished_with_the_same_bytes(out: str, items: int) -> None:
    write(out)
    with pytest.raises(VqagenError, match="stopped"):
        write(f"cut-{out}", on_progress=stop_at(items))
    place = Path(f"cut-{out}")
    assert part_of(place).exists() and not place.exists()
    write(place, resume=True)

    assert contents(place) == contents(out)
    assert not part_of(place).exists() and not journal_of(place).exists()
    write(place, resume=True)  # nothing is left to do


def test_a_file_of_a_stopped_run_that_is_lost_is_made_again() -> None:
    """A block counts only with all of its files."""
    write("folder")
    with pytest.raises(VqagenError, match="stopped"):
        write("cut-folder", on_progress=stop_at(14))
    Path("cut-folder.part/images/7.txt").write_bytes(b"")
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


def test_shards_with_files_of_one_name_are_refused() -> None:
    for number in (1, 2):
        write(f"{number}-folder", f"{number}/2")
    Path("2-folder/images/3.txt").write_bytes(b"another")
    with pytest.raises(VqagenError, match=r"2-folder/images/3\.txt: 1-folder/images/3\.txt has the same name"):
        merge(["1-folder", "2-folder"], "folder")

    assert not Path("folder").exists()


def test_a_folder_and_a_file_are_not_merged() -> None:
    write("1-folder", "1/2")
    write("2.json", "2/2")
    with pytest.raises(VqagenError, match="merge"):
        merge(["1-folder", "2.json"], "folder")


def test_progress_and_messages_name_the_items_of_the_task() -> None:
    seen: list[tuple[str, str]] = []
    write("digits.json", on_progress=lambda progress: seen.append((progress.item, progress.noun)))

    assert set(seen) == {("number", "digit")}
    with pytest.raises(UsageError, match=r"there are more shards than numbers \(23\)"):
        write("many.json", "1/24")


@pytest.mark.parametrize("key", ["questions", "scenes", "digits"])
def test_every_task_in_the_list_is_found_by_its_key(key: str) -> None:
    assert task_named(key).key == key
