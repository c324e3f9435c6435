"""Answers that are places: how predictions are read, matched with objects and scored, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Commands

from vqagen.items.answers import PLACES
from vqagen.items.places import Runs, Spot, Spots
from vqagen.items.table import Gold
from vqagen.score.answers.judging import judge
from vqagen.score.answers.places import read_marks

MADE = (
    "scenes sample --count 30 --seed 2 -o sampled.json",
    "scenes draw sampled.json -o pictures",
    "generate --scenes pictures/scenes.json --templates clevr-places -o places.jsonl",
)
LEFT, RIGHT = (0.0, 0.0, 20.0, 20.0), (100.0, 0.0, 140.0, 20.0)
TWO = Gold(PLACES, ((0, 1),), Spots((Spot(LEFT), Spot(RIGHT)), (200, 100)))
NONE = Gold(PLACES, ((),), Spots((), (200, 100)))

READ = [
    ("none", []),
    ("None.", []),
    ("[]", []),
    ("```json\n[]\n```", []),
    ("(212, 140)", [(212, 140)]),
    ("[1,2,30,40], [5, 6, 7, 8]", [(1, 2, 30, 40), (5, 6, 7, 8)]),
    ("[[1, 2, 30, 40], [5, 6, 7, 8]]", [(1, 2, 30, 40), (5, 6, 7, 8)]),
    ("The cube is at (3.5, 4).", [(3.5, 4)]),
    ('[{"bbox_2d": [1, 2, 30, 40], "label": "cube"}]', [(1, 2, 30, 40)]),
    ('```json\n[\n\t{"bbox_2d": [1, 2, 30, 40]},\n\t{"point_2d": [5, 6]}\n]\n```', [(1, 2, 30, 40), (5, 6)]),
    ('Here it is: {"box": [1, 2, 30, 40]}', [(1, 2, 30, 40)]),
    ("a red cube", None),
    ("", None),
    ("[30, 2, 1, 40]", None),
    ('[{"bbox_2d": [1, 2, 30]}]', None),
    ('[{"bbox_2d": ["a", "b", "c", "d"]}]', None),
    ('[{"bbox_2d": [1, 2, 1e400, 3]}]', None),
    ('[{"label": "cube"}]', None),
    ("[1, 2, 999999999, 3]", None),
    (" ".join(["(1, 2)"] * 101), None),
]
JUDGED = [
    ("[0, 0, 20, 20] [100, 0, 140, 20]", TWO, 1.0),
    ("[100, 0, 140, 20] [0, 0, 20, 20]", TWO, 1.0),
    ("(10, 10) (120, 10)", TWO, 1.0),
    ("[0, 0, 20, 20]", TWO, 2 / 3),
    ("[0, 0, 20, 20] [0, 0, 20, 20]", TWO, 0.5),
    ("[0, 0, 20, 20] [0, 0, 20, 20] [100, 0, 140, 20]", TWO, 0.8),
    ("[0, 0, 200, 100]", TWO, 0.0),
    ("[0, 0, 20, 11] [100, 0, 140, 9]", TWO, 0.5),
    ("none", TWO, 0.0),
    ("0, 1", TWO, 1.0),
    ("1", TWO, 2 / 3),
    ("<think>[0, 0, 20, 20]</think><answer>[100, 0, 140, 20]</answer>", TWO, 2 / 3),
    ('<points x1="10" y1="10" x2="120" y2="10" alt="cubes">cubes</points>', TWO, 1.0),
    ('<think>hm</think><answer><point x="10" y="10"><point x="120" y="10"></answer>', TWO, 1.0),
    ("none", NONE, 1.0),
    ("There are none.", NONE, 1.0),
    ("[]", NONE, 1.0),
    ("(10, 10)", NONE, 0.0),
    ("0", NONE, 0.0),
    ("I cannot see any.", NONE, 0.0),
]


def test_places_are_read_as_models_write_them() -> None:
    """And what is none is no place, not the empty set."""
    assert [(text, read_marks(text)) for text, marks in READ if read_marks(text) != marks] == []


def test_places_are_matched_with_objects() -> None:
    """The credit is the F1 of the sets: each object counts once, and each mark too much takes something."""
    judged = [(text, judge([text], gold, coordinates="pixels").credits[0]) for text, gold, _ in JUDGED]
    assert judged == [(text, pytest.approx(credit)) for text, _, credit in JUDGED]


def test_thousandths_are_shares_of_the_picture() -> None:
    """Of its width and of its height."""
    judged = judge(["[0, 0, 100, 200] [500, 0, 700, 200]"], TWO, coordinates="1000")
    assert (judged.credits, judged.place and judged.place.iou) == ((1.0,), 1.0)


def test_a_point_must_be_on_what_can_be_seen() -> None:
    """Where another object hides it, it is not on the object; pixels run down the columns."""
    hidden = Runs(20, (200, 400))  # of 20 columns the last ten
    gold = Gold(PLACES, ((0,),), Spots((Spot(LEFT, hidden),)))
    points = ["(9.9, 3)", "(10, 3)", "(19.9, 19.9)", "(20, 3)", "(10, -1)"]
    assert [judge([point], gold, coordinates="pixels").credits[0] for point in points] == [0, 1, 1, 0, 0]


def _write(name: str, form: Callable[[dict[str, Any]], object]) -> None:
    records = [json.loads(line) for line in Path("places.jsonl").read_text("utf-8").splitlines()]
    asked = [record for record in records if "question" in record]
    lines = [{"question_index": each["question_index"], "answer": form(each)} for each in asked]
    Path(name).write_text("\n".join(map(json.dumps, lines)), "utf-8")


def _boxed(record: dict[str, Any]) -> object:
    return [{"bbox_2d": box, "label": "thing"} for box in record["answer_boxes"]] or "none"


def test_reports_have_a_row_for_each_type(vqagen_: Commands) -> None:
    """The right boxes are all right; no guess without the picture is as good; a baseline knows them."""
    vqagen_.given(*MADE)
    _write("right.jsonl", _boxed)
    told = vqagen_.done("evaluate places.jsonl right.jsonl --coordinates pixels --all").out.decode()
    rows = re.findall(r"^  (mark|point) +\d+  1\.000  1\.000  1\.000 +(\d+) +(1\.000|-)$", told, re.M)
    assert [(name, rate) for name, _, rate in rows] == [("mark", "1.000"), ("point", "-")]
    assert int(rows[0][1]) > 10
    assert re.search(r"^  point .*  0\.000  1\.000$", told, re.M)

    vqagen_.done("baseline majority --questions places.jsonl -o majority.jsonl")
    assert "overall" in vqagen_.done("evaluate places.jsonl majority.jsonl").out.decode()


def test_a_file_is_scored_alike_without_its_info(vqagen_: Commands) -> None:
    """What `point` and `mark` give are places in any file."""
    vqagen_.given(*MADE)
    _write("given.jsonl", _boxed)
    Path("places.jsonl.info.json").unlink()
    ran = vqagen_.done("evaluate places.jsonl given.jsonl --coordinates pixels --all")

    assert re.search(r"^  overall .* 1\.000 ", ran.out.decode(), re.M), ran.out.decode()


REFUSED = [
    ("--coordinates pixels", _boxed, 0, "coordinates are scored as pixels without a check: the size of"),
    ("--coordinates pixels --scenes pictures/scenes.json", _boxed, 0, ""),
    ("", _boxed, 2, "say by --coordinates whether these are pixels, or 0 to 1000"),
    ("--coordinates 1000", _boxed, 2, "the size of the pictures is not known: give --scenes"),
    ("--coordinates pixels --scenes sampled.json", _boxed, 2, "nothing says where objects are: give --scenes"),
    (
        "--coordinates pixels --scenes pictures/scenes.json",
        lambda record: [[2 * side for side in box] for box in record["answer_boxes"]] or "none",
        2,
        "go beyond their pictures; if their coordinates are no pixels, say --coordinates 1000",
    ),
    ("", lambda record: {"shape": [1, 2]}, 3, "expected an answer (a text"),
]


SPOILED = [
    ("places.jsonl", '"answer_boxes":[[', '"answer_boxes":["x",[', "answer_boxes: expected a box such as"),
    ("pictures/scenes.json", '"box":[', '"box":[9,', "scenes[0]: expected a box such as"),
    ("pictures/scenes.json", '"width":480', '"width":48', "lies outside of the picture, which has 48 x 320 pixels"),
    (
        "pictures/scenes.json",
        '"width":480',
        '"width":"wide"',
        "camera: expected whole numbers as the width and the height",
    ),
    ("pictures/scenes.json", '"counts":', '"count":', "scenes[0]: expected a mask with size and counts"),
    ("pictures/scenes.json", '"box":[', '"box":[-', "lies outside of the picture, which has 480 x 320 pixels"),
    ("pictures/scenes.json", '"mask":', '"masks":', "some objects have a mask and others have none, though"),
    ("pictures/scenes.json", '"size":[320,480]', '"size":[480,320]', "a mask has 320 x 480 pixels, and its picture"),
    (
        "pictures/scenes.json",
        '"counts":[',
        '"counts":[7,',
        "scenes[0]: expected the runs of a mask of 320 x 480 pixels",
    ),
]


@pytest.mark.parametrize(("file", "old", "new", "told"), SPOILED)
def test_spoiled_boxes_and_masks_are_told(vqagen_: Commands, file: str, old: str, new: str, told: str) -> None:
    """With their place in the file."""
    vqagen_.given(*MADE)
    _write("given.jsonl", _boxed)
    text = Path(file).read_text("utf-8")
    assert old in text
    Path(file).write_text(text.replace(old, new, 1), "utf-8")
    scenes = "--scenes pictures/scenes.json" if "scenes" in file else ""
    ran = vqagen_(f"evaluate places.jsonl given.jsonl --coordinates pixels {scenes}")
    assert (ran.code, told in ran.err) == (3, True), ran.err


def test_what_is_unclear_is_refused(vqagen_: Commands) -> None:
    """One line says what to do."""
    vqagen_.given(*MADE)
    found = []
    for options, form, code, told in REFUSED:
        _write("given.jsonl", form)
        ran = vqagen_(f"evaluate places.jsonl given.jsonl {options}")
        if ran.code != code or told not in ran.err or (code == 2 and ran.err.count("\n") > 1):
            found.append((options, ran.code, ran.err))
    assert found == []
