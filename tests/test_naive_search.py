"""The slow twin fills templates as found by hand on the toy scene, and keeps its laws on the reference's templates."""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice, product
from pathlib import Path

import naive
import program_notation
import pytest
from naive import Undefined, each_instantiation, instantiations, narrowed, program_records
from oracle import check_question
from toy_scene import DOMAIN, SCENE

SLOTS = {"<C>": "Color", "<S>": "Shape", "<R>": "Relation", "<C2>": "Color", "<S2>": "Shape", "<C3>": "Color"}


def template(text: str, *constraints: str) -> dict:
    return program_notation.template(text, SLOTS, *constraints)


def count(text: str, *constraints: str, **switches: object) -> int:
    return len(instantiations(template(text, *constraints), SCENE, DOMAIN, **switches))


UNIQUE = "scene, filter_unique 0 <C> <S>"
HOP = f"{UNIQUE}, relate_filter_unique 1 <R> <C2> <S2>, query_color 2"
BALL, BLUE, RED_CUBE = {"<C>": None, "<S>": "ball"}, {"<C>": "blue", "<S>": None}, {"<C>": "red", "<S>": "cube"}

COUNTS = [
    # one composite node: all eight descriptions, but `filter` not the open one and `unique` only those of one object
    ("scene, filter_unique 0 <C> <S>, query_color 1", {}, 5),
    ("scene, filter_unique 0 <S>, query_color 1", {}, 1),
    ("scene, filter 0 <C> <S>, count 1", {}, 7),
    ("scene, filter_count 0 <C> <S>", {}, 8),
    ("scene, filter_exist 0 <C> <S>", {}, 8),
    ("scene, filter 0 <C> <S>, count 1", {"absent": True}, 8),
    ("scene, filter_count 0 <C> <S>", {"absent": True}, 9),
    ("scene, filter_exist 0 <C> <S>", {"absent": True}, 9),
    ("scene, filter_unique 0 <C> <S>, query_color 1", {"absent": True}, 5),
    # a description may fit nothing of the input, but must fit something in the scene
    ("scene, filter_color 0 blue, filter_count 1 <C> <S>", {}, 8),
    ("scene, filter_color 0 blue, filter_unique 1 <C> <S>, query_color 2", {}, 4),
    # left of the ball: red cube; right of it: blue cube
    (HOP, {"given": BALL}, 8),
    (HOP, {"given": BALL, "trivial": False}, 5),
    # left of the blue cube: red cube and red ball
    (HOP, {"given": BLUE}, 4),
    (HOP, {"given": BLUE, "trivial": False}, 1),
    # right of the red cube: red ball and blue cube
    (HOP, {"given": RED_CUBE}, 6),
    (HOP, {"given": RED_CUBE, "trivial": False}, 2),
    # two phrases for the ball, two for the blue cube, one for the red cube
    (HOP, {}, 2 * 8 + 2 * 4 + 6),
    (HOP, {"trivial": False}, 2 * 5 + 2 * 1 + 2),
    (f"{UNIQUE}, relate_filter 1 <R> <C2> <S2>, count 2", {}, 2 * 8 + 2 * 6 + 7),
    (f"{UNIQUE}, relate_filter 1 <R> <C2> <S2>, count 2", {"trivial": False}, 2 * 5 + 2 * 2 + 3),
    (f"{UNIQUE}, relate_filter_count 1 <R> <C2> <S2>", {}, 5 * 2 * 8),
    (f"{UNIQUE}, relate_filter_exist 1 <R> <C2> <S2>", {"trivial": False}, 2 * 13 + 2 * 12 + 12),
    (f"{UNIQUE}, relate_filter_count 1 <R> <C2> <S2>", {"absent": True}, 5 * 2 * 8),
    # primitive nodes: every value of the type; a slot keeps its value, so an open one cannot be used again
    (f"{UNIQUE}, relate 1 <R>, filter_color 2 <C3>, count 3", {}, 5 * 2 * 2),
    (f"{UNIQUE}, relate 1 <R>, filter_color 2 <C>, count 3", {}, 4 * 2),
    # same color as the ball: any, cube; as the red cube: red, red ball; as the red ball: red, red cube; as blue: none
    (f"{UNIQUE}, same_color 1, filter_unique 2 <C> <S2>, query_shape 3", {}, 6),
    # literal values
    ("scene, filter_shape 0 ball, unique 1, query_color 2", {}, 1),
    ("scene, filter_shape 0 cube, unique 1, query_color 2", {}, 0),
    ("scene, filter_unique 0 red <S>, query_shape 1", {}, 2),
    (f"{UNIQUE}, relate_filter_unique 1 left <C2> <S2>, query_color 2", {"given": BLUE}, 4),
]


@pytest.mark.parametrize(("text", "switches", "expected"), COUNTS)
def test_a_template_is_filled_in_as_many_ways_as_by_hand(text: str, switches: dict, expected: int) -> None:
    assert count(text, **switches) == expected


TWO = "scene, filter_unique 0 <C> <S>, scene, filter_unique 2 <C2> <S2>, equal_object 1 3"
COUNT_TWO = "scene, filter_count 0 <C> <S>, scene, filter_count 2 <C2> <S2>, equal_integer 1 3"
SETS_TWO = "scene, filter 0 <C> <S>, scene, filter 2 <C2> <S2>, union 1 3, count 4"
CONSTRAINED = [
    (TWO, [], 25),
    (TWO, ["NULL <C>"], 5),
    (TWO, ["NULL <C> <S2>"], 1),
    (TWO, ["NULL <C>", "NULL <S>"], 0),
    (TWO, ["NOT_NULL <C>"], 20),
    (TWO, ["NOT_NULL <C> <S>"], 15),
    (TWO, ["EQ <C> <C2>"], 2 * 2 + 1 * 1 + 2 * 2),
    (TWO, ["NEQ <C> <C2>"], 16),
    (TWO, ["EQ <C> <S2>"], 1),
    (TWO, ["NEQ <C> <S2>"], 24),
    (TWO, ["OUT_EQ 1 3"], 2 * 2 + 2 * 2 + 1),
    (TWO, ["OUT_NEQ 1 3"], 16),
    (COUNT_TWO, ["OUT_EQ 1 3"], 1 * 1 + 2 * 2 + 5 * 5),
    (COUNT_TWO, ["OUT_NEQ 1 3"], 34),
    (SETS_TWO, ["OUT_EQ 1 3"], 1 + 2 * 2 + 1 + 2 * 2 + 1),
    (SETS_TWO, ["OUT_NEQ 1 3"], 38),
]


@pytest.mark.parametrize(("text", "constraints", "expected"), CONSTRAINED)
def test_constraints_leave_what_is_left_by_hand(text: str, constraints: list[str], expected: int) -> None:
    assert count(text, *constraints) == expected


def test_an_unknown_constraint_is_not_passed_over() -> None:
    with pytest.raises(KeyError, match="NIL"):
        count(UNIQUE, "NIL <C>")


def test_an_instantiation_holds_slots_program_and_answer() -> None:
    """Filters stand in the order of the side inputs, and later nodes point to the last step of a composite node."""
    flipped = template("scene, filter_unique 0 <S> <C>, relate_filter_count 1 <R> <S2> <C2>")
    given = {"<C>": "red", "<S>": "cube", "<R>": "right", "<C2>": None, "<S2>": None}

    assert instantiations(flipped, SCENE, DOMAIN, given=given) == {
        naive.Instantiation(
            (("<C2>", None), ("<C>", "red"), ("<R>", "right"), ("<S2>", None), ("<S>", "cube")),
            (
                ("scene", (), ()),
                ("filter_shape", (0,), ("cube",)),
                ("filter_color", (1,), ("red",)),
                ("unique", (2,), ()),
                ("relate", (3,), ("right",)),
                ("count", (4,), ()),
            ),
            2,
        )
    }


def test_steps_of_a_composite_follow_its_own_input() -> None:
    """The input of a node need not be the node before it."""
    crossed = template("scene, scene, filter_unique 0 <C> <S>, filter_unique 1 <C2> <S2>, equal_object 2 3")
    given = {"<C>": None, "<S>": "ball", "<C2>": "blue", "<S2>": None}

    (found,) = instantiations(crossed, SCENE, DOMAIN, given=given)

    assert [inputs for _, inputs, _ in found.program] == [(), (), (0,), (2,), (1,), (4,), (3, 5)]


def test_words_never_tried_are_words_that_do_not_work() -> None:
    """Every combination of words, run as a program: those with an answer are the slots of the instantiations."""
    colors, shapes, sides = [None, "red", "blue"], [None, "cube", "ball"], ["left", "right"]
    working = set()
    for c, s, r, c2, s2 in product(colors, shapes, sides, colors, shapes):
        first = [("filter_color", c)] * (c is not None) + [("filter_shape", s)] * (s is not None)
        second = [("filter_color", c2)] * (c2 is not None) + [("filter_shape", s2)] * (s2 is not None)
        names = [("scene", None), *first, ("unique", None), ("relate", r), *second, ("unique", None)]
        steps = [(name, [i - 1] if i else [], [word] if word else []) for i, (name, word) in enumerate(names)]
        try:
            naive.answer(program_records(steps), SCENE, DOMAIN)
        except Undefined:
            continue
        working.add((("<C2>", c2), ("<C>", c), ("<R>", r), ("<S2>", s2), ("<S>", s)))

    assert {found.slots for found in instantiations(template(HOP), SCENE, DOMAIN)} == working


def test_given_takes_a_slice_of_the_whole() -> None:
    whole = instantiations(template(HOP), SCENE, DOMAIN)

    sliced = instantiations(template(HOP), SCENE, DOMAIN, given=BALL)

    assert sliced == {found for found in whole if dict(found.slots).items() >= BALL.items()}


def test_narrowed_takes_the_part_without_some_words() -> None:
    whole = instantiations(template(HOP), SCENE, DOMAIN)

    part = instantiations(narrowed(template(HOP), ["Color"]), SCENE, DOMAIN)

    assert part == {found for found in whole if dict(found.slots)["<C>"] is dict(found.slots)["<C2>"] is None}
    assert len(part) == 4  # of the ball: the thing or the cube, left or right


def test_instantiations_leave_out_the_degenerate() -> None:
    """Left of or right of the ball; without "left" the blue cube would count too."""
    raw = template(f"{UNIQUE}, relate 1 <R>, filter_count 2 <C2> <S2>")
    composite = template(f"{UNIQUE}, relate_filter_count 1 <R> <C2> <S2>")
    given = {**BALL, "<R>": "left"}

    def kept(record: dict, policy: str) -> int:
        return len(instantiations(record, SCENE, DOMAIN, degeneracy=policy, given=given))

    # in the whole scene "red cube" counts 1 as left of the ball; among all but the ball so do red, ball and red ball
    assert [kept(raw, policy) for policy in ("none", "clevr", "all")] == [8, 7, 4]
    assert [kept(composite, policy) for policy in ("none", "clevr", "all")] == [8, 8, 4]


# Reference templates and official scenes --------------------------------------------------------------------------


def reference(shared: Path) -> tuple[dict, list[dict], list[dict]]:
    """The reference's metadata and templates, and one official scene of 3, one of 4 objects."""
    folder = shared / "data" / "clevr_v1"
    templates = [t for path in sorted((folder / "templates").glob("*.json")) for t in json.loads(path.read_text())]
    scenes = json.loads((shared / "data" / "clevr_v1_train_scenes_1000.json").read_text())["scenes"]
    small = [next(scene for scene in scenes if len(scene["objects"]) == size) for size in (3, 4)]
    return json.loads((folder / "metadata.json").read_text()), templates, small


@pytest.mark.slow
def test_every_reference_template_gives_sound_programs(shared: Path) -> None:
    """Programs pass the oracle, answer as the instantiation says, and hold exactly the words of the slots."""
    metadata, templates, scenes = reference(shared)
    text = {"question": "Is it so?"}
    for scene, record in product(scenes, templates):
        for found in islice(each_instantiation(record, scene, metadata, absent=True), 40):
            image = {"image_filename": scene["image_filename"]}
            question = {**text, **image, "program": program_records(found.program), "answer": found.answer}
            said = Counter(word for _, word in found.slots if word is not None)
            assert check_question(question, scene, metadata) == []
            assert Counter(word for _, _, words in found.program for word in words) == said


@pytest.mark.slow
def test_each_filling_of_the_reference_templates_is_found_once(shared: Path) -> None:
    """With colors as the only words, which leaves few enough; those without trivial relations are among them."""
    metadata, templates, (_, scene) = reference(shared)
    for record in [narrowed(record, ["Size", "Material", "Shape"]) for record in templates]:
        every = list(each_instantiation(record, scene, metadata))
        assert len(every) == len(set(every))
        assert instantiations(record, scene, metadata, trivial=False) <= set(every)
