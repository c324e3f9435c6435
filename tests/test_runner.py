"""The runner: what it says of what is there, what it leaves when it is stopped, and what it does when it goes on."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest
from toy_runs import run
from toy_work import Toy, ToyJob, toy_output

from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.files.formats import JSON, JSON_LINES, Record
from vqagen.run.engines.in_process import in_process
from vqagen.run.engines.processes import Processes
from vqagen.run.output.claim import claimed
from vqagen.run.output.journal import Journal, journal_of, part_of
from vqagen.run.output.staging import Output, make_target
from vqagen.run.progress import BlockWritten
from vqagen.run.runner import RunResult


class Killed(BaseException):
    """Ends a run."""


def after(items: int, error: BaseException) -> Callable[[BlockWritten], None]:
    """Ends a run with an error when so many items are done."""

    def tell(made: BlockWritten) -> None:
        if made.end == items:
            raise error

    return tell


def stopped(job: ToyJob, output: Output, error: BaseException, items: int = 6, *, force: bool = False) -> list[str]:
    """Run until so many items are done; the notes of the error that ended it."""
    with pytest.raises(type(error)) as raised:
        run(job, in_process, output, after(items, error), force=force)
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
    beside = {f"{output.target.place.name}.info.json"} if output.form.name == "jsonl" else set()

    assert set(os.listdir(output.target.place.parent)) == {output.target.place.name} | beside
    assert (came.records, came.was_complete, came.resumed_items) == (7, False, 0)


def test_records_are_numbered_by_their_place_and_never_inside_a_text(tmp_path: Path) -> None:
    run(ToyJob(6), in_process, toy_output(tmp_path / "toys.jsonl"))
    lines = (tmp_path / "toys.jsonl").read_bytes().splitlines()

    assert lines[5:] == [b'{"question_index":5,"toy":5,"text":"\\"question_index\\":0 of 5"}']
    assert [line.split(b",")[0] for line in lines] == [b'{"question_index":%d' % number for number in range(6)]


def test_each_block_is_told_when_it_is_kept(toys: Output) -> None:
    told = []

    def tell(made: BlockWritten) -> None:
        told.append((made.first, made.end, made.records, part_of(toys.target.place).read_bytes().count(b'"toy":')))

    run(ToyJob(), in_process, toys, tell)

    assert told == [(0, 2, 0, 0), (2, 3, 1, 1), (3, 5, 3, 4), (5, 6, 2, 6), (6, 8, 0, 6), (8, 9, 1, 7)]


# A run that is stopped -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_was_made_is_kept_and_it_is_said_where(output: Output, error: type[BaseException]) -> None:
    notes = stopped(ToyJob(), output, error())
    part, name = part_of(output.target.place), output.target.place.name

    assert notes == [f"what was made is kept in {part}; the same command with --resume finishes it"]
    assert sorted(os.listdir(part.parent)) == [f"{name}.journal", f"{name}.part"]


def test_a_run_that_made_nothing_leaves_nothing(output: Output) -> None:
    with pytest.raises(BadInput) as raised:
        run(ToyJob(toy=Toy({1: "mistake"})), in_process, output)

    assert not hasattr(raised.value, "__notes__")
    assert os.listdir(output.target.place.parent) == []


def test_an_error_in_a_window_keeps_what_comes_before(toys: Output) -> None:
    with pytest.raises(BadInput):
        run(ToyJob(toy=Toy({7: "mistake"})), in_process, toys)
    first: list[BlockWritten] = []
    run(ToyJob(), in_process, toys, first.append, resume=True)

    assert [made.end for made in first if made.is_resumed] == [2, 3, 5, 6]


# Going on ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_going_on_gives_the_bytes_of_an_uninterrupted_run(tmp_path: Path, workers: int) -> None:
    """With any number of workers, also if another number began it."""
    whole, halved = toy_output(tmp_path / "whole.json"), toy_output(tmp_path / "halved.json")
    run(ToyJob(), in_process, whole)
    for items in (2, 5, 9):
        stopped(ToyJob(), halved, Killed(), items, force=True)
        job, made = ToyJob(), list[BlockWritten]()

        came = run(job, Processes(workers) if workers else in_process, halved, made.append, resume=True)

        assert (halved.target.place.read_bytes(), came.records) == (whole.target.place.read_bytes(), 7)
        assert (came.resumed_items, job.asked) == (items, [items])
        assert [each.is_resumed for each in made] == [each.end <= items for each in made]


def test_a_run_that_begins_inside_a_window_goes_on_as_well(tmp_path: Path) -> None:
    whole, halved = toy_output(tmp_path / "whole.json"), toy_output(tmp_path / "halved.json")
    run(ToyJob(7, 4, 2), in_process, whole)
    for items in (4, 6, 8, 9):
        stopped(ToyJob(7, 4, 2), halved, Killed(), items, force=True)
        run(ToyJob(7, 4, 2), in_process, halved, resume=True)

        assert halved.target.place.read_bytes() == whole.target.place.read_bytes()


# What is there -------------------------------------------------------------------------------------------------------


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_an_earlier_run_left_is_not_touched_unasked(toys: Output) -> None:
    stopped(ToyJob(), toys, Killed())
    left = contents(toys.target.place.parent)

    with pytest.raises(UsageError) as refused:
        run(ToyJob(), in_process, toys)

    choice = "give --resume to finish it, or --force to begin anew"
    assert str(refused.value) == f"{part_of(toys.target.place)} holds an unfinished run; {choice}"
    assert contents(toys.target.place.parent) == left


def test_a_run_that_cannot_begin_leaves_what_it_should_replace(toys: Output) -> None:
    """Both what is finished and what is not."""
    run(ToyJob(), in_process, toys)
    stopped(ToyJob(), toys, Killed(), force=True)
    left = contents(toys.target.place.parent)

    for broken in (ToyJob(toy=Toy(loading="mistake")), ToyJob(toy=Toy({0: "mistake"})), ToyJob(unreadable=0)):
        with pytest.raises(VqagenError):
            run(broken, in_process, toys, force=True)

    assert contents(toys.target.place.parent) == left


def test_what_another_run_has_made_meanwhile_is_not_replaced(toys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked for again when the name is held."""
    made: list[dict[str, bytes]] = []

    def wait_for_another(place: Path, is_folder: bool) -> AbstractContextManager[Journal]:
        if not made:
            made.append({})
            run(ToyJob(), in_process, toys)
            made.append(contents(toys.target.place.parent))
        return closing(Journal(place).hold())

    monkeypatch.setattr("vqagen.run.output.claim._held", wait_for_another)
    with pytest.raises(UsageError, match=r"toys\.json exists already; give --force to replace it"):
        run(ToyJob(6), in_process, toys)

    assert contents(toys.target.place.parent) == made[1]


def test_an_input_never_has_the_name_of_a_file_that_the_run_makes(tmp_path: Path) -> None:
    for name, out in (("toys.journal", "toys"), ("toys.part", "toys"), ("toys.jsonl.info.json", "toys.jsonl")):
        given, target = tmp_path / name, make_target(str(tmp_path / out), JSON_LINES if "." in out else JSON)
        given.write_bytes(b'{"scenes": []}')
        for force in (True, False):
            with (
                pytest.raises(UsageError, match=f"{name} is in use by the same run|holds an unf|exists already"),
                claimed(target, force=force, inputs=[given]),
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
        with pytest.raises(UsageError) as refused, claimed(make_target(target, JSON), resume=True, force=force):
            pass

        assert str(refused.value) == told


def test_a_finished_output_is_recognised(output: Output) -> None:
    assert not run(ToyJob(), in_process, output, resume=True).was_complete
    made = contents(output.target.place.parent)

    came = run(ToyJob(), in_process, output, resume=True)

    assert (came.was_complete, came.is_known) == (True, False)
    assert contents(output.target.place.parent) == made


def test_a_finished_output_of_another_run_is_refused(output: Output) -> None:
    run(ToyJob(), in_process, output)
    content = contents(output.target.place.parent)

    with pytest.raises(UsageError) as refused:
        run(ToyJob(), in_process, toy_output(output.target.name, seed=1), resume=True)

    told = f"{output.target.place} is of another run; --force replaces it. There:\n  seed: nothing, not 1"
    assert str(refused.value) == told
    assert contents(output.target.place.parent) == content


def test_a_file_that_no_run_made_is_refused(output: Output) -> None:
    for content in (b"notes", b"[1]", b'{"a": 1}\n', b""):
        output.target.place.write_bytes(content)

        with pytest.raises(VqagenError):
            run(ToyJob(), in_process, output, resume=True)

        assert contents(output.target.place.parent) == {output.target.place.name: content}


# The very end --------------------------------------------------------------------------------------------------------


class All:
    """Chooses all records."""

    def keeps(self, record: Record) -> bool:
        return True

    def to_record(self) -> dict[str, bool]:
        return {"all": True}


@pytest.fixture(params=[None, All])
def chosen(request: pytest.FixtureRequest, tmp_path: Path) -> Output:
    """Made of its part by renaming it, and by choosing from it."""
    return toy_output(tmp_path / "toys.jsonl", request.param and request.param())


def test_a_run_that_is_killed_before_its_end_is_told_tells_it_when_it_is_resumed(chosen: Output) -> None:
    """As often as that fails: the output is there, and the journal stays until all is told."""
    told: list[RunResult] = []

    def fail(came: RunResult) -> None:
        told.append(came)
        raise VqagenError("the report cannot be written")

    with pytest.raises(VqagenError, match="report") as failed:
        run(ToyJob(), in_process, chosen, on_came=fail)
    made = chosen.target.place.read_bytes()
    with pytest.raises(VqagenError, match="report"):
        run(ToyJob(), in_process, chosen, resume=True, on_came=fail)
    blocks: list[BlockWritten] = []
    job = ToyJob()
    last = run(job, in_process, chosen, blocks.append, resume=True, on_came=told.append)

    said = f"{chosen.target.place} is complete; the same command with --resume writes what is missing beside it"
    assert failed.value.__notes__ == [said]
    assert [came.records for came in told] == [7, 7, 7]
    assert told[0].selection == last.selection == ({"all": True} if chosen.selection else {})
    assert [block.end for block in blocks] == [2, 3, 5, 6, 8, 9]
    assert (last.was_complete, job.asked) == (True, [])
    assert contents(chosen.target.place.parent).keys() == {"toys.jsonl", "toys.jsonl.info.json"}
    assert chosen.target.place.read_bytes() == made


def test_a_run_that_is_killed_when_its_output_has_its_name_tells_of_it(
    chosen: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(folder: Path) -> None:
        raise Killed

    with monkeypatch.context() as killing, pytest.raises(Killed):
        killing.setattr("vqagen.run.output.publishing.Journal.drop_part", kill)
        run(ToyJob(), in_process, chosen)
    part_of(chosen.target.place).unlink(missing_ok=True)
    blocks: list[BlockWritten] = []
    came = run(ToyJob(), in_process, chosen, blocks.append, resume=True)

    assert (came.was_complete, came.is_known, came.records, came.resumed_items) == (True, True, 7, 9)
    assert [block.end for block in blocks] == [2, 3, 5, 6, 8, 9]
    assert part_of(chosen.target.place).exists() is journal_of(chosen.target.place).exists() is False


def test_a_changed_journal_is_not_believed_of_what_the_run_came_to(toys: Output) -> None:
    def fail(came: RunResult) -> None:
        raise VqagenError("the report cannot be written")

    with pytest.raises(VqagenError, match="report"):
        run(ToyJob(), in_process, toys, on_came=fail)
    path = journal_of(toys.target.place)
    lines = path.read_bytes().splitlines(keepends=True)
    for place in range(1, len(lines)):
        path.write_bytes(b"".join([*lines[:place], *lines[place + 1 :]]))
        assert not run(ToyJob(), in_process, toys, resume=True).is_known
        path.write_bytes(b"".join([*lines[:place], lines[place].replace(b":", b": "), *lines[place + 1 :]]))
        assert not run(ToyJob(), in_process, toys, resume=True).is_known
    path.write_bytes(b"".join(lines))
    assert run(ToyJob(), in_process, toys, resume=True).is_known


def test_what_killed_writers_left_is_cleared_away_and_nothing_else(tmp_path: Path) -> None:
    """The halves of files that were about to be renamed. Those of others may be in use."""
    theirs = [".other.json.abcdefgh.part", ".toys.jsonl.gz.abcdefgh.part", ".toys.jsonl.mine.part", "toys.jsonl.x"]
    for name in (*theirs, ".toys.jsonl.ab_d3fgh.part", ".toys.jsonl.info.json.abcdefgh.part"):
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
    """What the journal says of the end does not count before."""
    run(ToyJob(), in_process, chosen)
    made = contents(chosen.target.place.parent)

    def kill(*paths: object) -> None:
        raise Killed

    with monkeypatch.context() as killing, pytest.raises(Killed):
        killing.setattr(os, "replace", kill)
        run(ToyJob(), in_process, chosen, force=True)
    assert run(ToyJob(), in_process, chosen, resume=True).records == 7

    assert contents(chosen.target.place.parent) == made


# A link, and a stream ------------------------------------------------------------------------------------------------


def test_of_a_link_the_file_that_it_names_is_made(tmp_path: Path) -> None:
    """The part lies beside that file: a rename must not go from one disk to another."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "toys.json").symlink_to(tmp_path / "elsewhere" / "made.json")
    output = toy_output(tmp_path / "toys.json")
    stopped(ToyJob(), output, Killed())
    assert sorted(os.listdir(tmp_path / "elsewhere")) == ["made.json.journal", "made.json.part"]

    run(ToyJob(), in_process, output, resume=True)

    assert (tmp_path / "toys.json").is_symlink()
    assert os.listdir(tmp_path / "elsewhere") == ["made.json"]


def test_standard_output_gets_what_a_file_would(toys: Output, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    run(ToyJob(), in_process, toys)

    assert run(ToyJob(), in_process, toy_output("-")).records == 7
    assert capfdbinary.readouterr().out == toys.target.place.read_bytes()
