"""Reads trials back from their records, and from samples in the shape of the first director task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vqagen.bits import Objects, indexes, union_of
from vqagen.errors import Fault, describe
from vqagen.tasks.director.catalogue import ITEM, GridItem, ItemCatalogue
from vqagen.tasks.director.rules import (
    CLASS_OF,
    DIRECTOR,
    FRAMES,
    MIRRORED,
    NONE,
    PARTICIPANT,
    TEST,
    TYPES,
    labels,
    says_frame,
)
from vqagen.tasks.director.settings import ALWAYS

MOST_COLUMNS = 26
"""Columns have letters."""
COUNTS = ("items", "blocked", "related_visible", "related_blocked")
CONTESTED = "your-view test"
"""Tests whose words take the participant's point of view, in reports."""


@dataclass(frozen=True, slots=True)
class WrittenTrial:
    """A trial as its file says it. Sets of cells are bit sets of row-major numbers."""

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
    """The name of the item in each cell; None in empty ones."""
    blocked: Objects
    answer: Objects
    participant_answers: Objects
    items: tuple[GridItem | None, ...] = field(default=(), repr=False)
    """The item in each cell; empty if no catalogue is known."""
    template: str = ""
    """The template of the instruction; "" in samples."""
    twin_instruction: str = ""
    """The text without a director; "" in samples."""
    twin_answers: Objects = 0
    """The written answers to that."""
    pair: int | None = None
    image: str | None = None

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

    def labels(self, cells: Objects) -> list[str]:
        """Return the labels of cells, such as `["B1", "C2"]`."""
        names = labels(self.width, self.height)
        return [names[cell] for cell in indexes(cells)]


def read_trial(record: Mapping[str, Any], catalogue: ItemCatalogue | None = None) -> WrittenTrial | list[Fault]:
    """Return the trial of a record, or every (path, message) of what is wrong with its form.

    With a catalogue, each item must be in it.
    """
    faults = list(_form_faults(record, _FIELDS))
    if faults:
        return faults
    width, height, names = record["width"], record["height"], record["cells"]
    if len(names) != width * height:
        return [("cells", f"expected {width * height} cells for {width} x {height}, found {len(names)}")]
    place_of = {label: cell for cell, label in enumerate(labels(width, height))}
    cells_of = {"answer": [record["answer"]], "no_director.answers": record["no_director"]["answers"]}
    cells_of |= {key: record[key] for key in ("blocked", "participant_answers")}
    for path, cells in cells_of.items():
        if outside := [label for label in cells if label not in place_of]:
            faults.append((path, f"{outside[0]!r} is no cell of a grid of {width} x {height}"))
        elif cells != sorted(set(cells), key=place_of.__getitem__):
            faults.append((path, f"cells must come once each and row by row, found {', '.join(cells)}"))
    known = catalogue.by_name if catalogue else {}
    for cell, name in enumerate(names if catalogue else ()):
        if name is not None and name not in known:
            where = labels(width, height)[cell]
            faults.append((f"cells[{cell}]", f"{where} holds {name!r}, which is not in the catalogue"))
    return faults or WrittenTrial(
        index=record["trial_index"],
        type=record["trial_type"],
        rule=record["rule"],
        rule_class=record["rule_class"],
        frame=record["frame"],
        is_physics=record["is_physics"],
        instruction=record["instruction"],
        noun=record["noun"],
        adjectives=tuple(record["adjectives"]),
        width=width,
        height=height,
        cells=tuple(names),
        blocked=union_of(place_of[label] for label in cells_of["blocked"]),
        answer=union_of(place_of[label] for label in cells_of["answer"]),
        participant_answers=union_of(place_of[label] for label in cells_of["participant_answers"]),
        items=tuple(known.get(name) for name in names) if catalogue else (),
        template=record["template"],
        twin_instruction=record["no_director"]["instruction"],
        twin_answers=union_of(place_of[label] for label in cells_of["no_director.answers"]),
        pair=record.get("pair"),
        image=record.get("image"),
    )


def read_sample(
    sample: Mapping[str, Any], catalogue: ItemCatalogue | None = None, suffix: str = ALWAYS
) -> WrittenTrial | list[Fault]:
    """Return the trial of a sample, or every (path, message) of what is wrong with its form.

    A sample says itself what is true of its items. With a catalogue, they must be those of the catalogue. `suffix` is
    the setting of the run, which says what texts have a frame: those of the first director task all have.
    """
    faults = list(_form_faults(sample, _SAMPLE_FIELDS))
    if faults:
        return faults
    try:
        trial = _trial_of_sample(sample, catalogue, suffix)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return [("", f"not in the shape of a sample ({type(error).__name__}: {error})")]
    for cell, (entry, item) in enumerate(zip(sample["grid"]["items"], trial.items, strict=True)):
        if entry.get("position") != {"x": cell % trial.width, "y": cell // trial.width}:
            faults.append((f"grid.items[{cell}].position", "cells must come row by row, each once"))
        known = catalogue.by_name.get(item.name) if catalogue and item else item
        if item and (known is None or (known.true, known.size) != (item.true, item.size)):
            wrong = "has other properties than" if known else "is not"
            faults.append((f"grid.items[{cell}].item", f"{item.name!r} {wrong} in the catalogue"))
    return faults or trial


def _trial_of_sample(sample: Mapping[str, Any], catalogue: ItemCatalogue | None, suffix: str) -> WrittenTrial:
    grid, question, answers = sample["grid"], sample["question"], sample["answers"]
    width, height = grid["width"], grid["height"]
    if len(grid["items"]) != width * height:
        raise ValueError(f"{len(grid['items'])} cells in a grid of {width} x {height}")

    cell_at = {(x, y): y * width + x for y in range(height) for x in range(width)}

    def cells(coordinates: Sequence[Sequence[int]]) -> Objects:
        return union_of(cell_at[x, y] for x, y in coordinates)

    is_relational = question["question_type"] == "relational"
    rule = question["spatial_relation"] if is_relational else question["selection_rule"] or NONE
    wanted = question["reference_criteria" if is_relational else "filter_criteria"]
    words = [word for word, is_wanted in wanted.items() if is_wanted]
    nouns = catalogue.nouns if catalogue else (question.get("target_type"),)
    noun = next((word for word in words if word in nouns), ITEM)
    frame = DIRECTOR if sample["is_reversed"] else PARTICIPANT
    items = tuple(_item_of_sample(entry["item"], catalogue) for entry in grid["items"])
    return WrittenTrial(
        index=sample["sample_id"],
        type=sample["sample_type"],
        rule=rule,
        rule_class=CLASS_OF[rule],
        frame=frame if says_frame(suffix, CLASS_OF[rule]) else None,
        is_physics=sample["is_physics"],
        instruction=question["full_question"],
        noun=noun,
        adjectives=tuple(word for word in words if word != noun),
        width=width,
        height=height,
        cells=tuple(item.name if item else None for item in items),
        blocked=union_of(cell for cell, entry in enumerate(grid["items"]) if entry["is_blocked"]),
        answer=cells(answers["director_coordinates"]),
        participant_answers=cells(answers["participant_coordinates"]),
        items=items,
        image=sample["image_path"] or None,
    )


def _item_of_sample(record: Mapping[str, Any] | None, catalogue: ItemCatalogue | None) -> GridItem | None:
    """Return the item that a cell of a sample describes. Its kind, and what is unclear, are those of the catalogue."""
    if record is None:
        return None
    name, size = str(record["name"]), record["scalar_properties"].get("size", 1)
    true = tuple(word for word, is_true in record["boolean_properties"].items() if is_true)
    known = catalogue.by_name.get(name) if catalogue else None
    return GridItem(name, known.kind if known else "", size, (ITEM,), true, known.unclear if known else frozenset())


def spoken_rule(rule: str, speaker: str | None) -> str:
    """Return a rule in the words of a speaker: the director says left and right his own way. None is he, too."""
    return rule if speaker == PARTICIPANT else MIRRORED.get(rule, rule)


# Form -----------------------------------------------------------------------------------------------------------------

_Form = Mapping[str, tuple[Callable[[Any], bool], str]]
"""Path -> (the check of its value, the expected value in messages). A path that ends in `?` may be missing."""


def _form_faults(record: Mapping[str, Any], form: _Form) -> Iterator[Fault]:
    """Yield the fields that are missing or of another type."""
    for path, (is_right, expected) in form.items():
        value: Any = record
        for key in path.removesuffix("?").split("."):
            value = value.get(key, _MISSING) if isinstance(value, dict) else _MISSING
        if value is _MISSING:
            if not path.endswith("?"):
                yield path, f"missing; expected {expected}"
        elif not is_right(value):
            yield path.removesuffix("?"), f"expected {expected}, found {describe(value)}"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_number(value: object, least: int = 0, most: float = float("inf")) -> bool:
    return type(value) is int and least <= value <= most


_MISSING = object()
_TEXT, _NUMBER = (_is_text, "a text"), (_is_number, "a number from 0 on")
_FLAG = (lambda value: type(value) is bool, "true or false")
_TYPE = (lambda value: value in TYPES, "control or test")
_CELLS = (_is_texts, "a list of cells")
_COLUMNS = (lambda value: _is_number(value, 1, MOST_COLUMNS), f"a number from 1 to {MOST_COLUMNS}")
_ROWS = (lambda value: _is_number(value, 1, 1000), "a number from 1 to 1000")
_COORDINATES = (lambda value: isinstance(value, list), "a list of coordinates")
_FIELDS: _Form = {
    "trial_index": _NUMBER,
    "trial_type": _TYPE,
    "rule_class": (_is_text, "a class of rules"),
    "rule": (lambda value: isinstance(value, str) and value in CLASS_OF, f"a rule: {', '.join(CLASS_OF)}"),
    "frame": (lambda value: value is None or value in FRAMES, "director, participant or null"),
    "is_physics": _FLAG,
    "instruction": _TEXT,
    "template": (_is_text, "the name of a template"),
    "noun": (_is_text, "a noun"),
    "adjectives": (_is_texts, "a list of adjectives"),
    "width": _COLUMNS,
    "height": _ROWS,
    "cells": (
        lambda value: isinstance(value, list) and all(name is None or _is_text(name) for name in value),
        "a list of names and nulls",
    ),
    "blocked": _CELLS,
    "answer": (_is_text, "a cell"),
    "participant_answers": _CELLS,
    "no_director.instruction": _TEXT,
    "no_director.answers": _CELLS,
    **{f"counts.{key}": _NUMBER for key in COUNTS},
    "pair?": _NUMBER,
    "image?": (_is_text, "the name of a file"),
    "is_contested?": _FLAG,
}
_SAMPLE_FIELDS: _Form = {
    "sample_id": _NUMBER,
    "sample_type": _TYPE,
    "image_path": (lambda value: isinstance(value, str), "a text"),
    "question.question_type": _TEXT,
    "question.full_question": _TEXT,
    "grid.width": _COLUMNS,
    "grid.height": _ROWS,
    "grid.items": (lambda value: isinstance(value, list), "a list of cells"),
    "answers.participant_coordinates": _COORDINATES,
    "answers.director_coordinates": _COORDINATES,
    "answers.is_ambiguous": _FLAG,
    "is_physics": _FLAG,
    "is_reversed": _FLAG,
}
