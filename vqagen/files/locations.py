"""Where files are: in a local folder or, by a URL such as `s3://bucket/scenes.json`, in a store that `fsspec` reaches.

Local places are plain `pathlib` paths, and nothing else is imported for them. A `Remote` answers the few questions that
this package asks of a path. Each goes through `reached`, so that whatever a store's library raises (they share no base
class) becomes one line; `universal_pathlib` would let it through from every method.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, TypeVar, cast

from vqagen.errors import PlaceError, UsageError, VqagenError, unknown
from vqagen.files.packing import is_named_columns, packing_of, unpacked, unpacking_advice
from vqagen.frozen import frozen

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
"""Two letters at least: `C:\\` begins a local name."""
_LOCAL = re.compile(r"(file|local)://")
_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs"}
"""Scheme of an object store -> the package by which fsspec reaches it."""
_CHUNK = 1 << 20
PARQUET_BEGINNING = b"PAR1"
_TELLING = (
    *("ETag", "etag", "md5Hash", "Content-MD5", "Digest", "generation", "version_id", "size", "mtime", "created"),
    *("LastModified", "Last-Modified", "last_modified", "updated", "modified", "modificationTime"),
)
"""Keys under which some store tells of a file what changes with its content."""
_NUMBER_OR_CHARACTER = re.compile(r"([0-9]+)|(?s:.)")
Stamp = tuple[object, ...]
"""What tells a state of a file from others."""


@frozen
class Remote:
    """A file or folder in a store, which is asked anew each time."""

    url: str

    def __str__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """The last part."""
        return PurePosixPath(self.url).name

    def exists(self) -> bool:
        """True if there is a file or folder."""
        return bool(self.info())

    def is_file(self) -> bool:
        """True if there is a file."""
        return self.info().get("type") == "file"

    def is_dir(self) -> bool:
        """True if there is a folder, or what a store takes for one."""
        return self.info().get("type") == "directory"

    def info(self) -> dict[str, Any]:
        """Return what the store tells of it; empty if nothing is there."""
        system, path = _system(self.url)
        with reached(self.url), suppress(FileNotFoundError, NotADirectoryError):
            system.invalidate_cache()  # what it listed before
            return dict(system.info(path))
        return {}

    def lacks_bucket(self) -> bool:
        """True if this is in a bucket that does not exist. Other folders of an object store need not exist."""
        system, path = _system(self.url)
        with reached(self.url), suppress(PermissionError):  # who may write to a bucket need not have leave to see it
            try:
                system.info(path.split("/")[0])
            except FileNotFoundError:
                return self.url.partition("://")[0] in _PACKAGES
        return False

    def open_bytes(self) -> BinaryIO:
        """For reading."""
        system, path = _system(self.url)
        with reached(self.url):
            return io.BufferedReader(cast(io.RawIOBase, _Watched(self.url, system.open(path, "rb"))), _CHUNK)

    def files(self) -> list[tuple[str, Remote]]:
        """All files below this folder, each with its path inside it."""
        system, path = _system(self.url)
        with reached(self.url):
            inside = [file.removeprefix(path.rstrip("/") + "/") for file in system.find(path)]
        return [(name, Remote(f"{self.url.rstrip('/')}/{name}")) for name in inside]

    def upload(self, file: Path) -> None:
        """Put a local file there. The name holds the whole of it, or what it held before.

        By a transaction of fsspec: object stores show an upload when it is complete, and other places get a file of
        another name that is renamed.
        """
        system, path = _system(self.url)
        with reached(self.url), file.open("rb") as content, system.transaction, system.open(path, "wb") as target:
            shutil.copyfileobj(content, target, _CHUNK)


Location = Path | Remote


def paths_of(given: os.PathLike[str] | str | Iterable[os.PathLike[str] | str]) -> tuple[str, ...]:
    """Return the paths of an argument that may be a single path: the letters of a text are no paths."""
    return tuple(map(str, [given] if isinstance(given, os.PathLike | str) else given))


def locate(name: os.PathLike[str] | str | Remote) -> Location:
    """What a user's name of a file or folder stands for. Nothing is asked of a store yet.

    >>> locate("a:b/c.json"), locate("file:///data/c.json"), locate("s3://bucket/c.json")
    (PosixPath('a:b/c.json'), PosixPath('/data/c.json'), Remote(url='s3://bucket/c.json'))
    """
    text = str(name)
    if _LOCAL.match(text):
        return Path(_LOCAL.sub("", text, count=1))
    return Remote(text) if _URL.match(text) else Path(text)


def stamp_of(path: Location) -> Stamp:
    """Which file it is, its size, and when it was changed, or what a store tells instead; empty if it is gone."""
    if isinstance(path, Remote):
        found = path.info()
        return tuple((key, str(found[key])) for key in _TELLING if key in found)
    with suppress(OSError):
        state = os.stat(path)
        return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns
    return ()


@contextmanager
def reached(url: str) -> Iterator[None]:
    """Tell in one line what went wrong in a store."""
    try:
        yield
    except VqagenError:
        raise
    except Exception as error:  # each store's library has errors of its own
        text = ": ".join(filter(None, (type(error).__name__, " ".join(str(error).split()))))
        raise VqagenError(f"cannot reach {url}: {text}") from None


def _system(url: str) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the URL's path in it."""
    fsspec: Any = import_module("fsspec")  # 60 ms to import, and local files need none of it
    scheme = url.partition("://")[0]
    with reached(url):
        try:
            return cast(tuple[Any, str], fsspec.url_to_fs(url))
        except ImportError:
            if scheme not in _PACKAGES:
                raise  # it names the package
            raise UsageError(f"{url} needs {_PACKAGES[scheme]}; install it: pip install {_PACKAGES[scheme]}") from None
        except ValueError:
            known = sorted(fsspec.available_protocols())
            if scheme in known:
                raise
            raise UsageError(f"{url}: {unknown('kind of place', scheme, known)}") from None


class _Watched:
    """A file of a store. What goes wrong while it is read becomes a VqagenError."""

    def __init__(self, url: str, file: Any) -> None:
        self._url, self._file = url, file

    def readinto(self, buffer: Any) -> int:
        with reached(self._url):
            return int(self._file.readinto(buffer))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


# Reading --------------------------------------------------------------------------------------------------------------


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
        return unpacking_advice(file.read(6), path.name)


def files_below(folder: Location) -> Sequence[Location]:
    """`files_in`, also for a folder in a store."""
    if isinstance(folder, Path):
        return files_in(folder)
    shown = [(natural_order(name), file) for name, file in folder.files() if "/." not in f"/{name}"]
    return [file for _, file in sorted(shown, key=lambda item: item[0])]


def first_file(paths: Iterable[Path]) -> Path | None:
    """Return the first of some places at which there is a file; None if there is none."""
    return next((path for path in paths if path.is_file()), None)


def files_in(folder: Path, on_error: Callable[[OSError], object] | None = None) -> list[Path]:
    """All files in a folder and its folders, except hidden ones, in the natural order of their paths inside it.

    UsageError where a folder, or a file in it, cannot be read. With `on_error`, this is called instead, and the other
    files are returned.
    """

    def refuse(error: OSError) -> None:
        what = "folder " if os.path.isdir(error.filename) else ""
        raise PlaceError(f"cannot read {what}{error.filename}: {error.strerror}")

    on_error = on_error or refuse
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
    pieces = _NUMBER_OR_CHARACTER.finditer(name)
    return [(ord("0"), int(piece[1])) if piece[1] else (ord(piece[0]), 0) for piece in pieces], name


def holds_columns(path: Location) -> bool:
    """True for a file that holds Parquet, or has a name that says so."""
    if is_named_columns(path.name):
        return True
    with open_as_it_is(path) as file:
        return file.read(len(PARQUET_BEGINNING)) == PARQUET_BEGINNING


def content_hash(paths: Iterable[Location]) -> str:
    """`sha256:…` over the contents of the files, in the given order; names and places do not count."""
    total = hashlib.sha256()
    for path in paths:
        with open_as_it_is(path) as file:
            total.update(hashlib.file_digest(cast(Any, file), "sha256").digest())
    return f"sha256:{total.hexdigest()}"


AnyLocation = TypeVar("AnyLocation", bound=Location)
_PACKAGE = Path(__file__).resolve().parents[1]


def shipped(name: str) -> Path:
    """The path of a shipped data file or folder: inside the installed package, or at the top of a source checkout."""
    installed = _PACKAGE / "shipped" / name
    return installed if installed.exists() else _PACKAGE.parent / name


def require(path: AnyLocation, what: str) -> AnyLocation:
    """Return `path` if it exists; otherwise raise a UsageError that names `what`."""
    if not path.exists():
        raise PlaceError(f"{what} not found: {path}")
    return path
