"""Scenes of a file or folder: found, read and compiled; and the image names that several of them have.

`files.records` shows the layouts.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from vqagen.errors import BadInput, Problem, VqagenError, as_written, counted, describe, warn
from vqagen.files.diagnosis import Scan
from vqagen.files.locations import Location
from vqagen.files.parsing import show_path
from vqagen.files.records import RecordKind, RecordSource, open_records
from vqagen.files.stream import BYTE_ORDER_MARK
from vqagen.frozen import frozen
from vqagen.world.domain import Domain
from vqagen.world.scene import Scene, compile_scene

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCENES = RecordKind("scenes", own_keys=("objects",), may_be_empty=False)

SceneSource = RecordSource
"""Records of the kind `SCENES`."""


@frozen
class SceneText:
    """One scene as it stands in its file: sent to another process, which reads it."""

    noun: ClassVar[str] = "scene"
    index: int
    text: bytes
    place: str
    """What errors call the place that the scene comes from."""

    def __str__(self) -> str:
        """The scene, for people."""
        return f"scene {self.index} ({_name_in(self.text) or 'of no image'})"


class UnreadableScene(VqagenError):
    """The text of a scene is broken. Only its file shows where: see `RecordSource.raise_unreadable`."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def find_scenes(path: Location | str) -> SceneSource:
    """Find the scenes at a local path or URL; see `open_records`."""
    return open_records(path, SCENES)


def scene_texts(source: SceneSource, start: int = 0, count: int = 0) -> Iterator[SceneText]:
    """Yield scenes unread, from `start` on, `count` of them or (0) all. Whoever takes them calls `read_scene`."""
    return (SceneText(index, text, place) for index, _, place, text in source.texts(start, count))


def given_scene_texts(records: Iterable[Mapping[str, Any]], start: int = 0, count: int = 0) -> Iterator[SceneText]:
    """Yield scene records as texts, from the `start`-th on, `count` of them or (0) all.

    Raises BadInput for a record that JSON cannot hold.
    """
    chosen = islice(records, start, start + count if count else None)
    return (_given(record, index) for index, record in enumerate(chosen, start))


def _given(record: Mapping[str, Any], index: int) -> SceneText:
    place = "given scenes"
    try:
        return SceneText(index, orjson.dumps(record, option=orjson.OPT_SERIALIZE_NUMPY), place)
    except TypeError as error:
        raise BadInput([Problem(f"not a JSON value: {error}", place, SCENES.path(index))]) from None


def read_scene(scene: SceneText) -> dict[str, Any]:
    """The record that a text says. Raises UnreadableScene, or BadInput for JSON that is not an object."""
    try:
        record = orjson.loads(scene.text.removeprefix(BYTE_ORDER_MARK))
    except orjson.JSONDecodeError:
        raise UnreadableScene(scene.index) from None
    if not isinstance(record, dict):
        expected = f"expected a scene object, found {describe(record)}"
        raise BadInput([Problem(expected, scene.place, SCENES.path(scene.index))])
    return record


def load_scenes(
    source: SceneSource | Location | str, domain: Domain, start: int = 0, count: int = 0
) -> Iterator[Scene]:
    """Yield compiled scenes from `start` on, `count` of them or (0) all.

    BadInput ends it at the first faulty scene, with every fault of that scene.
    """
    records = source if isinstance(source, RecordSource) else find_scenes(source)
    entries = records.entries(start, count)
    return (compile_scene(record, domain, index, place) for index, record, place in entries)


# Image names --------------------------------------------------------------------------------------------------------


SHOWN = 3
"""Repeated names, and places of each, that a warning lists."""
_NO_NAME = 0


class PlacesOfNames:
    """The places that have a name. Names are added in the order of places, from `start` on."""

    def __init__(self, start: int = 0) -> None:
        self._start = start
        self._added = array("Q")
        self._sorted: tuple[NDArray[np.uint64], NDArray[np.int64]] | None = None

    def add(self, name: str) -> None:
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

        if self._sorted is None:
            in_order = np.array(self._added, np.uint64)
            order = np.argsort(in_order, kind="stable")
            self._sorted = in_order[order], order + self._start
        names, places = self._sorted
        wanted = np.uint64(_fingerprint(name))
        return list(map(int, places[names.searchsorted(wanted) : names.searchsorted(wanted, "right")]))

    def repeats(self) -> list[list[int]]:
        """The places of each name that several have, by the first of them."""
        shared = {name for name, times in Counter(self._added).items() if times > 1 and name != _NO_NAME}
        groups: dict[int, list[int]] = {}
        for place, name in enumerate(self._added if shared else (), self._start):
            if name in shared:
                groups.setdefault(name, []).append(place)
        return list(groups.values())


def _fingerprint(name: str) -> int:
    """8 bytes that stand for a name. Among a million names, two have the same with a chance of 1 in 37 million."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


def image_name(record: Mapping[str, Any]) -> str:
    """The image name of a scene record; "" if it has none."""
    return str(record.get("image_filename") or "")


def repeats_message(repeats: Sequence[Sequence[int]], source: SceneSource) -> str:
    """The sentence for scenes of one name; reads the first of them again for their names."""
    first = repeats[:SHOWN]
    names = [next(as_written(image_name(record)) for record in source.records(group[0], 1)) for group in first]
    shown = ", ".join(f"{name} (scenes {listed_places(group)})" for name, group in zip(names, first, strict=True))
    more = ", …" if len(repeats) > SHOWN else ""
    scenes = counted(sum(map(len, repeats)), "scene")
    return f"{scenes} share an image_filename: {shown}{more}; only scene_index tells their questions apart"


def listed_places(places: Sequence[int]) -> str:
    """The first few places, such as "0, 4, 9, …"."""
    return ", ".join(map(str, places[:SHOWN])) + (", …" if len(places) > SHOWN else "")


# While scenes are read unparsed ---------------------------------------------------------------------------------------


def warn_repeats(texts: Iterable[SceneText], source: SceneSource, start: int) -> Iterator[SceneText]:
    """Yield the texts, which begin with scene `start`; warn behind the last one of what repeats.

    That are image names that scenes share, and keys that are written twice in one object.
    """
    names, twice, first = PlacesOfNames(start), 0, SceneText(start, b"", "")
    for text in texts:
        record = _record_in(text.text)
        names.add(image_name(record))
        if text.text.count(b":") > orjson.dumps(record).count(b":"):
            first = first if twice else text
            twice += 1
        yield text
    if repeats := names.repeats():
        warn(Problem(repeats_message(repeats, source), str(source.path)))
    if twice:
        scan = Scan(first.text.decode("utf-8-sig"))
        inside, key, _ = scan.repeated[0]
        more = f" (so are keys of {counted(twice - 1, 'more scene')})" if twice > 1 else ""
        path = f"{SCENES.path(first.index)}{show_path(('scene', *scan.paths[inside], key))[5:]}"
        message = f"the key {key!r} is written twice in one object; the first one is lost{more}"
        warn(Problem(message, str(source.path), path))


def _name_in(text: bytes) -> str:
    """The image name in the text of a scene; "" if there is none."""
    return image_name(_record_in(text))


def _record_in(text: bytes) -> Mapping[str, Any]:
    """The record in the text of a scene; {} for what is none, which is reported where the scene is compiled."""
    with suppress(orjson.JSONDecodeError):
        record = orjson.loads(text.removeprefix(BYTE_ORDER_MARK))
        return record if isinstance(record, Mapping) else {}
    return {}
