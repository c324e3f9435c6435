"""The table of items: whatever is asked and answered in a file, as columns of integer codes.

A question, a round of a dialog and a trial are rows of the same table, and so are the questions of Visual7W.
Whoever counts, scores, learns or compares takes columns: a group is a `bincount` over codes, in place of a loop over
objects. A million questions take about 160 bytes each.

    items = read_items("questions.json")
    items.column("family").codes          # of each item the number of its family; NONE where it has none
    items.column("family").values         # the name of each number
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields as dataclass_fields, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vqagen.errors import UsageError, unknown
from vqagen.items.answers import PLACES, Answer, text_of
from vqagen.items.places import Spots

FieldValue = str | int
Codes = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]
NONE = -1
"""The code of an item that a column does not concern."""
OPEN, CHOICE = MODES = "open", "mc"
"""How items are answered: freely, or by an option."""


class Column(NamedTuple):
    """One value for each item, as codes: `values[codes[i]]` is that of item i, unless its code is NONE."""

    codes: Codes
    values: tuple[Any, ...]

    @classmethod
    def of(cls, values: Iterable[Any]) -> Column:
        """Return the column of these values, numbered in the order of their first appearance; None is NONE.

        >>> Column.of(["red", None, "blue", "red"])
        Column(codes=array([ 0, -1,  1,  0], dtype=int32), values=('red', 'blue'))
        """
        numbers: dict[Any, int] = {}
        codes = [NONE if value is None else numbers.setdefault(value, len(numbers)) for value in values]
        return cls(np.array(codes, dtype=np.int32), tuple(numbers))

    def at(self, place: int) -> Any:
        """Return the value of an item; None if the column does not concern it."""
        code = self.codes[place]
        return None if code == NONE else self.values[code]

    def cells(self) -> list[Any]:
        """Return the value of each item; None where the column does not concern it."""
        values = (*self.values, None)  # NONE, which is -1, finds the last
        return [values[code] for code in self.codes.tolist()]

    def map(self, function: Callable[[Any], Any]) -> Column:
        """Return the column of what a function makes of each value, and of NONE where that is None.

        >>> Column.of(["red", None, "Red"]).map(str.lower)
        Column(codes=array([ 0, -1,  0], dtype=int32), values=('red',))
        """
        return Column.of(map(function, self.values)).spread(self.codes)

    def take(self, places: Places) -> Column:
        """Return the column of the items at some places."""
        return self._replace(codes=self.codes[places])

    def compact(self) -> Column:
        """Return the column without the values that no item has.

        >>> Column(np.array([2, NONE, 0, 2]), ("red", "gray", "blue")).compact()
        Column(codes=array([ 1, -1,  0,  1], dtype=int32), values=('red', 'blue'))
        """
        used, codes = np.unique(self.codes, return_inverse=True)
        known = used[used != NONE]
        lacking = len(used) - len(known)
        return Column((codes - lacking).astype(np.int32), tuple(self.values[code] for code in known.tolist()))

    def spread(self, entries: Codes) -> Column:
        """Return the column of items, if item i has the value of entry `entries[i]` of this column, or NONE.

        >>> Column.of(["red", None, "blue"]).spread(np.array([2, 2, NONE, 1, 0])).codes
        array([ 1,  1, -1, -1,  0], dtype=int32)
        """
        return Column(np.append(self.codes, np.int32(NONE))[entries], self.values)


def plain_id(id: str) -> str:
    """Return an id as all tools write it: a table makes 17.0 or 17 of 0017, and GQA's files keep the zeros.

    >>> plain_id("0017"), plain_id("17.0"), plain_id("n017")
    ('17', '17', 'n017')
    """
    if id[:1] != "0" and "." not in id:
        return id
    number, _, rest = id.partition(".")
    is_number = number.isascii() and number.isdecimal() and not rest.strip("0")
    return number.lstrip("0") or "0" if is_number and not (rest and len(number) > 15) else id


class Gold(NamedTuple):
    """The right answer to an item, as a value of the column `gold`."""

    kind: str
    """The kind of the answer; see `items.answers`."""
    answers: tuple[Answer, ...]
    """The accepted answers; the first is canonical."""
    spots: Spots | None = None
    """Where the objects are, if the answer is places, and the file or the scenes say so."""

    @property
    def objects(self) -> tuple[int, ...]:
        """The indexes of the objects, if the answer is places."""
        right = self.answers[0]
        return right if isinstance(right, tuple) else ()

    @property
    def text(self) -> str:
        """The canonical answer as predictions write it."""
        return text_of(self.answers[0])


class Options(NamedTuple):
    """The options of an item of multiple choice, as a value of the column `options`."""

    texts: tuple[str, ...]
    """In the order that a model sees."""
    right: int | None
    """The index of the right one, counted from 0."""
    has_letters: bool = True
    """False if a letter cannot name an option, because the file does not record the order that a model saw."""
    are_marks: bool = False
    """True if they are letters on objects of a picture that the record does not name as its image."""


class Learning(NamedTuple):
    """Columns that are kept where something is learned from the items (`read_items(…, learning=True)`)."""

    texts: Column
    """The question, the round's question or the instruction."""
    histories: Column
    """The text of a dialog before the round, with the answers; NONE outside of dialogs."""
    programs: Column
    """The program as JSON, equal for equal programs; NONE without one."""
    scenes: Column
    """The scene's index as the file says it (an int), else that of the image; of a trial, its own."""
    places: Column
    """The index of the scene among those that are given; NONE without scenes."""

    def take(self, places: Places) -> Learning:
        """Return the columns of the items at some places: what is learned of a sample costs as much as the sample."""
        return Learning(*(column.take(places).compact() for column in self))


@dataclass(frozen=True, repr=False)
class Items:
    """All items of a file. Every column has one code for each item, in the order of the file."""

    name: str
    """The path as messages show it."""
    format: str
    """vqagen, dialogs, trials or visual7w."""
    ids: Sequence[str]
    """As the file numbers its items: `17`; of a round, the dialog's number and the round's from 0 on: `3/5`.
    """
    images: Column
    """The name of the image that an item is about. Items about one image form a cluster."""
    gold: Column
    """A `Gold` for each item; NONE for one without an answer, which `allow_unanswered` keeps."""
    options: Column
    """An `Options` for each item of multiple choice."""
    pairs: Column
    """The number that an item shares with the other question of its pair."""
    blocks: Column
    """The name that an item shares with those whose options it exchanges."""
    fields: Mapping[str, Column]
    """What results are grouped by: answer_type, category, function, family, program_length, …, scene_size, …

    Of a round also label, attribute (the one that it names), caption (the label of the dialog's caption), history,
    round, distance (rounds since its referent was told of) and mentioned (rounds since it was mentioned at all).
    """
    records: npt.NDArray[np.int32]
    """The number of the record in the file that an item is of: the same for all rounds of a dialog."""
    learning: Learning
    """Its columns are NONE for all items unless something is learned from them."""
    info: Mapping[str, Any] = field(default_factory=dict)
    mode: str = OPEN
    """How the items are answered unless the user says otherwise."""
    groups: tuple[str, ...] = ()
    """The fields that reports group by unless the user says otherwise."""
    windows: Column | None = None
    """The number of the balance window of an item's scene; None if answers are not balanced in windows of scenes.

    What is guessed of a window must not be learned from the rest of it, which tells the answers that are left.
    """
    image_fault: str = ""
    """Why the images are not known, so that nothing can be tested over them; "" if they are."""
    others: Sequence[str] = ()
    """The `keys` of the items of other splits, which were not read."""
    outcomes: Column | None = None
    """Of a trial with a catalogue, the kind of answer that each cell is: pairs of a cell and its kind.

    The kinds are the `answer_kinds` of its task.
    """

    asked: Places | None = None
    """The hash of the text of each item, by which a prediction for another one is known."""

    def __len__(self) -> int:
        return len(self.images.codes)

    def __repr__(self) -> str:
        return f"<{len(self):,} {'rounds' if self.kind == 'dialogs' else self.kind} of {self.name}>"

    @property
    def kind(self) -> str:
        """The kind of its records: questions, dialogs or trials."""
        return self.format if self.format in ("dialogs", "trials") else "questions"

    def column(self, name: str) -> Column:
        """Return a field. UsageError, with the nearest name, if there is none."""
        if name not in self.fields:
            raise UsageError(unknown("field to group by", name, sorted(self.fields)))
        return self.fields[name]

    @cached_property
    def keys(self) -> list[str]:
        """The `ids` as predictions are found by them."""
        return list(map(plain_id, self.ids))

    @cached_property
    def answers(self) -> Column:
        """The canonical answer of each item, as predictions write it."""
        return self.gold.map(attrgetter("text"))

    @cached_property
    def is_place(self) -> npt.NDArray[np.bool_]:
        """True for items whose answers are places."""
        return np.array([*(gold.kind == PLACES for gold in self.gold.values), False])[self.gold.codes]

    @cached_property
    def is_marked(self) -> npt.NDArray[np.bool_]:
        """True for items whose options are letters on objects."""
        return np.array([*(options.are_marks for options in self.options.values), False])[self.options.codes]

    @property
    def unanswered(self) -> int:
        """The number of items without an answer."""
        return int((self.gold.codes == NONE).sum())

    def first_column(self, names: Sequence[str]) -> Column | None:
        """Return the first of some fields that any item has; None if there is none."""
        present = (self.fields[name] for name in names if name in self.fields)
        return next((column for column in present if (column.codes != NONE).any()), None)

    def take(self, places: Places) -> Items:
        """Return the items at some places as a table of their own."""
        held = {column.name: getattr(self, column.name) for column in dataclass_fields(self)}
        cut: dict[str, Any] = {
            name: value.take(places) for name, value in held.items() if isinstance(value, Column | Learning)
        }
        fields = {name: column.take(places) for name, column in self.fields.items()}
        ids = [self.ids[place] for place in places.tolist()]
        asked = None if self.asked is None else self.asked[places]
        return replace(self, ids=ids, fields=fields, records=self.records[places], asked=asked, **cut)
