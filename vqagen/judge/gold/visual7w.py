"""Visual7W's datasets, telling and pointing: `dataset.json` with images that have `qa_pairs`, and perhaps `boxes`.

A pair lists three wrong options; the right one, its answer, is put before them. Models saw them in an order that the
file does not record, so no letter names an option.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vqagen.errors import Fault, describe
from vqagen.files.locations import Location
from vqagen.judge.answers.kinds import TEXT
from vqagen.judge.gold.file import OPEN, POINTING, GoldFile, Splits, no_answers
from vqagen.judge.gold.item import Box, FieldValue, GoldItem
from vqagen.judge.stats.fault_list import FaultList
from vqagen.records.discovery import find_records
from vqagen.records.visual7w import BOXES, IMAGES, PAIRS, candidates_of

GROUPS = ("type",)
Boxes = Mapping[str, Box]


def visual7w_file(path: Location, mode: str = "", split: str = "") -> GoldFile:
    """Return the gold file of a dataset; of one split, or of all."""
    source = find_records(path, IMAGES)
    is_pointing = has_boxes(path)

    def read() -> Iterator[GoldItem]:
        boxes = dict(read_boxes(path)) if is_pointing else {}
        reader, splits = _PairReader(str(path), boxes if is_pointing else None), Splits(split)
        for index, record, _ in source.entries():
            if splits.has(record):
                yield from reader.items(record, IMAGES.path(index))
        reader.finish()
        splits.finish(str(path), "image")

    return GoldFile(str(path), "visual7w", read, {}, mode or (POINTING if is_pointing else OPEN), GROUPS)


def has_boxes(path: Location) -> bool:
    """Return true for a pointing dataset: its first answer is a number and names a box."""
    first = next(find_records(path, IMAGES).records(0, 1), {})
    match first:
        case {"qa_pairs": [{"answer": answer}, *_]}:
            return type(answer) is int
    return False


def read_boxes(path: Location) -> Iterator[tuple[str, Box]]:
    """Yield the id and the place of each box; coordinates below 0 are clipped to 0. BadInput for faulty boxes."""
    faults = FaultList(str(path), "box")
    for index, record, _ in find_records(path, BOXES).entries():
        numbers = [record.get(key) for key in ("x", "y", "width", "height")]
        if "box_id" not in record or not all(isinstance(each, int | float) for each in numbers):
            faults.add([("", "expected box_id, x, y, width and height")], BOXES.path(index))
            continue
        x, y, width, height = (float(each) for each in numbers if each is not None)
        yield str(record["box_id"]), (max(x, 0.0), max(y, 0.0), width, height)
    faults.finish()


class _PairReader:
    """Reads the pairs of a dataset, and collects their faults. `boxes` is None for telling."""

    def __init__(self, name: str, boxes: Boxes | None) -> None:
        self._name, self._boxes = name, boxes
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
            faults = list(_pair_faults(pair)) or list(self._box_faults(pair))
            if faults:
                self._faults.add(faults, place)
            else:
                yield self._item(pair, name, image.get("split"))

    def _item(self, pair: Mapping[str, Any], image: str, split: FieldValue) -> GoldItem:
        answer = str(pair["answer"])
        options = candidates_of(pair)
        text = str(pair.get("question", ""))
        boxes = self._boxes
        fields = {"type": pair.get("type"), "split": split, "question_length": text.count(" ") + 1}
        return GoldItem(
            str(pair["qa_id"]),
            TEXT,
            (answer,),
            image,
            fields,
            options if len(options) > 1 else (),
            text,
            box=None if boxes is None else boxes[answer],
            boxes=() if boxes is None else tuple(boxes.get(each) for each in options),
            right=0 if len(options) > 1 else None,
            has_letters=False,
        )

    def _box_faults(self, pair: Mapping[str, Any]) -> Iterator[Fault]:
        if self._boxes is not None and str(pair["answer"]) not in self._boxes:
            yield "answer", f"expected the box_id of a box, found {describe(pair['answer'])}"

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
