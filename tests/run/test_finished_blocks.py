"""Finished blocks: whatever a killed run left of them, going on gives the bytes of an uninterrupted run."""

from __future__ import annotations

import fcntl
import os
import shutil
from itertools import product
from pathlib import Path
from typing import IO, NamedTuple

import pytest
from toy_runs import Killed, run, stop_after
from toy_work import ToyJob, toy_output

from vqagen.errors import UsageError
from vqagen.files.formats import Record
from vqagen.run.blocks import BlockFolder, held, part_of
from vqagen.run.engines import Processes
from vqagen.run.output import Output
from vqagen.run.runner import Progress
from vqagen.run.windows import in_process

BLOCKS = ["0-2", "2-3", "3-5", "5-6", "6-8", "8-9"]


class Left(NamedTuple):
    """A run that was killed when all blocks were made."""

    output: Output
    files: dict[str, bytes]
    """In the folder of its blocks."""
    whole: bytes
    """What a run that was not killed makes."""

    def put(self, **changed: bytes | None) -> None:
        """Lay out the folder; of blocks `_0_2=`, the content is changed, or (None) left out."""
        clear(self.output.destination.place.parent)
        part = part_of(self.output.destination.place)
        part.mkdir()
        changes = {f"{name[1:].replace('_', '-')}.block": content for name, content in changed.items()}
        for name, content in {**self.files, **changes}.items():
            if content is not None:
                (part / name).write_bytes(content)

    def resumed(self, workers: int = 0) -> tuple[bytes, int]:
        """What going on makes of it, and the number of items that are taken over; clears up."""
        result = run(ToyJob(), Processes(workers) if workers else in_process, self.output, resume=True)
        place = self.output.destination.place
        assert [name for name in os.listdir(place.parent) if "part" in name] == []
        return place.read_bytes(), result.resumed_items


def whole(output: Output) -> bytes:
    run(ToyJob(), in_process, output)
    content = output.destination.place.read_bytes()
    clear(output.destination.place.parent)
    return content


def clear(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def left(output: Output) -> Left:
    expected = whole(output)
    with pytest.raises(Killed):
        run(ToyJob(), in_process, output, stop_after(9, Killed()))
    return Left(
        output, {path.name: path.read_bytes() for path in part_of(output.destination.place).iterdir()}, expected
    )


@pytest.fixture(params=["toys.json", "toys.jsonl", "toys.jsonl.gz"])
def killed(request: pytest.FixtureRequest, tmp_path: Path) -> Left:
    return left(toy_output(tmp_path / request.param))


@pytest.fixture
def killed_json(tmp_path: Path) -> Left:
    return left(toy_output(tmp_path / "toys.json"))


# What going on makes of them -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_any_blocks_that_are_left_give_the_same_bytes(killed_json: Left) -> None:
    """A window is gone on with behind its first blocks; what is missing in its middle is made with all behind it."""
    for there in product((True, False), repeat=len(BLOCKS)):
        killed_json.put(
            **{f"_{name.replace('-', '_')}": None for name, it in zip(BLOCKS, there, strict=True) if not it}
        )

        items = sum(int(name[2]) - int(name[0]) for name, it in zip(BLOCKS, there, strict=True) if it)
        assert killed_json.resumed() == (killed_json.whole, items), there


@pytest.mark.slow
def test_several_workers_make_what_is_missing(killed_json: Left) -> None:
    killed_json.put(_0_2=None, _5_6=None, _6_8=None)

    assert killed_json.resumed(2) == (killed_json.whole, 4)


@pytest.mark.quick(1)
@pytest.mark.parametrize("step", [61, pytest.param(2, marks=pytest.mark.slow)])
def test_a_block_that_is_cut_changed_or_lengthened_is_made_again(killed: Left, step: int) -> None:
    """As after a loss of power. Those behind it, in its window or others, are kept."""
    content = killed.files["3-5.block"]
    damaged = [content[:length] for length in range(0, len(content), step)]
    damaged += [bytes([*content[:at], content[at] ^ 1, *content[at + 1 :]]) for at in range(0, len(content), step)]
    for block in [*damaged, b"\0" * len(content), content + b"\n", content[:9] + b"{}\n"]:
        killed.put(_3_5=block)

        assert killed.resumed() == (killed.whole, 7), block


def test_what_a_killed_writer_left_is_cleared_away(killed_json: Left) -> None:
    """Half a block, and the folder of a run that was killed while it was deleted."""
    killed_json.put(_0_2=None)
    part = part_of(killed_json.output.destination.place)
    (part / "0-2.new").write_bytes(b"half")
    shutil.copytree(part, part.with_name(".toys.json.part"))

    assert killed_json.resumed() == (killed_json.whole, 7)


def test_a_run_that_is_killed_while_it_looks_at_what_there_is_loses_nothing(killed: Left) -> None:
    for until in (2, 6, 9):
        killed.put()
        with pytest.raises(Killed):
            run(ToyJob(), in_process, killed.output, stop_after(until, Killed()), resume=True)

        assert killed.resumed() == (killed.whole, 9)


class EverySecond:
    """Chooses the first record, the third, and so on."""

    def __init__(self) -> None:
        self.seen = 0

    def keeps(self, record: Record) -> bool:
        self.seen += 1
        return self.seen % 2 == 1

    def to_record(self) -> dict[str, int]:
        return {"seen": self.seen}


def test_records_that_are_chosen_at_the_end_are_the_same_after_going_on(tmp_path: Path) -> None:
    """What chooses begins anew with the first record."""
    killed = left(toy_output(tmp_path / "toys.json", EverySecond()))
    assert killed.whole.count(b'"toy":') == 4

    for name in ("_0_2", "_3_5", "_8_9"):
        killed.put(**{name: None})

        assert killed.resumed()[0] == killed.whole, name


# What is refused -----------------------------------------------------------------------------------------------------

OTHERS: list[tuple[str, dict[str, object], str]] = [
    ("toys.json", {"seed": 2}, "  seed: 1, not 2"),
    ("toys.json", {"seed": 1, "inputs": {"scenes": "b"}}, "  inputs.scenes: 'a', not 'b'"),
    ("toys.json", {"seed": True}, "  seed: 1, not true\n  inputs: an object, not nothing"),
    ("toys.jsonl", {"seed": 1, "inputs": {"scenes": "a"}}, "  format: 'json', not 'jsonl'"),
]
"""Name of the output, its info, and how it differs from that of the run that was killed."""


@pytest.mark.parametrize(("name", "info", "difference"), OTHERS)
def test_blocks_of_another_run_are_refused_and_left_as_they_are(
    tmp_path: Path, name: str, info: dict[str, object], difference: str
) -> None:
    killed = left(toy_output(tmp_path / "toys.json", seed=1, inputs={"scenes": "a"}))
    other = toy_output(tmp_path / name, **info)
    part, job = part_of(other.destination.place), ToyJob()
    killed._replace(output=other).put()

    with pytest.raises(UsageError) as refused:
        run(job, in_process, other, resume=True)

    told, *differences = str(refused.value).split("\n", 1)
    assert told == f"{part} is of another run; --force replaces it. There:"
    assert differences[0].startswith(difference)
    assert ({path.name: path.read_bytes() for path in part.iterdir()}, job.asked) == (killed.files, [])


def test_blocks_of_another_version_are_refused_in_one_line(tmp_path: Path) -> None:
    """Their whole bytes would differ."""
    killed = left(toy_output(tmp_path / "toys.json", format=1))
    killed.put()

    finish = "finish it with the vqagen that began it, or give --force to begin anew"
    with pytest.raises(UsageError, match=f"is of format 1, and this vqagen writes format 2: {finish}$"):
        run(ToyJob(), in_process, toy_output(tmp_path / "toys.json", format=2), resume=True)


@pytest.mark.parametrize("settings", [{}, {"resume": True}, {"force": True}])
@pytest.mark.parametrize("name", ["", "notes", "run", ".records"])
def test_what_is_no_folder_of_blocks_is_refused_and_left(tmp_path: Path, name: str, settings: dict[str, bool]) -> None:
    """Such as a part of version 1.0, which was one file, or a folder with the files of the records."""
    foreign = tmp_path / "toys.json.part" / name
    foreign.parent.mkdir(exist_ok=True)
    foreign.write_bytes(b"my notes")

    refused = r"toys\.json\.part (holds no run that this version can resume: finish it|holds an unfinished run)"
    with pytest.raises(UsageError, match=refused):
        run(ToyJob(), in_process, toy_output(tmp_path / "toys.json"), **settings)

    assert foreign.read_bytes() == b"my notes"


def test_blocks_that_do_not_say_of_which_run_they_are_are_refused(killed_json: Left) -> None:
    run_file = part_of(killed_json.output.destination.place) / "run"
    killed_json.put()
    run_file.write_bytes(damaged := run_file.read_bytes()[:-4])

    with pytest.raises(UsageError, match="does not say any more which run it is of; --force begins anew"):
        killed_json.resumed()

    assert run_file.read_bytes() == damaged
    assert run(ToyJob(), in_process, killed_json.output, force=True).records == 7


def test_while_one_run_writes_another_is_refused(tmp_path: Path) -> None:
    """Whether it goes on or begins anew; and the first does not notice."""
    output = toy_output(tmp_path / "toys.json")
    expected, refusals = whole(output), []

    def meanwhile(progress: Progress) -> None:
        for resume in (False, True):
            with pytest.raises(UsageError) as refused:
                run(ToyJob(), in_process, output, resume=resume)
            refusals.append(str(refused.value))

    run(ToyJob(), in_process, output, meanwhile)

    assert set(refusals) == {f"another run is writing {output.destination.place}"}
    assert output.destination.place.read_bytes() == expected


def test_a_folder_that_was_removed_before_it_could_be_held_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between opening and locking it, the run that had it may end."""
    place = tmp_path / "toys.json"
    first, lock, tries = BlockFolder(place), fcntl.flock, list[int]()
    first.hold()

    def end_first(file: IO[bytes], how: int) -> None:
        tries.append(how)
        if len(tries) == 1:
            first.remove()
            first.close()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", end_first)
    with held(place) as second:
        assert second.path.exists() and len(tries) > 1
        with pytest.raises(UsageError, match="another run is writing"), held(place):
            pass
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("stopped_at", ["fcntl.flock", "vqagen.run.blocks.os.path.samestat"])
def test_a_run_that_is_stopped_while_it_makes_its_folder_leaves_none(
    stopped_at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also just after it is locked: what a traceback held stayed locked, and could not be deleted."""

    def stop(*_: object) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(stopped_at, stop)
    with pytest.raises(KeyboardInterrupt):
        run(ToyJob(), in_process, toy_output(tmp_path / "toys.json"))

    assert os.listdir(tmp_path) == []
