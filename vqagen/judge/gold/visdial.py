"""VisDial's dialogs: each round lists a hundred answers, and models rank them.

The relevance of the options lies in a file of its own, `visdial_1.0_val_dense_annotations.json`; one beside the dialogs
whose name ends so is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, Fault, Problem, describe
from vqagen.files.locations import Location
from vqagen.json.parsing import parse_json, read_text
from vqagen.judge.answers.kinds import TEXT
from vqagen.judge.gold.file import RANK, GoldFile, no_answers
from vqagen.judge.gold.item import GoldItem
from vqagen.judge.stats.fault_list import FaultList

GROUPS = ("round",)
DENSE = "dense_annotations.json"
Relevance = Mapping[tuple[str, str], tuple[float, ...]]
"""(image_id, round_id counted from 1) -> the relevance of each option."""


def visdial_file(path: Location, mode: str = "") -> GoldFile:
    """Return the gold file of dialogs. A round is named by its image and its number from 0: `185565/3`."""

    def read() -> Iterator[GoldItem]:
        document = parse_json(read_text(path), str(path))
        match document:
            case {"data": {"questions": list(questions), "answers": list(answers), "dialogs": list(dialogs)}}:
                pass
            case _:
                raise BadInput([Problem("expected data with questions, answers and dialogs", str(path))])
        reader = _RoundReader(str(path), questions, answers, _relevance(path))
        for number, dialog in enumerate(dialogs):
            yield from reader.items(dialog, f"data.dialogs[{number}]")
        reader.finish()

    return GoldFile(str(path), "visdial", read, {}, mode or RANK, GROUPS)


def _relevance(path: Location) -> Relevance:
    """Return the relevance of options, if a file beside the dialogs lists it. BadInput for a faulty file."""
    beside = sorted(path.parent.glob(f"*{DENSE}")) if isinstance(path, Path) else []
    if not beside:
        return {}
    found: dict[tuple[str, str], tuple[float, ...]] = {}
    listed = parse_json(read_text(beside[0]), str(beside[0]))
    for number, each in enumerate(listed if isinstance(listed, list) else [None]):
        match each:
            case {"image_id": image, "round_id": round, "gt_relevance": list(values)} | {
                "image_id": image,
                "round_id": round,
                "relevance": list(values),
            } if all(isinstance(value, int | float) for value in values):
                found[str(image), str(round)] = tuple(map(float, values))
            case _:
                raise BadInput([Problem("expected image_id, round_id and gt_relevance", str(beside[0]), f"[{number}]")])
    return found


class _RoundReader:
    """Reads the rounds of a file, and collects their faults."""

    def __init__(self, name: str, questions: Sequence[Any], answers: Sequence[Any], relevance: Relevance) -> None:
        self._name, self._questions, self._answers, self._relevance = name, questions, answers, relevance
        self._faults = FaultList(name, "round")

    def items(self, dialog: Any, path: str) -> Iterator[GoldItem]:
        """Yield the items of a dialog that have no faults."""
        if not isinstance(dialog, Mapping) or not isinstance(dialog.get("dialog"), list):
            self._faults.add([("dialog", "expected an object with a list of rounds")], path)
            return
        image = dialog.get("image_id")
        for number, each in enumerate(dialog["dialog"]):
            place = f"{path}.dialog[{number}]"
            if isinstance(each, Mapping) and "answer_options" in each and each.get("gt_index") is None:
                raise no_answers(self._name, place)
            relevance = self._relevance.get((str(image), str(number + 1)), ())
            faults = list(self._round_faults(each, relevance))
            if faults:
                self._faults.add(faults, place)
            else:
                yield self._item(f"{image}/{number}", str(image), number + 1, each, relevance)

    def _item(
        self, id: str, image: str, round: int, record: Mapping[str, Any], relevance: tuple[float, ...]
    ) -> GoldItem:
        options, right = tuple(str(self._answers[each]) for each in record["answer_options"]), record["gt_index"]
        text = str(self._questions[record["question"]])
        fields = {"round": round, "question_length": text.count(" ") + 1}
        return GoldItem(
            id,
            TEXT,
            (options[right],),
            image,
            fields,
            options,
            text,
            right=right,
            relevance=relevance,
            has_letters=False,
        )

    def _round_faults(self, record: Any, relevance: Sequence[float]) -> Iterator[Fault]:
        if not isinstance(record, Mapping):
            yield "", f"expected an object, found {describe(record)}"
            return
        options, right = record.get("answer_options"), record.get("gt_index")
        if not isinstance(options, list) or not all(_is_index(each, self._answers) for each in options):
            yield "answer_options", "expected a list of places in data.answers"
        elif not _is_index(right, options):
            yield "gt_index", f"expected the place of an option, found {describe(right)}"
        elif relevance and len(relevance) != len(options):
            yield "answer_options", f"{len(options)} options, but {len(relevance)} in the dense annotations"
        if not _is_index(record.get("question"), self._questions):
            yield "question", "expected a place in data.questions"

    def finish(self) -> None:
        """Raise BadInput if there were faults."""
        self._faults.finish()


def _is_index(value: object, listed: Sequence[Any]) -> bool:
    return type(value) is int and 0 <= value < len(listed)
