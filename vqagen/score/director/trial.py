"""A trial as it is written: its fields, read and checked one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from vqagen.bits import Objects, indexes, union_of
from vqagen.errors import describe
from vqagen.score.director.rules import CLASS_OF, CONTESTED, DIRECTOR, FRAMES, MIRRORED, PARTICIPANT, TEST, TYPES

MOST_COLUMNS = 26
"""Columns have letters."""
COUNTS = ("items", "blocked", "related_visible", "related_blocked")


class TrialFault(NamedTuple):
    """One violation of a rule by one trial."""

    code: str
    """The rule, such as O4; see `codes`."""
    place: str
    """The JSON path inside the trial; "" for the whole trial."""
    message: str
    is_note: bool = False
    """True for what its reader should know and nobody must mend."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial, read. Sets of cells are bit sets of row-major numbers. What its file does not say is None."""

    index: int
    type: str
    rule: str
    """In the participant's frame."""
    rule_class: str
    frame: str | None
    is_physics: bool
    instruction: str
    noun: str
    adjectives: tuple[str, ...]
    width: int
    height: int
    cells: tuple[str | None, ...]
    blocked: Objects
    answer: Objects
    participant_answers: Objects
    template: str | None = None
    twin_instruction: str | None = None
    twin_answers: Objects | None = None
    counts: Mapping[str, int] | None = None
    pair: int | None = None
    image: str | None = None
    is_contested: bool | None = None

    @property
    def criteria(self) -> frozenset[str]:
        """All words that must be true of a fitting item."""
        return frozenset((self.noun, *self.adjectives))

    @property
    def group(self) -> str:
        """The type for reports. Tests from "your point of view" stand apart.

        What is meant depends on what the director sees, though the words take the participant's view: who answers with
        the own item there may have understood them otherwise.
        """
        return CONTESTED if self.type == TEST and self.frame == PARTICIPANT else self.type

    def spoken_rule(self, speaker: str | None) -> str:
        """Return the rule in the words of a speaker: mirrored if the director says left or right his own way."""
        return MIRRORED.get(self.rule, self.rule) if speaker == DIRECTOR else self.rule

    def labels(self, cells: Objects) -> str:
        """Return the labels of cells, for people: "B1, C2"."""
        return ", ".join(label(cell, self.width) for cell in indexes(cells)) or "no cell"


def label(cell: int, width: int) -> str:
    """Return the label of a cell.

    >>> label(6, 4)
    'C2'
    """
    return f"{chr(ord('A') + cell % width)}{cell // width + 1}"


def read_trial(record: Mapping[str, Any]) -> Trial | list[TrialFault]:
    """Return the trial of a record, or every fault of its form."""
    faults = list(_field_faults(record))
    if faults:
        return faults
    width, height = record["width"], record["height"]
    cells_of = _cells_of(width, height)
    faults = list(_grid_faults(record, cells_of))
    if faults:
        return faults

    def cells(labels: Sequence[str]) -> Objects:
        return union_of(cells_of[each] for each in labels)

    twin = record["no_director"]
    return Trial(
        record["trial_index"],
        record["trial_type"],
        record["rule"],
        record["rule_class"],
        record["frame"],
        record["is_physics"],
        record["instruction"],
        record["noun"],
        tuple(record["adjectives"]),
        width,
        height,
        tuple(record["cells"]),
        cells(record["blocked"]),
        cells([record["answer"]]),
        cells(record["participant_answers"]),
        record["template"],
        twin["instruction"],
        cells(twin["answers"]),
        record["counts"],
        record.get("pair"),
        record.get("image"),
        record.get("is_contested"),
    )


@cache
def _cells_of(width: int, height: int) -> Mapping[str, int]:
    """Return the cells of a grid by their labels."""
    return {label(cell, width): cell for cell in range(width * height)}


def _field_faults(record: Mapping[str, Any]) -> Iterator[TrialFault]:
    """Yield the fields that are missing or of another type."""
    for key, (is_right, expected) in _FIELDS.items():
        if key not in record and key not in _OPTIONAL:
            yield TrialFault("O1", key, f"missing; expected {expected}")
        elif key in record and not is_right(record[key]):
            yield TrialFault("O1", key, f"expected {expected}, found {describe(record[key])}")


def _grid_faults(record: Mapping[str, Any], cells_of: Mapping[str, int]) -> Iterator[TrialFault]:
    """Yield the faults of cells and labels in a grid."""
    width, height, cells = record["width"], record["height"], record["cells"]
    if len(cells) != width * height:
        yield TrialFault("O1", "cells", f"expected {width * height} cells for {width} x {height}, found {len(cells)}")
    labelled = {
        "blocked": record["blocked"],
        "answer": [record["answer"]],
        "participant_answers": record["participant_answers"],
        "no_director.answers": record["no_director"]["answers"],
    }
    for place, labels in labelled.items():
        outside = [each for each in labels if each not in cells_of]
        if outside:
            yield TrialFault("O1", place, f"{outside[0]!r} is no cell of a grid of {width} x {height}")
        elif labels != sorted(set(labels), key=cells_of.__getitem__):
            yield TrialFault("O1", place, f"cells must come once each and row by row, found {', '.join(labels)}")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_number(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_list(of: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(map(of, value))


def _is_side(most: int) -> Callable[[object], bool]:
    return lambda value: type(value) is int and 1 <= value <= most


def _is_twin(value: object) -> bool:
    return (
        isinstance(value, Mapping) and _is_text(value.get("instruction")) and _is_list(_is_text)(value.get("answers"))
    )


def _is_counts(value: object) -> bool:
    return isinstance(value, Mapping) and all(_is_number(value.get(key)) for key in COUNTS)


_FIELDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "trial_index": (_is_number, "a number from 0 on"),
    "trial_type": (lambda value: value in TYPES, "control or test"),
    "rule_class": (_is_text, "a class of rules"),
    "rule": (lambda value: isinstance(value, str) and value in CLASS_OF, f"a rule: {', '.join(CLASS_OF)}"),
    "frame": (lambda value: value is None or value in FRAMES, "director, participant or null"),
    "is_physics": (lambda value: type(value) is bool, "true or false"),
    "instruction": (_is_text, "a text"),
    "template": (_is_text, "the name of a template"),
    "noun": (_is_text, "a noun"),
    "adjectives": (_is_list(_is_text), "a list of adjectives"),
    "width": (_is_side(MOST_COLUMNS), f"a number from 1 to {MOST_COLUMNS}"),
    "height": (_is_side(1000), "a number from 1 to 1000"),
    "cells": (_is_list(lambda value: value is None or _is_text(value)), "a list of names and nulls"),
    "blocked": (_is_list(_is_text), "a list of cells"),
    "answer": (_is_text, "a cell"),
    "participant_answers": (_is_list(_is_text), "a list of cells"),
    "no_director": (_is_twin, "an object with instruction and answers"),
    "counts": (_is_counts, f"an object with the numbers {', '.join(COUNTS)}"),
    "pair": (_is_number, "a number from 0 on"),
    "image": (_is_text, "the name of a file"),
    "is_contested": (lambda value: type(value) is bool, "true or false"),
}
"""Key -> (its check, the expected value in messages)."""
_OPTIONAL = frozenset({"pair", "image", "is_contested"})
