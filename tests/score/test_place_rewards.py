"""Rewards for places and hops: right replies earn all of it, and no trick earns any."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vqagen import rewards
from vqagen.errors import UsageError
from vqagen.items.answers import PLACES

CUBE, BALL, ROD = [100, 100, 140, 140], [200, 50, 260, 110], [300, 200, 330, 290]
EVERY = [CUBE, BALL, ROD]
TWO = [CUBE, BALL]
REASONING = (
    "There is one cube, at (120, 120). Right of it are two things: the ball at (230, 80) and the rod at (315, 245)."
    " I see that the ball is red. Only one thing is behind the cube: the ball at (230, 80). The answer is the ball."
)
THREE = ("The cube is at (118, 125).", "Two: (231, 79), (310, 240).", "It is at [200, 50, 260, 110].")


def _answered(answer: str) -> str:
    return f"<think>Let me see.</think> <answer>{answer}</answer>"


RIGHT = [
    ("[100, 100, 140, 140] [200, 50, 260, 110]", TWO, 1.0),
    ("(120, 120), (230, 80)", TWO, 1.0),
    ("(230, 80) and (120, 120)", TWO, 1.0),
    ("[[200, 50, 260, 110], [100, 100, 140, 140]]", TWO, 1.0),
    ('[{"bbox_2d": [100, 100, 140, 140], "label": "cube"}]', [CUBE], 1.0),
    ('<point x="120" y="120" alt="cube">cube</point>', [CUBE], 1.0),
    ("[100, 100, 140, 130]", [CUBE], 0.75),
    ("none", [], 1.0),
    ("None.", [], 1.0),
    ("[]", [], 1.0),
]
ATTACKS = [
    ("the whole picture", "[0, 0, 480, 320]", TWO),
    ("the whole picture twice", "[0, 0, 480, 320] [0, 0, 480, 320]", TWO),
    ("every object", "[100, 100, 140, 140] [200, 50, 260, 110] [300, 200, 330, 290]", TWO),
    ("every object by points", "(120, 120) (230, 80) (315, 245)", TWO),
    ("one of two", "[100, 100, 140, 140]", TWO),
    ("one twice", "[100, 100, 140, 140] [100, 100, 140, 140]", TWO),
    ("a box in both forms", "[100, 100, 140, 140] (120, 120)", [CUBE]),
    ("a grid of points", " ".join(f"({x}, {y})" for x in range(0, 480, 40) for y in range(0, 320, 40)), [CUBE]),
    ("many boxes", "[100, 100, 140, 140] " * 5000, [CUBE]),
    ("nan", "[nan, nan, nan, nan]", [CUBE]),
    ("json nan", '[{"bbox_2d": [NaN, 100, 140, 140]}]', [CUBE]),
    ("infinity", '[{"bbox_2d": [-1e999, -1e999, 1e999, 1e999]}]', [CUBE]),
    ("huge", f"[0, 0, {'9' * 5000}, {'9' * 5000}]", [CUBE]),
    ("huge exponents", '{"bbox_2d": [-1e308, -1e308, 1e308, 1e308]}', [CUBE]),
    ("sides exchanged", "[140, 140, 100, 100]", [CUBE]),
    ("no area", "[100, 100, 100, 140]", [CUBE]),
    ("none where one is", "none", [CUBE]),
    ("an empty list where one is", "[]", [CUBE]),
    ("nothing", "", [CUBE]),
    ("two boxes in one", '{"bbox_2d": [100, 100, 140, 140], "bbox": [0, 0, 5, 5]}', [CUBE]),
    ("digits of another script", "[１００, １００, １４０, １４０]", [CUBE]),
    ("a long answer", "[100, 100, 140, 140]" + " " * 2000, [CUBE]),
    ("a very long answer", "\n" * 900_000, [CUBE]),
    ("a very long list", "[" * 900_000, [CUBE]),
    ("nothing where nothing is", "", []),
    ("a place where nothing is", "(120, 120)", []),
    ("both none and a place", "none (120, 120)", [CUBE]),
    ("none and a place where nothing is", "none (120, 120)", []),
    ("words around", "It is the cube at (120, 120), or so", [CUBE]),
    ("the index", "0", [CUBE]),
    ("an alternative", "(120, 120) or (230, 80)", [CUBE]),
    ("booleans", '[{"bbox_2d": [true, true, true, true]}]', [[0, 0, 1, 1]]),
    ("texts", '[{"bbox_2d": ["100", "100", "140", "140"]}]', [CUBE]),
    ("deep", "[" * 5000 + "100, 100, 140, 140" + "]" * 5000, [CUBE]),
    ("deep json", '{"bbox_2d":' * 5000 + "1" + "}" * 5000, [CUBE]),
    ("10 MB", "[100, 100, 140, 140] " * 500_000, [CUBE]),
    ("10 MB of tags", "<point x=" * 1_000_000, [CUBE]),
]
WHOLE_REPLIES = [
    ("right in thoughts alone", "<think>(120, 120)</think>", 0.0),
    ("right in an earlier answer", "<answer>(120, 120)</answer><answer>(230, 80)</answer>", 0.0),
    ("right in the last answer", "<answer>(230, 80)</answer> <answer>(120, 120)</answer>", 1.0),
    ("unfinished thoughts", "<think>so <answer>(120, 120)</answer>", 0.0),
    ("another tag", "<note>(120, 120)</note>", 0.0),
    ("nested answers", "<answer><answer>(120, 120)</answer> (230, 80)</answer>", 1.0),
    ("no tag at all", "(120, 120)", 1.0),
    ("no text", None, 0.0),
    ("a chat", [{"role": "assistant", "content": [{"type": "text", "text": _answered("(120, 120)")}]}], 1.0),
]


def test_right_places_earn_their_iou() -> None:
    """In each form, in any order."""
    found = [(answer, rewards.grounding_score(_answered(answer), boxes)) for answer, boxes, _ in RIGHT]
    assert found == [(answer, pytest.approx(earned)) for answer, _, earned in RIGHT]


def test_no_trick_earns_anything() -> None:
    """And no reply raises."""
    earned = [(name, rewards.grounding_score(_answered(answer), boxes)) for name, answer, boxes in ATTACKS]
    assert [name for name, reward in earned if reward] == []


def test_the_last_answer_alone_counts() -> None:
    """Thoughts and earlier answers do not."""
    found = [(name, rewards.grounding_score(reply, [CUBE])) for name, reply, _ in WHOLE_REPLIES]
    assert found == [(name, earned) for name, _, earned in WHOLE_REPLIES]


FIRST, SECOND, THIRD = THREE
EVERYTHING = "All: (120, 120), (230, 80), (315, 245)."
HOPS = [
    ("all", " ".join(THREE), 1.0),
    ("lines", "\n".join(THREE), 1.0),
    ("words between", f"{FIRST} It is red. {SECOND} Hm. {THIRD} So it is the ball.", 1.0),
    ("two of three", f"{FIRST} {THIRD}", 2 / 3),
    ("another order", f"{THIRD} {SECOND} {FIRST}", 1 / 3),
    ("one wrong", f"{FIRST} Two: (231, 79). {THIRD}", 2 / 3),
    ("each twice", f"{FIRST} {FIRST} {SECOND} {SECOND} {THIRD} {THIRD}", 1 / 2),
    ("more than asked", f"{FIRST} {SECOND} {THIRD} {FIRST} {SECOND} {THIRD}", 1 / 2),
    ("everything in one", " ".join((*THREE[:2], THIRD[:-1], "(120, 120), (315, 245).")), 2 / 3),
    ("everything each time", f"{EVERYTHING} " * 3, 0.0),
    ("the picture each time", "[0, 0, 480, 320]. " * 3, 0.0),
    ("a thousand hops", f"{FIRST} {SECOND} {THIRD} " * 400, 0.0),
    ("one object twice", f"{FIRST} Two: (231, 79), (231, 79). {THIRD}", 2 / 3),
    ("all but full stops", "(118, 125), (231, 79), (310, 240), (230, 80)", 0.0),
    ("nothing", "", 0.0),
    ("words", "There is one cube. Right of it are two things. It is the ball.", 0.0),
    ("nan", "(nan, nan). (inf, inf).", 0.0),
    ("huge", f"({'9' * 5000}, 1).", 0.0),
]


def test_hops_are_shares_of_the_longer_reasoning() -> None:
    """In order; whoever lists more earns no more."""
    replies = [(name, f"<think>{thoughts}</think><answer>x</answer>") for name, thoughts, _ in HOPS]
    found = [(name, rewards.hops_score(reply, REASONING, EVERY)) for name, reply in replies]
    assert found == [(name, pytest.approx(earned)) for name, _, earned in HOPS]


def test_hops_stand_in_the_last_thoughts() -> None:
    """Not in the answer, in thoughts before, or in a text without tags; 10 MB are nothing."""
    thoughts, empty = " ".join(THREE), "<think>hm</think>"
    replies = [thoughts, f"<answer>{thoughts}</answer>", f"<think>{thoughts}</think>{empty}", f"<think>{thoughts}"]
    replies += [f"<think>{'(1, 2). ' * 1_500_000}</think>", "<think>" * 1_000_000]
    assert [rewards.hops_score(reply, REASONING, EVERY) for reply in replies] == [0.0] * len(replies)
    assert rewards.hops_score(f"{empty}<think>{thoughts}</think>", REASONING, EVERY) == 1.0


def test_a_reasoning_without_places_is_not_rewarded() -> None:
    """There is nothing to compare; points without boxes have a reach of ten pixels."""
    assert rewards.hops_score("<think>(1, 2)</think>", "There is one cube. So the answer is yes.") is None
    near, far = ("<think>It is at (129, 111).</think>", "<think>It is at (131, 120).</think>")
    assert [rewards.hops_score(reply, "It is at (120, 120).") for reply in (near, far)] == [1.0, 0.0]


# Trainers -------------------------------------------------------------------------------------------------------------

PLACE_ROW = {"answer": "0, 1", "answer_type": "places", "boxes": EVERY, "reasoning": REASONING}
COUNT_ROW = {"answer": "3", "answer_type": "count", "boxes": EVERY, "reasoning": "There are three. The answer is 3."}


def test_trl_hands_over_columns() -> None:
    """Rows that ask for no place, or say none, have no reward; `answer_boxes` do as well as all boxes."""
    columns = {key: [PLACE_ROW[key], COUNT_ROW[key]] for key in PLACE_ROW}
    replies = [_answered("(120, 120) (230, 80)"), _answered("3")]
    assert rewards.grounding(None, replies, **columns) == [1.0, None]
    assert rewards.hops(None, [f"<think>{' '.join(THREE)}</think>", "3"], **columns) == [1.0, None]
    assert rewards.grounding(completions=replies, answer_boxes=[TWO, None]) == [1.0, None]
    assert rewards.grounding(None, ["none"], answer_boxes=[[]], answer_type=["count"]) == [None]
    arrays = [np.array([np.array(box) for box in TWO], dtype=object), None]
    assert rewards.grounding(completions=replies, answer_boxes=arrays) == [1.0, None]


def test_easyr1_and_verl_hand_over_a_row() -> None:
    """With the format; a batch or one."""
    right = {"response": _answered("(120, 120) (230, 80)"), "ground_truth": "0, 1", **PLACE_ROW}
    assert rewards.easyr1_grounding(right) == {"overall": 1.0, "format": 1.0, "grounding": 1.0}
    wrong = {**right, "response": "none"}
    assert rewards.easyr1_grounding([wrong]) == [{"overall": 0.0, "format": 0.0, "grounding": 0.0}]
    thought = f"<think>{FIRST} {SECOND}</think><answer>(120, 120) (230, 80)</answer>"
    of_hops = rewards.easyr1_hops({**right, "response": thought})
    assert isinstance(of_hops, dict)
    assert of_hops["hops"] == pytest.approx(2 / 3)
    found = rewards.verl_grounding("places", thought, "0, 1", PLACE_ROW)
    assert (found["score"], found["grounding"], found["format"]) == (1.0, 1.0, 1.0)
    assert rewards.verl_hops("places", thought, "0, 1", PLACE_ROW)["hops"] == pytest.approx(2 / 3)
    assert not math.isnan(found["score"])


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: rewards.grounding(None, ["x"], answer=["1"]), "needs a column `answer_boxes` or `boxes`"),
        (lambda: rewards.hops(None, ["x"], answer=["1"]), "needs a column `reasoning`"),
        (lambda: rewards.grounding(None, ["x"], answer_boxes=["cube"]), "expected boxes such as"),
        (lambda: rewards.grounding(None, ["x"], answer_boxes=[[[1, 2, 3]]]), "expected boxes such as"),
        (
            lambda: rewards.grounding(None, ["x"], answer=["7"], answer_type=["places"], boxes=[EVERY]),
            "its row needs `answer_boxes`",
        ),
        (lambda: rewards.verl_hops("x", "x", "x", {}), "hops: the row has no places"),
    ],
)
def test_rows_that_lack_places_are_refused(call: object, told: str) -> None:
    """Faults of the data set are told; those of replies never are."""
    assert callable(call)
    with pytest.raises(UsageError, match=told):
        call()


def test_accuracy_and_credit_read_the_numbers_of_objects() -> None:
    """As a dataset has them; points and boxes earn nothing there, and raise nothing."""
    replies = [_answered("0, 1"), _answered("1"), _answered("(120, 120) (230, 80)"), "[1, 2, 3, 4]", "none"]
    assert rewards.accuracy(None, replies, answer=["0, 1"] * 5, answer_type=[PLACES] * 5) == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert rewards.accuracy(None, ["none"], answer=["none"], answer_type=[PLACES]) == [1.0]
    assert [rewards.credit(reply, "0, 1", PLACES) for reply in replies[2:]] == [0.0, 0.0, 0.0]


def test_the_answer_type_is_that_of_datasets() -> None:
    """As `vqagen dataset` writes it."""
    assert PLACE_ROW["answer_type"] == PLACES
