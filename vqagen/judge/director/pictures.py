"""Checks of the pictures and texts of grids that a run rendered: each is there, whole, and of the right size.

Only the standard library reads them, so that pictures are checked without the extra that draws them.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from vqagen.judge.director.trial import Trial, TrialFault

SUFFIXES: Mapping[str, str] = {"png": ".png", "svg": ".svg", "md": ".md", "ascii": ".txt", "json": ".json"}
"""Render -> the suffix of its files."""
DEFAULT_RENDER = ("png",)
DRAWN = frozenset({".png", ".svg"})
"""Suffixes of pictures, which may show the director; then others beside them do not."""
LEAST_CELL = 16
"""Pixels of a cell's side that a picture must have room for."""
CHANNELS: Mapping[int, int] = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""Color type of PNG -> samples of a pixel."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
Size = tuple[float, float]


class PictureCheck:
    """Looks at the files of each trial."""

    def __init__(self, folder: Path | None, settings: Mapping[str, Any]) -> None:
        """`folder`: the folder that file names are relative to; None for records without a local folder."""
        self._folder = folder
        self._settings = settings
        self._renders: Sequence[str] = _renders(settings)
        self._taken: dict[str, int] = {}
        self._usual: dict[tuple[str, int, int], Size] = {}

    def take(self, trial: Trial) -> Iterator[TrialFault]:
        """Yield the faults of the files of a trial."""
        if trial.image is None and any(each in SUFFIXES for each in self._renders):
            yield TrialFault("O17", "image", f"missing; the settings ask for {', '.join(self._renders)}")
        if trial.image is None or self._folder is None:
            return
        first = self._taken.setdefault(trial.image, trial.index)
        if first != trial.index:
            yield TrialFault("O17", "image", f"{trial.image} is the picture of trial {first} too")
        name = PurePosixPath(trial.image)
        if name.is_absolute() or ".." in name.parts:
            yield TrialFault("O17", "image", f"{trial.image} is outside of the folder")
            return
        for each in dict.fromkeys((str(name), *self._others(name))):
            wrong = self._fault(each, trial)
            if wrong:
                yield TrialFault("O17", "image", f"{each}: {wrong}")

    def _others(self, name: PurePosixPath) -> Iterator[str]:
        """Yield the files that the settings ask for besides the named one."""
        view = self._settings.get("view")
        for suffix in (SUFFIXES[each] for each in self._renders if each in SUFFIXES):
            yield str(name.with_suffix(suffix))
            if view == "both":
                yield str(name.with_name(f"{name.stem}-director{suffix}"))
            if self._settings.get("figure") and view != "director" and suffix in DRAWN:
                yield str(name.with_name(f"{name.stem}-alone{suffix}"))

    def _fault(self, name: str, trial: Trial) -> str:
        """Return what is wrong with a file; "" if nothing is."""
        assert self._folder is not None
        suffix = PurePosixPath(name).suffix
        read = _READERS.get(suffix)
        try:
            content = (self._folder / name).read_bytes()
            size = read(content) if read else None
        except FileNotFoundError:
            return "not there"
        except OSError as error:
            return f"cannot be read: {error.strerror}"
        except (ValueError, zlib.error, IndexError) as error:
            return f"cannot be shown: {error}"
        if not content:
            return "empty"
        if size is None:
            return ""
        least = (trial.width * LEAST_CELL, trial.height * LEAST_CELL)
        if size[0] < least[0] or size[1] < least[1]:
            return f"{size[0]:g} x {size[1]:g} is too small for {trial.width} x {trial.height} cells"
        usual = self._usual.setdefault((suffix, trial.width, trial.height), size)
        return "" if size == usual else f"{size[0]:g} x {size[1]:g}, but others are {usual[0]:g} x {usual[1]:g}"


def _renders(settings: Mapping[str, Any]) -> Sequence[str]:
    """Return what a run rendered: pictures if nothing is asked for; nothing if its settings are unknown."""
    return settings.get("render", ()) or (DEFAULT_RENDER if "render" in settings else ())


def _png_size(content: bytes) -> Size:
    """Return the size of a PNG picture; ValueError or zlib.error if it is damaged."""
    if not content.startswith(_SIGNATURE):
        raise ValueError("no PNG picture")
    width = height = row = 0
    packed = bytearray()
    for kind, body in _chunks(content):
        if kind == b"IHDR":
            width, height = int.from_bytes(body[:4], "big"), int.from_bytes(body[4:8], "big")
            row = (width * body[8] * CHANNELS[body[9]] + 7) // 8 if body[9] in CHANNELS else 0
        elif kind == b"IDAT":
            packed += body
    if not row or len(zlib.decompress(packed)) != height * (row + 1):
        raise ValueError("the pixels are not those of its size")
    return width, height


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield (kind, body) of the chunks up to the last one, which must be there."""
    at, kind = len(_SIGNATURE), b""
    while kind != b"IEND":
        length, kind = int.from_bytes(content[at : at + 4], "big"), content[at + 4 : at + 8]
        end = at + 8 + length
        checksum = content[end : end + 4]
        if len(checksum) < 4 or zlib.crc32(content[at + 4 : end]) != int.from_bytes(checksum, "big"):
            raise ValueError("damaged or cut off")
        yield kind, content[at + 8 : end]
        at = end + 4


def _svg_size(content: bytes) -> Size:
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(content)
        sides = [float(str(root.get(side))) for side in ("width", "height")]
    except ElementTree.ParseError as error:
        raise ValueError(f"no SVG: {error}") from None
    return sides[0], sides[1]


def _text_size(content: bytes) -> None:
    content.decode("utf-8")


def _json_size(content: bytes) -> None:
    json.loads(content)


_READERS: Mapping[str, Callable[[bytes], Size | None]] = {
    ".png": _png_size,
    ".svg": _svg_size,
    ".md": _text_size,
    ".txt": _text_size,
    ".json": _json_size,
}
