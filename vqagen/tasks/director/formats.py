"""The shape of the first director-task generator, which its loader and its Inspect task read.

    {"dataset_name": "director", "samples": [
        {"sample_id", "sample_type", "image_path", "question": {…}, "grid": {"width", "height", "items": [
            {"position": {"x", "y"}, "is_blocked", "item": null or {"name", "image_path", "boolean_properties",
             "scalar_properties"}}, …]},
         "answers": {"participant_coordinates", "director_coordinates", "is_ambiguous"},
         "selection_rule_type", "is_physics", "is_reversed"}, …],
     "total_samples", "control_samples", "test_samples"}

Samples stand in the order of the trials, whose numbers they have. Rules and relations are in the participant's frame.
The noun `item` is true of everything, so it is no property and no criterion. A drawn item has no picture of its own;
its `image_path` is a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from vqagen.files.formats import Record
from vqagen.files.records import RecordKind
from vqagen.tasks.director.catalogue import ITEM, ItemCatalogue
from vqagen.tasks.director.rules import (
    CONTROL,
    DIRECTOR,
    HORIZONTAL,
    MIRRORED,
    NONE,
    PARTICIPANT,
    RELATION,
    SIZE,
    TEST,
    VERTICAL,
    labels,
)
from vqagen.tasks.foreign import Entry, ForeignFormat

SAMPLES = "samples"
DATASET_NAME = "director"
RULE_TYPES: Mapping[str, str] = {
    NONE: "none",
    SIZE: "size_related",
    VERTICAL: "spatial_same_perspective",
    HORIZONTAL: "spatial_different_perspective",
    RELATION: "none",
}
"""Rule class -> `selection_rule_type`. There is none for relations, and a loader needs one."""
_BESIDE: Mapping[str, str] = {
    "right_of": "to the right of",
    "left_of": "to the left of",
    "above": "above",
    "below": "below",
}
_SUFFIXES = {DIRECTOR: " from my point of view", PARTICIPANT: " from your point of view", None: ""}
_COLUMNS = {letter: x for x, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ")}


class Reference(ForeignFormat):
    """A document of samples, each with its whole grid, and behind them their numbers."""

    name = "reference"
    kind = RecordKind(SAMPLES, ("sample_id",))

    def __init__(self, info: Mapping[str, Any]) -> None:
        super().__init__(info)
        self._of_type = {CONTROL: 0, TEST: 0}

    def head(self) -> bytes:
        """Return the document up to its first sample."""
        return b'{"dataset_name": "%s", "%s": [' % (DATASET_NAME.encode(), SAMPLES.encode())

    def written(self, entry: Entry) -> Entry:
        """Count a sample."""
        self._of_type[entry["sample_type"]] += 1
        return entry

    def tail(self) -> bytes:
        """Return the numbers of samples, and the end of the document."""
        control, test = self._of_type[CONTROL], self._of_type[TEST]
        counts = b'"total_samples": %d, "control_samples": %d, "test_samples": %d' % (control + test, control, test)
        return b"\n], %s}\n" % counts

    def entries(self, records: Iterable[Record]) -> Iterator[Entry]:
        """Yield the sample of each trial."""
        for record in records:
            gold, theirs = [_coordinates(record["answer"])], [*map(_coordinates, record["participant_answers"])]
            yield {
                "sample_id": record["trial_index"],
                "sample_type": record["trial_type"],
                "image_path": record.get("image", ""),
                "question": self._question(record),
                "grid": self._grid(record),
                "answers": {
                    "participant_coordinates": theirs,
                    "director_coordinates": gold,
                    "is_ambiguous": theirs != gold,
                },
                "selection_rule_type": RULE_TYPES[record["rule_class"]],
                "is_physics": record["is_physics"],
                "is_reversed": _is_reversed(record),
            }

    @cached_property
    def _catalogue(self) -> ItemCatalogue:
        return ItemCatalogue(self.info["catalogue"], Path())

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """All nouns and adjectives."""
        nouns = dict.fromkeys(noun for item in self._catalogue.items for noun in item.nouns if noun != ITEM)
        return (*nouns, *self._catalogue.classes)

    @cached_property
    def _written(self) -> dict[str, Entry]:
        """Name -> item as a cell holds it, for items that have been written already."""
        return {}

    def _grid(self, record: Record) -> Entry:
        width, height = record["width"], record["height"]
        cells = zip(labels(width, height), record["cells"], strict=True)
        items = [
            {
                "position": {"x": cell % width, "y": cell // width},
                "is_blocked": label in record["blocked"],
                "item": None if name is None else self._item(name),
            }
            for cell, (label, name) in enumerate(cells)
        ]
        return {"width": width, "height": height, "items": items}

    def _item(self, name: str) -> Entry:
        if name not in self._written:
            item = self._catalogue.by_name[name]
            self._written[name] = {
                "name": name,
                "image_path": item.picture or f"{name}.png",
                "boolean_properties": {word: word in item.true for word in self._names},
                "scalar_properties": {"size": item.size},
            }
        return self._written[name]

    def _question(self, record: Record) -> Entry:
        rule, noun = record["rule"], record["noun"]
        true = [noun, *record["adjectives"]] if noun != ITEM else record["adjectives"]
        criteria = dict.fromkeys(true, True)
        wording = {
            "is_reversed": _is_reversed(record),
            "natural_language": self._description(record),
            "full_question": record["instruction"],
        }
        if rule in _BESIDE:
            return {
                "question_type": "relational",
                "reference_criteria": criteria,
                "spatial_relation": rule,
                "target_criteria": None,
                "selection_rule_type": RULE_TYPES[record["rule_class"]],
                **wording,
            }
        return {
            "question_type": "standard",
            "target_type": noun,
            "filter_criteria": criteria,
            "selection_rule": None if rule == NONE else rule,
            "selection_property": "size" if record["rule_class"] == SIZE else None,
            "selection_rule_type": RULE_TYPES[record["rule_class"]],
            **wording,
        }

    def _description(self, record: Record) -> str:
        """Return the shortest form of the instruction, such as `the leftmost red book from your point of view`."""
        phrase = self._catalogue.describe(record["noun"], record["adjectives"])
        spoken = MIRRORED.get(record["rule"], record["rule"]) if _is_reversed(record) else record["rule"]
        if spoken in _BESIDE:
            described = f"the first item {_BESIDE[spoken]} the {phrase}"
        else:
            described = f"the {phrase}" if spoken == NONE else f"the {spoken} {phrase}"
        return described + _SUFFIXES[record["frame"]]


def _is_reversed(record: Record) -> bool:
    """True if the instruction is in the director's words. Left and right without a frame are his."""
    frame = record["frame"]
    return frame == DIRECTOR or (frame is None and record["rule"] in MIRRORED)


def _coordinates(label: str) -> list[int]:
    """Return the column and row of a cell, from 0.

    >>> _coordinates("C2")
    [2, 1]
    """
    return [_COLUMNS[label[0]], int(label[1:]) - 1]
