"""The slow twin and the oracle are right: small cases computed by hand, and laws.

The hand-made scene, from left to right: red cube (0), red ball (1), blue cube (2). Its eight descriptions, with the
number of objects that fit: any 3, red 2, blue 1, cube 2, ball 1, red cube 1, red ball 1, blue cube 1;
a blue ball is absent.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice, product
from pathlib import Path

import naive
import pytest
from naive import Undefined, each_instantiation, instantiations, narrowed, program_records
from oracle import check_question

DOMAIN = {
    "types": {
        "Object": None,
        "ObjectSet": None,
        "Integer": None,
        "Bool": None,
        "Color": ["red", "blue"],
        "Shape": {"values": ["cube", "ball"], "null": "thing"},
        "Relation": ["left", "right"],
    }
}
SCENE = {
    "image_filename": "three_000007.png",
    "image_index": 7,
    "split": "test",
    "objects": [
        {"color": "red", "shape": "cube"},
        {"color": "red", "shape": "ball"},
        {"color": "blue", "shape": "cube"},
    ],
    "relationships": {"left": [[], [0], [0, 1]], "right": [[1, 2], [2], []]},
}
PARAMS = {"<C>": "Color", "<S>": "Shape", "<R>": "Relation", "<C2>": "Color", "<S2>": "Shape", "<C3>": "Color"}


def program(text: str) -> list[dict]:
    """Steps divided by commas; the numbers of a step are its inputs, its other words its values."""
    steps = [step.split() for step in text.split(",")]
    return [
        {"type": name, "inputs": [int(w) for w in rest if w.isdigit()],
         "value_inputs": [w for w in rest if not w.isdigit()]}
        for name, *rest in steps
    ]  # fmt: skip


def template(text: str, *constraints: str) -> dict:
    """A template record; its nodes written as in `program`, its constraints as "NULL <C> <S>" or "OUT_EQ 1 3"."""
    nodes = [{"type": n["type"], "inputs": n["inputs"], "side_inputs": n["value_inputs"]} for n in program(text)]
    split = [(kind, params) for kind, *params in (line.split() for line in constraints)]
    return {
        "params": [{"type": kind, "name": name} for name, kind in PARAMS.items()],
        "nodes": nodes,
        "constraints": [{"type": k, "params": [int(p) if p.isdigit() else p for p in ps]} for k, ps in split],
    }


def count(text: str, *constraints: str, **switches: object) -> int:
    return len(instantiations(template(text, *constraints), SCENE, DOMAIN, **switches))


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
    assert naive.answer(program(f"{ball}, same_color 2, count 3"), scene, DOMAIN) == 0
    with pytest.raises(Undefined):
        naive.answer(program(f"{ball}, query_color 2"), scene, DOMAIN)


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


# Filling templates ------------------------------------------------------------------------------------------------

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


# Reference templates and official scenes --------------------------------------------------------------------------


def reference(shared: Path) -> tuple[dict, list[dict], list[dict]]:
    """The reference's metadata and templates, and one official scene of 3, one of 4 objects."""
    folder = shared / "data" / "clevr_v1"
    templates = [t for path in sorted((folder / "templates").glob("*.json")) for t in json.loads(path.read_text())]
    scenes = json.loads((shared / "data" / "clevr_v1_train_scenes_1000.json").read_text())["scenes"]
    small = [next(scene for scene in scenes if len(scene["objects"]) == size) for size in (3, 4)]
    return json.loads((folder / "metadata.json").read_text()), templates, small


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


def test_each_filling_of_the_reference_templates_is_found_once(shared: Path) -> None:
    """With colors as the only words, which leaves few enough; those without trivial relations are among them."""
    metadata, templates, (_, scene) = reference(shared)
    for record in [narrowed(record, ["Size", "Material", "Shape"]) for record in templates]:
        every = list(each_instantiation(record, scene, metadata))
        assert len(every) == len(set(every))
        assert instantiations(record, scene, metadata, trivial=False) <= set(every)


# The oracle -------------------------------------------------------------------------------------------------------

QUESTION = {
    "image_filename": "three_000007.png",
    "image_index": 7,
    "image": "three_000007",
    "split": "test",
    "question": "How many cubes are left of a red ball?",
    "program": program("scene, filter_shape 0 ball, unique 1, relate 2 left, filter_shape 3 cube, count 4"),
    "answer": 1,
}


def released(record: dict, answer: str) -> dict:
    steps = [{"function": s["type"], "inputs": s["inputs"], "value_inputs": s["value_inputs"]}
             for s in record["program"]]  # fmt: skip
    return {**record, "program": steps, "answer": answer}


YES_NO = {**QUESTION, "program": program("scene, filter_shape 0 ball, exist 1")}
GOOD = [
    QUESTION,
    released(QUESTION, "1"),
    {**YES_NO, "answer": True},
    released(YES_NO, "yes"),
    released({**YES_NO, "program": program("scene, filter_shape 0 ball, unique 1, query_color 2")}, "red"),
    {**QUESTION, "question": "Is there an old cube, or a blue cube?"},
]
WRONG = [
    ({"answer": 2}, "answer is 2, should be 1"),
    ({"answer": "1"}, "answer is '1', should be 1"),
    ({"answer": True}, "answer is True, should be 1"),
    ({"image_index": 8}, "image_index is 8"),
    ({"image": "three"}, "image is 'three'"),
    ({"split": "val"}, "split is 'val'"),
    ({"image_filename": "four.png"}, "image_filename is 'four.png'"),
    ({"program": []}, "no program"),
    ({"program": [{"inputs": [], "value_inputs": []}]}, "not exactly one of type and function"),
    ({"program": [{"type": "scene", "inputs": []}]}, "value_inputs is no list"),
    ({"program": [*program("scene"), {"function": "count", "inputs": [0], "value_inputs": []}]}, "are mixed"),
    ({"program": program("scene, filter_hue 0 red, count 1")}, "no function 'filter_hue'"),
    ({"program": program("scene, filter 0, count 1")}, "no function 'filter'"),
    ({"program": program("scene, filter_color 0 green, count 1")}, "no Color 'green'"),
    ({"program": program("scene, filter_color 0, count 1")}, "value_inputs are [], 1 wanted"),
    ({"program": program("scene, count")}, "inputs are [], 1 wanted"),
    ({"program": program("scene, count 1")}, "input 1 is no earlier step"),
    ({"program": program("scene, scene, count 0")}, "step 1 (scene) is not used"),
    ({"program": program("scene, query_color 0")}, "inputs are ('ObjectSet',), ('Object',) wanted"),
    ({"program": program("scene, filter_color 0 red")}, "gives no answer"),
    ({"program": program("scene, unique 0, query_color 1")}, "the program has no answer"),
    ({"question": ""}, "no question"),
    ({"question": "how many cubes?"}, "upper-case"),
    ({"question": "How many cubes"}, "end with '?'"),
    ({"question": "How many <S>s?"}, "contains '<'"),
    ({"question": "How many [red cubes?"}, "contains '['"),
    ({"question": "How many  cubes?"}, "contains '  '"),
    ({"question": "How many cubes ?"}, "contains ' ?'"),
    ({"question": "Is there a orange cube?"}, "'a' before 'orange'"),
    ({"question": "Is there an red cube?"}, "'an' before 'red'"),
    ({"question": "An red cube, is it there?"}, "'an' before 'red'"),
    ({"question": "Is the a cube there?"}, "'the' before 'a'"),
    ({"question": "Is there a red cubes?"}, "'a' before the plural 'cubes'"),
    ({"question": "Is there a things?"}, "'a' before the plural 'things'"),
]


@pytest.mark.parametrize("record", GOOD)
def test_a_good_question_passes(record: dict) -> None:
    assert check_question(record, SCENE, DOMAIN) == []


@pytest.mark.parametrize(("change", "complaint"), WRONG)
def test_each_fault_is_named(change: dict, complaint: str) -> None:
    assert complaint in "; ".join(check_question({**QUESTION, **change}, SCENE, DOMAIN))


@pytest.mark.parametrize("field", ["image_filename", "question", "program", "answer"])
def test_what_is_missing_is_named(field: str) -> None:
    record = {key: value for key, value in QUESTION.items() if key != field}

    assert len(check_question(record, SCENE, DOMAIN)) == 1


def test_the_released_dialect_has_answers_in_words() -> None:
    wrong = released(YES_NO, "yes") | {"answer": True}

    assert check_question(wrong, SCENE, DOMAIN) == ["answer is True, should be 'yes'"]
