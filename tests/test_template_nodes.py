"""Nodes of templates with what other generators write in them, from the template file to verified questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import Commands

SLOTS = {"<Z>": "Size", "<C>": "Color", "<S>": "Shape", "<Z2>": "Size", "<C2>": "Color", "<S2>": "Shape"}
Record = dict[str, Any]


@pytest.fixture
def vqagen_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in a folder with 40 scenes in scenes.json."""
    monkeypatch.chdir(tmp_path)
    commands = Commands(capsysbinary)
    commands.done("scenes sample --count 40 --seed 7 -o scenes.json")
    return commands


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


@pytest.mark.parametrize("policy", ["none", "clevr", "all"])
@pytest.mark.parametrize("nodes", BESIDE.values(), ids=BESIDE)
def test_a_template_may_name_its_relation(vqagen_: Commands, nodes: Sequence[Any], policy: str) -> None:
    """Its questions have that relation and no other, and are right, under every degeneracy policy."""
    write_template("What shape is the <Z2> <C2> thing left of the <Z> <C> <S>?", *REFERENCE, *nodes)

    questions = generated(vqagen_, f"--degeneracy {policy}")

    assert {step["value_inputs"][0] for each in questions for step in steps_of(each, "relate")} == {"left"}


@pytest.mark.parametrize("nodes", BESIDE.values(), ids=BESIDE)
def test_check_and_explain_know_a_named_relation(vqagen_: Commands, nodes: Sequence[Any]) -> None:
    """The relation is no slot that a text would have to say."""
    write_template("What shape is the <Z2> <C2> thing left of the <Z> <C> <S>?", *REFERENCE, *nodes)

    checked = vqagen_.done("check mine.json --domain clevr")
    explained = vqagen_.done("explain mine --templates mine.json --scenes scenes.json")

    assert checked.out == b"0 errors, 0 warnings in 1 file\n"
    assert b"relate left " in explained.out
