"""Files in and out: shipped data, packed files, content hashes, JSON that points at its mistakes, atomic outputs."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, NoReturn, TypeVar, cast

from vqagen.errors import BadInput, Problem, UsageError, VqagenError, warn
from vqagen.json_tolerance import BrokenJson, read_tolerantly
from vqagen.jsontext import excerpt, position_at, show_path
from vqagen.locations import Location, Remote, locate
from vqagen.packing import PACKINGS, packed, packing_of, recognised, unpacked, unpacked_name

Place = TypeVar("Place", bound=Location)

STDOUT = "-"
_SHOWN_NAME = 40
"""Characters of a file's name in that of its replacement, while that is being written."""
_IN_USE = "is in use by the same run; name another file"
_READ_IN_FOLDERS = (".json", ".jsonl", ".ndjson")
_PACKAGE = Path(__file__).resolve().parent


def shipped(name: str) -> Path:
    """Where a shipped data file or folder lies: inside the installed package, or at the top of a source checkout."""
    installed = _PACKAGE / "shipped" / name
    return installed if installed.exists() else _PACKAGE.parent / name


def require(path: Place, what: str) -> Place:
    """`path`, if something is there; otherwise a UsageError that names what was looked for."""
    if not path.exists():
        raise UsageError(f"{what} not found: {path}")
    return path


def open_bytes(path: Location) -> BinaryIO:
    """Open for reading, unpacking a `.gz` or `.zst`."""
    file = open_as_it_is(path)
    try:
        return unpacked(file, packing_of(path.name))
    except UsageError:
        file.close()
        raise


def open_as_it_is(path: Location) -> BinaryIO:
    """Open for reading, packed or not."""
    if isinstance(path, Remote):
        return path.open_bytes()
    try:
        return path.open("rb")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def unnamed_packing(path: Location) -> str:
    """The suffix that a packed file should have and has not, going by its first bytes; "" for other files."""
    with open_as_it_is(path) as file:
        packing = recognised(file.read(4))
    return "" if path.name.endswith(PACKINGS) else packing


def files_below(folder: Location) -> Sequence[Location]:
    """`files_in`, wherever the folder is."""
    if isinstance(folder, Path):
        return files_in(folder)
    shown = [(name, file) for name, file in folder.files() if not any(part[:1] == "." for part in name.split("/"))]
    return [file for _, file in sorted(shown, key=lambda each: each[0])]


def files_in(folder: Path, on_error: Callable[[OSError], object] | None = None) -> list[Path]:
    """All files in a folder and its folders, except hidden ones, in the order of their paths inside it.

    UsageError where a folder, or what lies in it, cannot be read, unless `on_error` takes it; then the others are gone
    through.
    """
    on_error = on_error or _refuse
    files = []
    for inside, folders, names in os.walk(folder, onerror=on_error):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = [Path(inside, name) for name in names if not name.startswith(".")]
        try:
            files += [path for path in paths if path.is_file() or path.is_symlink()]
        except OSError as error:  # the names in a folder may be read where what they name may not
            on_error(error)
    return sorted(files, key=lambda file: file.relative_to(folder).as_posix())


def _refuse(error: OSError) -> NoReturn:
    what = "folder " if os.path.isdir(error.filename) else ""
    raise UsageError(f"cannot read {what}{error.filename}: {error.strerror}")


def read_text(path: Location) -> str:
    """The whole file as UTF-8 text (a byte order mark is dropped)."""
    with open_bytes(path) as file:
        try:
            raw = file.read()
        except (OSError, EOFError, zlib.error) as error:
            raise BadInput([Problem(f"damaged or cut off: {error}", str(path))]) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8-sig", "replace")
        raise BadInput([Problem("not UTF-8 text", str(path), "", *position_at(before, len(before)))]) from None


def parse_json(text: str, source: str) -> Any:
    """The value of a hand-edited JSON text; `source` names it in errors.

    Comments, commas behind a last item and keys written twice are warned of and taken (see `json_tolerance`). Whoever
    points into the text afterwards does so with `jsontext.locate`, which knows them too.
    """
    try:
        value, oddities = read_tolerantly(text)
    except BrokenJson as error:
        message, offset, kind = error.mistake
        place = position_at(text, offset)
        shown = excerpt(text, offset) if text.strip() else ""
        raise BadInput([Problem(f"{kind}: {message}", source, "", *place, shown)]) from None
    for message, offset, path in oddities:
        warn(Problem(message, source, show_path(path), *position_at(text, offset)))
    return value


def content_hash(paths: Iterable[Location]) -> str:
    """`sha256:…` over the contents of the files, in the given order; names and places do not count."""
    total = hashlib.sha256()
    for path in paths:
        with open_as_it_is(path) as file:
            total.update(hashlib.file_digest(cast(Any, file), "sha256").digest())
    return f"sha256:{total.hexdigest()}"


def check_output(target: str, force: bool, inputs: Iterable[Path | str | None] = ()) -> None:
    """Find out before any work is done whether `target` can be written; raise UsageError if not.

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
        raise UsageError(f"output {target} names a folder; name a file in it")
    path, read = locate(target), [locate(given) for given in named]
    if isinstance(path, Remote):
        fault = _remote_output_fault(path, force, read)
    else:
        fault = _local_output_fault(path, force, read)
    if fault:
        raise UsageError(fault)


def _remote_output_fault(path: Remote, force: bool, inputs: Iterable[Location]) -> str:
    """Only writing could tell whether there is leave to write."""
    if path in inputs:
        return f"output {path} {_IN_USE}"
    if path.is_dir():
        return f"output {path} is a folder; name a file"
    if path.exists():
        return "" if force else f"output {path} exists already; give --force to replace it"
    return f"the bucket of output {path} does not exist; create it first" if path.lacks_bucket() else ""


def _local_output_fault(path: Path, force: bool, inputs: Iterable[Location]) -> str:
    try:
        fault = _output_fault(path, force) or _input_fault(path, inputs)
        if not fault and not is_pipe_or_device(path):
            folder = linked(path).parent
            tempfile.TemporaryFile(dir=folder).close()  # permissions alone do not tell: the disk may be read-only
    except OSError as error:
        fault = f"cannot write {path}: {error.strerror}"
    return fault


def _output_fault(path: Path, force: bool) -> str:
    if path.is_dir():
        return f"output {path} is a folder; name a file"
    if path.is_file() and not force:
        return f"output {path} exists already; give --force to replace it"
    folder = linked(path).parent if path.is_symlink() else path.parent
    if not folder.exists():
        return f"output folder {folder} does not exist; create it first"
    return "" if folder.is_dir() else f"output folder {folder} is a file"


def _input_fault(path: Path, inputs: Iterable[Location]) -> str:
    local = [given for given in inputs if isinstance(given, Path)]
    if any(linked(path) == linked(given) or _are_one_file(path, given) for given in local):
        return f"output {path} {_IN_USE}"
    folder = next((given for given in local if given.is_dir() and linked(given) in linked(path).parents), None)
    if folder and unpacked_name(path.name).lower().endswith(_READ_IN_FOLDERS):
        return f"output {path} lies in {folder}, all of which the same run reads; name another folder"
    return ""


def linked(path: Path) -> Path:
    """What a path comes to when all links are followed. (`Path.resolve` fails where links go round in a circle.)"""
    return Path(os.path.realpath(path))


def _are_one_file(path: Path, other: Path) -> bool:
    return path.is_file() and other.exists() and path.samefile(other)


def is_pipe_or_device(path: Path) -> bool:
    """Whether `path` is written as it comes, in place of being replaced when complete."""
    return path.exists() and not path.is_file()


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
        if target == STDOUT:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
            on_ready()
        elif isinstance(path, Remote):
            with _uploaded(path, on_ready) as file:
                yield file
        elif is_pipe_or_device(path):
            with path.open("wb") as file:
                yield file
            on_ready()
        else:
            with _replacement(linked(path), packing_of(path.name), on_ready) as file:
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
def _replacement(path: Path, packing: str, on_ready: Callable[[], object]) -> Iterator[IO[bytes]]:
    handle, beside = tempfile.mkstemp(prefix=f".{path.name[:_SHOWN_NAME]}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            with packed(file, packing) as content:
                yield content
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o666 & ~_umask())
        on_ready()
        os.replace(beside, path)
        settle(path.parent)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def sweep(target: str) -> None:
    """Delete what is left of writers of a file that were killed. Nobody else may be writing it now."""
    path = locate(target)
    if not isinstance(path, Path) or len(path.name) > _SHOWN_NAME:  # others may have left what is named so
        return
    path = linked(path)
    left = re.compile(re.escape(f".{path.name}.") + r"[a-z0-9_]{8}\.part")  # as `mkstemp` names it
    for name in filter(left.fullmatch, os.listdir(path.parent)):
        path.with_name(name).unlink(missing_ok=True)


def settle(folder: Path) -> None:
    """Have the names in a folder on the disk, so that a loss of power cannot undo what was renamed there."""
    with suppress(OSError):  # some network file systems cannot
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
