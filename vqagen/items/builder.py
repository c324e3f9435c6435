"""Builds a table of items, record by record: the reader of each format adds rows to a `TableBuilder`."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from operator import attrgetter
from types import UnionType
from typing import Any

import numpy as np
import orjson

from vqagen.errors import BadInput, FaultList, FieldFault, Problem, UsageError, counted, describe
from vqagen.files.records import RecordSource
from vqagen.items.answers import BOOL, INTEGER, WORD
from vqagen.items.places import Spot, Spots, spots_of_boxes, spots_of_scene
from vqagen.items.scene_lookup import QuestionFault, SceneNames
from vqagen.items.table import NONE, OPEN, Column, Gold, Items, Learning, Options, plain_id
from vqagen.language.question import BOXES
from vqagen.world.loading import SceneSource

_TRUTHS: Mapping[Any, bool] = {"yes": True, "no": False}
_SCENE_KEYS = ("scene_index", "image_index", "trial_index", "sample_id")
"""Keys of the number of a scene or, in its place, of an image; a trial is a scene of its own."""
IMAGE_KEYS = (
    *("image_filename", "image_index", "image_id", "imageId", "img_id", "image", "img", "image_name", "image_path"),
    *("image_file", "img_path", "file_name", "filename", "scene_name", "scene_index", "scene_id"),
)
"""Keys of the image that a record is about, in any file; the first that a record has. Ours are the first two."""
_OUR_IMAGE_KEYS = IMAGE_KEYS[:2]
REPORTED = 100
"""Records that are reported at once: to report each would take a tenth of the time of reading them."""
NO_ANSWERS = "no answers, so nothing to compare predictions with: give a file that was made without --hide-answers"


class Rows(dict[tuple[Any, ...], int]):
    """Numbered rows of values that items have together in some columns, and the number of the row of each item so far.

    Equal rows are held once: a million questions share a few hundred rows of what their programs decide.
    """

    def __init__(self, *names: str) -> None:
        """`names` are those of the columns."""
        self.names, self.codes = names, array("i")

    def __missing__(self, row: tuple[Any, ...]) -> int:
        number = self[row] = len(self)
        return number

    def add(self, *row: Any) -> None:
        """Add an item with a row."""
        self.codes.append(self[row])

    def columns(self) -> dict[str, Column]:
        """Return each column by its name."""
        codes = np.array(self.codes, dtype=np.int32)
        return {name: Column.of(row[at] for row in self).spread(codes) for at, name in enumerate(self.names)}


class TableBuilder:
    """The rows of a table so far, and the faults of the records."""

    def __init__(
        self,
        source: RecordSource,
        format: str,
        *,
        split: str = "",
        mode: str = "",
        scenes: SceneFields | None = None,
        learning: bool = False,
        allow_unanswered: bool = False,
        on_read: Callable[[int], None] | None = None,
        image_key: str = "",
    ) -> None:
        """Only records of the `split` are wanted, "" for all. `image_key` names the image; "" for IMAGE_KEYS."""
        self.source, self.info, self.is_learning, self.index = source, source.info, learning, 0
        self._name, self._kind, self._record = str(source.path), source.kind, dict[str, Any]()
        self._format, self._split, self._mode, self._scenes = format, split, mode, scenes
        self._allows_unanswered, self._on_read = allow_unanswered, on_read
        self._faults = FaultList(self._name, self._kind.noun)
        self._window = 0 if format == "dialogs" else window_of(self.info)
        self._splits: set[str] = set()
        self._image_keys, self._used_keys = (image_key,) if image_key else IMAGE_KEYS, Counter[str]()
        self._images, self._gold, self._numbers = Rows("images"), Rows("gold"), Rows("scenes")
        self._choices, self._learned = Rows("options", "pairs", "blocks"), Rows("texts", "histories", "programs")
        self._field_rows: list[Rows] = []
        self._records, self._places, self._asked = array("i"), array("i"), array("q")
        self._ids, self._others = list[Any](), list[str]()

    def rows(self, *names: str) -> Rows:
        """Return rows of fields with these names, to which the reader adds a row for each item."""
        self._field_rows.append(Rows(*names))
        return self._field_rows[-1]

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the records, and report them to `on_read`. What is added meanwhile is of this record."""
        for index, record in enumerate(self.source.records()):
            self.index, self._record = index, record
            yield record
            if self._on_read is not None and not (index + 1) % REPORTED:
                self._on_read(REPORTED)

    def check(self, value: Any, types: type | UnionType, place: str, expected: str) -> bool:
        """Return true for a value of some types; otherwise add a fault at a JSON path in the record."""
        if isinstance(value, types):
            return True
        self.add_fault(place, f"expected {expected}, found {describe(value)}")
        return False

    def add_fault(self, place: str, message: str) -> None:
        """Add a fault at a JSON path in the record."""
        self._faults.add([(place, message)], self._kind.path(self.index))

    def wants(self, record: Mapping[str, Any], *ids: Any) -> bool:
        """Return true for a record of the split that is asked for; `ids` are those of its items."""
        if not self._split:
            return True
        split = str(record.get("split"))
        self._splits.add(split)
        if split != self._split:
            self._others += [plain_id(str(id)) for id in ids]
        return split == self._split

    def gold(self, answer: Gold | None, place: str = "") -> int:
        """Return the number of an answer. BadInput for none, at a JSON path in the record, unless that is allowed."""
        if answer is None and not self._allows_unanswered:
            path = self._kind.path(self.index)
            raise BadInput([Problem(NO_ANSWERS, self._name, f"{path}.{place}" if place else path)])
        return self._gold[answer,]

    def spots(self, record: Mapping[str, Any], objects: Sequence[int]) -> Spots | None:
        """Return where the objects of an answer are: in the scene, if scenes are given, or by the record itself."""
        if self._scenes is not None:
            return self._scenes.spots(record, self.index, objects)
        boxes = record.get(BOXES)
        try:
            return None if boxes is None else spots_of_boxes(boxes)
        except ValueError as error:
            raise FieldFault(BOXES, str(error)) from None

    def add(
        self,
        id: Any,
        gold: int,
        image: str = "",
        *,
        options: Options | None = None,
        pair: Any = None,
        block: Any = None,
    ) -> None:
        """Add an item of the record: its id as the file has it, and its answer's number.

        The image is that of the record unless it is given.
        """
        record = self._record
        self._records.append(self.index)
        self._ids.append(id)
        # `Rows.add` for each of these would take a tenth of the time to read a question: `bench evaluate`.
        self._images.codes.append(self._images[image or self._image_of(record),])
        self._gold.codes.append(gold)
        self._choices.codes.append(self._choices[options, pair, block])
        if self._scenes is not None:
            self._places.append(self._scenes.find(record, self.index))
        if self.is_learning or self._window:
            self._numbers.add(next((number for key in _SCENE_KEYS if type(number := record.get(key)) is int), None))

    def _image_of(self, record: Mapping[str, Any]) -> str:
        """Return the name of the image of a record; "" if it names none."""
        for key in self._image_keys:
            name = record.get(key)
            if name is not None and (text := image_name(name)):
                self._used_keys[key] += 1
                return f"#{text}" if key == "image_index" else text
        self._used_keys[""] += 1
        return ""

    def _image_fault(self) -> str:
        """Return why the images that the records are about are not known; "" if they are."""
        named = {key: count for key, count in self._used_keys.items() if key}
        if self._used_keys and not named:
            if len(self._image_keys) == 1:
                raise UsageError(
                    f"no {self._kind.noun} of {self._name} has the key {self._image_keys[0]!r} of --image-key"
                )
            return f"no {self._kind.noun} names its image: name the key with --image-key"
        if len(named) > 1 and not named.keys() <= {*_OUR_IMAGE_KEYS}:
            listed = ", ".join(f"{key} in {count:,}" for key, count in named.items())
            return f"images are named by different keys ({listed}): choose one with --image-key"
        if missing := self._used_keys[""]:
            return f"{counted(missing, self._kind.noun)} of {len(self._ids):,} name no image by {', '.join(named)}"
        return ""

    def learn(self, text: str, history: str | None = None, program: Any = None) -> None:
        """Add what can be learned from the last item, if anything is learned; the program as files hold it."""
        self._asked.append(hash(text.strip()))
        if self.is_learning:
            self._learned.add(text, history, orjson.dumps(program) if program else None)

    def table(self, groups: tuple[str, ...], mode: str = OPEN, *, typed: bool = False) -> Items:
        """Return the table; `typed` for the kinds of answers as a field. BadInput, with all faults, if there were any.

        UsageError if no record is of the split that is asked for.
        """
        self._faults.finish()
        if self._split and self._split not in self._splits:
            listed = ", ".join(sorted(self._splits)) or "none"
            raise UsageError(f"{self._name} has no {self._kind.noun} of split {self._split!r}; it has {listed}")
        size = len(self._ids)
        columns = {**self._images.columns(), **self._gold.columns(), **self._choices.columns()}
        fields = {"answer_type": columns["gold"].map(attrgetter("kind"))} if typed else {}
        for rows in self._field_rows:
            if rows.codes or not size:
                fields |= rows.columns()
        places = nothing = Column(np.full(size, NONE, dtype=np.int32), ())
        if self._scenes is not None:
            places, of_scenes = self._scenes.finish(self._places)
            fields |= of_scenes
        numbers, learning = self._numbers.columns(), Learning(nothing, nothing, nothing, nothing, places)
        if self.is_learning:
            learning = Learning(**self._learned.columns(), **numbers, places=places)
        return Items(
            self._name,
            self._format,
            list(map(str, self._ids)),
            **columns,
            fields=fields,
            records=np.array(self._records, dtype=np.int32),
            asked=np.array(self._asked, dtype=np.int64),
            info=self.info,
            others=self._others,
            mode=self._mode or mode,
            groups=groups,
            learning=learning,
            image_fault=self._image_fault(),
            windows=numbers["scenes"].map(lambda scene: scene // self._window) if self._window else None,
        )


def image_name(value: Any) -> str:
    """Return the name of an image: a text, a number, or its content, alone or as a struct with a path; "" for none.

    >>> image_name("a.png"), image_name(7.0), image_name({"bytes": None, "path": "a.png"}), image_name(float("nan"))
    ('a.png', '7', 'a.png', '')
    """
    if isinstance(value, str) and len(value) <= _LONGEST_NAME:
        return value
    if isinstance(value, Mapping):
        return image_name(value.get("bytes") or value.get("path") or "")
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else "" if value != value else str(value)
    content = value if isinstance(value, bytes) else str(value).encode()
    return blake2b(content, digest_size=16).hexdigest() if len(content) > _LONGEST_NAME else str(value)


ONE_WHOLE = 1 << 62
"""The window of answers that are balanced as one whole."""


def window_of(info: Mapping[str, Any]) -> int:
    """Return the number of scenes (or trials) whose answers are balanced together; 0 if nothing is known of it."""
    match info:
        case {"generator": {"name": "vqagen", "arrangement": {"window": int(size)}}}:
            return size or ONE_WHOLE
    return 0


def gold_of(answer: str | int) -> Gold:
    """Return an answer whose kind nothing else tells.

    >>> [gold_of(answer)[:2] for answer in ("no", "12", "red")]
    [('bool', (False,)), ('integer', (12,)), ('word', ('red',))]
    """
    if isinstance(answer, bool) or answer in _TRUTHS:
        return Gold(BOOL, (_TRUTHS.get(answer, answer),))
    if isinstance(answer, int) or answer.isdecimal():
        return Gold(INTEGER, (int(answer),))
    return Gold(WORD, (answer,))


SIZE = "scene_size"
_PLACES = ("pixel_coords", "3d_coords", "rotation", "bbox", "mask", "id")
"""Keys of an object that are no attributes."""
_SHOWN = 3
_LONGEST_NAME = 300
"""Characters beyond which the name of an image is its content, which is hashed."""


class SceneFields:
    """The fields of all scenes of a source. Scenes are read twice, and no scene is kept."""

    def __init__(self, source: SceneSource) -> None:
        self._source, self._names = source, SceneNames(source)
        fields = [_fields(record) for record in source.records()]
        self._spots: list[tuple[list[Spot | None], tuple[int, int] | None] | None] = []
        names = sorted({name for of_scene in fields for name in of_scene})
        self._columns = {name: Column.of(of_scene.get(name) for of_scene in fields) for name in names}
        """Of each field the column of all scenes."""
        self._lost: list[str] = []

    def find(self, record: Mapping[str, Any], index: int) -> int:
        """Return the index of the scene that a record is about; NONE, and a fault, if there is no such scene."""
        place = self._names.place_of(record)
        if not isinstance(place, QuestionFault):
            return place
        self._lost.append(f"{place.problem} (record {index})")
        return NONE

    def spots(self, record: Mapping[str, Any], index: int, objects: Sequence[int]) -> Spots | None:
        """Return where objects of the record's scene are; None if it does not say that."""
        for number, scene in enumerate(() if self._spots else self._source.records()):
            try:
                self._spots.append(spots_of_scene(scene))
            except ValueError as error:
                raise BadInput([Problem(str(error), str(self._source.path), f"scenes[{number}]")]) from None
        at = self.find(record, index)
        known = None if at == NONE else self._spots[at]
        if known is None or not all(i < len(known[0]) for i in objects):
            return None
        return Spots(tuple([spot for i in objects if (spot := known[0][i])]), known[1])

    def finish(self, places: Sequence[int]) -> tuple[Column, dict[str, Column]]:
        """Return the column of the scenes at these indexes, and their fields. BadInput if scenes were missing."""
        if self._lost:
            message = f"no scene for {counted(len(self._lost), 'record')}: {'; '.join(self._lost[:_SHOWN])}"
            raise BadInput([Problem(message, str(self._source.path))])
        codes = np.array(places, dtype=np.int32)
        fields = {name: column.spread(codes) for name, column in self._columns.items()}
        return Column(codes, tuple(range(len(self._names)))), fields


def _fields(scene: Mapping[str, Any]) -> dict[str, int]:
    """Return the value of each field: `scene_size`, `scene_colors`, …"""
    objects = [thing for thing in scene.get("objects") or () if isinstance(thing, Mapping)]
    values = defaultdict[str, set[str]](set)
    for name, value in ((name, value) for thing in objects for name, value in thing.items() if name not in _PLACES):
        if isinstance(value, str):
            values[name].add(value)
    return {SIZE: len(objects), **{f"scene_{name}s": len(found) for name, found in values.items()}}
