"""VisDial's shape, which models for photographs read: questions and answers by number, and options to choose from.

    {"version", "data": {
        "dialogs": [{"image_id", "dialog_id", "split", "image_filename", "caption", "dialog": [
            {"question": 3, "answer": 0, "template": "exist-attribute", "answer_options": [0, 1, …], "gt_index": 0}, …
        ]}, …],
        "questions": ["…"], "answers": ["…"]}, "split"}

As in VisDial's files, a question has no question mark and a caption no full stop: readers put them there. `image_id` is
the number of the image. As an image has several dialogs, `dialog_id` numbers the dialogs: a reader that numbers the
questions of all files by `10 * image_id + round` must take it instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from vqagen.errors import BadInput, Problem
from vqagen.files.formats import Record
from vqagen.files.locations import Location
from vqagen.files.stream import JsonReader, reading
from vqagen.tasks.foreign import Entry, ForeignFormat, FoundEntry, image_number
from vqagen.world.domain import Domain

VERSION = b"1.0"
DIALOGS = "dialogs"
LISTS = ("questions", "answers")
"""The lists behind the dialogs."""
EXIST_ANSWERS = ("yes", "no")
NONE = "none"
MOST_OBJECTS = 10
"""Objects of a scene, for a domain that does not say how many its scenes have: those of CLEVR."""
MOST_COUNTED = 1000
"""Larger numbers of objects are not listed as answers beforehand."""


class VisDial(ForeignFormat):
    """A document of dialogs, and behind them the questions and answers that their numbers refer to.

    A question has its number from the first dialog that asks it. The answers are all that the domain has, and each is
    an option of every round; an answer that is none of them, such as a larger number, is added when it comes first. The
    document's split is that of its first dialog.
    """

    name = "visdial"
    number_key = "dialog_id"

    def __init__(self, info: Mapping[str, Any]) -> None:
        super().__init__(info)
        self._splits: list[str | None] = []
        self._questions: dict[str, int] = {}
        self._answers = {answer: number for number, answer in enumerate(info["generator"].get("answers", ()))}

    def entries(self, records: Iterable[Record]) -> Iterator[Entry]:
        """Yield the entry of each dialog, with its texts."""
        for record in records:
            rounds = [
                {
                    "question": each["question"].removesuffix("?"),
                    "answer": str(each["answer"]),
                    "template": each["label"],
                }
                for each in record["rounds"]
            ]
            yield {
                "image_id": image_number(record),
                "dialog_id": record["dialog_index"],
                "split": record.get("split"),
                "image_filename": record.get("image_filename"),
                "caption": record["caption"]["text"].removesuffix("."),
                "dialog": rounds,
            }

    def head(self) -> bytes:
        """Return the document up to its first dialog."""
        return b'{"version": "%s", "data": {"%s": [' % (VERSION, DIALOGS.encode())

    def written(self, entry: Entry) -> Entry:
        """Return a dialog with numbers in place of its texts."""
        self._splits = self._splits or [entry["split"]]
        return {**entry, "dialog": [self._indexed(each) for each in entry["dialog"]]}

    def whole(self, entry: Entry, written: Entry) -> Entry:
        """Return a dialog with its texts."""
        return entry

    def tail(self) -> bytes:
        """Return the lists behind the dialogs, and the end of the document."""
        lists = b"".join(b', "%s": %s' % (name.encode(), orjson.dumps(texts)) for name, texts in self._lists().items())
        return b'\n]%s}, "split": %s}\n' % (lists, orjson.dumps(next(iter(self._splits), None)))

    def _lists(self) -> dict[str, list[str]]:
        return dict(zip(LISTS, (list(self._questions), list(self._answers)), strict=True))

    def _indexed(self, each: dict[str, Any]) -> dict[str, Any]:
        question = self._questions.setdefault(each["question"], len(self._questions))
        answer = self._answers.setdefault(each["answer"], len(self._answers))
        options = {"answer_options": list(range(len(self._answers))), "gt_index": answer}
        return {**each, "question": question, "answer": answer, **options}

    def read(self, path: Location) -> Iterator[FoundEntry]:
        """Yield the entries of a file, with their texts. BadInput for what is no such document."""
        lists = {name: _list_in(path, name) for name in LISTS}
        with reading(path) as reader:
            for _ in _members_of_data(reader, DIALOGS):
                reader.take(b"[")
                for index in reader.rest_of_list(f"data.{DIALOGS}"):
                    try:
                        entry = _restored(reader.value(), lists)
                    except (LookupError, TypeError, AttributeError):
                        where = f"data.{DIALOGS}[{index}]"
                        raise BadInput([Problem("not a dialog of such a file", str(path), where)]) from None
                    yield FoundEntry(entry, orjson.dumps(entry))


def _restored(entry: Entry, lists: Mapping[str, list[str]]) -> Entry:
    """Return a dialog of a document with its texts in place of their numbers, which `lists` has.

    Raises LookupError, TypeError or AttributeError for what no such document holds.
    """
    rounds = []
    for each in entry["dialog"]:
        rest = {key: value for key, value in each.items() if key not in ("answer_options", "gt_index")}
        texts = {"question": lists["questions"][each["question"]], "answer": lists["answers"][each["answer"]]}
        rounds.append({**rest, **texts})
    return {**entry, "dialog": rounds}


def _list_in(path: Location, name: str) -> list[str]:
    with reading(path) as reader:
        found = [reader.value() for _ in _members_of_data(reader, name)]
    if not found or not isinstance(found[-1], list):
        raise BadInput([Problem("expected a list of texts", str(path), f"data.{name}")])
    return found[-1]


def _members_of_data(reader: JsonReader, name: str) -> Iterator[str]:
    """Stand before each member of a document's `data` that has this name."""
    for key in reader.members():
        if key == "data":
            yield from (inside for inside in reader.members() if inside == name)


def all_answers(values: Sequence[str], most: int) -> list[str]:
    """Return the answers that dialogs can have: yes, no, none, the values, and the numbers up to `most` objects.

    >>> all_answers(["red", "cube"], 2)
    ['yes', 'no', 'none', 'red', 'cube', '0', '1', '2']
    """
    return [*EXIST_ANSWERS, NONE, *dict.fromkeys(values), *map(str, range(most + 1))]


def most_objects(domain: Domain) -> int:
    """Return how many objects a scene of a domain can have: those of its sampled scenes. Others may have more."""
    match domain.record.get("sampling"):
        case {"objects": [int(), int(most)]} if 0 < most <= MOST_COUNTED:
            return most
    return MOST_OBJECTS
