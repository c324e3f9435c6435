"""Trials in the shape of the reference's dataset, read as trials: each sample describes the items of its own grid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from vqagen.bits import Objects, union_of
from vqagen.errors import describe
from vqagen.score.director.case import Found
from vqagen.score.director.grammar import Grammar, Sentence, Way
from vqagen.score.director.rules import (
    CLASS_OF,
    DIRECTOR,
    HORIZONTAL,
    MIRRORED,
    NONE,
    PARTICIPANT,
    RELATION,
    SIZE,
    TYPES,
    VERTICAL,
)
from vqagen.score.director.trial import MOST_COLUMNS, Trial, TrialFault, label
from vqagen.score.director.vocabulary import ITEM, Item, Vocabulary

RULE_TYPES: Mapping[str, str] = {
    SIZE: "size_related",
    VERTICAL: "spatial_same_perspective",
    HORIZONTAL: "spatial_different_perspective",
    NONE: "none",
    RELATION: "none",
}
"""Class of rules -> its name in samples."""
REFERENCE_WORDS: Mapping[str, str] = {
    "Music_instument": "musical instrument",
    "used_for_cooking": "cooking utensil",
    "holds_water": "water container",
    "holds_money": "money container",
}
"""Properties of the reference that are not spoken as they are written."""
REFERENCE_PHYSICS = frozenset({"stackable", "sharp", "hot", "cold"})


@dataclass(frozen=True)
class SampleReader:
    """Reads samples. Without a vocabulary, the words are those of the reference."""

    vocabulary: Vocabulary | None
    framed: frozenset[str] | None
    """The classes of rules whose texts say a frame; None if that is unknown, as all texts of the reference do."""

    def read(self, sample: Mapping[str, Any]) -> Found | list[TrialFault]:
        """Return the trial of a sample, or its faults."""
        form_faults = list(_form_faults(sample))
        if form_faults:
            return form_faults
        try:
            found = self._found(sample)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            message = f"not in the shape of a sample ({type(error).__name__}: {error})"
            return [TrialFault("O1", "", message)]
        faults = [*_field_faults(sample, found.trial), *self._item_faults(found)]
        return faults or found

    def _found(self, sample: Mapping[str, Any]) -> Found:
        grid, question = sample["grid"], sample["question"]
        width, height = grid["width"], grid["height"]
        if width < 1 or len(grid["items"]) != width * height:
            raise ValueError(f"{len(grid['items'])} cells in a grid of {width} x {height}")
        cells = {(x, y): y * width + x for y in range(height) for x in range(width)}

        def named(coordinates: Sequence[Sequence[int]]) -> Objects:
            return union_of(cells[x, y] for x, y in coordinates)

        is_relational = question["question_type"] == "relational"
        rule = question["spatial_relation"] if is_relational else question["selection_rule"] or NONE
        criteria = question["reference_criteria" if is_relational else "filter_criteria"]
        words = [word for word, is_wanted in criteria.items() if is_wanted]
        items = dict(self._items(grid["items"]))
        vocabulary = self.vocabulary or _own_vocabulary(tuple(_properties(grid["items"])), question.get("target_type"))
        noun = next((word for word in words if word in vocabulary.nouns), ITEM)
        adjectives = sorted((word for word in words if word != noun), key=lambda word: vocabulary.rank.get(word, -1))
        trial = Trial(
            index=sample["sample_id"],
            type=sample["sample_type"],
            rule=rule,
            rule_class=CLASS_OF[rule],
            frame=self._frame(rule, sample["is_reversed"]),
            is_physics=sample["is_physics"],
            instruction=question["full_question"],
            noun=noun,
            adjectives=tuple(adjectives),
            width=width,
            height=height,
            cells=tuple(None if each["item"] is None else str(each["item"]["name"]) for each in grid["items"]),
            blocked=union_of(i for i, each in enumerate(grid["items"]) if each["is_blocked"]),
            answer=named(sample["answers"]["director_coordinates"]),
            participant_answers=named(sample["answers"]["participant_coordinates"]),
            image=sample["image_path"] or None,
        )
        return Found(trial, vocabulary, items)

    def _frame(self, rule: str, is_reversed: bool) -> str | None:
        if self.framed is not None and CLASS_OF[rule] not in self.framed:
            return None
        return DIRECTOR if is_reversed else PARTICIPANT

    def _items(self, entries: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Item]]:
        """Yield the items that the cells describe, by name. Kinds and what is unclear are those of the catalogue."""
        known = self.vocabulary.items if self.vocabulary else {}
        for record in (entry["item"] for entry in entries if entry["item"] is not None):
            name = str(record["name"])
            true = frozenset({ITEM, *(word for word, is_true in record["boolean_properties"].items() if is_true)})
            kind, unclear = (known[name].kind, known[name].unclear) if name in known else ("", frozenset[str]())
            yield name, Item(name, kind, float(record["scalar_properties"].get("size", 1)), true, unclear)

    def _item_faults(self, found: Found) -> Iterator[TrialFault]:
        """Yield the items that differ from those of the catalogue."""
        for cell, name in enumerate(found.trial.cells):
            if name is None or self.vocabulary is None:
                continue
            known, item = self.vocabulary.items.get(name), found.items[name]
            place, where = f"grid.items[{cell}].item", label(cell, found.trial.width)
            if known is None:
                yield TrialFault("O1", place, f"{where} holds {name!r}, which is not in the catalogue")
            elif (known.true, known.size) != (item.true, item.size):
                others = ", ".join(sorted(known.true ^ item.true)) or f"size {item.size:g}"
                yield TrialFault("O1", place, f"{name!r} has other properties than in the catalogue: {others}")


def _form_faults(sample: Mapping[str, Any]) -> Iterator[TrialFault]:
    """Yield the values of a sample that are missing or of another type."""
    for path, (types, expected) in _FORM.items():
        value: Any = sample
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            yield TrialFault("O1", path, f"expected {expected}, found {describe(value)}")


_TEXT, _FLAG, _NUMBER = ((str,), "a text"), ((bool,), "true or false"), ((int,), "a whole number")
_FORM: Mapping[str, tuple[tuple[type, ...], str]] = {
    "sample_id": _NUMBER,
    "sample_type": _TEXT,
    "image_path": _TEXT,
    "question": ((Mapping,), "an object"),
    "question.question_type": _TEXT,
    "question.full_question": _TEXT,
    "grid.width": _NUMBER,
    "grid.height": _NUMBER,
    "grid.items": ((list,), "a list of cells"),
    "answers.participant_coordinates": ((list,), "a list of coordinates"),
    "answers.director_coordinates": ((list,), "a list of coordinates"),
    "answers.is_ambiguous": _FLAG,
    "is_physics": _FLAG,
    "is_reversed": _FLAG,
}
"""Path in a sample -> (the types of its values, the expected value in messages)."""


def _field_faults(sample: Mapping[str, Any], trial: Trial) -> Iterator[TrialFault]:
    """Yield the fields of a sample that contradict its question or its form."""
    if trial.type not in TYPES:
        yield TrialFault("O1", "sample_type", f"expected control or test, found {describe(sample['sample_type'])}")
    if not 1 <= trial.width <= MOST_COLUMNS:
        yield TrialFault("O1", "grid.width", f"expected a number from 1 to {MOST_COLUMNS}, found {trial.width}")
    for i, entry in enumerate(sample["grid"]["items"]):
        if entry["position"] != {"x": i % trial.width, "y": i // trial.width}:
            yield TrialFault("O1", f"grid.items[{i}].position", "cells must come row by row, each once")
    is_reversed = trial.frame == DIRECTOR or (trial.frame is None and trial.rule in MIRRORED)
    expected = {"selection_rule_type": RULE_TYPES[trial.rule_class], "is_reversed": is_reversed}
    for key, value in expected.items():
        if sample[key] != value:
            yield TrialFault("O3", key, f"expected {describe(value)}, found {describe(sample[key])}")
    is_ambiguous = trial.answer != trial.participant_answers
    if sample["answers"]["is_ambiguous"] is not is_ambiguous:
        yield TrialFault("O3", "answers.is_ambiguous", f"expected {describe(is_ambiguous)} by the coordinates")


def _properties(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the names of all properties, which every item lists."""
    yield from next((entry["item"]["boolean_properties"] for entry in entries if entry["item"]), ())


@lru_cache(maxsize=256)
def _own_vocabulary(properties: tuple[str, ...], noun: str | None) -> Vocabulary:
    """Return the vocabulary of a sample of the reference, in which only its noun is one."""
    nouns = {each: reference_words(each) for each in (noun, ITEM) if each}
    adjectives = [each for each in properties if each != noun]
    spoken = {each: reference_words(each) for each in adjectives}
    return Vocabulary({}, adjectives, REFERENCE_PHYSICS, nouns, spoken=spoken)


def reference_words(name: str) -> str:
    """Return a property of the reference as it is spoken.

    >>> reference_words("is_food"), reference_words("holds_water")
    ('food', 'water container')
    """
    return REFERENCE_WORDS.get(name) or name.removeprefix("is_").removeprefix("has_").replace("_", " ")


def reference_grammar() -> Grammar:
    """Return the grammar of the reference's own texts."""
    frames = [(DIRECTOR, "from my point of view"), (PARTICIPANT, "from your point of view")]
    sentences = [Sentence("", number, "Please select the ", "", end) for number, end in enumerate(("", "."))]
    ways = [Way(rule, 0, "" if rule == NONE else f"{rule} ", "") for rule in CLASS_OF if CLASS_OF[rule] != RELATION]
    relations = {"left_of": "to the left of", "right_of": "to the right of", "above": "above", "below": "below"}
    ways += [Way(rule, 0, f"object {said} the ", " object") for rule, said in relations.items()]
    return Grammar(sentences, frames, ways)
