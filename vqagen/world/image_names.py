"""Image names by the places of the scenes that have them, so that a name which several scenes have is noticed.

Scenes are read one after the other and not kept: a place costs 8 bytes, and up to 70 more while names are compared.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from vqagen.errors import Problem, as_written, counted, warn
from vqagen.world.loading import SceneSource, SceneText

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHOWN = 3
"""Repeated names, and places of each, that a warning lists."""
_NO_NAME = 0
_KEY = b'"image_filename"'
_WRITTEN = re.compile(rb'"image_filename"\s*:\s*"((?:[^"\\]|\\.)*)"')


class Repeats(NamedTuple):
    """The scenes whose name another scene has."""

    scenes: int
    names: int
    """The names that they share."""
    first: list[list[int]]
    """The first few places of each of the first few names."""


class PlacesOfNames:
    """The places that have a name. Names are added in the order of places, from `start` on."""

    def __init__(self, start: int = 0) -> None:
        self._start = start
        self._added = array("Q")
        self._sorted: tuple[NDArray[np.uint64], NDArray[np.int64]] | None = None

    def add(self, name: str | bytes) -> None:
        """Add the name of the next place; an empty one is no name."""
        self._added.append(_fingerprint(name) if name else _NO_NAME)
        self._sorted = None

    def __len__(self) -> int:
        return len(self._added)

    def of(self, name: str) -> list[int]:
        """The places that have this name, in order."""
        if not name:
            return []
        import numpy as np

        names, places = self._in_order()
        wanted = np.uint64(_fingerprint(name))
        return list(map(int, places[names.searchsorted(wanted) : names.searchsorted(wanted, "right")]))

    def repeats(self) -> Repeats:
        """The places whose name another place has."""
        nameless = self._added.count(_NO_NAME)
        if len(set(self._added)) == len(self._added) - nameless + bool(nameless):
            return Repeats(0, 0, [])
        import numpy as np

        names, places = self._in_order()
        begins = np.flatnonzero(np.diff(names, prepend=np.uint64(_NO_NAME)))
        sizes = np.diff(begins, append=len(names))
        shared = sizes > 1
        first_ones = sorted(zip(places[begins[shared]], begins[shared], sizes[shared], strict=True))[:SHOWN]
        groups = [places[begin : begin + min(size, SHOWN + 1)] for _, begin, size in first_ones]
        return Repeats(int(sizes[shared].sum()), int(shared.sum()), [list(map(int, group)) for group in groups])

    def _in_order(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The names in ascending order, with the place of each; places of one name ascend."""
        import numpy as np

        if self._sorted is None:
            names = np.array(self._added, np.uint64)
            order = np.argsort(names, kind="stable")
            self._sorted = names[order], order + self._start
        return self._sorted


def _fingerprint(name: str | bytes) -> int:
    """8 bytes that stand for a name. Among a million names, two have the same with a chance of 1 in 37 million."""
    text = name.encode("utf-8", "surrogatepass") if isinstance(name, str) else name
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") or 1


def image_name(record: Mapping[str, Any]) -> str:
    """The image name of a scene record; "" if it has none."""
    return str(record.get("image_filename") or "")


def repeats_message(repeats: Repeats, source: SceneSource) -> str:
    """The sentence for scenes of one name; reads the first of them again for their names."""
    names = [next(as_written(image_name(record)) for record in source.records(group[0], 1)) for group in repeats.first]
    shown = ", ".join(
        f"{name} (scenes {listed_places(group)})" for name, group in zip(names, repeats.first, strict=True)
    )
    more = ", …" if repeats.names > len(repeats.first) else ""
    scenes = counted(repeats.scenes, "scene")
    return f"{scenes} share an image_filename: {shown}{more}; only scene_index tells their questions apart"


def listed_places(places: Sequence[int]) -> str:
    """The first few places, such as "0, 4, 9, …"."""
    return ", ".join(map(str, places[:SHOWN])) + (", …" if len(places) > SHOWN else "")


# While scenes are read unparsed ---------------------------------------------------------------------------------------


def warn_repeats(texts: Iterable[SceneText], source: SceneSource, start: int) -> Iterator[SceneText]:
    """Yield the texts, which begin with scene `start`; warn behind the last one if scenes share an image name."""
    names = PlacesOfNames(start)
    for text in texts:
        names.add(_name_in(text.text))
        yield text
    repeats = names.repeats()
    if repeats.scenes:
        warn(Problem(repeats_message(repeats, source), str(source.path)))


def _name_in(text: bytes) -> bytes:
    """The image name in the text of a scene, as it is written there; empty if there is none.

    The text is parsed only if the key is there twice, as when objects have it too: to find it takes 2 µs, to parse 50.
    """
    at = text.find(_KEY)
    if at >= 0 and text.find(_KEY, at + 1) >= 0:
        return _parsed_name(text)
    found = _WRITTEN.match(text, at) if at >= 0 else None
    return found[1] if found else b""


def _parsed_name(text: bytes) -> bytes:
    try:
        record = orjson.loads(text)
    except orjson.JSONDecodeError:  # reported where the scene is compiled
        return b""
    return image_name(record).encode() if isinstance(record, Mapping) else b""
