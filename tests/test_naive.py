"""The slow twin runs programs, and sees what they could do without, as found by hand on the toy scene."""

from __future__ import annotations

import naive
import pytest
from naive import Undefined
from program_notation import program
from toy_scene import DOMAIN, SCENE

# Running programs -------------------------------------------------------------------------------------------------

ANSWERS = [
    ("scene, count 0", 3),
    ("scene, filter_color 0 red, count 1", 2),
    ("scene, filter_color 0 red, filter_shape 1 cube, count 2", 1),
    ("scene, filter_color 0 blue, filter_shape 1 ball, exist 2", False),
    ("scene, filter_shape 0 ball, exist 1", True),
    ("scene, filter_shape 0 ball, unique 1, query_color 2", "red"),
    ("scene, filter_shape 0 ball, unique 1, query_shape 2", "ball"),
    ("scene, filter_shape 0 ball, unique 1, relate 2 left, count 3", 1),
    ("scene, filter_color 0 blue, unique 1, relate 2 left, count 3", 2),
    ("scene, filter_color 0 blue, unique 1, relate 2 right, exist 3", False),
    ("scene, filter_shape 0 ball, unique 1, same_color 2, count 3", 1),
    ("scene, filter_shape 0 ball, unique 1, same_shape 2, count 3", 0),
    ("scene, filter_color 0 red, scene, filter_shape 2 cube, union 1 3, count 4", 3),
    ("scene, filter_color 0 red, scene, filter_shape 2 cube, intersect 1 3, count 4", 1),
    ("scene, filter_color 0 blue, unique 1, scene, filter_shape 3 ball, unique 4, equal_object 2 5", False),
    ("scene, filter_color 0 blue, unique 1, query_shape 2, scene, filter_shape 4 ball, unique 5, query_shape 6, "
     "equal_shape 3 7", False),
    ("scene, filter_shape 0 ball, unique 1, query_color 2, equal_color 3 3", True),
    ("scene, count 0, scene, filter_color 2 red, count 3, less_than 1 4", False),
    ("scene, count 0, scene, filter_color 2 red, count 3, greater_than 1 4", True),
    ("scene, filter_color 0 red, count 1, scene, filter_shape 3 cube, count 4, equal_integer 2 5", True),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ANSWERS)
def test_a_program_gives_the_answer_found_by_hand(text: str, expected: object) -> None:
    found = naive.answer(program(text), SCENE, DOMAIN)

    assert (type(found), found) == (type(expected), expected)


@pytest.mark.parametrize("text", ["scene, unique 0", "scene, filter_color 0 blue, filter_shape 1 ball, unique 2"])
def test_unique_of_not_exactly_one_object_is_undefined(text: str) -> None:
    with pytest.raises(Undefined):
        naive.answer(program(text), SCENE, DOMAIN)


def test_a_missing_value_fits_nothing_and_cannot_be_asked_for() -> None:
    scene = {**SCENE, "objects": [{"shape": "cube"}, {"shape": "ball"}, {"color": "blue", "shape": "cube"}]}
    ball = "scene, filter_shape 0 ball, unique 1"

    assert naive.answer(program("scene, filter_color 0 red, count 1"), scene, DOMAIN) == 0
    for step in ("same_color 2", "different_color 2", "query_color 2"):
        with pytest.raises(Undefined):
            naive.answer(program(f"{ball}, {step}"), scene, DOMAIN)


def test_the_released_dialect_is_understood() -> None:
    released = [{"function": s["type"], "inputs": s["inputs"], "value_inputs": s["value_inputs"]}
                for s in program("scene, filter_color 0 red, count 1")]  # fmt: skip

    assert naive.answer(released, SCENE, DOMAIN) == 2


def test_scene_may_start_from_some_of_the_objects() -> None:
    assert naive.answer(program("scene, filter_color 0 red, count 1"), SCENE, DOMAIN, start=[1, 2]) == 1


def test_outputs_are_those_of_every_step() -> None:
    steps = program("scene, filter_shape 0 ball, unique 1, relate 2 right, exist 3")

    assert naive.outputs(steps, SCENE, DOMAIN) == [{0, 1, 2}, {1}, 1, {2}, True]


def test_an_attribute_may_be_kept_under_another_key() -> None:
    domain = {"types": {"Label": {"values": ["mug"], "key": "name.short"}}}
    scene = {"objects": [{"name": {"short": "mug"}}, {"name": None}], "relationships": {}}

    assert naive.answer(program("scene, filter_label 0 mug, count 1"), scene, domain) == 1


# Degenerate questions, "other", needless words ---------------------------------------------------------------------

BY_BALL = "scene, filter_shape 0 ball, unique 1"
BY_BLUE = "scene, filter_color 0 blue, unique 1"
DEGENERATE = [
    # program, degenerate by "clevr" (were the relate node raw), by "all" (never where it ends in exist or numbers)
    (f"{BY_BALL}, relate 2 left, unique 3, query_color 4", False, False),
    (f"{BY_BALL}, relate 2 left, filter_color 3 red, filter_shape 4 cube, unique 5, query_color 6", True, True),
    (f"{BY_BALL}, relate 2 left, filter_shape 3 cube, exist 4", True, False),
    (f"{BY_BALL}, relate 2 left, filter_shape 3 cube, filter_color 4 red, exist 5", True, False),
    (f"{BY_BLUE}, relate 2 left, count 3", False, True),
    (f"{BY_BALL}, relate 2 right, count 3, scene, count 5, greater_than 4 6", True, False),
    (f"{BY_BLUE}, relate 2 left, count 3, scene, count 5, equal_integer 4 6", False, False),
    (f"{BY_BALL}, same_color 2, count 3", False, False),
    (f"{BY_BALL}, same_color 2, filter_shape 3 cube, filter_color 4 red, count 5", False, True),
    (f"{BY_BALL}, same_shape 2, filter_shape 3 ball, exist 4", False, False),
    ("scene, filter_shape 0 cube, count 1", False, False),
    # one of two relations is enough
    (f"{BY_BLUE}, relate 2 left, filter_shape 3 ball, unique 4, relate 5 left, count 6", True, True),
]


@pytest.mark.parametrize(("text", "clevr", "everywhere"), DEGENERATE)
def test_a_question_is_degenerate_where_it_is_by_hand(text: str, clevr: bool, everywhere: bool) -> None:
    policies = [("none", True), ("clevr", True), ("clevr", False), ("all", True), ("all", False)]

    found = [naive.is_degenerate(program(text), SCENE, DOMAIN, policy, raw) for policy, raw in policies]

    assert found == [False, clevr, False, everywhere, everywhere]


OTHERS = [
    ("scene, filter_color 0 blue, unique 1, same_shape 2, filter_shape 3 cube, count 4", True),
    ("scene, filter_color 0 blue, unique 1, same_shape 2, filter_color 3 red, count 4", False),
    ("scene, filter_color 0 blue, unique 1, same_shape 2, filter_shape 3 cube, filter_color 4 red, unique 5, "
     "query_color 6", False),
    ("scene, filter_color 0 blue, unique 1, same_shape 2, filter_shape 3 cube, filter_color 4 blue, exist 5", True),
    ("scene, filter_color 0 blue, unique 1, same_shape 2, count 3", None),
    ("scene, filter_color 0 blue, unique 1, relate 2 left, filter_color 3 red, count 4", None),
    ("scene, filter_color 0 blue, unique 1, same_shape 2, scene, union 3 4, filter_shape 5 cube, count 6", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), OTHERS)
def test_other_is_needed_where_the_anchor_fits_the_description(text: str, expected: bool | None) -> None:
    assert naive.needs_other(program(text), SCENE, DOMAIN) is expected


RED, BLUE_WORD = ("filter_color", "red"), ("filter_color", "blue")
BALL_WORD, CUBE = ("filter_shape", "ball"), ("filter_shape", "cube")
REFERENCES = [
    ("scene, count 0", []),
    ("scene, filter_shape 0 ball, unique 1, query_color 2", [(2, "scene", (BALL_WORD,), ())]),
    ("scene, filter_color 0 red, filter_shape 1 ball, unique 2, query_color 3",
     [(3, "scene", (RED, BALL_WORD), (RED,))]),
    ("scene, filter_shape 0 cube, filter_color 1 red, unique 2, query_color 3", [(3, "scene", (CUBE, RED), ())]),
    (f"{BY_BALL}, relate 2 left, unique 3, query_color 4",
     [(2, "scene", (BALL_WORD,), ()), (4, "relate", (), ())]),
    (f"{BY_BALL}, relate 2 right, filter_color 3 blue, filter_shape 4 cube, unique 5, query_color 6",
     [(2, "scene", (BALL_WORD,), ()), (6, "relate", (BLUE_WORD, CUBE), (BLUE_WORD, CUBE))]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), REFERENCES)
def test_references_name_their_chain_and_its_needless_words(text: str, expected: list[tuple]) -> None:
    assert naive.references(program(text), SCENE, DOMAIN) == expected
