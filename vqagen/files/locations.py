"""Where files are: in a local folder or, by a URL such as `s3://bucket/scenes.json`, in a store that `fsspec` reaches.

Local places are plain `pathlib` paths, and nothing else is imported for them. A `Remote` answers the few questions that
this package asks of a path. Each goes through `reached`, so that whatever a store's library raises (they share no base
class) becomes one line; `universal_pathlib` would let it through from every method.
"""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from vqagen.errors import UsageError, VqagenError, unknown
from vqagen.extras import needed, to_install

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
"""Two letters at least: `C:\\` begins a local name."""
_LOCAL = re.compile(r"(file|local)://")
_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs"}
"""Scheme -> the package by which fsspec reaches such a store; of others, fsspec itself tells."""
_CHUNK = 1 << 20
_TELLING = (
    *("ETag", "etag", "md5Hash", "Content-MD5", "Digest", "generation", "version_id", "size", "mtime", "created"),
    *("LastModified", "Last-Modified", "last_modified", "updated", "modified", "modificationTime"),
)
"""Keys under which some store tells of a file what changes with its content."""

Stamp = tuple[object, ...]
"""What tells a state of a file from others."""


@dataclass(frozen=True)
class Remote:
    """A file or folder in a store, which is asked anew each time."""

    url: str

    def __str__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """The last part."""
        return PurePosixPath(self.url).name

    @property
    def suffix(self) -> str:
        """From the last dot of the name on."""
        return PurePosixPath(self.url).suffix

    def exists(self) -> bool:
        """True if there is a file or folder."""
        return bool(self._kind())

    def is_file(self) -> bool:
        """True if there is a file."""
        return self._kind() == "file"

    def is_dir(self) -> bool:
        """True if there is a folder, or what a store takes for one."""
        return self._kind() == "directory"

    def _kind(self) -> str:
        system, path = _system(self.url)
        with reached(self.url):
            system.invalidate_cache()  # what it listed before
            try:
                return str(system.info(path)["type"])
            except (FileNotFoundError, NotADirectoryError):
                return ""

    def stamp(self) -> Stamp:
        """What the store tells of the file that changes with its content; empty if it is gone."""
        system, path = _system(self.url)
        with reached(self.url):
            system.invalidate_cache()  # what it listed before
            try:
                found = system.info(path)
            except (FileNotFoundError, NotADirectoryError):
                return ()
        return tuple((key, str(found[key])) for key in _TELLING if key in found)

    def lacks_bucket(self) -> bool:
        """True if this is in a bucket that does not exist. Other folders of an object store need not exist."""
        system, path = _system(self.url)
        if _scheme(self.url) not in _PACKAGES:
            return False
        with reached(self.url):
            try:
                system.info(path.split("/")[0])
            except FileNotFoundError:
                return True
            except PermissionError:
                return False  # who may write into a bucket need not have leave to look at it
        return False

    def open_bytes(self) -> BinaryIO:
        """For reading."""
        system, path = _system(self.url)
        with reached(self.url):
            return io.BufferedReader(_Told(self.url, system.open(path, "rb")), _CHUNK)

    def files(self) -> list[tuple[str, Remote]]:
        """All files below this folder, each with its path inside it."""
        system, path = _system(self.url)
        with reached(self.url):
            found = system.find(path)
        inside = [file.removeprefix(path.rstrip("/") + "/") for file in found]
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
    if isinstance(name, Remote):
        return name
    text = os.fspath(name)
    local = _LOCAL.match(text)
    if local:
        return Path(text[local.end() :])
    return Remote(text) if _URL.match(text) else Path(text)


def stamp_of(path: Location) -> Stamp:
    """Which file it is, its size, and when it was changed, or what a store tells instead; empty if it is gone."""
    if isinstance(path, Remote):
        return path.stamp()
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


@contextmanager
def reached(url: str) -> Iterator[None]:
    """Tell in one line what went wrong in a store."""
    try:
        yield
    except VqagenError:
        raise
    except Exception as error:  # each store's library has errors of its own
        raise VqagenError(f"cannot reach {url}: {_in_one_line(error)}") from None


def _in_one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _system(url: str) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the URL's path in it."""
    core = needed("fsspec.core", "cloud", url, *_package(url))
    with reached(url):
        try:
            system, path = core.url_to_fs(url)
        except ImportError as error:
            raise UsageError(_why_not_installed(url, error)) from None
        except ValueError:
            _refuse_unknown_scheme(url)
            raise
    return system, path


def _why_not_installed(url: str, error: ImportError) -> str:
    package = _package(url)
    if package:
        return f"{url} needs {package[0]}; install it: {to_install('cloud', *package)}"
    return f"{url} cannot be reached: {_in_one_line(error)}"


def _refuse_unknown_scheme(url: str) -> None:
    known = sorted(import_module("fsspec").available_protocols())
    if _scheme(url) not in known:
        raise UsageError(f"{url}: {unknown('kind of place', _scheme(url), known)}")


def _package(url: str) -> tuple[str, ...]:
    package = _PACKAGES.get(_scheme(url))
    return (package,) if package else ()


def _scheme(url: str) -> str:
    return url.partition("://")[0]


class _Told(io.RawIOBase):
    """A file of a store. What goes wrong while it is read becomes a VqagenError."""

    def __init__(self, url: str, file: Any) -> None:
        self._url, self._file, self._at = url, file, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def readinto(self, buffer: Any) -> int:
        with reached(self._url):
            self._file.seek(self._at)  # in the memory file system, all who read a file share its place
            piece = self._file.read(len(buffer))
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with reached(self._url):
            if whence == io.SEEK_CUR:
                self._file.seek(self._at)
            self._at = int(self._file.seek(offset, whence))
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        self._file.close()
        super().close()
