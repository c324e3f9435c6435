"""The runner: what it says of what is there, what it leaves when it is stopped, and what it does when it goes on."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from toy_runs import Killed, run, stop_after
from toy_work import Toy, ToyJob, toy_output

from vqagen.errors import BadInput, InputWarning, UsageError, VqagenError
from vqagen.files.formats import JSON, JSON_LINES, Record
from vqagen.run.blocks import BlockFolder, part_of
from vqagen.run.engines import Processes
from vqagen.run.options import RunOptions
from vqagen.run.output import Output, claimed, make_destination
from vqagen.run.runner import Progress, RunResult
from vqagen.run.windows import in_process


def stopped(job: ToyJob, output: Output, error: BaseException, items: int = 6, *, force: bool = False) -> list[str]:
    """Run until so many items are done; the notes of the error that ended it."""
    with pytest.raises(type(error)) as raised:
        run(job, in_process, output, stop_after(items, error), force=force)
    return getattr(raised.value, "__notes__", [])


@pytest.fixture(params=["toys.json", "toys.jsonl.gz"])
def output(request: pytest.FixtureRequest, tmp_path: Path) -> Output:
    """In each layout, packed and not."""
    return toy_output(tmp_path / request.param)


@pytest.fixture
def toys(tmp_path: Path) -> Output:
    return toy_output(tmp_path / "toys.json")


# A whole run ---------------------------------------------------------------------------------------------------------


def test_a_run_leaves_its_output_and_nothing_else(output: Output) -> None:
    came = run(ToyJob(), in_process, output)
    beside = {f"{output.destination.place.name}.info.json"} if output.form.name == "jsonl" else set()

    assert set(os.listdir(output.destination.place.parent)) == {output.destination.place.name} | beside
    assert (came.records, came.was_complete, came.resumed_items) == (7, False, 0)


def test_records_are_numbered_by_their_place_and_never_inside_a_text(tmp_path: Path) -> None:
    run(ToyJob(6), in_process, toy_output(tmp_path / "toys.jsonl"))
    lines = (tmp_path / "toys.jsonl").read_bytes().splitlines()

    assert lines[5:] == [b'{"question_index":5,"toy":5,"text":"\\"question_index\\":0 of 5"}']
    assert [line.split(b",")[0] for line in lines] == [b'{"question_index":%d' % number for number in range(6)]


def test_each_block_is_told_when_it_is_kept_and_its_tally_at_the_end(toys: Output) -> None:
    told = []

    def tell(progress: Progress) -> None:
        blocks = len([*part_of(toys.destination.place).glob("*.block")])
        told.append((progress.items, progress.new_records, blocks))

    run(ToyJob(), in_process, toys, tell, add_tally=lambda tally: told.append(tally["toys"]))

    assert told == [(2, 0, 1), (3, 1, 2), (5, 4, 3), (6, 6, 4), (8, 6, 5), (9, 7, 6), 2, 1, 2, 1, 2, 1]


# A run that is stopped -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_was_made_is_kept_and_it_is_said_where(output: Output, error: type[BaseException]) -> None:
    notes = stopped(ToyJob(), output, error())
    part, name = part_of(output.destination.place), output.destination.place.name

    assert notes == [f"what was made is kept in {part}; the same command with --resume finishes it"]
    assert os.listdir(part.parent) == [f"{name}.part"]


def test_a_run_that_made_nothing_leaves_nothing(output: Output) -> None:
    with pytest.raises(BadInput) as raised:
        run(ToyJob(toy=Toy({1: "mistake"})), in_process, output)

    assert not hasattr(raised.value, "__notes__")
    assert os.listdir(output.destination.place.parent) == []


# Going on ------------------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("job", [ToyJob(), ToyJob(7, 4, 2)], ids=["whole", "inside a window"])
def test_going_on_gives_the_bytes_of_an_uninterrupted_run(tmp_path: Path, job: ToyJob, workers: int) -> None:
    """With any number of workers, also if another number began it."""
    whole, halved = toy_output(tmp_path / "whole.json"), toy_output(tmp_path / "halved.json")
    records = run(job, in_process, whole).records
    ends = list[int]()
    run(job, in_process, halved, lambda progress: ends.append(progress.items))
    for items in ends:
        halved.destination.place.unlink()
        stopped(job, halved, Killed(), items)
        job.asked.clear()
        told = list[Progress]()
        came = run(job, Processes(workers) if workers else in_process, halved, told.append, resume=True)

        assert (halved.destination.place.read_bytes(), came.records) == (whole.destination.place.read_bytes(), records)
        assert (came.resumed_items, job.asked) == (items, [job.first + items])
        assert [each.resumed_items for each in told] == [min(each, items) for each in ends]


# What is there -------------------------------------------------------------------------------------------------------


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_an_earlier_run_left_is_not_touched_unasked(toys: Output) -> None:
    stopped(ToyJob(), toys, Killed())
    left = contents(toys.destination.place.parent)

    with pytest.raises(UsageError) as refused:
        run(ToyJob(), in_process, toys)

    choice = "give --resume to finish it, or --force to begin anew"
    assert str(refused.value) == f"{part_of(toys.destination.place)} holds an unfinished run; {choice}"
    assert contents(toys.destination.place.parent) == left


def test_a_run_that_cannot_begin_leaves_what_it_should_replace(toys: Output) -> None:
    """Both what is finished and what is not."""
    run(ToyJob(), in_process, toys)
    stopped(ToyJob(), toys, Killed(), force=True)
    left = contents(toys.destination.place.parent)

    for broken in (ToyJob(toy=Toy(loading="mistake")), ToyJob(toy=Toy({0: "mistake"})), ToyJob(unreadable=0)):
        with pytest.raises(VqagenError):
            run(broken, in_process, toys, force=True)

    assert contents(toys.destination.place.parent) == left


def test_what_another_run_has_made_meanwhile_is_not_replaced(toys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked for again when the name is held."""
    made: list[dict[str, bytes]] = []

    hold = BlockFolder.hold

    def wait_for_another(folder: BlockFolder) -> None:
        if not made:
            made.append({})
            run(ToyJob(), in_process, toys)
            made.append(contents(toys.destination.place.parent))
        hold(folder)

    monkeypatch.setattr(BlockFolder, "hold", wait_for_another)
    with pytest.raises(UsageError, match=r"toys\.json exists already; give --force to replace it"):
        run(ToyJob(6), in_process, toys)

    assert contents(toys.destination.place.parent) == made[1]


def test_an_input_never_has_the_name_of_a_file_that_the_run_makes(tmp_path: Path) -> None:
    for name, out in (("toys.part", "toys"), ("toys.jsonl.info.json", "toys.jsonl")):
        given, destination = tmp_path / name, make_destination(str(tmp_path / out), JSON_LINES if "." in out else JSON)
        given.write_bytes(b'{"scenes": []}')
        for force in (True, False):
            with (
                pytest.raises(UsageError, match=f"{name} is in use by the same run|holds an unf|exists already"),
                claimed(destination, force=force, inputs=[given]),
            ):
                pass

        assert contents(tmp_path) == {name: b'{"scenes": []}'}
        given.unlink()


def test_what_cannot_be_resumed_is_refused() -> None:
    stream = "--resume needs a file to finish, and the output is a stream"
    for target, force, told in (
        ("toys.json", True, "--resume finishes what is there and --force replaces it; choose one"),
        ("-", False, stream),
        ("/dev/null", False, stream),
    ):
        with pytest.raises(UsageError) as refused, claimed(make_destination(target, JSON), resume=True, force=force):
            pass

        assert str(refused.value) == told


def test_a_finished_output_is_recognised(output: Output) -> None:
    assert not run(ToyJob(), in_process, output, resume=True).was_complete
    made = contents(output.destination.place.parent)

    came = run(ToyJob(), in_process, output, resume=True)

    assert came.was_complete
    assert contents(output.destination.place.parent) == made


def test_a_finished_output_that_was_changed_is_not_complete(output: Output) -> None:
    """It has as many lines as before, and all of them can be read."""
    run(ToyJob(), in_process, output)
    place = output.destination.place
    is_packed = place.suffix == ".gz"
    head, *rest = (gzip.decompress(place.read_bytes()) if is_packed else place.read_bytes()).split(b"\n")
    changed = b"\n".join([head, *(line.replace(b"1", b"7") if line[:1] == b"{" else line for line in rest)])
    place.write_bytes(gzip.compress(changed) if is_packed else changed)

    with pytest.raises(UsageError, match="was changed or cut after it was made; --force makes it anew"):
        run(ToyJob(), in_process, output, resume=True)


def test_a_finished_output_of_another_run_is_refused(output: Output) -> None:
    run(ToyJob(), in_process, output)
    content = contents(output.destination.place.parent)

    with pytest.raises(UsageError) as refused:
        run(ToyJob(), in_process, toy_output(output.destination.name, seed=1), resume=True)

    told = f"{output.destination.place} is of another run; --force replaces it. There:\n  seed: nothing, not 1"
    assert str(refused.value) == told
    assert contents(output.destination.place.parent) == content


def test_a_file_that_no_run_made_is_refused(output: Output) -> None:
    for content in (b"notes", b"[1]", b'{"a": 1}\n', b""):
        output.destination.place.write_bytes(content)

        with pytest.raises(VqagenError):
            run(ToyJob(), in_process, output, resume=True)

        assert contents(output.destination.place.parent) == {output.destination.place.name: content}


# The very end --------------------------------------------------------------------------------------------------------


class All:
    """Chooses all records."""

    def keeps(self, record: Record) -> bool:
        return True

    def to_record(self) -> dict[str, bool]:
        return {"all": True}


@pytest.fixture(params=[None, All])
def chosen(request: pytest.FixtureRequest, tmp_path: Path) -> Output:
    """Made of all records, and by choosing from them."""
    return toy_output(tmp_path / "toys.jsonl", request.param and request.param())


def test_a_result_that_cannot_be_told_leaves_the_output_unfinished(chosen: Output) -> None:
    """So that a resumed run tells it, also one of a run that was killed meanwhile."""
    told: list[RunResult] = []

    def fail(came: RunResult) -> None:
        told.append(came)
        raise VqagenError("the report cannot be written")

    for resume in (False, True):
        with pytest.raises(VqagenError, match="report"):
            run(ToyJob(), in_process, chosen, resume=resume, on_came=fail)
        assert not chosen.destination.place.exists()
    job = ToyJob()
    run(job, in_process, chosen, resume=True, on_came=told.append)

    assert [(came.records, came.resumed_items, came.was_complete) for came in told] == [
        (7, 0, False),
        (7, 9, False),
        (7, 9, False),
    ]
    assert told[0].selection == told[2].selection == ({"all": True} if chosen.selection else {})
    assert job.asked == [9]
    assert contents(chosen.destination.place.parent).keys() == {"toys.jsonl", "toys.jsonl.info.json"}


@pytest.mark.parametrize("killed_at", ["remove", "half"])
def test_a_run_that_is_killed_when_its_output_has_its_name_is_complete(
    chosen: Output, monkeypatch: pytest.MonkeyPatch, killed_at: str
) -> None:
    """Before its blocks are deleted, or while they are."""
    remove = BlockFolder.remove

    def kill(folder: BlockFolder) -> None:
        if killed_at == "half":
            remove(folder)
            folder.path.with_name(f".{folder.path.name}").mkdir()
        raise Killed

    with monkeypatch.context() as killing, pytest.raises(Killed):
        killing.setattr(BlockFolder, "remove", kill)
        run(ToyJob(), in_process, chosen)
    assert any("part" in name for name in os.listdir(chosen.destination.place.parent))

    assert run(ToyJob(), in_process, chosen, resume=True).was_complete
    assert not any("part" in name for name in os.listdir(chosen.destination.place.parent))


def test_what_killed_writers_left_is_cleared_away_and_nothing_else(tmp_path: Path) -> None:
    """The halves of files that were about to be renamed. Those of others may be in use."""
    theirs = [".other.json.abcdef01.part", ".toys.jsonl.gz.abcdef01.part", ".toys.jsonl.mine.part", "toys.jsonl.x"]
    for name in (*theirs, ".toys.jsonl.ab0d3f12.part", ".toys.jsonl.info.json.abcdef01.part"):
        (tmp_path / name).touch()
    run(ToyJob(), in_process, toy_output(tmp_path / "toys.jsonl"))

    assert sorted(os.listdir(tmp_path)) == sorted([*theirs, "toys.jsonl", "toys.jsonl.info.json"])


@pytest.mark.parametrize("name", ["toys.jsonl.gz", "toys.jsonl"])
def test_what_is_replaced_keeps_its_info_until_then(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is killed while the new file is being packed leaves the old pair."""
    old, new = toy_output(tmp_path / name), toy_output(tmp_path / name, All(), seed=1)
    run(ToyJob(), in_process, old)
    left = contents(tmp_path)

    def kill(*given: object) -> None:
        raise Killed

    with monkeypatch.context() as killing, pytest.raises(Killed):
        killing.setattr("vqagen.files.output.os.fsync", kill)
        run(ToyJob(), in_process, new, force=True)

    assert {file: content for file, content in contents(tmp_path).items() if file in left} == left


def test_a_run_that_is_killed_before_its_output_has_its_name_goes_on(
    chosen: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def kill(beside: Path, path: Path) -> None:
        if path.suffix != ".block":
            raise Killed
        replace(beside, path)

    with monkeypatch.context() as killing, pytest.raises(Killed):
        killing.setattr(os, "replace", kill)
        run(ToyJob(), in_process, chosen)
    assert run(ToyJob(), in_process, chosen, resume=True).records == 7

    made = contents(chosen.destination.place.parent)
    run(ToyJob(), in_process, chosen, force=True)
    assert contents(chosen.destination.place.parent) == made


# A link, and a stream ------------------------------------------------------------------------------------------------


def test_of_a_link_the_file_that_it_names_is_made(tmp_path: Path) -> None:
    """The part lies beside that file: a rename must not go from one disk to another."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "toys.json").symlink_to(tmp_path / "elsewhere" / "made.json")
    output = toy_output(tmp_path / "toys.json")
    stopped(ToyJob(), output, Killed())
    assert os.listdir(tmp_path / "elsewhere") == ["made.json.part"]

    run(ToyJob(), in_process, output, resume=True)

    assert (tmp_path / "toys.json").is_symlink()
    assert os.listdir(tmp_path / "elsewhere") == ["made.json"]


def test_standard_output_gets_what_a_file_would(toys: Output, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    run(ToyJob(), in_process, toys)

    assert run(ToyJob(), in_process, toy_output("-")).records == 7
    assert capfdbinary.readouterr().out == toys.destination.place.read_bytes()


# Options --------------------------------------------------------------------------------------------------------------


def test_workers_are_a_number_or_one_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vqagen.run.options.available_cores", lambda: 3)
    for workers in (3, "3", "03", "auto"):
        engine = RunOptions(workers).engine(window=5)
        assert isinstance(engine, Processes) and engine.workers == 3

    monkeypatch.setattr("vqagen.run.options.available_cores", lambda: 1)
    assert [RunOptions(workers).engine(window=5) for workers in (1, "1", "auto")] == [in_process] * 3


def test_what_is_no_number_of_workers_is_refused() -> None:
    """Python reads no number of 5,000 digits."""
    for workers in (0, "0", -2, "-2", "many", 1.5, "", "9" * 5000):
        with pytest.raises(UsageError) as refused:
            RunOptions(workers)

        assert str(refused.value) == f"--workers must be a number from 1 on, or auto; found {workers!r}"


def test_one_window_of_all_is_done_by_one_process() -> None:
    for options in (RunOptions(2), RunOptions("auto"), RunOptions(cluster="tcp://a:1")):
        with pytest.warns(InputWarning, match=r"^all is one window, which one process does alone$"):
            assert options.engine(window=0) is in_process


def test_a_cluster_has_workers_of_its_own() -> None:
    for workers in (2, "2", "auto"):
        with pytest.raises(UsageError, match=r"^--workers are of this machine; a cluster has its own"):
            RunOptions(workers, cluster="tcp://a:1")
