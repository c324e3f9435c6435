"""Files in and out: shipped data, gzip by suffix, content hashes, JSON that points at its mistakes, atomic outputs."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from vqagen.errors import BadInput, Problem, UsageError

STDOUT = "-"
_PACKAGE = Path(__file__).resolve().parent


def shipped(name: str) -> Path:
    """Where a shipped data file or folder lies: inside the installed package, or at the top of a source checkout."""
    installed = _PACKAGE / "shipped" / name
    return installed if installed.exists() else _PACKAGE.parent / name


def require(path: Path, what: str) -> Path:
    """`path`, if something is there; otherwise a UsageError that names what was looked for."""
    if not path.exists():
        raise UsageError(f"{what} not found: {path}")
    return path


def open_bytes(path: Path) -> BinaryIO:
    """Open for reading, unpacking a `.gz`."""
    try:
        if path.suffix == ".gz":
            return cast(BinaryIO, gzip.open(path, "rb"))
        return path.open("rb")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def read_text(path: Path) -> str:
    """The whole file as UTF-8 text (a byte order mark is dropped)."""
    with open_bytes(path) as file:
        raw = file.read()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadInput([Problem("not UTF-8 text", str(path), line=line, column=1)]) from None


def read_json(path: Path) -> Any:
    """Parse a hand-edited JSON file. A syntax error, or a key written twice, names its line and column."""
    return parse_json(read_text(path), str(path))


def parse_json(text: str, source: str) -> Any:
    """Parse JSON text; `source` names it in errors."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg}"
        raise BadInput([Problem(message, source, line=error.lineno, column=error.colno)]) from None
    except RecursionError:
        raise BadInput([Problem("not usable JSON: nested too deeply", source)]) from None


def content_hash(paths: list[Path]) -> str:
    """`sha256:…` over the contents of the files, in the given order; names and places do not count."""
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return f"sha256:{total.hexdigest()}"


def check_output(target: str, force: bool) -> None:
    """Find out before any work is done whether `target` can be written; raise UsageError if not."""
    if target == STDOUT:
        return
    path = Path(target)
    if path.is_dir():
        raise UsageError(f"output {target} is a folder; name a file")
    if path.exists() and not force:
        raise UsageError(f"output {target} exists already; give --force to replace it")
    folder = path.parent
    if not folder.is_dir():
        raise UsageError(f"output folder {folder} does not exist; create it first")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"output folder {folder} is not writable")


@contextmanager
def atomic_output(target: str) -> Iterator[IO[bytes]]:
    """Write beside `target` and rename when complete, so that the name never holds half a file. `-` is stdout.

    A `.gz` target is compressed, without a time stamp, so that the same content gives the same bytes.
    """
    if target == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(target)
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            if path.suffix == ".gz":
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                    yield cast(IO[bytes], packed)
            else:
                yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
