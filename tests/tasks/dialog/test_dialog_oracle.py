"""The oracle of dialogs finds what is wrong with hand-made ones, and nothing in those that are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from depth import some
from dialog_domains import compiled, dialog_domain, dialog_judge, faults_found
from generated_dialogs import dialogs_about, generated, real_scenes
from oracles.dialogs.judging import Asked, Judged, Transcript
from oracles.dialogs.verdicts import HARD
from scene_records import sampled_scenes, scene_record

from vqagen.tasks.dialog.verification import DialogVerification

Record = Mapping[str, Any]
ROW = scene_record(
    [
        "large red metal cube",
        "small red rubber sphere",
        "small blue metal cube",
        "large green rubber cylinder",
        "small green metal sphere",
    ],
    [0, 1, 2, 3, 4],
    [4, 3, 2, 1, 0],
)
"""Five objects, numbered from left to right and from behind to the front."""


def spoken(caption: str, rounds: Sequence[str]) -> Transcript:
    """A dialog. A caption is written as "label: text", a round as "label: question answer".

    >>> spoken("unique-obj: There is a blue thing in the image.", ["count-all: How many things are there? 5"]).rounds
    [Asked(question='How many things are there?', answer=5, label='count-all')]
    """
    label, text = caption.split(": ", 1)
    return Transcript(text, label, [_asked(each) for each in rounds])


def _asked(written: str) -> Asked:
    label, said = written.split(": ", 1)
    question, answer = said.rsplit(" ", 1)
    return Asked(question, int(answer) if answer.isdigit() else answer, label)


def judged(caption: str, rounds: Sequence[str], record: Mapping[str, Any] = ROW) -> Judged:
    """The verdicts on a dialog about a scene."""
    return dialog_judge().judge(spoken(caption, rounds), compiled(record))


def kinds(found: Judged) -> list[list[str]]:
    """The kinds of verdicts on each sentence that was judged."""
    return [[verdict.kind for verdict in verdicts] for verdicts in found.verdicts]


LEFTMOST = "extreme-left: The leftmost thing in the image is a red thing."
BLUE = "unique-obj: There is a blue thing in the image."
ONE_BLUE = "unique-obj: There is exactly one blue thing in the image."
CYLINDER = "unique-obj: There is a cylinder in the image."
RED_ONES = "count-att: There are exactly two red things in the image."
SEVERAL_GREEN = "count-att-no: There are at least two green things in the image."
PAIR = "obj-relation: There is a cylinder right of a blue thing."

RIGHT = {
    "one of each kind of reference": (
        BLUE,
        [
            "seek-attr-imm: What is its size? small",
            "seek-attr-imm2: And the shape? cube",
            "seek-attr-rel-imm: What is the color of the next thing right of it, if there is one? green",
            "seek-attr-early: What is the material of the blue thing? metal",
            "count-obj-rel-early: How many things are left of the green thing? 3",
            "exist-attribute: Are there any red things in the image? yes",
            "count-all-group: How many of them are there in the image? 2",
            "count-attribute-group: How many of them are large? 1",
            "seek-attr-imm: What is its material? metal",
        ],
    ),
    "the same attribute of another object": (
        PAIR,
        [
            "seek-attr-early: What is the size of the cylinder? large",
            "seek-attr-imm: What is its material? rubber",
            "seek-attr-sim-early: And the blue thing from before? metal",
        ],
    ),
    "relations of one object again": (
        LEFTMOST,
        [
            "count-obj-rel-imm: How many things are in front of it? 4",
            "count-obj-rel-imm2: And how many are behind it? 0",
        ],
    ),
    "others with its value": (
        RED_ONES,
        [
            "count-attribute-group: How many of them are cubes? 1",
            "count-obj-exclude-imm: How many other things share its shape? 1",
        ],
    ),
    "capitals, articles and anything": (
        SEVERAL_GREEN,
        [
            "exist-other: Is there anything in the image that has not been mentioned so far? yes",
            "exist-attribute-group: Is there a cylinder among them? no",
        ],
    ),
    "nothing there": (BLUE, ["seek-attr-rel-imm: What is the color of the next thing behind it, if there is one? red"]),
}


def test_a_right_dialog_has_no_fault() -> None:
    """Every reference has one antecedent, every answer is the scene's, and none is known before."""
    found = {name: judged(*dialog) for name, dialog in RIGHT.items()}

    assert {name: each.verdicts for name, each in found.items() if not each.is_understood or any(kinds(each))} == {}


WRONG: dict[str, tuple[str, list[str], str]] = {
    "answer": (BLUE, ["seek-attr-imm: What is its size? large"], "wrong"),
    "answer as text": (BLUE, ["count-all: How many things are there in the image? five"], "wrong"),
    "label": (BLUE, ["exist-all: How many things are there in the image? 5"], "unparseable"),
    "another label": (BLUE, ["count-attribute: How many things are there in the image? 5"], "unparseable"),
    "unknown word": (BLUE, ["seek-attr-imm: What is its price? small"], "unparseable"),
    "article": (BLUE, ["seek-attr-imm: what is its size? small"], "unparseable"),
    "it is two": (RED_ONES, ["seek-attr-imm: What is its size? small"], "unlicensed"),
    "them is one": (BLUE, ["count-attribute-group: How many of them are cubes? 1"], "unlicensed"),
    "it of a pair": (PAIR, ["seek-attr-imm: What is its size? large"], "unlicensed"),
    "it of a set of unknown size": (
        BLUE,
        ["exist-attribute: Are there any cylinders in the image? yes", "seek-attr-imm: What is its size? large"],
        "unlicensed",
    ),
    "earlier of a set of unknown size": (
        PAIR,
        [
            "exist-attribute: Are there any red things in the image? yes",
            "seek-attr-early: What is the size of the red thing? large",
        ],
        "unlicensed",
    ),
    "earlier beside a set": (
        LEFTMOST,
        [
            "count-obj-rel-imm: How many things are in front of it? 4",
            "count-attribute: How many red things are there in the image? 2",
            "seek-attr-early: What is the size of the red thing? large",
        ],
        "unlicensed",
    ),
    "earlier was never said": (
        PAIR,
        ["seek-attr-early: What is the size of the red thing? large"],
        "unlicensed",
    ),
    "earlier is the topic": (
        BLUE,
        ["seek-attr-early: What is the size of the blue thing? small"],
        "unlicensed",
    ),
    "earlier is one of two": (
        LEFTMOST,
        [
            "seek-attr-rel-imm: What is the color of the next thing right of it, if there is one? red",
            "seek-attr-rel-imm: What is the size of the next thing right of it, if there is one? small",
            "seek-attr-early: What is the size of the red thing? large",
        ],
        "unlicensed",
    ),
    "ellipsis without a question": (BLUE, ["seek-attr-imm2: And what is its size? small"], "unlicensed"),
    "ellipsis of another family": (
        BLUE,
        [
            "count-obj-rel-imm: How many things are in front of it? 2",
            "exist-obj-rel-imm2: And is anything behind it? yes",
        ],
        "unlicensed",
    ),
    "ellipsis behind none": (
        LEFTMOST,
        [
            "seek-attr-rel-imm: What is the color of the next thing behind it, if there is one? none",
            "seek-attr-imm2: And what is its size? large",
        ],
        "unlicensed",
    ),
    "presupposes what is not known": (
        BLUE,
        ["seek-attr-rel-imm: What is the color of the next thing right of it? green"],
        "misworded",
    ),
    "doubts what is known": (
        LEFTMOST,
        [
            "exist-obj-rel-imm: Is there anything in front of it? yes",
            "seek-attr-rel-early: What is the size of the next thing in front of the red thing, if there is one? small",
        ],
        "misworded",
    ),
    "earlier is of the round before": (
        LEFTMOST,
        [
            "count-obj-rel-imm: How many things are in front of it? 4",
            "seek-attr-early: What is the size of the earlier red thing? large",
        ],
        "misworded",
    ),
    "earlier is left out": (
        LEFTMOST,
        [
            "count-all: How many things are there in the image? 5",
            "count-attribute: How many gray things are there in the image? 0",
            "seek-attr-early: What is the size of the red thing? large",
        ],
        "misworded",
    ),
    "comes back twice": (
        PAIR,
        [
            "count-all: How many things are there in the image? 5",
            "count-attribute: How many gray things are there in the image? 0",
            "seek-attr-early: Coming back to the blue thing, what is its size? small",
            "seek-attr-early: Coming back to the cylinder, what is its size? large",
        ],
        "misworded",
    ),
}


def test_a_wrong_round_is_found() -> None:
    """The last round is wrong, and only that one."""
    found = {name: kinds(judged(caption, rounds)) for name, (caption, rounds, _) in WRONG.items()}

    assert {name: each for name, each in found.items() if each[-1][:1] != [WRONG[name][2]] or any(each[:-1])} == {}


CAPTIONS = {
    "unique-obj: There is a red thing in the image.": "ambiguous",
    "unique-obj: There is exactly one red thing in the image.": "wrong",
    "unique-obj: There is a purple thing in the image.": "wrong",
    "extreme-left: The leftmost thing in the image is a blue thing.": "wrong",
    "extreme-right: The leftmost thing in the image is a red thing.": "unparseable",
    "extreme-right: There is a red thing in the image with nothing left of it.": "unparseable",
    "count-att: There are exactly three red things in the image.": "wrong",
    "count-att-no: There are at least two blue things in the image.": "wrong",
    "obj-relation: There is a red thing left of a cylinder.": "ambiguous",
    "obj-relation: There is a cylinder left of a blue thing.": "wrong",
    "unique-obj: A blue thing is what the image shows.": "unparseable",
    "unique-obj: There is an blue thing in the image.": "unparseable",
}


def test_a_wrong_caption_is_found() -> None:
    """A caption is true of exactly one object, pair or set."""
    assert {caption: kinds(judged(caption, []))[0][0] for caption in CAPTIONS} == CAPTIONS


# Redundancy -----------------------------------------------------------------------------------------------------------

REDUNDANT: dict[str, tuple[str, list[str]]] = {
    "rule 1: found to the left, so something is right of it": (
        BLUE,
        [
            "seek-attr-rel-imm: What is the color of the next thing left of it, if there is one? red",
            "exist-obj-rel-imm: Is anything right of it? yes",
        ],
    ),
    "rule 1: found to the left, so something is there": (
        BLUE,
        [
            "seek-attr-rel-imm: What is the color of the next thing left of it, if there is one? red",
            "exist-obj-rel-early: Is anything left of the blue thing? yes",
        ],
    ),
    "rule 2: a caption of two objects": (
        PAIR,
        ["exist-obj-rel-early: Is anything left of the cylinder? yes"],
    ),
    "rule 3: nothing was found": (
        LEFTMOST,
        [
            "seek-attr-rel-imm: What is the color of the next thing behind it, if there is one? none",
            "count-obj-rel-early: How many things are behind the red thing? 0",
        ],
    ),
    "rule 3: nothing was found, asked for another attribute": (
        LEFTMOST,
        [
            "seek-attr-rel-imm: What is the color of the next thing behind it, if there is one? none",
            "seek-attr-rel-early: What is the size of the next thing behind the red thing, if there is one? none",
        ],
    ),
    "rule 4 (B6): there are none, so they are not counted": (
        LEFTMOST,
        [
            "exist-obj-rel-imm: Is anything behind it? no",
            "count-obj-rel-early: How many things are behind the red thing? 0",
        ],
    ),
    "rule 4: the same of values": (
        BLUE,
        [
            "exist-attribute: Are there any purple things in the image? no",
            "count-attribute: How many purple things are there in the image? 0",
        ],
    ),
    "rule 5: exactly one": (ONE_BLUE, ["count-obj-exclude-imm: How many other things share its color? 0"]),
    "rule 6: one other, so two": (
        LEFTMOST,
        [
            "count-obj-exclude-imm: How many other things share its color? 1",
            "count-attribute: How many red things are there in the image? 2",
        ],
    ),
    "rule 7: counted, so others are one fewer": (
        "extreme-left: The leftmost thing in the image is a red cube.",
        [
            "count-attribute: How many red things are there in the image? 2",
            "count-obj-exclude-early: How many other things have the same color as the cube? 1",
        ],
    ),
    "rule 8: none of them can be": (
        SEVERAL_GREEN,
        [
            "count-attribute: How many cubes are there in the image? 2",
            "count-attribute-group: How many of them are small? 1",
            "count-attribute: How many cylinders are there in the image? 1",
            "count-attribute: How many purple things are there in the image? 0",
            "exist-attribute: Are there any spheres in the image? yes",
            "exist-attribute-group: Are any of them purple? no",
        ],
    ),
    "rule 8: all of its set are, also of what is found later": (
        BLUE,
        [
            "count-obj-rel-imm: How many things are behind it? 2",
            "count-attribute-group: How many of them are red? 2",
            "seek-attr-rel-early: What is the shape of the next thing behind the blue thing? sphere",
            "seek-attr-imm: What is its color? red",
        ],
    ),
    "rule 8: all of them are": (SEVERAL_GREEN, ["exist-attribute-group: Are any of them red? no"]),
    "rule 9: two of them are known": (
        LEFTMOST,
        [
            "seek-attr-rel-imm: What is the color of the next thing right of it, if there is one? red",
            "exist-obj-exclude-imm: Are there any other things with the same color as it? yes",
        ],
    ),
    "rule 10: the last of two values": (
        BLUE,
        [
            "count-attribute: How many large things are there in the image? 2",
            "count-all: How many things are there in the image? 5",
            "count-attribute: How many small things are there in the image? 3",
        ],
    ),
    "rule 10: all of two values": (
        BLUE,
        [
            "count-attribute: How many large things are there in the image? 2",
            "count-attribute: How many small things are there in the image? 3",
            "count-all: How many things are there in the image? 5",
        ],
    ),
    "rule 11: no others": (
        BLUE,
        [
            "count-all: How many things are there in the image? 5",
            "exist-other: Are there any things in the image that have not been mentioned yet? no",
        ],
    ),
    "rule 12: the same question": (
        BLUE,
        ["seek-attr-imm: What is its size? small", "seek-attr-imm: What is its size? small"],
    ),
    "rule 5: exactly one, some rounds later": (
        ONE_BLUE,
        [
            "seek-attr-rel-imm: What is the shape of the next thing right of it, if there is one? cylinder",
            "exist-attribute: Are there any large things in the image? yes",
            "seek-attr-early: What is the shape of the blue thing? cube",
            "count-obj-exclude-imm: How many other things share its color? 0",
        ],
    ),
    "a value of two that is taken": (
        "unique-obj: There is exactly one cylinder in the image.",
        [
            "seek-attr-imm: What is its material? rubber",
            "count-obj-exclude-imm: How many other things share its material? 1",
            "seek-attr-rel-early: What is the material of the next thing left of the cylinder, if there is one? metal",
            "count-attribute: How many metal things are there in the image? 3",
            "count-all: How many things are there in the image? 5",
        ],
    ),
    "the next of the leftmost has one left of it": (
        LEFTMOST,
        [
            "seek-attr-rel-imm: What is the size of the next thing right of it, if there is one? small",
            "count-obj-rel-imm: How many things are left of it? 1",
        ],
    ),
    "both sides of an object are all others": (
        BLUE,
        [
            "count-obj-rel-imm: How many things are left of it? 2",
            "count-all: How many things are there in the image? 5",
            "count-obj-rel-early: How many things are right of the blue thing? 2",
        ],
    ),
    "an object left of one that is left of a third is another": (
        "extreme-behind: The rearmost thing in the image is a red thing.",
        [
            "seek-attr-rel-imm: What is the material of the next thing right of it, if there is one? rubber",
            "seek-attr-rel-imm: What is the size of the next thing right of it, if there is one? small",
            "exist-obj-rel-imm: Is anything behind it? yes",
        ],
    ),
    "nothing else is where the leftmost thing is": (
        LEFTMOST,
        [
            "seek-attr-rel-imm: What is the size of the next thing right of it, if there is one? small",
            "exist-obj-rel-imm: Is anything left of it? yes",
        ],
    ),
    "the rest lacks what was mentioned": (
        "count-att: There are exactly two rubber things in the image.",
        [
            "count-other: How many things in the image have not been mentioned yet? 3",
            "count-attribute-group: How many of them are spheres? 1",
            "seek-attr-imm: What is its material? metal",
        ],
    ),
    "those mentioned and the rest are all": (
        "count-att: There are exactly two rubber things in the image.",
        [
            "count-other: How many things in the image have not been mentioned yet? 3",
            "count-attribute-group: How many of them are blue? 1",
            "count-all: How many things are there in the image? 5",
        ],
    ),
    "the rest lacks the value of one and of all others alike": (
        CYLINDER,
        [
            "seek-attr-imm: What is its material? rubber",
            "exist-obj-exclude-imm: Do any other things share its material? yes",
            "count-other: How many things in the image have not been mentioned yet? 3",
            "count-attribute-group: How many of them are blue? 1",
            "seek-attr-imm: What is its material? metal",
        ],
    ),
    "none of the rubber ones is blue": (
        "count-att-no: There are at least two rubber things in the image.",
        [
            "exist-attribute-group: Are any of them blue? no",
            "count-attribute: How many blue things are there in the image? 1",
            "seek-attr-imm: What is its material? metal",
        ],
    ),
    "both members of a set are known": (
        CYLINDER,
        [
            "seek-attr-rel-imm: What is the shape of the next thing left of it, if there is one? cube",
            "seek-attr-rel-early: What is the shape of the next thing right of the cylinder, if there is one? sphere",
            "count-obj-rel-early: How many things are right of the cube? 2",
            "exist-attribute-group: Are any of them cubes? no",
        ],
    ),
    "both sides of it were mentioned": (
        BLUE,
        [
            "exist-obj-rel-imm: Is anything left of it? yes",
            "exist-obj-rel-imm2: And is anything right of it? yes",
            "count-other: How many things in the image have not been mentioned yet? 0",
        ],
    ),
    "the next of the next is back": (
        BLUE,
        [
            "seek-attr-rel-imm: What is the shape of the next thing right of it, if there is one? cylinder",
            "seek-attr-rel-imm: What is the color of the next thing left of it? blue",
        ],
    ),
}


def test_a_question_whose_answer_is_known_is_redundant() -> None:
    """The last round, and only that one, asks for what the text so far says (rules of 3.5)."""
    found = {name: kinds(judged(*dialog)) for name, dialog in REDUNDANT.items()}

    assert {name: each for name, each in found.items() if each[-1] != ["redundant"] or any(each[:-1])} == {}


def test_the_only_object_with_a_value_takes_it_from_others() -> None:
    """If exactly one thing is rubber, another is of the other material."""
    record = scene_record(
        ["large red metal cube", "small blue rubber cube", "small green metal sphere"], [0, 1, 2], [0, 1, 2]
    )
    rounds = [
        "seek-attr-rel-imm: What is the shape of the next thing right of it, if there is one? sphere",
        "seek-attr-imm: What is its material? metal",
    ]
    caption = "unique-obj: There is exactly one {} in the image."

    assert kinds(judged(caption.format("rubber thing"), rounds, record)) == [[], [], ["redundant"]]
    assert kinds(judged(caption.format("blue thing"), rounds, record)) == [[], [], []]


def test_two_mentions_are_of_two_objects_only_if_the_text_says_so() -> None:
    """The cylinder may be the blue thing; what was not mentioned is another thing than what was."""
    three = ["small blue metal sphere", "small green rubber cylinder", "large red metal cube"]
    rounds = [
        "count-attribute: How many cylinders are there in the image? 1",
        "seek-attr-imm: What is its size? small",
        "seek-attr-early: What is the size of the earlier blue thing? small",
        "exist-obj-exclude-imm: Are there any other things with the same size as it? yes",
    ]
    assert not any(kinds(judged(BLUE, rounds, scene_record(three, [0, 1, 2], [0, 1, 2]))))

    two = scene_record(["large red metal cube", "small red rubber sphere"], [0, 1], [0, 1])
    rounds = [
        "count-other: How many things in the image have not been mentioned yet? 1",
        "exist-obj-rel-imm: Is anything left of it? yes",
    ]
    assert kinds(judged(LEFTMOST, rounds, two)) == [[], [], ["redundant"]]


def test_a_thing_that_was_never_met_is_none_of_the_known_ones() -> None:
    """If one thing alone is rubber, the next thing beside it is metal, whichever that is."""
    record = scene_record(
        ["large red metal cube", "small blue rubber cube", "small green metal sphere"], [0, 1, 2], [0, 1, 2]
    )
    rounds = [
        "exist-obj-rel-imm: Is anything right of it? yes",
        "seek-attr-rel-early: What is the material of the next thing right of the rubber thing? metal",
    ]
    caption = "unique-obj: There is exactly one rubber thing in the image."

    assert kinds(judged(caption, rounds, record)) == [[], [], ["redundant"]]


TIED = scene_record(["large red metal cube", "small blue metal cube", "small green metal cube"], [0, 1, 2], [0, 1, 2])


def with_tie(record: dict[str, Any]) -> dict[str, Any]:
    """The scene with objects 1 and 2 neither left nor right of each other."""
    relations = {name: [list(row) for row in table] for name, table in record["relationships"].items()}
    relations["left"][2].remove(1)
    relations["right"][1].remove(2)
    return {**record, "relationships": relations}


def test_two_things_that_are_next_are_ambiguous() -> None:
    """The order of a tied scene leaves open which thing is next, also where both have the value."""
    for asked in (
        "color of the next thing right of it, if there is one? blue",
        "size of the next thing right of it, if there is one? small",
    ):
        found = kinds(judged(LEFTMOST, [f"seek-attr-rel-imm: What is the {asked}"], with_tie(TIED)))
        assert found[1] == ["ambiguous"]


def test_a_scene_with_ties_tells_no_other_side() -> None:
    """Where objects are tied, those left and right of one are not all others."""
    rounds = [
        "count-all: How many things are there in the image? 3",
        "count-obj-rel-early: How many things are left of the blue thing? 1",
        "count-obj-rel-early: How many things are right of the blue thing? 0",
    ]

    assert not any(kinds(judged(BLUE, rounds, with_tie(TIED))))
    assert kinds(judged(BLUE, [*rounds[:2], rounds[2].replace("? 0", "? 1")], TIED))[3] == ["redundant"]


# Weaknesses -----------------------------------------------------------------------------------------------------------


SOFT: dict[str, tuple[str, list[str], str]] = {
    "two antecedents": (
        CYLINDER,
        [
            "count-obj-rel-imm: How many things are in front of it? 1",
            "seek-attr-imm: What is its size? small",
        ],
        "antecedents",
    ),
    "a part of a set, or the set": (
        BLUE,
        [
            "exist-obj-rel-imm: Is anything left of it? yes",
            "exist-attribute-group: Are any of them spheres? yes",
            "count-all-group: How many of them are there in the image? 1",
        ],
        "antecedents",
    ),
    "only the scene shows that something is there": (
        BLUE,
        [
            "exist-attribute: Are there any spheres in the image? yes",
            "seek-attr-rel-early: What is the color of the next thing right of the blue thing? green",
        ],
        "presupposed",
    ),
    "value not told": (BLUE, ["count-obj-exclude-imm: How many other things share its size? 2"], "untold"),
    "one object by two mentions": (
        "count-att-no: There are at least two metal things in the image.",
        [
            "count-attribute-group: How many of them are spheres? 1",
            "count-attribute: How many cylinders are there in the image? 1",
            "seek-attr-rel-imm: What is the shape of the next thing in front of it, if there is one? sphere",
            "seek-attr-imm: What is its material? metal",
        ],
        "identity",
    ),
}


def test_a_weak_round_is_told_from_a_wrong_one() -> None:
    """The last round has a weakness, and no fault."""
    found = {name: kinds(judged(caption, rounds)) for name, (caption, rounds, _) in SOFT.items()}

    assert {name: each for name, each in found.items() if each[-1] != [SOFT[name][2]] or any(each[:-1])} == {}


def placed(key: str, places: Sequence[Sequence[float]]) -> Mapping[str, Any]:
    """The scene with these places of its objects."""
    objects = [{**each, key: list(place)} for each, place in zip(ROW["objects"], places, strict=True)]
    return {**ROW, "objects": objects}


def test_the_next_object_along_a_direction_that_is_not_the_nearest_is_a_weakness() -> None:
    """Behind the green cylinder comes the blue cube; the red sphere behind that may be nearer to it, or as near."""
    rounds = ["seek-attr-rel-imm: What is the color of the next thing behind it, if there is one? blue"]
    near = [[9, 9, 0], [3, 0, 0], [2, 0, 0], [0, 0, 0], [0, 1, 0]]
    for key, place in (("3d_coords", [0, 2, 0]), ("3d_coords", [1, 0, 0]), ("pixel_coords", [1, 0, 7])):
        assert kinds(judged(CYLINDER, rounds, placed(key, near)))[1] == []
        assert kinds(judged(CYLINDER, rounds, placed(key, [near[0], place, *near[2:]])))[1] == ["nearness"]


# The reference's bugs -------------------------------------------------------------------------------------------------


def test_behind_a_sentence_that_is_not_understood_nothing_is_judged() -> None:
    """The rounds behind it may refer to it."""
    rounds = ["seek-attr-imm: Its size? small", "count-all: How many things are there in the image? 5"]
    found = judged(BLUE, rounds, ROW)

    assert kinds(found) == [[], ["unparseable"]]
    assert not found.is_understood


# Verification ---------------------------------------------------------------------------------------------------------


def verified(caption: str, rounds: Sequence[str]) -> list[tuple[str, str]]:
    """What `verify` finds wrong with the texts of a dialog: (path, kind)."""
    text = spoken(caption, rounds)
    said = [{"question": each.question, "answer": each.answer, "template": each.label} for each in text.rounds]
    verification = DialogVerification(dialog_domain(), {})
    document = {"dialogs": [{"caption": text.caption, "template": text.label, "dialog": said}]}
    verification.take(document, 0, compiled(ROW))
    return [(each.path, each.kind) for each in verification.report.mismatches]


def test_verification_finds_what_the_oracle_finds() -> None:
    """In the last round; it may say "ambiguous" of a reference that the oracle calls unlicensed.

    What follows from earlier rounds, and how a question is put, is judged by the oracle alone.
    """
    dialogs = dict(some([(name, dialog) for name, dialog in WRONG.items() if dialog[2] != "misworded"], least=12))
    found = {name: verified(*dialog[:2]) for name, dialog in dialogs.items()}
    kinds_of = {"unlicensed": {"unlicensed", "ambiguous"}}
    wanted = {name: kinds_of.get(kind, {kind}) for name, (_, _, kind) in dialogs.items()}

    assert {name: each for name, each in found.items() if not each or each[-1][1] not in wanted[name]} == {}
    last = {name: f"dialogs[0].dialog[{len(dialog[1]) - 1}]" for name, dialog in dialogs.items()}
    assert {name: each for name, each in found.items() if each[-1][0] != last[name]} == {}


# Generated dialogs ----------------------------------------------------------------------------------------------------


def faults_about(
    scenes: Sequence[Mapping[str, Any]], dialogs: Iterable[Mapping[str, Any]], domain: str
) -> Counter[str]:
    """Count the faults of dialogs by their kinds."""
    seen = [compiled(each, domain) for each in scenes]
    found = (faults_found(each, seen[each["scene_index"]], domain) for each in dialogs)
    return Counter(verdict.kind for faults in found for _, verdict in faults if verdict.kind in HARD)


IMPLIED = 0.02
"""Share of the rounds, at most, whose answers were not told and yet follow from the rounds before."""


@pytest.mark.quick(1)
@pytest.mark.parametrize(("domain", "count"), [("clevr", 6), ("market", 3)])
def test_generated_dialogs_have_no_fault(domain: str, count: int) -> None:
    """Answers, references, manner and annotations, worked out from the sentences alone. A few answers are implied."""
    scenes, dialogs = sampled_scenes(count, domain=domain), generated(count, domain)
    faults = faults_about(scenes, dialogs, domain)

    assert faults.pop("redundant", 0) <= 2 * IMPLIED * sum(len(each["rounds"]) for each in dialogs)
    assert faults == {}


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"seed": 5}, {"quotas": "paper"}])
def test_generated_dialogs_about_many_scenes_have_no_fault(settings: dict[str, Any]) -> None:
    """12,500 rounds about real scenes: in 3,000 the share of what is implied varies by half a percent."""
    scenes = real_scenes(250)
    faults = faults_about(scenes, dialogs_about(scenes, **settings), "clevr")

    assert faults.pop("redundant", 0) <= IMPLIED * 12500
    assert faults == {}


def test_b1_a_counted_group_stays_the_group() -> None:
    """B1: behind "how many are they", "them" are those that were counted, not all objects."""
    rounds = [
        "exist-obj-rel-imm: Is anything right of it? yes",
        "count-all-group: How many of them are there in the image? 2",
        "count-attribute-group: How many of them are small? 1",
    ]

    assert not any(kinds(judged(BLUE, rounds)))
    assert kinds(judged(BLUE, [*rounds[:2], rounds[2].replace("? 1", "? 3")]))[3] == ["wrong"]


def test_b2_others_that_exist_are_not_mentioned() -> None:
    """B2: behind "are there others", yes, the others are still to be counted."""
    rounds = [
        "exist-other: Are there any things in the image that have not been mentioned yet? yes",
        "seek-attr-early: What is the size of the blue thing? small",
        "count-other: How many things in the image have not been mentioned yet? 4",
    ]

    assert not any(kinds(judged(BLUE, rounds)))
    assert kinds(judged(BLUE, [*rounds[:2], rounds[2].replace("? 4", "? 0")]))[3] == ["wrong"]
