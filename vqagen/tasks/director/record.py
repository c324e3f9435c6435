"""Records of trials."""

from __future__ import annotations

from random import Random
from typing import Any

from vqagen.rng import pick
from vqagen.tasks.director.catalogue import ItemCatalogue
from vqagen.tasks.director.places import labels
from vqagen.tasks.director.rules import PARTICIPANT, TYPES
from vqagen.tasks.director.trial import Trial
from vqagen.tasks.director.wording import Form, Wording


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
