"""The journal: whatever a killed run left of it and of the part, going on gives the bytes of an uninterrupted run."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO, NamedTuple

import pytest
from toy_runs import BlockWritten, run
from toy_work import ToyJob, toy_output

from vqagen.errors import UsageError
from vqagen.files.formats import Record
from vqagen.run.engines import in_process
from vqagen.run.journal import Journal, journal_of, part_of
from vqagen.run.output import Output


class Killed(BaseException):
    """Ends a run after a block."""


class Left(NamedTuple):
    """A run that was killed when all blocks were made."""

    output: Output
    part: bytes
    journal: bytes
    whole: bytes
    """What a run that was not killed makes."""

    def put(self, part: bytes | None = None, journal: bytes | None = None) -> None:
        """Lay out both files, changed or not."""
        part_of(self.output.target.place).write_bytes(self.part if part is None else part)
        journal_of(self.output.target.place).write_bytes(self.journal if journal is None else journal)

    def resumed(self) -> bytes:
        """What going on makes of them; clears up."""
        run(ToyJob(), in_process, self.output, resume=True)
        assert [
            path.name for path in self.output.target.place.parent.iterdir() if path.suffix in (".part", ".journal")
        ] == []
        return self.output.target.place.read_bytes()

    def resumed_from(self) -> int:
        """The first item that is not taken over from the killed run."""
        job = ToyJob()
        run(job, in_process, self.output, resume=True)
        return job.asked[0]


def whole(output: Output) -> bytes:
    run(ToyJob(), in_process, output)
    content = output.target.place.read_bytes()
    output.target.place.unlink()
    return content


def killed_after(output: Output, items: int) -> None:
    """Leave what a run leaves that is killed when so many items are done."""

    def kill(made: BlockWritten) -> None:
        if made.end == items:
            raise Killed

    with pytest.raises(Killed):
        run(ToyJob(), in_process, output, kill, force=True)


def left(output: Output) -> Left:
    expected = whole(output)
    killed_after(output, 9)
    part, journal = part_of(output.target.place), journal_of(output.target.place)
    return Left(output, part.read_bytes(), journal.read_bytes(), expected)


@pytest.fixture(params=["toys.json", "toys.jsonl", "toys.jsonl.gz"])
def killed(request: pytest.FixtureRequest, tmp_path: Path) -> Left:
    return left(toy_output(tmp_path / request.param))


@pytest.fixture
def killed_json(tmp_path: Path) -> Left:
    return left(toy_output(tmp_path / "toys.json"))


# What going on makes of it -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [61, pytest.param(2, marks=pytest.mark.slow)])
def test_a_part_and_a_journal_cut_at_any_byte_give_the_same_bytes(killed: Left, step: int) -> None:
    """Also a part that is shorter than the journal says, and both at once."""
    cuts = [(length, None) for length in range(0, len(killed.part) + 1, step)]
    cuts += [(None, length) for length in range(0, len(killed.journal) + 1, step)]
    cuts += [(length, length // 2) for length in range(0, len(killed.part), 3 * step)]
    for part, journal in cuts:
        killed.put(killed.part[:part], killed.journal[:journal])

        assert killed.resumed() == killed.whole, (part, journal)


def test_whatever_stands_behind_the_last_block_is_cut_off(killed: Left) -> None:
    """The end of the document, half a block, or what a machine that lost its power left."""
    for behind in (b"\n]}\n", b"\0" * 5000, b',\n{"question_index":', b"\xff\xfe"):
        killed.put(part=killed.part + behind)

        assert killed.resumed() == killed.whole, behind


def test_a_line_of_the_journal_that_is_no_block_ends_it(killed: Left) -> None:
    lines = killed.journal.splitlines(keepends=True)
    for behind in (b"{", b'{"first":9,"end"', b"{}\n", b"[1]\n", b"\0" * 5000, b"\n\n", b'{"first":9}\n{"'):
        for place in (1, 3, len(lines)):
            killed.put(journal=b"".join(lines[:place]) + behind + b"".join(lines[place:]))

            assert killed.resumed() == killed.whole, (behind, place)


def test_a_block_whose_bytes_are_not_those_that_were_written_is_made_again(killed: Left) -> None:
    """As after a loss of power; so are those behind it, and those before it are kept."""
    for place in range(0, len(killed.part), 61):
        changed = bytearray(killed.part)
        changed[place] ^= 1
        killed.put(part=bytes(changed))

        assert killed.resumed() == killed.whole, place


class EverySecond:
    """Chooses the first record, the third, and so on."""

    def __init__(self) -> None:
        self.seen = 0

    def keeps(self, record: Record) -> bool:
        self.seen += 1
        return self.seen % 2 == 1

    def to_record(self) -> dict[str, int]:
        return {"seen": self.seen}


def test_a_run_that_is_killed_while_it_looks_at_what_there_is_loses_nothing(killed: Left) -> None:
    """At the first block that is there already, one in the middle, and the last."""

    def kill(made: BlockWritten) -> None:
        assert made.is_resumed
        if made.end == items:
            raise Killed

    for until in (2, 6, 9):
        items = until
        killed.put()
        with pytest.raises(Killed):
            run(ToyJob(), in_process, killed.output, kill, resume=True)

        assert killed.resumed_from() == 9
        assert killed.output.target.place.read_bytes() == killed.whole
        killed.output.target.place.unlink()


def test_a_line_that_is_missing_or_doubled_is_noticed(killed_json: Left) -> None:
    """Also one of a block without records, which has no bytes that would tell."""
    lines = killed_json.journal.splitlines(keepends=True)
    for place in range(1, len(lines)):
        for times in (0, 2):
            killed_json.put(journal=b"".join([*lines[:place], *times * [lines[place]], *lines[place + 1 :]]))
            made: list[BlockWritten] = []
            run(ToyJob(), in_process, killed_json.output, made.append, resume=True)

            assert [each.end for each in made] == [2, 3, 5, 6, 8, 9], place
            assert killed_json.output.target.place.read_bytes() == killed_json.whole
            killed_json.output.target.place.unlink()


def test_records_that_are_chosen_at_the_end_are_the_same_after_going_on(tmp_path: Path) -> None:
    """What chooses begins anew with the first record, and reads the journal again, behind half a line as well."""
    killed = left(toy_output(tmp_path / "toys.json", EverySecond()))
    assert killed.whole.count(b'"toy":') == 4

    for length in range(0, len(killed.part), 83):
        killed.put(part=killed.part[:length])

        assert killed.resumed() == killed.whole, length
    for length in range(0, len(killed.journal), 97):
        killed.put(journal=killed.journal[:length])

        assert killed.resumed() == killed.whole, length


# What is refused -----------------------------------------------------------------------------------------------------

OTHERS: list[tuple[str, dict[str, object], str]] = [
    ("toys.json", {"seed": 2}, "  seed: 1, not 2"),
    ("toys.json", {"seed": 1, "inputs": {"scenes": "b"}}, "  inputs.scenes: 'a', not 'b'"),
    ("toys.json", {"seed": True}, "  seed: 1, not true\n  inputs: an object, not nothing"),
    ("toys.jsonl", {"seed": 1, "inputs": {"scenes": "a"}}, "  format: 'json', not 'jsonl'"),
]
"""Name of the output, its info, and how it differs from that of the run that was killed."""


@pytest.mark.parametrize(("name", "info", "difference"), OTHERS)
def test_a_journal_of_another_run_is_refused_and_left_as_it_is(
    tmp_path: Path, name: str, info: dict[str, object], difference: str
) -> None:
    killed = left(toy_output(tmp_path / "toys.json", seed=1, inputs={"scenes": "a"}))
    other = toy_output(tmp_path / name, **info)
    part, journal = part_of(other.target.place), journal_of(other.target.place)
    part.write_bytes(killed.part)
    journal.write_bytes(killed.journal)
    job = ToyJob()

    with pytest.raises(UsageError) as refused:
        run(job, in_process, other, resume=True)

    told, *differences = str(refused.value).split("\n", 1)
    assert told == f"{journal} is of another run; --force replaces it. There:"
    assert differences[0].startswith(difference)
    assert (part.read_bytes(), journal.read_bytes(), job.asked) == (killed.part, killed.journal, [])


def test_a_journal_of_another_format_is_refused_in_one_line(tmp_path: Path) -> None:
    """Its whole bytes would differ."""
    killed = left(toy_output(tmp_path / "toys.json", format=1))
    killed.put()

    finish = "finish it with the vqagen that began it, or give --force to begin anew"
    with pytest.raises(UsageError, match=f"is of format 1, and this vqagen writes format 2: {finish}$"):
        run(ToyJob(), in_process, toy_output(tmp_path / "toys.json", format=2), resume=True)


@pytest.mark.parametrize("settings", [{}, {"resume": True}, {"force": True}])
def test_a_file_that_is_no_journal_is_refused(killed_json: Left, settings: dict[str, bool]) -> None:
    for foreign in (b"my notes\n", b"[]\n", b'"text"\nmore', b'{"scenes": []}', b'{"journals": 1}'):
        killed_json.put(journal=foreign)

        with pytest.raises(UsageError, match="journal is in the way, and no journal of a run: move it"):
            run(ToyJob(), in_process, killed_json.output, **settings)

        assert journal_of(killed_json.output.target.place).read_bytes() == foreign


def test_a_journal_whose_first_line_is_damaged_is_refused(killed_json: Left) -> None:
    line, others = killed_json.journal.split(b"\n", 1)
    damaged = line[:-4] + b"\n" + others
    killed_json.put(journal=damaged)

    with pytest.raises(UsageError, match="journal is damaged; --force begins anew"):
        killed_json.resumed()

    assert journal_of(killed_json.output.target.place).read_bytes() == damaged


def test_a_part_that_lost_its_journal_is_refused(killed_json: Left) -> None:
    """It cannot be known what it holds; a killed run never leaves that."""
    killed_json.put()
    journal_of(killed_json.output.target.place).unlink()

    for resume in (False, True):
        with pytest.raises(UsageError, match=r"toys\.json\.part has lost its journal, toys\.json\.journal; --force"):
            run(ToyJob(), in_process, killed_json.output, resume=resume)

    assert os.listdir(killed_json.output.target.place.parent) == ["toys.json.part"]
    assert run(ToyJob(), in_process, killed_json.output, force=True).records == 7


def test_while_one_run_writes_another_is_refused(tmp_path: Path) -> None:
    """Whether it goes on or begins anew; and the first does not notice."""
    output = toy_output(tmp_path / "toys.json")
    expected, refusals = whole(output), []

    def meanwhile(made: BlockWritten) -> None:
        for resume in (False, True):
            with pytest.raises(UsageError) as refused:
                run(ToyJob(), in_process, output, resume=resume)
            refusals.append(str(refused.value))

    run(ToyJob(), in_process, output, meanwhile)

    assert set(refusals) == {f"another run is writing {output.target.place}"}
    assert output.target.place.read_bytes() == expected


def test_a_journal_that_was_removed_before_it_could_be_held_is_opened_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between opening and locking it, the run that had it may end."""
    place = tmp_path / "toys.json"
    first, lock, tries = Journal(place).hold(), fcntl.flock, list[int]()

    def end_first(file: IO[bytes], how: int) -> None:
        if not tries:
            first.remove()
            first.close()
        tries.append(how)
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", end_first)
    second = Journal(place).hold()

    assert (len(tries), second.is_new, journal_of(place).exists()) == (2, True, True)
    with pytest.raises(UsageError, match="another run is writing"):
        Journal(place).hold()
    second.close()


@pytest.mark.parametrize("stopped_at", ["fcntl.flock", "vqagen.run.journal.Journal._refuse_other_files"])
def test_a_run_that_is_stopped_while_it_makes_its_journal_leaves_none(
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
