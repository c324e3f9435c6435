"""Visual7W's datasets, telling and pointing: `dataset.json` with images that have `qa_pairs`, and perhaps `boxes`.

A pair lists three wrong options; the right one, its answer, is put before them. Models saw them in an order that the
file does not record, so no letter names an option.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vqagen.errors import Fault, describe
from vqagen.files.locations import Location
from vqagen.records.discovery import find_records
from vqagen.records.fault_list import FaultList
from vqagen.records.visual7w import IMAGES, PAIRS, candidates_of
from vqagen.score.answers.kinds import TEXT
from vqagen.score.gold.file import CHOICE, OPEN, GoldFile, Splits, no_answers
from vqagen.score.gold.item import FieldValue, GoldItem

GROUPS = ("type",)


def visual7w_file(path: Location, mode: str = "", split: str = "") -> GoldFile:
    """Return the gold file of a dataset; of one split, or of all."""
    source = find_records(path, IMAGES)

    def read() -> Iterator[GoldItem]:
        reader, splits = _PairReader(str(path)), Splits(split)
        for index, record, _ in source.entries():
            if splits.has(record):
                yield from reader.items(record, IMAGES.path(index))
        reader.finish()
        splits.finish(str(path), "image")

    return GoldFile(str(path), "visual7w", read, {}, mode or (CHOICE if is_pointing(path) else OPEN), GROUPS)


def is_pointing(path: Location) -> bool:
    """Return true for a pointing dataset: its first answer is a number and names a box, as its options do."""
    first = next(find_records(path, IMAGES).records(0, 1), {})
    match first:
        case {"qa_pairs": [{"answer": answer}, *_]}:
            return type(answer) is int
    return False


class _PairReader:
    """Reads the pairs of a dataset, and collects their faults."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._faults = FaultList(name, "pair")

    def items(self, image: Mapping[str, Any], path: str) -> Iterator[GoldItem]:
        """Yield the items about one image that have no faults."""
        pairs = image.get(PAIRS)
        if not isinstance(pairs, list):
            self._faults.add([(PAIRS, f"expected a list, found {describe(pairs)}")], path)
            return
        name = str(image.get("image_id", image.get("filename", path)))
        for number, pair in enumerate(pairs):
            place = f"{path}.{PAIRS}[{number}]"
            if isinstance(pair, Mapping) and pair.get("answer") is None:
                raise no_answers(self._name, place)
            faults = list(_pair_faults(pair))
            if faults:
                self._faults.add(faults, place)
            else:
                yield self._item(pair, name, image.get("split"))

    def _item(self, pair: Mapping[str, Any], image: str, split: FieldValue) -> GoldItem:
        answer = str(pair["answer"])
        options = candidates_of(pair)
        text = str(pair.get("question", ""))
        fields = {"type": pair.get("type"), "split": split, "question_length": text.count(" ") + 1}
        return GoldItem(
            str(pair["qa_id"]),
            TEXT,
            (answer,),
            image,
            fields,
            options if len(options) > 1 else (),
            text,
            right=0 if len(options) > 1 else None,
            has_letters=False,
        )

    def finish(self) -> None:
        """Raise BadInput if there were faults."""
        self._faults.finish()


def _pair_faults(pair: object) -> Iterator[Fault]:
    if not isinstance(pair, Mapping):
        yield "", f"expected an object, found {describe(pair)}"
        return
    if not isinstance(pair.get("qa_id"), int | str):
        yield "qa_id", f"expected a number, found {describe(pair.get('qa_id'))}"
    if not isinstance(pair["answer"], int | str):
        yield "answer", f"expected a text or the number of a box, found {describe(pair['answer'])}"
    if not isinstance(pair.get("multiple_choices") or [], list):
        yield "multiple_choices", f"expected a list, found {describe(pair['multiple_choices'])}"
