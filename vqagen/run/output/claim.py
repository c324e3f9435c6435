"""The name of an output, claimed: what stands there is looked at, and replaced, by one run at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from vqagen.errors import UsageError, VqagenError
from vqagen.files.output import check_output, sweep
from vqagen.records.writer import info_beside, is_stream
from vqagen.run.output.journal import Journal, drop_unused, is_begun, journal_of, part_of
from vqagen.run.output.staging import check_record_file, place_of


@dataclass(frozen=True)
class Claim:
    """An output's name while a run has it."""

    journal: Journal | None
    """None for what is written as it comes."""
    resume: bool = False
    """Whether to go on with what is there."""


@contextmanager
def claimed(
    target: str,
    layout: str,
    *,
    resume: bool = False,
    force: bool = False,
    inputs: Iterable[Path | str | None] = (),
) -> Iterator[Claim]:
    """Hold an output's name until the block ends.

    UsageError if it cannot be written, is one of the `inputs`, or another run's; and if something is there and it is
    not said what to do with it. What is there is not touched before a run makes something to replace it.
    """
    if resume and force:
        raise UsageError("--resume goes on with what is there and --force replaces it; choose one")
    given = list(inputs)
    check_record_file(target, layout, resume or force, given)
    if is_stream(target):
        if resume:
            raise UsageError("--resume needs a file to go on with, and the output is a stream")
        yield Claim(None)
        return
    place = place_of(target)
    for name in (part_of(place), journal_of(place)):
        check_output(str(name), True, given)
    with _held(place) as journal:
        if not force:
            _check_what_is_there(journal, resume)
        check_record_file(target, layout, resume or force, given)  # another run may have made it since
        for written in filter(None, (target, info_beside(target, layout))):
            sweep(written)
        yield Claim(journal, resume)


@contextmanager
def _held(place: Path) -> Iterator[Journal]:
    try:
        with closing(_journal(place)) as journal:
            yield journal
    finally:
        drop_unused(place)  # a signal may come between any two steps of the above


def _journal(place: Path) -> Journal:
    try:
        return Journal(place)
    except OSError as error:
        raise VqagenError(f"cannot write {error.filename or journal_of(place)}: {error.strerror or error}") from None


def _check_what_is_there(journal: Journal, resume: bool) -> None:
    if not is_begun(journal.place):
        return
    if journal.is_new:
        raise UsageError(f"{journal.part} has lost its journal, {journal.path.name}; --force replaces it")
    if not resume:
        choice = "give --resume to go on with it, or --force to begin anew"
        raise UsageError(f"{journal.part} holds an unfinished run; {choice}")


@contextmanager
def temporary_journal() -> Iterator[Journal]:
    """For a stream whose records are chosen, or turned into columns, when all are there."""
    with TemporaryDirectory(prefix="vqagen-") as folder, _held(Path(folder, "output")) as journal:
        yield journal
