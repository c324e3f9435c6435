"""Puts instructions into words, and reads the words again: which text asks for a rule in a frame.

Rules are in the participant's frame. The director stands opposite, so in his frame left and right change places: he
says "rightmost … from my point of view" for the participant's leftmost. Words without a frame are his too, for he is
the speaker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from vqagen.rng import pick
from vqagen.tasks.director.catalogue import ItemCatalogue
from vqagen.tasks.director.catalogue_words import spell_out
from vqagen.tasks.director.design import Trial
from vqagen.tasks.director.instructions import DESCRIPTION, FRAME, LEADING, TARGET, Instructions, load_instructions
from vqagen.tasks.director.places import labels
from vqagen.tasks.director.rules import CLASS_OF, FRAMES, MIRRORED, PARTICIPANT, TYPES, says_frame
from vqagen.tasks.director.settings import ALWAYS, DIRECTIONAL


class Form(NamedTuple):
    """One text for a rule in a frame, split at the description; `twin_…` is its text without a director."""

    template: str
    """The id, such as `instructions.json#pick`."""
    before: str
    after: str
    twin_before: str
    twin_after: str

    def instruction(self, phrase: str) -> str:
        """Return the instruction for the items of a description."""
        return f"{self.before}{phrase}{self.after}"

    def twin(self, phrase: str) -> str:
        """Return the same instruction where there is no director: in the participant's words, without a frame."""
        return f"{self.twin_before}{phrase}{self.twin_after}"


@dataclass(frozen=True)
class Wording:
    """All texts of instructions, with a suffix policy: which of them say a frame."""

    instructions: Instructions
    suffix: str = DIRECTIONAL

    @cached_property
    def _forms(self) -> dict[tuple[str, str | None], tuple[Form, ...]]:
        return {}

    def forms(self, rule: str, frame: str | None) -> tuple[Form, ...]:
        """Return every text for a rule in a frame; frame None, or a rule whose frame is not said, has no suffix."""
        said = frame if says_frame(self.suffix, CLASS_OF[rule]) else None
        found = self._forms.get((rule, said))
        if found is None:
            found = self._forms[rule, said] = tuple(self._made(rule, said))
        return found

    def _made(self, rule: str, frame: str | None) -> Iterator[Form]:
        targets = self.instructions.targets
        spoken = rule if frame == PARTICIPANT else MIRRORED.get(rule, rule)
        frames = self.instructions.frames[frame] if frame else ("",)
        for template, sentence in self.instructions.sentences:
            for said, twin in zip(targets[spoken], targets[rule], strict=True):
                for words in frames:
                    yield Form(template, *_split(sentence, said, words), *_split(sentence, twin, ""))


class Meaning(NamedTuple):
    """What a text asks for."""

    rule: str
    """In the participant's frame."""
    frame: str | None
    noun: str
    adjectives: tuple[str, ...]
    """In the order of the text."""
    form: Form


class InstructionReader:
    """Recognises instructions about the items of a catalogue."""

    def __init__(self, instructions: Instructions, catalogue: ItemCatalogue) -> None:
        wording = Wording(instructions, ALWAYS)
        self._forms: dict[str, list[tuple[str, str | None, Form]]] = {}
        """Text before the description -> (rule, frame, form)."""
        for rule, frame in product(CLASS_OF, (None, *FRAMES)):
            for form in wording.forms(rule, frame):
                self._forms.setdefault(form.before, []).append((rule, frame, form))
        self._nouns = {catalogue.spoken(noun): noun for noun in catalogue.nouns}
        self._adjectives = {spell_out(each): each for each in catalogue.classes}

    def meanings(self, text: str) -> list[Meaning]:
        """Return every meaning of a text; none for a text that no template says."""
        return [
            Meaning(rule, frame, *each, form)
            for start in range(len(text))
            for rule, frame, form in self._forms.get(text[:start], ())
            if text.endswith(form.after)
            for each in self._descriptions(text[start : len(text) - len(form.after)].split(" "))
        ]

    def _descriptions(self, words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each (noun, adjectives) that words such as "red pair of scissors" can be."""
        for count in range(1, len(words) + 1):
            said, rest = " ".join(words[:count]), words[count:]
            if not rest and said in self._nouns:
                yield self._nouns[said], ()
            elif said in self._adjectives:
                yield from ((noun, (self._adjectives[said], *more)) for noun, more in self._descriptions(rest))


def load_wording(path: Path | str | None = None, suffix: str = DIRECTIONAL) -> Wording:
    """Return the wording of a file or folder of instructions, by default the shipped ones.

    Raises BadInput with every mistake in the files.
    """
    return Wording(load_instructions(path), suffix)


def _split(sentence: str, target: str, frame: str) -> tuple[str, str]:
    """Return what stands before and behind the description. `frame` is empty where none is said."""
    framed = sentence.replace(LEADING, f"{frame}, " * bool(frame)).replace(f" {FRAME}", f" {frame}" * bool(frame))
    before, _, after = framed.replace(TARGET, target).partition(DESCRIPTION)
    return before[:1].upper() + before[1:], after


# Records -------------------------------------------------------------------------------------------------------------


class RecordMaker:
    """Words trials and records them. Their grids have one width and height."""

    def __init__(self, catalogue: ItemCatalogue, wording: Wording, width: int, height: int) -> None:
        self._width, self._height, self._wording, self._catalogue = width, height, wording, catalogue
        self._labels = labels(width, height)
        self._names: list[str | None] = [*(item.name for item in catalogue.items), None]  # EMPTY is the last place
        self._phrases: dict[object, str] = {}

    def form_of(self, trial: Trial, rng: Random) -> Form:
        """Return one of the ways to say the instruction."""
        return pick(rng, self.forms_of(trial))

    def forms_of(self, trial: Trial) -> tuple[Form, ...]:
        """Return all ways to say the instruction."""
        return self._wording.forms(trial.cell.rule, trial.cell.frame)

    def grid_of(self, trial: Trial) -> tuple[list[str | None], list[bool]]:
        """Return for each cell the name of its item, or None, and whether it is blocked."""
        names, blocked = self._names, trial.blocked
        return [names[item] for item in trial.grid], [place in blocked for place in range(len(trial.grid))]

    def record(self, number: int, trial: Trial, form: Form, names: list[str | None]) -> dict[str, Any]:
        """Return the record of a trial, without its picture."""
        cell, question, label = trial.cell, trial.question, self._labels
        phrase = self._phrases.get(question)
        if phrase is None:
            phrase = self._catalogue.describe(question.noun, question.adjectives)
            self._phrases[question] = phrase
        participant = [label[place] for place in trial.participant_answers]
        return {
            "trial_index": number,
            "trial_type": TYPES[cell.is_test],
            "rule_class": cell.rule_class,
            "rule": cell.rule,
            "frame": cell.frame,
            "is_contested": cell.is_test and cell.frame == PARTICIPANT,
            "is_physics": cell.is_physics,
            "instruction": form.instruction(phrase),
            "template": form.template,
            "noun": question.noun,
            "adjectives": list(question.adjectives),
            "width": self._width,
            "height": self._height,
            "cells": names,
            "blocked": [label[place] for place in sorted(trial.blocked)],
            "answer": label[trial.answer],
            "participant_answers": participant,
            "no_director": {"instruction": form.twin(phrase), "answers": participant},
            "counts": {
                "items": len(names) - names.count(None),
                "blocked": len(trial.blocked),
                "related_visible": trial.related_visible,
                "related_blocked": trial.related_blocked,
            },
        }
