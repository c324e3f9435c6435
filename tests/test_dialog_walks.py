"""Dialogs of random questions: all that may be asked at each moment keeps the rules, as a slow twin sees them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from random import Random
from typing import Any, NamedTuple

import pytest
from dialog_ledger import Ledger, found_and_answer
from dialog_play import Moment, dialog_scene, walk
from scene_records import sampled_scenes

from vqagen.tasks.dialog.captions import CATEGORIES, Caption, CaptionRules, caption_args, knowledge_after
from vqagen.tasks.dialog.knowledge import Move, Rules
from vqagen.tasks.dialog.round_kind import GROUP, Pick
from vqagen.tasks.dialog.rounds import ROUND_KINDS
from vqagen.tasks.dialog.settings import LITERAL

Record = Mapping[str, Any]


class Seen(NamedTuple):
    """A moment of a dialog, and what was said until then."""

    record: Record
    ledger: Ledger
    moment: Moment
    moves: Mapping[str, Move]


def program(moment: Moment, move: Move, mentioned: set[int]) -> Record:
    """A question as in a record, with what was mentioned by the slow twin's account."""
    words, known = moment.scene.vocabulary, moment.knowledge
    args: dict[str, Any] = {}
    if move.label.endswith("-other"):
        args["mentioned"] = mentioned
    if ROUND_KINDS[move.label].refers == GROUP:
        args["group"] = [i for i in range(moment.scene.size) if known.group >> i & 1]
    if move.focus >= 0:
        args["focus"] = move.focus
    if move.relation >= 0:
        args |= {"relation": words.relations[move.relation], "reading": moment.rules.reading}
    if move.attribute >= 0:
        args["attribute"] = words.attributes[move.attribute].name
    if move.value >= 0:
        ((args["attribute"], args["value"]),) = words.described(move.value).items()
    return {"label": move.label, "args": args}


def a_caption(scene: Any, number: int, rules: Rules) -> Caption:
    """A caption of the category with this number, or of another one where there is none."""
    order = [*CATEGORIES.values()]
    drawn = (draw(scene, Pick(Random(number)), CaptionRules(rules)) for draw in order[number % 4 :] + order)
    return next(caption for caption in drawn if caption is not None)


@cache
def seen(reading: str) -> tuple[Seen, ...]:
    """Every moment of the dialogs of random questions, each with all that may be asked."""
    return tuple(_seen(Rules(reading=reading)))


def _seen(rules: Rules) -> Iterator[Seen]:
    labels: Counter[str] = Counter()
    for number, record in enumerate(each for each in sampled_scenes(40) if len(each["objects"]) <= 5):
        scene = dialog_scene(record)
        caption = a_caption(scene, number, rules)
        moment = Moment(scene, knowledge_after(caption, scene, rules), rules, ())
        told = {"label": caption.label, "args": caption_args(caption, scene)}
        played: list[Record] = []
        for before, moves, text in walk(moment, Random(number), 7, labels):
            ledger = Ledger(record, told)
            for each in played:
                ledger.add(each)
            yield Seen(record, ledger, before, moves)
            played.append(program(before, moves[text], ledger.mentioned))


READINGS = pytest.mark.parametrize("reading", ["nearest", LITERAL])


def questions(reading: str) -> Iterator[tuple[Seen, str, Move, Record]]:
    for one in seen(reading):
        for text, move in one.moves.items():
            yield one, text, move, program(one.moment, move, one.ledger.mentioned)


@READINGS
def test_answer_is_what_the_scene_says(reading: str) -> None:
    """The twin runs each question on the JSON of its scene."""
    for one, text, move, asked in questions(reading):
        assert one.moment.play(move).answers[-1] == found_and_answer(one.record, asked)[1], text


@READINGS
def test_question_refers_to_what_was_said(reading: str) -> None:
    """Spec 3.3 and 3.4: it and they are those of the round before, and a name fits one thing that was told of."""
    for one, text, move, asked in questions(reading):
        if move.descriptor >= 0:
            name = text.rpartition("@")[2]
            assert one.ledger.names.get(name) == move.focus, text
        elif move.label.endswith("-imm"):
            assert one.ledger.topic == move.focus, text
        elif "group" in asked["args"]:
            assert set(asked["args"]["group"]) == one.ledger.group, text
            assert one.ledger.is_sized is False or len(one.ledger.group) > 1, text


@READINGS
def test_no_question_comes_twice(reading: str) -> None:
    """Spec 3.5.12: not in other words, and not with another way to refer to the same thing."""
    for one, text, _, asked in questions(reading):
        assert one.ledger.question_about(asked) not in one.ledger.asked, text


@READINGS
def test_no_attribute_is_sought_that_was_told_of_the_object(reading: str) -> None:
    """Spec 3.5.13: whatever the text called the object."""
    for one, text, move, asked in questions(reading):
        if move.label.startswith("seek"):
            found, answer = found_and_answer(one.record, asked)
            assert not any(answer in one.ledger.told[i] for i in found), text


@READINGS
def test_others_are_sought_of_a_value_that_was_told(reading: str) -> None:
    """ "Other things of its color" says that its color is known: a question must not presuppose what nobody said."""
    for one, text, move, _ in questions(reading):
        if "exclude" in move.label:
            value = one.record["objects"][move.focus][text.split()[1]]
            assert value in one.ledger.told[move.focus], text


def test_walks_see_every_kind_of_round() -> None:
    """Otherwise the laws would be kept by questions that never come."""
    assert {move.label for _, _, move, _ in questions("nearest")} == set(ROUND_KINDS)
