"""The claim on an output's name: only one run at a time may inspect and replace the output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from vqagen.errors import UsageError, VqagenError
from vqagen.files.output import check_output, sweep
from vqagen.run.output.journal import Journal, drop_unused, is_begun, journal_of, part_of
from vqagen.run.output.staging import Target


@dataclass(frozen=True)
class Claim:
    """An output's name while a run holds it."""

    journal: Journal | None
    """None for an output that is written as it comes."""
    resume: bool = False
    """True if the run resumes what is there."""


@contextmanager
def claimed(
    target: Target,
    *,
    resume: bool = False,
    force: bool = False,
    inputs: Iterable[Path | str | None] = (),
) -> Iterator[Claim]:
    """Hold an output's name until the block ends.

    Raises UsageError if it cannot be written, is one of the `inputs` or another run's, and if something is there that
    is neither to be resumed nor to be replaced. Nothing that is there changes before the run has something to replace
    it with.
    """
    if resume and force:
        raise UsageError("--resume finishes what is there and --force replaces it; choose one")
    given = list(inputs)
    target.check(resume or force, given)
    if target.is_stream:
        if resume:
            raise UsageError("--resume needs a file to finish, and the output is a stream")
        yield Claim(None)
        return
    place = target.place
    for name in (part_of(place), journal_of(place)):
        if not (target.is_folder and name.is_dir()):
            check_output(str(name), True, given)
    with _held(place, target.is_folder) as journal:
        if not force:
            _check_unfinished(journal, resume)
        target.check(resume or force, given)  # another run may have made it since
        for written in target.names:
            sweep(written)
        yield Claim(journal, resume)


@contextmanager
def _held(place: Path, is_folder: bool = False) -> Iterator[Journal]:
    try:
        with closing(Journal(place, is_folder)) as journal:
            _hold(journal)
            yield journal
    finally:
        drop_unused(place)  # a signal may come between any two steps of the above


def _hold(journal: Journal) -> None:
    try:
        journal.hold()
    except OSError as error:
        raise VqagenError(f"cannot write {error.filename or journal.path}: {error.strerror or error}") from None


def _check_unfinished(journal: Journal, resume: bool) -> None:
    if not is_begun(journal.place):
        return
    if journal.is_new:
        raise UsageError(f"{journal.part} has lost its journal, {journal.path.name}; --force replaces it")
    if not resume:
        choice = "give --resume to finish it, or --force to begin anew"
        raise UsageError(f"{journal.part} holds an unfinished run; {choice}")


@contextmanager
def temporary_journal() -> Iterator[Journal]:
    """Yield the journal of a stream whose records are selected, or turned into columns, when all are there."""
    with TemporaryDirectory(prefix="vqagen-") as folder, _held(Path(folder, "output")) as journal:
        yield journal
