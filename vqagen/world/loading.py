"""Scenes in: a document, a list, JSON Lines, a folder of one-scene files or one scene alone; each may be packed.

    {"info": {...}, "scenes": [scene, ...]}    a document; keys in any order, `info` may be missing
    [scene, ...]                               a list
    scene, one on each line                    JSON Lines; blank lines do not count
    **/*.json in a folder                      one scene in each, in the order of their paths inside the folder
    scene                                      alone in its file

The first bytes of a file tell its layout; its suffix is asked only whether one scene is all of it. Files are streamed:
a scene is read when it is asked for, and not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, NoReturn

import orjson

from vqagen.errors import BadInput, Problem, UsageError, VqagenError, describe, nearest
from vqagen.files.locations import Location, locate
from vqagen.files.packing import PACKINGS, packing_of
from vqagen.files.reading import files_below, unnamed_packing
from vqagen.json.stream import (
    BYTE_ORDER_MARK,
    NOT_JSON,
    JsonReader,
    position_of,
    read_errors_told,
    reading,
    reading_bytes,
    refusal,
)
from vqagen.world.domain import Domain
from vqagen.world.scene import Scene, compile_scene

SCENE_SUFFIXES = (".json", *(f".json{packing}" for packing in PACKINGS))
LINES_SUFFIXES = tuple(f"{kind}{packing}" for kind in (".jsonl", ".ndjson") for packing in ("", *PACKINGS))


Entry = tuple[int, dict[str, Any], str]
"""One scene as read: its absolute index, the record, and what errors call the place it comes from."""


@dataclass(frozen=True, slots=True)
class SceneText:
    """One scene as it stands in its file: what is sent to another process, which reads it."""

    noun: ClassVar[str] = "scene"
    index: int
    text: bytes
    place: str
    """What errors call the place it comes from."""


class UnreadableScene(VqagenError):
    """The text of a scene is broken. Where, only its file can tell: see `SceneSource.tell`."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


@dataclass(frozen=True)
class SceneSource:
    """Scenes that have been found and not yet read. `files` are what a content hash is taken of.

    `layout` is document, list, lines or files; `first` the byte where the first scene of a document or list begins.
    """

    path: Location
    info: Mapping[str, Any]
    files: Sequence[Location]
    layout: str
    first: int = 0

    def records(self, start: int = 0, count: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
        """(absolute index, raw record) from `start` on, `count` of them or (0) all; nothing behind the last scene."""
        return ((index, record) for index, record, _ in self.entries(start, count))

    def entries(self, start: int = 0, count: int = 0) -> Iterator[Entry]:
        """The same with the place that each record comes from."""
        found = self._found(start, count, as_text=False)
        return ((index, _scene(value, index, place), place) for index, value, place in found)

    def texts(self, start: int = 0, count: int = 0) -> Iterator[SceneText]:
        """The same, unread: half the work, for whoever has others read them by `read_scene`."""
        return (SceneText(*found) for found in self._found(start, count, as_text=True))

    def count(self, start: int = 0, count: int = 0) -> int:
        """How many scenes `texts` gives."""
        if self.layout == "files":
            there = max(len(self.files) - start, 0)
            return min(there, count) if count else there
        return sum(1 for _ in self._found(start, count, as_text=True))

    @property
    def size(self) -> int:
        """Bytes of a file that holds many scenes; 0 where they do not tell how many."""
        if self.layout == "files" or packing_of(self.path.name) or not isinstance(self.path, Path):
            return 0
        try:
            return self.path.stat().st_size
        except OSError:  # gone
            return 0

    def _found(self, start: int, count: int, as_text: bool) -> Iterator[Found]:
        if start < 0 or count < 0:
            raise UsageError(f"cannot take {count} scenes from scene {start} on: no number may be negative")
        return islice(_READERS[self.layout](self, start, as_text), count or None)

    def tell(self, unreadable: UnreadableScene) -> NoReturn:
        """Raise what is wrong with a scene of this source, with its place."""
        for _ in self.entries(unreadable.index, 1):
            pass
        raise BadInput([Problem("changed while it was read", str(self.path), f"scenes[{unreadable.index}]")])


def find_scenes(path: Location | str) -> SceneSource:
    """See what lies at `path`, a local one or a URL. UsageError when nothing does, BadInput when it cannot be scenes.

    Reads up to the first scene or, when `info` has not come by then, once to the end.
    """
    path = locate(path)
    if path.is_dir():
        return _find_in_folder(path)
    if not path.is_file():
        raise UsageError(f"not a file or folder: {path}" if path.exists() else f"scenes not found: {path}")
    with reading(path) as reader:
        return _find_in_file(path, reader)


def read_scene(scene: SceneText) -> Entry:
    """What a text says. Raises UnreadableScene, or BadInput for JSON that is no object."""
    try:
        record = orjson.loads(scene.text.removeprefix(BYTE_ORDER_MARK))
    except orjson.JSONDecodeError:
        raise UnreadableScene(scene.index) from None
    return scene.index, _scene(record, scene.index, scene.place), scene.place


def load_scenes(
    source: SceneSource | Location | str, domain: Domain, start: int = 0, count: int = 0
) -> Iterator[Scene]:
    """Compiled scenes from `start` on, `count` of them or (0) all.

    BadInput ends it at the first faulty scene, with every fault of that scene.
    """
    found = source if isinstance(source, SceneSource) else find_scenes(source)
    entries = found.entries(start, count)
    return (compile_scene(record, domain, index, name) for index, record, name in entries)


# Finding ----------------------------------------------------------------------------------------------------------


def _find_in_folder(folder: Location) -> SceneSource:
    files = _scene_files(folder)
    if not files:
        raise UsageError(f"no scene files ({', '.join(f'*{suffix}' for suffix in SCENE_SUFFIXES)}) in folder {folder}")
    if find_scenes(files[0]).layout != "files":
        _reject(files[0], "", "many scenes in one file of a folder: name the file, or keep one scene in each")
    return SceneSource(folder, {}, files, "files")


def _scene_files(folder: Location) -> list[Location]:
    return [file for file in files_below(folder) if file.name.endswith(SCENE_SUFFIXES)]


def _find_in_file(path: Location, reader: JsonReader) -> SceneSource:
    opening = reader.peek()
    if opening == b"[":
        return SceneSource(path, {}, [path], "list", _first_scene(path, reader))
    if opening != b"{":
        _reject(path, "", _why_not_json(path, opening))
    info: Mapping[str, Any] = {}
    first, keys = None, []
    for key in reader.members():
        keys.append(key)
        if key == "info":
            info = _read_info(path, reader)
        elif key == "objects" and first is None:
            return SceneSource(path, {}, [path], "files" if _is_alone(path) else "lines")
        elif key == "scenes" and first is None:
            first = _first_scene(path, reader)
            if "info" in keys:
                break
            for _ in reader.rest_of_list(key):
                pass
    if first is None:
        _reject(path, "", _why_no_scenes(keys))
    return SceneSource(path, info, [path], "document", first)


def _first_scene(path: Location, reader: JsonReader) -> int:
    """Go into a list of scenes, up to the first; the byte where that begins."""
    opening = reader.peek()
    if opening != b"[":
        found = "an object" if opening == b"{" else describe(reader.value())
        _reject(path, reader.path, f"expected a list of scenes, found {found}")
    reader.take(b"[")
    if reader.peek() == b"]":
        _reject(path, reader.path, "no scenes: the list is empty")
    return reader.offset


def _read_info(path: Location, reader: JsonReader) -> Mapping[str, Any]:
    info = reader.value()
    if info is not None and not isinstance(info, Mapping):
        _reject(path, "info", f"expected an object, found {describe(info)}")
    return info or {}


def _is_alone(path: Location) -> bool:
    """Whether the one scene that begins a file is all of it."""
    if path.name.endswith(LINES_SUFFIXES):
        return False
    with reading(path) as reader:
        reader.skip()
        return reader.peek() != b"{"


def _why_not_json(path: Location, opening: bytes) -> str:
    if not opening:
        return "the file is empty"
    packing = unnamed_packing(path)
    if packing:
        return f"compressed: give the file a name that ends in {packing}"
    if opening == b"\0" or opening > b"\x7f":
        return "not UTF-8 text"
    return f"not scenes: expected JSON that begins with '{{' or '[', found {opening.decode()!r}"


def _why_no_scenes(keys: list[str]) -> str:
    expected = "expected the key 'scenes' (a list of scenes) or 'objects' (one scene)"
    found = ", ".join(repr(key) for key in keys[:12]) + (", …" if len(keys) > 12 else "")
    close = nearest("scenes", keys) or nearest("objects", keys)
    return f"{expected}; found {found or 'an empty object'}" + (f"; is {close!r} meant?" if close else "")


# Reading ----------------------------------------------------------------------------------------------------------


Found = tuple[int, Any, str]
"""A scene's absolute index, its value or (where texts are asked for) its text, and its place."""


def _in_list(source: SceneSource, start: int, as_text: bool) -> Iterator[Found]:
    """Of a list of scenes, in a document or by itself."""
    name = str(source.path)
    with reading(source.path, source.first) as reader:
        take: Callable[[], Any] = reader.text if as_text else reader.value
        for index in reader.rest_of_list("scenes"):
            if index >= start:
                yield index, take(), name
        reader.path = ""
        if source.layout == "document" and reader.take(b",}") == b",":
            for _ in reader.rest_of_object():
                pass
        reader.take_end()


def _in_lines(source: SceneSource, start: int, as_text: bool) -> Iterator[Found]:
    index = number = 0
    with reading_bytes(source.path) as file:
        while line := _next_line(file, f"scenes[{index}]"):
            number += 1
            if not line.isspace():
                if index >= start:
                    value = line if as_text else _parse(line, source.path, index, number)
                    yield index, value, f"{source.path}:{number}"
                index += 1


def _next_line(file: BinaryIO, where: str) -> bytes:
    with read_errors_told(where):
        return file.readline()


def _in_files(source: SceneSource, start: int, as_text: bool) -> Iterator[Found]:
    """Of files with one scene each."""
    for index, path in enumerate(source.files[start:], start):
        with reading_bytes(path) as file, read_errors_told(f"scenes[{index}]"):
            text = file.read()
        yield index, text if as_text else _parse(text, path, index), str(path)


def _parse(text: bytes, path: Location, index: int, line: int = 1) -> object:
    """The value of a text that begins at a line of a file."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        message, at = refusal(text, error)
        place = position_of(BytesIO(text), min(at, len(text.rstrip())))  # where a line is cut off, its end is behind it
    raise BadInput(
        [Problem(f"{NOT_JSON}: {message}", str(path), f"scenes[{index}]", line + place.line - 1, place.column)]
    )


def _scene(record: object, index: int, source: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        _reject(source, f"scenes[{index}]", f"expected a scene object, found {describe(record)}")
    return record


def _reject(source: Location | str, where: str, message: str) -> NoReturn:
    raise BadInput([Problem(message, str(source), where)])


_READERS: Mapping[str, Callable[[SceneSource, int, bool], Iterator[Found]]] = {
    "document": _in_list,
    "list": _in_list,
    "lines": _in_lines,
    "files": _in_files,
}
