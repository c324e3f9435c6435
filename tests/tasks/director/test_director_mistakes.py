"""Kinds of wrong answers to director trials."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from vqagen.tasks.director.catalogue import GridItem
from vqagen.tasks.director.reading import WrittenTrial, read_trial
from vqagen.tasks.director.views import Views, kinds_of_cells

WORDS = {"R": "red book", "B": "blue book", "C": "red cup", "H": "red hot cup"}
ITEMS = {
    f"{letter}{size}": GridItem(
        f"{letter}{size}", words.split()[-1], size, ("item",), tuple(words.split()), frozenset()
    )
    for letter, words in WORDS.items()
    for size in (1, 2, 3)
}


GRID = """
    R1 R2 . R2
    B3 .  R3 H1
"""
CLASSES = {"none": "none", "topmost": "vertical", "rightmost": "horizontal", "right_of": "relation"}


def trial(rule: str, question: str, blocked: str, answer: str) -> WrittenTrial:
    """Return a trial about the grid."""
    *adjectives, noun = question.split()
    record: dict[str, Any] = {
        "trial_index": 0,
        "trial_type": "test",
        "rule_class": CLASSES[rule],
        "rule": rule,
        "frame": None,
        "is_physics": False,
        "instruction": "-",
        "template": "-",
        "noun": noun,
        "adjectives": adjectives,
        "width": 4,
        "height": 2,
        "cells": [None if each == "." else each for each in GRID.split()],
        "blocked": blocked.split(),
        "answer": answer,
        "participant_answers": ["A1"],
        "no_director": {"instruction": "-", "answers": ["A1"]},
        "counts": dict.fromkeys(("items", "blocked", "related_visible", "related_blocked"), 0),
    }
    read = read_trial(record)
    assert isinstance(read, WrittenTrial), read
    return replace(read, items=tuple(name and ITEMS[name] for name in read.cells))


SHORT = {"ego": "egocentric", "empty": "empty cell", "other": "other item"}
RIGHTMOST = trial("rightmost", "red book", "A1 D1", "C2")


@pytest.mark.parametrize(
    ("about", "has_director", "kinds"),
    [
        pytest.param(RIGHTMOST, True, "ego+frame frame empty ego foil empty correct other", id="a direction"),
        pytest.param(
            RIGHTMOST, False, "frame other empty correct foil empty director other", id="a direction without a director"
        ),
        pytest.param(
            trial("topmost", "red book", "A1 B1 D1", "C2"),
            True,
            "ego ego empty ego foil empty correct other",
            id="several that the director does not see",
        ),
        pytest.param(
            trial("none", "hot red cup", "A1", "D2"),
            True,
            "other other empty other other empty other correct",
            id="no foil lacks two words",
        ),
        pytest.param(
            trial("right_of", "blue book", "C2", "D2"),
            True,
            "other other empty other other empty ego correct",
            id="a relation, whose words describe another item",
        ),
    ],
)
def test_each_cell_is_an_answer_of_one_kind(about: WrittenTrial, has_director: bool, kinds: str) -> None:
    """The first that fits, in the order of the kinds."""
    assert list(kinds_of_cells(Views(about), has_director).values()) == [
        SHORT.get(each, each) for each in kinds.split()
    ]
