"""The oracle passes good questions and names each fault of others."""

from __future__ import annotations

from general_domain import METADATA, SCENES
from oracles.oracle import check_question
from program_notation import program
from toy_scene import DOMAIN, SCENE

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
    ({"question": "How many cubes"}, "does not end with '?'"),
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


# Another domain ---------------------------------------------------------------------------------------------------

PANTRY = SCENES[0]
TOPPINGS = {
    "image_filename": "pantry_0.png",
    "question": "Name what is on an organic loaf.",
    "program": program("scene, filter_kind 0 loaf, filter_label 1 organic, unique 2, query_topping 3"),
    "answer": ["seeds", "salt"],
}
ORIGINS = {"program": program("scene, filter_kind 0 loaf, not_unique 1, count_different_origin 2"), "answer": 2}
GOOD_PANTRY = [
    TOPPINGS,
    released(TOPPINGS, "seeds, salt"),
    {**TOPPINGS, **ORIGINS},
    {**TOPPINGS, "program": program("scene, count 0, scene, filter_kind 2 loaf, count 3, subtract 1 4"), "answer": 2},
    {**TOPPINGS, "program": program("scene, filter_kind 0 pear, exist 1, not 2"), "answer": True},
    {**TOPPINGS, "question": "Is a uniform food from an hour ago on a unit, or an umbrella on an L?"},
]
WRONG_PANTRY = [
    ({"answer": ["salt", "seeds"]}, "answer is ['salt', 'seeds'], should be ['seeds', 'salt']"),
    ({"answer": ("seeds", "salt")}, "should be ['seeds', 'salt']"),
    ({**ORIGINS, "answer": 1}, "should be 2"),
    ({"program": program("scene, filter_kind 0 cake, count 1")}, "no Kind 'cake'"),
    ({"program": program("scene, filter_kind 0 bun, unique 1, relate 2 left, count 3")}, "no Relation 'left'"),
    ({"program": program("scene, filter_kind 0 apple, unique 1, query_topping 2")}, "object 0 has no topping"),
    ({"program": program("scene, filter_kind 0 apple, not_unique 1, count 2")}, "not_unique of 1 objects"),
    ({"program": program("scene, count_different_kind 0, not 1")}, "('Integer',), ('Bool',) wanted"),
    ({"question": "Is there a organic loaf?"}, "'a' before 'organic'"),
    ({"question": "Is there a big foods?"}, "'a' before the plural 'foods'"),
]


def test_good_questions_pass_and_each_fault_is_named() -> None:
    """In both dialects and both domains."""
    assert [record for record in GOOD if check_question(record, SCENE, DOMAIN)] == []
    assert [record for record in GOOD_PANTRY if check_question(record, PANTRY, METADATA)] == []
    missing = [({field: None}, "no ") for field in ("image_filename", "question", "program")]
    worded = (released(YES_NO, "yes") | {"answer": True}, "answer is True, should be 'yes'")
    for question, scene, metadata, wrong in (
        (QUESTION, SCENE, DOMAIN, [*WRONG, *missing[1:], worded]),
        (TOPPINGS, PANTRY, METADATA, WRONG_PANTRY),
    ):
        for change, complaint in wrong:
            assert complaint in "; ".join(check_question({**question, **change}, scene, metadata)), change
