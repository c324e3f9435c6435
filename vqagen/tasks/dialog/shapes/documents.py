"""Documents of VisDial's kind, as layouts: the dialogs, one a line, and then the lists that their numbers refer to.

{"version": "1.0", "data": {"dialogs": [
{"image_id": 12, "dialog_id": 0, …},
…
], "questions": ["…"], "answers": ["…"]}, "split": "val"}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import orjson

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import Location
from vqagen.json.stream import JsonReader, reading
from vqagen.records.layouts import Arrangement, Checksum, List, Record, decode_lines, encode_lines
from vqagen.records.shape import Entry

VERSION = b"1.0"
DIALOGS = "dialogs"


class DialogDocument(List):
    """A document of dialogs without such lists. Its split is that of the first dialog."""

    def __init__(self, arrangement: Arrangement) -> None:
        super().__init__(arrangement)
        self._split: str | None = None

    def head(self, info: Record) -> bytes:
        """Return the document up to its first dialog."""
        return b'{"version": "%s", "data": {"%s": [' % (VERSION, DIALOGS.encode())

    def placed(self, body: bytes, number: int) -> bytes:
        """Return the dialogs, separated by commas."""
        entries = decode_lines(body)
        if not number and entries:
            self._split = entries[0]["split"]
        return super().placed(encode_lines(self._written(entry) for entry in entries), number)

    def lines(self, placed: bytes) -> bytes:
        """Return the dialogs with their texts, so that the checksum is of all that they say."""
        lists = self.lists
        return encode_lines(restored(entry, lists) for entry in decode_lines(super().lines(placed)))

    def tail(self, checksum: Checksum) -> bytes:
        """Return the lists behind the dialogs, and the end of the document."""
        lists = b"".join(b', "%s": %s' % (name.encode(), orjson.dumps(texts)) for name, texts in self.lists.items())
        return b'\n]%s}, "split": %s}\n' % (lists, orjson.dumps(self._split))

    @property
    def lists(self) -> Mapping[str, list[str]]:
        """The lists of texts behind the dialogs, by their names."""
        return {}

    def _written(self, entry: Entry) -> Entry:
        """Return a dialog as the document has it."""
        return entry


class QuestionDocument(DialogDocument):
    """A document of dialogs with the numbers of their questions and answers.

    A question has its number from the first dialog that asks it. The answers are all that the domain has, and each is
    an option of every round; an answer that is none of them, such as a larger number, is added when it comes first.
    """

    def __init__(self, arrangement: Arrangement) -> None:
        super().__init__(arrangement)
        self._questions: dict[str, int] = {}
        self._answers: dict[str, int] = {}

    def head(self, info: Record) -> bytes:
        """Return the document up to its first dialog, and take the answers of the domain."""
        self._answers = {answer: number for number, answer in enumerate(info["generator"].get("answers", ()))}
        return super().head(info)

    @property
    def lists(self) -> Mapping[str, list[str]]:
        """The questions and the answers."""
        return {"questions": list(self._questions), "answers": list(self._answers)}

    def _written(self, entry: Entry) -> Entry:
        return {**entry, "dialog": [self._indexed(each) for each in entry["dialog"]]}

    def _indexed(self, each: dict[str, Any]) -> dict[str, Any]:
        question = self._questions.setdefault(each["question"], len(self._questions))
        answer = self._answers.setdefault(each["answer"], len(self._answers))
        options = {"answer_options": list(range(len(self._answers))), "gt_index": answer}
        return {**each, "question": question, "answer": answer, **options}


def restored(entry: Entry, lists: Mapping[str, list[str]]) -> Entry:
    """Return a dialog of a document with its texts in place of their numbers, which `lists` has.

    Raises LookupError, TypeError or AttributeError for what no such document holds.
    """
    if not lists:
        return entry
    rounds = []
    for each in entry["dialog"]:
        rest = {key: value for key, value in each.items() if key not in ("answer_options", "gt_index")}
        texts = {"question": lists["questions"][each["question"]], "answer": lists["answers"][each["answer"]]}
        rounds.append({**rest, **texts})
    return {**entry, "dialog": rounds}


def read_dialogs(path: Location, names: tuple[str, ...] = ()) -> Iterator[Entry]:
    """Yield the dialogs of a document, which has lists with these names. BadInput for what is no such document."""
    lists = {name: _list_in(path, name) for name in names}
    with reading(path) as reader:
        for _ in _members_of_data(reader, DIALOGS):
            reader.take(b"[")
            for index in reader.rest_of_list(f"data.{DIALOGS}"):
                yield _restored(reader.value(), lists, str(path), f"data.{DIALOGS}[{index}]")


def _restored(entry: object, lists: Mapping[str, list[str]], name: str, where: str) -> Entry:
    """Return a dialog that was read with its texts. BadInput for what is none."""
    if isinstance(entry, dict):
        with suppress(LookupError, TypeError, AttributeError):
            return restored(entry, lists)
    raise BadInput([Problem("not a dialog of such a file", name, where)])


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
