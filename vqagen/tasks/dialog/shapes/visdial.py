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

from collections.abc import Iterable, Iterator, Sequence

import orjson

from vqagen.files.locations import Location
from vqagen.records.layouts import Record
from vqagen.records.shape import Entry, FoundEntry, Shape, image_number
from vqagen.tasks.dialog.shapes.documents import read_dialogs
from vqagen.world.domain import Domain

EXIST_ANSWERS = ("yes", "no")
NONE = "none"
MOST_OBJECTS = 10
"""Objects of a scene, for a domain that does not say how many its scenes have: those of CLEVR."""
MOST_COUNTED = 1000
"""Larger numbers of objects are not listed as answers beforehand."""


class VisDial(Shape):
    """A dialog with its texts; the layout numbers them."""

    key = "dialogs"
    number_key = "dialog_id"

    def entries(self, records: Iterable[Record]) -> Iterator[Entry]:
        """Yield the entry of each dialog."""
        for record in records:
            rounds = [
                {
                    "question": each["question"].removesuffix("?"),
                    "answer": str(each["answer"]),
                    "template": each["label"],
                }
                for each in record["rounds"]
            ]
            yield {**named(record), "caption": record["caption"]["text"].removesuffix("."), "dialog": rounds}

    def read(self, path: Location) -> Iterator[FoundEntry]:
        """Yield the entries of a file."""
        for entry in read_dialogs(path, ("questions", "answers")):
            yield FoundEntry(entry, orjson.dumps(entry))


def named(record: Record) -> Entry:
    """Return the beginning of an entry: the dialog's image and number."""
    image = {"split": record.get("split"), "image_filename": record.get("image_filename")}
    return {"image_id": image_number(record), "dialog_id": record["dialog_index"], **image}


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
