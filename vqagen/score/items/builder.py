"""Builds a table of items, record by record: the reader of each format adds rows to a `TableBuilder`."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from types import UnionType
from typing import Any

import numpy as np

from vqagen.errors import BadInput, Problem, UsageError, describe
from vqagen.records.fault_list import FaultList
from vqagen.records.kind import RecordKind
from vqagen.records.source import RecordSource
from vqagen.score.answers.kinds import BOOL, INTEGER, WORD
from vqagen.score.items.scenes import SceneFields
from vqagen.score.items.table import NONE, OPEN, Column, Gold, Items, Learning, Numbers

_TRUTHS: Mapping[Any, bool] = {"yes": True, "no": False}
_CHOICE, _LEARNED = ("options", "pairs", "blocks"), ("texts", "histories", "programs", "scenes", "places")
_SCENE_KEYS = ("scene_index", "image_index", "trial_index", "sample_id")
"""Keys of the number of a scene or, in its place, of an image; a trial is a scene of its own."""
NO_ANSWERS = "no answers, so nothing to compare predictions with: give a file that was made without --hide-answers"


class FieldFault(ValueError):
    """A fault of one field of a record."""

    def __init__(self, key: str, message: str) -> None:
        self.key = key
        super().__init__(message)


class Coding(dict[Any, int]):
    """The numbers of values in the order of their first appearance, and the code of each item so far."""

    def __init__(self) -> None:
        self.codes = array("i")
        self[None] = NONE

    def __missing__(self, value: Any) -> int:
        number = self[value] = len(self) - 1  # None is no value
        return number

    def add(self, value: Any) -> None:
        """Add an item with a value."""
        self.codes.append(self[value])

    def put(self, place: int, value: Any) -> None:
        """Add the item of a place with a value; items between the last one and it have none."""
        self.codes.extend([NONE] * (place - len(self.codes)))
        self.codes.append(self[value])

    def column(self, size: int) -> Column:
        """Return the column of `size` items; those at its end that were not added have no value."""
        codes = np.full(size, NONE, dtype=np.int32)
        codes[: len(self.codes)] = self.codes
        return Column(codes, tuple(self)[1:])


class FieldRows(Coding):
    """Values of some fields that items have together: equal rows are held once."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = names

    def fields(self, size: int) -> Iterator[tuple[str, Column]]:
        """Yield each field with its column."""
        rows = self.column(size)
        for place, name in enumerate(self.names):
            yield name, Column.of(row[place] for row in rows.values).spread(rows.codes)


class TableBuilder:
    """The rows of a table so far, and the faults of the records."""

    def __init__(
        self,
        name: str,
        format: str,
        kind: RecordKind,
        info: Mapping[str, Any],
        *,
        split: str = "",
        mode: str = "",
        scenes: SceneFields | None = None,
        learning: bool = False,
        allow_unanswered: bool = False,
        on_read: Callable[[int], None] | None = None,
    ) -> None:
        """Only records of the `split` are wanted, "" for all."""
        self.name, self.info, self.is_learning, self.index = name, info, learning, 0
        self.faults = FaultList(name, kind.noun)
        self._kind, self._record = kind, dict[str, Any]()
        self._format, self._split, self._mode, self._scenes = format, split, mode, scenes
        self._allows_unanswered, self._on_read = allow_unanswered, on_read
        self._splits: set[str] = set()
        self._images, self._gold, self._further = Coding(), Coding(), defaultdict[str, Coding](Coding)
        self._field_rows: list[FieldRows] = []
        self._window = 0 if format == "dialogs" else window_of(info)
        self._records, self._places, self._ids = array("i"), array("i"), list[Any]()

    def __len__(self) -> int:
        return len(self._records)

    def rows(self, *names: str) -> FieldRows:
        """Return rows of fields with these names, to which the reader adds a row for each item."""
        self._field_rows.append(FieldRows(names))
        return self._field_rows[-1]

    def records_of(self, source: RecordSource) -> Iterator[dict[str, Any]]:
        """Yield the records of a source, and report each to `on_read`. What is added meanwhile is of this record."""
        for self.index, self._record in enumerate(source.records()):
            yield self._record
            if self._on_read is not None:
                self._on_read(1)

    def check(self, value: Any, types: type | UnionType, place: str, expected: str) -> bool:
        """Return true for a value of some types; otherwise add a fault at a JSON path in the record."""
        if isinstance(value, types):
            return True
        self.add_fault(place, f"expected {expected}, found {describe(value)}")
        return False

    def add_fault(self, place: str, message: str) -> None:
        """Add a fault at a JSON path in the record."""
        self.faults.add([(place, message)], self._kind.path(self.index))

    def wants(self, record: Mapping[str, Any]) -> bool:
        """Return true for a record of the split that is asked for."""
        if not self._split:
            return True
        split = str(record.get("split"))
        self._splits.add(split)
        return split == self._split

    def gold(self, answer: Gold | None, place: str = "") -> int:
        """Return the number of an answer. BadInput for none, at a JSON path in the record, unless that is allowed."""
        if answer is None and not self._allows_unanswered:
            path = self._kind.path(self.index)
            raise BadInput([Problem(NO_ANSWERS, self.name, f"{path}.{place}" if place else path)])
        return self._gold[answer]

    def add(self, id: Any, gold: int, image: str = "") -> None:
        """Add an item of the record: its id as the file has it, and its answer's number.

        The image is that of the record unless it is given.
        """
        record = self._record
        self._records.append(self.index)
        self._ids.append(id)
        name = image or record.get("image_filename")
        self._images.codes.append(self._images[str(name) if name else f"#{record.get('image_index')}"])
        self._gold.codes.append(gold)
        if self._scenes is not None:
            self._places.append(self._scenes.find(record, self.index))
        if self.is_learning or self._window:
            self.put(scenes=next((number for key in _SCENE_KEYS if type(number := record.get(key)) is int), None))

    def learn(self, **values: Any) -> None:
        """Add to the last item what can be learned from it (texts, histories, programs), if anything is learned."""
        if self.is_learning:
            self.put(**values)

    def put(self, **values: Any) -> None:
        """Add to the last item what not all items have: options, pairs, blocks."""
        place = len(self) - 1
        for column, value in values.items():
            if value is not None:
                self._further[column].put(place, value)

    def table(self, groups: tuple[str, ...], mode: str = OPEN, *, typed: bool = False) -> Items:
        """Return the table; `typed` for the kinds of answers as a field. BadInput, with all faults, if there were any.

        UsageError if no record is of the split that is asked for.
        """
        self.faults.finish()
        if self._split and self._split not in self._splits:
            listed = ", ".join(sorted(self._splits)) or "none"
            raise UsageError(f"{self.name} has no {self._kind.noun} of split {self._split!r}; it has {listed}")
        if self._scenes is not None:
            self._scenes.finish()
        size, window, gold = len(self), self._window, self._gold.column(len(self))
        places = np.array(self._places, dtype=np.int32)  # empty without scenes
        further = {name: self._further[name].column(size) for name in (*_CHOICE, *_LEARNED)}
        fields = {"answer_type": gold.map(attrgetter("kind"))} if typed else {}
        filled = [rows for rows in self._field_rows if rows.codes or not size]
        fields |= {name: column for rows in filled for name, column in rows.fields(size)}
        if self._scenes is not None:
            fields |= self._scenes.fields(places)
            further["places"] = Column(places, tuple(range(len(self._scenes))))
        return Items(
            self.name,
            self._format,
            _ids(self._ids),
            images=self._images.column(size),
            gold=gold,
            fields=fields,
            records=np.array(self._records, dtype=np.int32),
            info=self.info,
            mode=self._mode or mode,
            groups=groups,
            learning=Learning(**{name: further[name] for name in _LEARNED}) if self.is_learning else None,
            windows=further["scenes"].map(lambda scene: scene // window) if window else None,
            **{name: further[name] for name in _CHOICE},
        )


def _ids(ids: Sequence[Any]) -> Sequence[str]:
    """Return ids as texts; as `Numbers` if all are whole numbers of 64 bits."""
    if set(map(type, ids)) <= {int}:
        with suppress(OverflowError):
            return Numbers(np.array(ids, dtype=np.int64))
    return list(map(str, ids))


def window_of(info: Mapping[str, Any]) -> int:
    """Return the number of scenes (or trials) whose answers are balanced together; 0 if nothing is known of it."""
    match info:
        case {"generator": {"name": "vqagen", "arrangement": {"window": int(size)}}}:
            return size or 1 << 62  # one window in all
    return 0


def gold_of(answer: str | int) -> Gold:
    """Return an answer whose kind nothing else tells.

    >>> gold_of("no"), gold_of("12"), gold_of("red")
    (Gold(kind='bool', answers=(False,), weights=()), Gold(kind='integer', answers=(12,), weights=()), \
Gold(kind='word', answers=('red',), weights=()))
    """
    if isinstance(answer, bool) or answer in _TRUTHS:
        return Gold(BOOL, (_TRUTHS.get(answer, answer),))
    if isinstance(answer, int) or answer.isdecimal():
        return Gold(INTEGER, (int(answer),))
    return Gold(WORD, (answer,))
