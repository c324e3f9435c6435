"""Suffixes of record files, and packed files: `.gz` and `.zst`, known by the suffix.

The same content gives the same bytes, whenever it is packed.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO, cast

from vqagen.errors import UsageError

PACKINGS = (".gz", ".zst")
COLUMNS_SUFFIX = ".parquet"
LINES_SUFFIXES = (".jsonl", ".ndjson")
IN_FOLDERS = (".json", *(f".json{packing}" for packing in PACKINGS))
"""Suffixes of the files that are read in a folder, one record in each."""
FOREIGN_PACKINGS = (".bz2", ".xz", ".zip", ".7z", ".lz4", ".lzma", ".br", ".tgz", ".tar", ".rar", ".z")
"""Suffixes of packings that are neither read nor written."""
_BEGINNINGS = {
    b"\x1f\x8b": ".gz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"PK\x03\x04": ".zip",
    b"7z\xbc\xaf\x27\x1c": ".7z",
    b"\x04\x22\x4d\x18": ".lz4",
}
GZIP_LEVEL = 6
"""Of questions, 9 % of their bytes are left at 111 MB/s; level 9 would leave 8 % at 45 MB/s."""
ZSTD_LEVEL = 3
"""Leaves 10 % at 590 MB/s; 6 would leave 7 % at 170 MB/s."""
DAMAGE = (OSError, EOFError, zlib.error)
"""Errors that reading a damaged file raises, packed or not."""
_CHUNK = 1 << 17


def packing_of(name: str) -> str:
    """The suffix that says how a file is packed; "" where it is not.

    >>> packing_of("scenes.json.zst"), packing_of("scenes.json")
    ('.zst', '')
    """
    return next((suffix for suffix in PACKINGS if name.lower().endswith(suffix)), "")


def unpacked_name(name: str) -> str:
    """The name without the suffix of a packing: it tells what is inside.

    >>> unpacked_name("questions.jsonl.gz")
    'questions.jsonl'
    """
    return name[: len(name) - len(packing_of(name))]


def is_named_columns(name: str) -> bool:
    """True for a name that says Parquet."""
    return name.lower().endswith(COLUMNS_SUFFIX)


def is_named_lines(name: str) -> bool:
    """True for a name that says JSON Lines, packed or not."""
    return unpacked_name(name).lower().endswith(LINES_SUFFIXES)


def check_writable_packing(name: str) -> None:
    """Raise UsageError if the suffix of an output names a packing that cannot be written."""
    foreign = next((suffix for suffix in FOREIGN_PACKINGS if name.lower().endswith(suffix)), "")
    if foreign:
        raise UsageError(f"output {name}: {foreign} cannot be written; name a {' or '.join(PACKINGS)} file, or neither")
    if packing_of(name) == ".zst":
        _zstandard()


def unpacking_advice(beginning: bytes, name: str) -> str:
    """What to do with a file whose first bytes show a packing that its name does not say; "" for other files."""
    packing = next((suffix for magic, suffix in _BEGINNINGS.items() if beginning.startswith(magic)), "")
    if packing_of(name) or not packing:
        return ""
    if packing in PACKINGS:
        return f"compressed: give the file a name that ends in {packing}"
    return f"compressed as {packing}, which cannot be read: unpack the file, or pack it as {' or '.join(PACKINGS)}"


def unpacked(file: BinaryIO, packing: str) -> BinaryIO:
    """The content of an open file, which is closed with it. Damage is an OSError, an EOFError or a zlib.error."""
    if packing == ".gz":
        content = gzip.GzipFile(fileobj=file, mode="rb")
        content.myfileobj = cast(Any, file)  # the file that it closes with itself
        return cast(BinaryIO, content)
    return io.BufferedReader(_Frames(file), _CHUNK) if packing == ".zst" else file


@contextmanager
def packed(file: IO[bytes], packing: str) -> Iterator[IO[bytes]]:
    """What is written here goes into `file`, packed, and is complete at the end. `file` stays open.

    One member or frame, with a checksum, and without name and time.
    """
    if packing == ".gz":
        with gzip.GzipFile(filename="", mode="wb", compresslevel=GZIP_LEVEL, fileobj=file, mtime=0) as zipped:
            yield cast(IO[bytes], zipped)
    elif packing == ".zst":
        compressor = _zstandard().ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True)
        with compressor.stream_writer(file, closefd=False) as frame:
            yield frame
    else:
        yield file


class _Frames(io.RawIOBase):
    """The content of zstd frames. The reader of `zstandard` neither goes back nor finds that a file is cut off."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._library = file, _zstandard()
        self._offset, self._content, self._pieces = 0, memoryview(b""), self._unpack()

    def _unpack(self) -> Iterator[bytes]:
        frame: Any = None
        while piece := self._file.read(_CHUNK):
            while piece:
                frame = frame or self._library.ZstdDecompressor().decompressobj()
                try:
                    yield frame.decompress(piece)
                except self._library.ZstdError as error:
                    raise OSError(str(error)) from None
                piece, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
        if frame:
            raise EOFError("the file ended before the end of its last zstd frame")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, as far as the next piece goes; 0 at the end."""
        while not self._content:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._content = memoryview(piece)
        taken = min(len(buffer), len(self._content))
        buffer[:taken], self._content = self._content[:taken], self._content[taken:]
        self._offset += taken
        return taken

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a byte of the content: forward by unpacking, back by beginning again."""
        if whence == io.SEEK_CUR:  # as `tell` asks
            return self._offset
        if offset < self._offset:
            self._file.seek(0)
            self._offset, self._content, self._pieces = 0, memoryview(b""), self._unpack()
        skipped = memoryview(bytearray(_CHUNK))
        while self._offset < offset and self.readinto(skipped[: offset - self._offset]):
            pass
        return self._offset

    def close(self) -> None:
        self._file.close()
        super().close()


def _zstandard() -> Any:
    from vqagen.extras import needed

    return needed("zstandard", "zstd", "a .zst file")
