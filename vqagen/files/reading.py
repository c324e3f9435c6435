"""Reading files: open them packed or not, list folders, hash contents."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

from vqagen.errors import PlaceError, UsageError
from vqagen.files.locations import Location, Remote
from vqagen.files.packing import LONGEST_BEGINNING, packing_of, unpacked, unpacking_advice

DIGITS = "0123456789"
_NUMBER_OR_CHARACTER = re.compile(r"[0-9]+|(?s:.)")


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
    except IsADirectoryError:
        raise PlaceError(f"cannot read {path}: it is a folder; name a file in it") from None
    except OSError as error:
        raise PlaceError(f"cannot read {path}: {error.strerror}") from None


def how_to_unpack(path: Location) -> str:
    """`unpacking_advice` for a file."""
    with open_as_it_is(path) as file:
        return unpacking_advice(file.read(LONGEST_BEGINNING), path.name)


def files_below(folder: Location) -> Sequence[Location]:
    """`files_in`, also for a folder in a store."""
    if isinstance(folder, Path):
        return files_in(folder)
    shown = [(name, file) for name, file in folder.files() if not any(part[:1] == "." for part in name.split("/"))]
    return [file for _, file in sorted(shown, key=lambda each: natural_order(each[0]))]


def files_in(folder: Path, on_error: Callable[[OSError], object] | None = None) -> list[Path]:
    """All files in a folder and its folders, except hidden ones, in the natural order of their paths inside it.

    UsageError where a folder, or a file in it, cannot be read. With `on_error`, this is called instead, and the other
    files are returned.
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
    return sorted(files, key=lambda file: natural_order(file.relative_to(folder).as_posix()))


def natural_order(name: str) -> tuple[list[tuple[int, int]], str]:
    """The key that sorts names by character, and numbers in them by value.

    >>> sorted(["s_10.json", "s_2.json", "s_02.json", "s.json"], key=natural_order)
    ['s.json', 's_02.json', 's_2.json', 's_10.json']
    """
    pieces = ((piece[0], int(piece) if piece[0] in DIGITS else 0) for piece in _NUMBER_OR_CHARACTER.findall(name))
    return [(ord("0" if first in DIGITS else first), value) for first, value in pieces], name


def _refuse(error: OSError) -> NoReturn:
    what = "folder " if os.path.isdir(error.filename) else ""
    raise PlaceError(f"cannot read {what}{error.filename}: {error.strerror}")


def content_hash(paths: Iterable[Location]) -> str:
    """`sha256:…` over the contents of the files, in the given order; names and places do not count."""
    total = hashlib.sha256()
    for path in paths:
        with open_as_it_is(path) as file:
            total.update(hashlib.file_digest(cast(Any, file), "sha256").digest())
    return f"sha256:{total.hexdigest()}"
