"""Output files: checked before work begins, and named only when they are complete."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO

from vqagen.errors import PlaceError, UsageError, VqagenError
from vqagen.files.locations import Location, Remote, locate
from vqagen.files.packing import check_writable_packing, packed, packing_of, unpacked_name

STDOUT = "-"


_SHOWN_NAME = 40
"""Characters of a file's name in that of its replacement, while that is being written."""


_IN_USE = "is in use by the same run; name another file"


_READ_IN_FOLDERS = (".json", ".jsonl", ".ndjson")


def check_output(target: str, force: bool, inputs: Iterable[Path | str | None] = ()) -> None:
    """Raise UsageError, before any work is done, if `target` cannot be written.

    `inputs` are other files of the same run, which an output never replaces.
    """
    named = [given for given in inputs if given]
    if target == STDOUT:
        if sys.stdout is None:
            raise UsageError("standard output is closed; name a file")
        if STDOUT in named:
            raise UsageError(f"standard output {_IN_USE}")
        return
    if target.endswith(("/", os.sep)):
        raise PlaceError(f"output {target} names a folder; name a file in it")
    path, read = locate(target), [locate(given) for given in named]
    if isinstance(path, Remote) or not is_pipe_or_device(path):
        check_writable_packing(target)
    try:
        _check_place(path, force, read)
    except OSError as error:
        raise PlaceError(f"cannot write {path}: {error.strerror}") from None


def _check_place(path: Location, force: bool, inputs: Sequence[Location]) -> None:
    if isinstance(path, Remote) and path in inputs:
        raise UsageError(f"output {path} {_IN_USE}")
    if path.is_dir():
        raise PlaceError(f"output {path} is a folder; name a file")
    if path.is_file() and not force:
        raise UsageError(f"output {path} exists already; give --force to replace it")
    if isinstance(path, Remote):  # only writing could tell whether there is leave to write
        if path.lacks_bucket():
            raise PlaceError(f"the bucket of output {path} does not exist; create it first")
        return
    folder = linked(path).parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise PlaceError(
            f"output folder {folder} {'is a file' if folder.exists() else 'does not exist; create it first'}"
        )
    local = [given for given in inputs if isinstance(given, Path)]
    if any(
        linked(path) == linked(given) or (path.is_file() and given.exists() and path.samefile(given)) for given in local
    ):
        raise UsageError(f"output {path} {_IN_USE}")
    above = next((given for given in local if given.is_dir() and linked(given) in linked(path).parents), None)
    if above and unpacked_name(path.name).lower().endswith(_READ_IN_FOLDERS):
        raise UsageError(f"output {path} lies in {above}, all of which the same run reads; name another folder")
    if not is_pipe_or_device(path):
        tempfile.TemporaryFile(dir=linked(path).parent).close()  # permissions do not tell if the disk is read-only


def linked(path: Path) -> Path:
    """Return the path with all links followed. (`Path.resolve` fails where links form a circle.)"""
    return Path(os.path.realpath(path))


def check_ending(target: str, endings: Iterable[str], what: str) -> None:
    """Raise UsageError for a file whose ending is not one of those `what` is written to. Streams have no ending."""
    known = tuple(endings)
    if not is_stream(target) and not unpacked_name(target.lower()).endswith(known):
        raise UsageError(f"output {target}: {what} go to files that end in {' or '.join(known)}; name such a file")


def is_stream(target: str) -> bool:
    """True if a target is written as it comes: standard output, a pipe or a device."""
    location = locate(target)
    return target == STDOUT or (isinstance(location, Path) and is_pipe_or_device(location))


def is_pipe_or_device(path: Path) -> bool:
    """True if `path` is written directly, and not replaced when complete."""
    return os.path.exists(path) and not os.path.isfile(path)  # no error for a name that is too long


@contextmanager
def atomic_output(target: str, on_ready: Callable[[], object] = lambda: None) -> Iterator[IO[bytes]]:
    """Write beside `target` and rename when complete, so that the name never holds half a file.

    What a `.gz` or `.zst` target gets is packed: the same content gives the same bytes. Of a symbolic link, the file
    that it names is replaced. For a URL all is written to a temporary file and uploaded at the end: no upload stays
    open for hours, and none is begun by a run that fails. Standard output (`-`), pipes and devices are written as it
    comes. `on_ready` is called when all is written, and about to get its name.
    """
    path = locate(target)
    try:
        if is_stream(target):
            with nullcontext(sys.stdout.buffer) if target == STDOUT else open(target, "wb") as file:
                yield file
                file.flush()
            on_ready()
        else:
            with _uploaded(path, on_ready) if isinstance(path, Remote) else _replacement(path, on_ready) as file:
                yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:  # not from writing
            raise
        name = "standard output" if target == STDOUT else target
        raise VqagenError(f"cannot write {name}: {error.strerror or error}") from None


@contextmanager
def _uploaded(path: Remote, on_ready: Callable[[], object]) -> Iterator[IO[bytes]]:
    with tempfile.TemporaryDirectory(prefix="vqagen-") as folder:
        staged = Path(folder, "staged")
        with staged.open("wb") as file, packed(file, packing_of(path.name)) as content:
            yield content
        on_ready()
        path.upload(staged)


@contextmanager
def _replacement(given: Path, on_ready: Callable[[], object]) -> Iterator[IO[bytes]]:
    path = linked(given)
    beside = _beside(path, "part")
    try:
        with beside.open("xb") as file:
            with packed(file, packing_of(given.name)) as content:
                yield content
            file.flush()
            os.fsync(file.fileno())
        on_ready()
        os.replace(beside, path)
        settle(path.parent)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _beside(path: Path, ending: str) -> Path:
    """Return a name beside `path` that nobody else uses, for the file that becomes it or that it replaces."""
    return path.with_name(f".{path.name[:_SHOWN_NAME]}.{os.urandom(4).hex()}.{ending}")


@contextmanager
def atomic_folder(out: Path) -> Iterator[Path]:
    """Yield a new folder that gets the name `out` when it is complete. One that has the name already is deleted.

    A process that is killed between the two renames leaves that one beside `out`, with a name that ends in `.old`.
    Raises VqagenError if the disk is full.
    """
    out = out.absolute()
    beside, old = _beside(out, "part"), _beside(out, "old")
    beside.mkdir()
    try:
        yield beside
        if out.is_dir():
            os.replace(out, old)
        os.replace(beside, out)
        shutil.rmtree(old, ignore_errors=True)
        settle(out.parent)
    except BaseException as error:
        shutil.rmtree(beside, ignore_errors=True)
        if isinstance(error, OSError) and (error.filename is None or error.filename2):  # from writing, or copying
            raise VqagenError(f"cannot write {out}: {error.strerror or error}") from None
        raise


def names_in(out: Path) -> list[str]:
    """Return the sorted names in a folder that is to be written, if it is there. PlaceError if it cannot be."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise PlaceError(f"output {out} is no folder; name a new folder")
    if not out.absolute().parent.is_dir():
        raise PlaceError(f"folder {out.absolute().parent} does not exist; create it first")
    return sorted(os.listdir(out)) if out.is_dir() else []


def check_folder(out: Path, force: bool, file: str, mark: str, noun: str) -> None:
    """Raise UsageError if a folder cannot be written as `out`.

    Only a folder of the same kind is ever replaced, which is one whose `file` holds the text `mark`. `noun` is such a
    folder, for people.
    """
    present = names_in(out)
    marked = out / file
    if present and not (marked.is_file() and mark in marked.read_text("utf-8", "replace")):
        raise UsageError(f"output folder {out} holds other files than {noun} ({present[0]}); name a new folder")
    if present and not force:
        raise UsageError(f"{out} exists already; give --force to replace it")


def sweep(target: str) -> None:
    """Delete what is left of writers of a file that were killed. Nobody else may be writing it now."""
    path = locate(target)
    if not isinstance(path, Path) or len(path.name) > _SHOWN_NAME:  # others may have left what is named so
        return
    path = linked(path)
    left = re.compile(re.escape(f".{path.name}.") + r"[a-z0-9_]{8}\.part")  # as `_beside` and `tempfile` name it
    for name in filter(left.fullmatch, os.listdir(path.parent)):
        if (remnant := path.with_name(name)).is_dir():
            shutil.rmtree(remnant, ignore_errors=True)
        else:
            remnant.unlink(missing_ok=True)


def settle(folder: Path) -> None:
    """Force the names in a folder to the disk, so that a loss of power cannot undo a renaming."""
    with suppress(OSError):  # some network file systems cannot
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
