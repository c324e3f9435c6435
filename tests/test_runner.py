"""The runner: what it says of what is there, what it leaves when it is stopped, and what it does when it goes on."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from toy_work import Toy, ToyJob, toy_output

from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.run.in_process import in_process
from vqagen.run.journal import Entry, journal_of, left_behind, part_of
from vqagen.run.output import Output
from vqagen.run.processes import Processes
from vqagen.run.runner import Made, check_place, is_complete, run
from vqagen.run.work import Engine

NAMES = ["toys.json", "toys.jsonl", "toys.json.gz", "toys.jsonl.gz"]


class Killed(BaseException):
    """Ends a run."""


def nothing(made: Made) -> None:
    """What to do with a block."""


def after(items: int, error: BaseException) -> Callable[[Made], None]:
    """Ends a run with an error when so many items are done."""

    def tell(made: Made) -> None:
        if made.end == items:
            raise error

    return tell


def stopped(job: ToyJob, output: Output, error: BaseException, items: int = 6) -> list[str]:
    """Run until so many items are done; the notes of the error that ended it."""
    with pytest.raises(type(error)) as raised:
        run(job, in_process, output, after(items, error))
    return getattr(raised.value, "__notes__", [])


@pytest.fixture(params=NAMES)
def output(request: pytest.FixtureRequest, tmp_path: Path) -> Output:
    """In each layout, packed and not."""
    return toy_output(tmp_path / request.param)


@pytest.fixture
def toys(tmp_path: Path) -> Output:
    return toy_output(tmp_path / "toys.json")


# A whole run ---------------------------------------------------------------------------------------------------------


def test_a_run_leaves_its_output_and_nothing_else(output: Output) -> None:
    records = run(ToyJob(), in_process, output, nothing)
    beside = {f"{output.place.name}.info.json"} if output.layout == "jsonl" else set()

    assert set(os.listdir(output.place.parent)) == {output.place.name} | beside
    assert records == 7


def test_records_are_numbered_by_their_place_and_never_inside_a_text(tmp_path: Path) -> None:
    run(ToyJob(6), in_process, toy_output(tmp_path / "toys.jsonl"), nothing)
    lines = (tmp_path / "toys.jsonl").read_bytes().splitlines()

    assert lines[5:] == [b'{"question_index":5,"toy":5,"text":"\\"question_index\\":0 of 5"}']
    assert [line.split(b",")[0] for line in lines] == [b'{"question_index":%d' % number for number in range(6)]


@pytest.mark.parametrize("engine", [in_process, Processes(2)])
def test_each_block_is_told_when_it_is_kept(toys: Output, engine: Engine) -> None:
    told = []

    def tell(made: Made) -> None:
        told.append((made.first, made.end, made.records, part_of(toys.place).read_bytes().count(b'"toy":')))

    run(ToyJob(), engine, toys, tell)

    assert told == [(0, 2, 0, 0), (2, 3, 1, 1), (3, 5, 3, 4), (5, 6, 2, 6), (6, 8, 0, 6), (8, 9, 1, 7)]


def test_a_run_of_nothing_is_complete(output: Output) -> None:
    assert run(ToyJob(0), in_process, output, nothing) == 0
    assert is_complete(output)


# A run that is stopped -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt, Killed, VqagenError, ZeroDivisionError])
def test_what_was_made_is_kept_and_it_is_said_where(output: Output, error: type[BaseException]) -> None:
    notes = stopped(ToyJob(), output, error())
    part, name = part_of(output.place), output.place.name

    assert notes == [f"what was made is kept in {part}; the same command with --resume goes on with it"]
    assert sorted(os.listdir(part.parent)) == [f"{name}.journal", f"{name}.part"]


def test_a_run_that_made_nothing_leaves_nothing(output: Output) -> None:
    with pytest.raises(BadInput) as raised:
        run(ToyJob(toy=Toy({1: "mistake"})), in_process, output, nothing)

    assert not hasattr(raised.value, "__notes__")
    assert os.listdir(output.place.parent) == []


def test_an_error_in_a_window_keeps_what_comes_before(toys: Output) -> None:
    with pytest.raises(BadInput):
        run(ToyJob(toy=Toy({7: "mistake"})), Processes(2), toys, nothing)
    first: list[Made] = []
    run(ToyJob(), in_process, toys, first.append, resume=True)

    assert [made.end for made in first if isinstance(made, Entry)] == [2, 3, 5, 6]


def test_an_error_of_the_work_is_not_taken_for_one_of_writing(toys: Output) -> None:
    with pytest.raises(FileNotFoundError, match=r"toys\.json"):
        run(ToyJob(toy=Toy({7: "disk"})), in_process, toys, nothing)


# Going on ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("items", [2, 3, 5, 6, 8, 9])
@pytest.mark.parametrize("workers", [1, 2])
def test_going_on_gives_the_bytes_of_an_uninterrupted_run(tmp_path: Path, items: int, workers: int) -> None:
    """With any number of workers, also if another number began it."""
    whole, halved = toy_output(tmp_path / "whole.json"), toy_output(tmp_path / "halved.json")
    run(ToyJob(), in_process, whole, nothing)
    stopped(ToyJob(), halved, Killed(), items)
    job = ToyJob()

    records = run(job, Processes(workers), halved, nothing, resume=True)

    assert (halved.place.read_bytes(), records) == (whole.place.read_bytes(), 7)
    assert job.asked == [items]


def test_a_run_that_goes_on_tells_of_all_blocks(toys: Output) -> None:
    """First of those that are there, from the journal, so that the report is that of the whole run."""
    whole: list[Made] = []
    run(ToyJob(), in_process, toys, whole.append)
    toys.place.unlink()
    stopped(ToyJob(), toys, Killed())
    made: list[Made] = []
    run(ToyJob(), in_process, toys, made.append, resume=True)

    assert [isinstance(each, Entry) for each in made] == [True] * 4 + [False] * 2
    assert [(each.end, each.records, each.tally) for each in made] == [
        (each.end, each.records, each.tally) for each in whole
    ]


def test_a_run_that_begins_inside_a_window_goes_on_as_well(tmp_path: Path) -> None:
    whole, halved = toy_output(tmp_path / "whole.json"), toy_output(tmp_path / "halved.json")
    run(ToyJob(7, 4, 2), in_process, whole, nothing)
    for items in (4, 6, 8, 9):
        stopped(ToyJob(7, 4, 2), halved, Killed(), items)
        run(ToyJob(7, 4, 2), in_process, halved, nothing, resume=True)

        assert halved.place.read_bytes() == whole.place.read_bytes()


def test_there_may_be_nothing_to_go_on_with(output: Output) -> None:
    check_place(output.target, resume=True, force=False)

    assert run(ToyJob(), in_process, output, nothing, resume=True) == 7


def test_an_unfinished_run_is_replaced_if_it_is_not_resumed(toys: Output) -> None:
    """`check_place` asks for --force before that."""
    stopped(ToyJob(), toys, Killed())
    job = ToyJob(6)
    run(job, in_process, toy_output(toys.target, seed=1), nothing)

    assert job.asked == [0]
    assert os.listdir(toys.place.parent) == ["toys.json"]


# What is there -------------------------------------------------------------------------------------------------------


def test_what_an_earlier_run_left_is_not_touched_unasked(toys: Output) -> None:
    stopped(ToyJob(), toys, Killed())

    with pytest.raises(UsageError) as refused:
        check_place(toys.target, resume=False, force=False)
    check_place(toys.target, resume=True, force=False)
    check_place(toys.target, resume=False, force=True)

    choice = "give --resume to go on with it, or --force to begin anew"
    assert str(refused.value) == f"{part_of(toys.place)} holds an unfinished run; {choice}"


@pytest.mark.parametrize(
    ("target", "force", "told"),
    [
        ("toys.json", True, "--resume goes on with what is there and --force replaces it; choose one"),
        ("-", False, "--resume needs a file to go on with, and the output is a stream"),
        ("/dev/null", False, "--resume needs a file to go on with, and the output is a stream"),
    ],
)
def test_what_cannot_be_resumed_is_refused(target: str, force: bool, told: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_place(target, resume=True, force=force)

    assert str(refused.value) == told


def test_a_finished_output_is_recognised(output: Output) -> None:
    assert not is_complete(output)
    run(ToyJob(), in_process, output, nothing)

    assert is_complete(output)


def test_a_finished_output_of_another_run_is_refused(output: Output) -> None:
    run(ToyJob(), in_process, output, nothing)
    content = output.place.read_bytes()

    with pytest.raises(UsageError) as refused:
        is_complete(toy_output(output.target, seed=1))

    told = f"{output.place} is of another run; --force replaces it. There:\n  seed: nothing, not 1"
    assert str(refused.value) == told
    assert output.place.read_bytes() == content


def test_a_file_that_no_run_made_is_refused(output: Output) -> None:
    for content in (b"notes", b"[1]", b'{"a": 1}\n', b""):
        output.place.write_bytes(content)

        with pytest.raises(VqagenError):
            is_complete(output)

        assert output.place.read_bytes() == content


def test_a_run_killed_between_its_last_two_steps_is_complete(toys: Output) -> None:
    """The part has become the output, and the journal is still there."""
    stopped(ToyJob(), toys, Killed(), items=9)
    journal = journal_of(toys.place).read_bytes()
    run(ToyJob(), in_process, toys, nothing, resume=True)
    journal_of(toys.place).write_bytes(journal)
    check_place(toys.target, resume=True, force=False)

    assert is_complete(toys)
    assert sum(entry.records for entry in left_behind(toys.place)) == 7
    assert os.listdir(toys.place.parent) == ["toys.json"]


def test_a_part_means_that_an_output_is_about_to_be_replaced(toys: Output) -> None:
    """As after --force: what is there is not taken for the result."""
    run(ToyJob(), in_process, toys, nothing)
    stopped(ToyJob(), toys, Killed())

    assert not is_complete(toys)


# A link, and a stream ------------------------------------------------------------------------------------------------


def test_of_a_link_the_file_that_it_names_is_made(tmp_path: Path) -> None:
    """The part lies beside that file: a rename must not go from one disk to another."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "toys.json").symlink_to(tmp_path / "elsewhere" / "made.json")
    output = toy_output(tmp_path / "toys.json")
    stopped(ToyJob(), output, Killed())
    assert sorted(os.listdir(tmp_path / "elsewhere")) == ["made.json.journal", "made.json.part"]

    run(ToyJob(), in_process, output, nothing, resume=True)

    assert (tmp_path / "toys.json").is_symlink()
    assert os.listdir(tmp_path / "elsewhere") == ["made.json"]


@pytest.mark.parametrize("engine", [in_process, Processes(2)])
def test_standard_output_gets_what_a_file_would(
    toys: Output,
    capfdbinary: pytest.CaptureFixture[bytes],
    engine: Engine,
) -> None:
    run(ToyJob(), in_process, toys, nothing)

    assert run(ToyJob(), engine, toy_output("-"), nothing) == 7
    assert capfdbinary.readouterr().out == toys.place.read_bytes()


def test_a_stream_that_is_stopped_keeps_nothing(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """What is chosen at its end was made in a temporary folder."""
    output = toy_output("-", lambda: lambda record: True)

    assert stopped(ToyJob(), output, KeyboardInterrupt()) == []
    assert capfdbinary.readouterr().out == b""
