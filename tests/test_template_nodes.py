"""Nodes of templates with what other generators write in them, from the template file to verified questions."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from scene_records import sampled_scenes

SLOTS = {"<Z>": "Size", "<C>": "Color", "<S>": "Shape", "<Z2>": "Size", "<C2>": "Color", "<S2>": "Shape"}
Record = dict[str, Any]


@pytest.fixture
def vqagen_(vqagen_: Commands) -> Commands:
    """Runs commands in a folder with 40 scenes in scenes.json."""
    Path("scenes.json").write_text(json.dumps({"scenes": sampled_scenes(40, seed=7)}))
    return vqagen_


def write_template(text: str, *nodes: Sequence[Any]) -> None:
    """Write a template of `(type, inputs, side inputs)` to mine.json."""
    used = {side: None for _, _, *sides in nodes for each in sides for side in each if side in SLOTS}
    steps = [
        {"type": name, "inputs": inputs, "side_inputs": sides[0] if sides else []} for name, inputs, *sides in nodes
    ]
    record = {
        "name": "mine",
        "text": [text],
        "params": [{"type": SLOTS[each], "name": each} for each in used],
        "nodes": steps,
    }
    Path("mine.json").write_text(json.dumps([record]))


def generated(vqagen_: Commands, *flags: str) -> list[Record]:
    """The questions that mine.json makes of the scenes, all of them verified."""
    vqagen_.done(f"generate --scenes scenes.json --templates mine.json -o q.json {' '.join(flags)}")
    report = json.loads(vqagen_.done("verify q.json --scenes scenes.json --json").out)
    questions: list[Record] = json.loads(Path("q.json").read_text())["questions"]
    assert report["checked"] == len(questions) > 0
    assert report["mismatched"] == 0
    return questions


def steps_of(question: Record, function: str) -> list[Record]:
    """The steps of a question's program that apply a function."""
    return [node for node in question["program"] if node["type"] == function]


# Relations that a template names ----------------------------------------------------------------------------------

REFERENCE = (["scene", []], ["filter_unique", [0], ["<Z>", "<C>", "<S>"]])
BESIDE = {
    "composite": (["relate_filter_unique", [1], ["left", "<Z2>", "<C2>"]], ["query_shape", [2]]),
    "plain": (["relate", [1], ["left"]], ["filter_unique", [2], ["<Z2>", "<C2>"]], ["query_shape", [3]]),
}


@pytest.mark.quick(2)
@pytest.mark.parametrize("policy", ["none", "clevr", "all"])
@pytest.mark.parametrize("nodes", BESIDE.values(), ids=BESIDE)
def test_a_template_may_name_its_relation(vqagen_: Commands, nodes: Sequence[Any], policy: str) -> None:
    """Its questions have that relation and no other, and are right, under every degeneracy policy."""
    write_template("What shape is the <Z2> <C2> thing left of the <Z> <C> <S>?", *REFERENCE, *nodes)

    questions = generated(vqagen_, f"--degeneracy {policy}")

    assert {step["value_inputs"][0] for each in questions for step in steps_of(each, "relate")} == {"left"}


# Numbers that are left to be drawn --------------------------------------------------------------------------------

TAKE_AWAY = (
    ["scene", []],
    ["filter_shape", [0], ["<S>"]],
    ["count", [0]],
    ["choose", [1]],
    ["subtraction", [2, 3]],
)


@pytest.mark.parametrize("declares", [True, False], ids=["params", "no params"])
def test_choose_without_a_side_input_draws_its_number(vqagen_: Commands, declares: bool) -> None:
    """As CLEVR-Math writes it: the text says the number for X, the program records it, and verify finds it there."""
    write_template("Take away X <S>s, not the Xylophone. How many things are left?", *TAKE_AWAY)
    if not declares:
        record = json.loads(Path("mine.json").read_text().replace("<S>", "<Shape>"))[0]
        Path("mine.json").write_text(
            json.dumps({"templates": [{**record, "params": None}]}).replace('"params": null, ', "")
        )

    questions = generated(vqagen_)

    drawn = [step["value_inputs"] for each in questions for step in steps_of(each, "choose")]
    said = [re.findall(r"Take away (\d+) \w+, not the Xylophone", each["question"]) for each in questions]
    assert drawn == said
    assert len({number for (number,) in drawn}) > 2


def test_no_number_is_drawn_that_a_set_has_not(vqagen_: Commands) -> None:
    write_template("Of the <S>s X are red. How many are not?", *TAKE_AWAY[:2], ["count", [1]], *TAKE_AWAY[3:])

    assert all(int(question["answer"]) >= 0 for question in generated(vqagen_))
