"""What the oracle calls known is known: no other scene that fits the text so far has another answer."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import pytest
from dialog_domains import compiled, dialog_domain, dialog_judge, transcript
from generated_dialogs import generated
from oracles.dialogs.judging import Transcript
from scene_records import sampled_scenes, scene_record

ATTRIBUTES = {each.name: each.leaves for each in dialog_domain().vocabulary.attributes}
COUNT = 40
FITTING = frozenset({"redundant", "identity", "untold", "antecedents"})
"""Verdicts that a scene which fits the text may have."""


class Row(NamedTuple):
    """A scene: its objects as values, and their two orders."""

    objects: list[dict[str, str]]
    left_to_right: list[int]
    front_to_back: list[int]

    def record(self) -> dict[str, Any]:
        """The scene record."""
        words = [" ".join(each[name] for name in ("size", "color", "material", "shape")) for each in self.objects]
        return scene_record(words, self.left_to_right, self.front_to_back)

    def changed(self, random: Random) -> Row:
        """The scene with another value, another place, or one object more."""
        objects = [dict(each) for each in self.objects]
        orders = [list(self.left_to_right), list(self.front_to_back)]
        for _ in range(random.choice([1, 1, 2, 3])):
            kind = random.random()
            if kind < 0.5:
                name = random.choice(list(ATTRIBUTES))
                random.choice(objects)[name] = random.choice(ATTRIBUTES[name])
            elif kind < 0.85:
                order = random.choice(orders)
                order.insert(random.randrange(len(order)), order.pop(random.randrange(len(order))))
            else:
                for order in orders:
                    order.insert(random.randrange(len(order) + 1), len(objects))
                objects.append({name: random.choice(values) for name, values in ATTRIBUTES.items()})
        return Row(objects, *orders)


def row_of(record: dict[str, Any]) -> Row:
    """A scene record as a row."""
    places = [{name: each[name] for name in ATTRIBUTES} for each in record["objects"]]
    orders = [
        sorted(range(len(places)), key=lambda i, name=name: len(record["relationships"][name][i]))
        for name in ("left", "front")
    ]
    return Row(places, *orders)


def answer_in(text: Transcript, at: int, row: Row) -> object:
    """The answer of a round in a scene that fits the text before it; None in one that does not."""
    found = dialog_judge().judge(text._replace(rounds=text.rounds[:at]), compiled(row.record()))
    fits = all({each.kind for each in verdicts} <= FITTING for verdicts in found.verdicts[:at])
    return found.outcomes[at - 1].answer if fits and len(found.outcomes) == at else None


def other_answers(text: Transcript, at: int, row: Row, tries: int, random: Random) -> Iterator[object]:
    """Yield answers of a round in scenes near this one that fit the text before it."""
    for _ in range(tries):
        near = row.changed(random)
        answer = answer_in(text, at, near)
        if answer is not None:
            row = near
            yield answer


@pytest.mark.slow
def test_an_answer_that_is_known_is_the_same_in_every_scene_that_fits() -> None:
    """About one question of 60 asks what was not told, and yet follows."""
    scenes, random = sampled_scenes(COUNT), Random(1)
    checked = fitting = 0
    for record in generated(COUNT):
        scene, text = scenes[record["scene_index"]], transcript(record)
        verdicts = dialog_judge().judge(text, compiled(scene)).verdicts
        for at, found in enumerate(verdicts):
            if any(each.kind == "redundant" for each in found) and answer_in(text, at, row_of(scene)) is not None:
                answers = list(other_answers(text, at, row_of(scene), 40, random))
                checked, fitting = checked + 1, fitting + len(answers)
                assert set(answers) <= {text.rounds[at - 1].answer}, (text.caption, text.rounds[:at])

    assert checked > 10
    assert fitting > 5 * checked
