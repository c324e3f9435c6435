"""Texts that cannot ask what their program computes: the loader warns of them, and verify fails such questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Commands

from vqagen.files.locations import shipped
from vqagen.language.catalogue import Catalogue
from vqagen.language.loading import load_templates
from vqagen.language.text_doubts import text_doubts
from vqagen.world.domain import Domain, domain_from_metadata, load_domain

CLEVR = load_domain(shipped("metadata/clevr.json"))
UNIQUE = {"type": "filter_unique", "inputs": [0], "side_inputs": ["<Z>", "<S>"]}


def asking(function: str, *texts: str, constraints: list[Any] | None = None) -> dict[str, Any]:
    nodes = [{"type": "scene"}, UNIQUE, {"type": function, "inputs": [1]}]
    if function == "filter_count":
        nodes = [{"type": "scene"}, {**UNIQUE, "type": function}]
    if function.startswith("equal_"):
        asked = function.replace("equal", "query")
        nodes = [*nodes[:2], {"type": asked, "inputs": [1]}, {"type": function, "inputs": [2, 2]}]
    params = [{"type": "Size", "name": "<Z>"}, {"type": "Shape", "name": "<S>"}]
    return {"name": "it", "text": list(texts), "params": params, "nodes": nodes, "constraints": constraints or []}


def doubts(record: dict[str, Any], path: Path, domain: Domain = CLEVR) -> list[tuple[str, str]]:
    (path / "t.json").write_text(json.dumps([record]))
    return [(code, place) for each in load_templates(path, Catalogue(domain)) for code, place, _ in text_doubts(each)]


DOUBTFUL = [
    ("unsaid-slot", "query_color", "What color is the <Z> <S>?", "What is the color of the <S>?"),
    ("other-attribute", "query_color", "What color is the <Z> <S>?", "How big is the <Z> <S>?"),
    ("other-attribute", "query_size", "What is the size of the <Z> <S>?", "What color is the <Z> <S>?"),
    ("other-attribute", "query_size", "What is the size of the <Z> <S>?", "What colour is the <Z> <S>?"),
    ("other-attribute", "query_shape", "What shape is the <Z> <S>?", "What is the <Z> <S> made of?"),
    ("other-attribute", "equal_color", "Is it the color of the <Z> <S>?", "Has the <Z> <S> the same size?"),
    ("singular-count", "filter_count", "How many <Z> <S>s are there?", "How many <Z> <S> are there?"),
    ("other-attribute", "query_shape", "What shape is the <Z> <S>?", "What is the <Z> <S>'s color?"),
    ("other-attribute", "query_shape", "What shape is the <Z> <S>?", "Tell me the color of the <Z> <S>."),
    ("other-attribute", "equal_color", "Is it the color of the <Z> <S>?", "Do they share their material, the <Z> <S>?"),
    ("other-kind", "query_color", "What color is the <Z> <S>?", "Is there a <Z> <S>?"),
    ("other-kind", "filter_count", "How many <Z> <S>s are there?", "Is there any <Z> <S>?"),
    ("singular-count", "filter_count", "How many <Z> <S>s are there?", "How many other <Z> <S>?"),
    ("singular-count", "filter_count", "Count the <Z> <S>s.", "Count the <Z> <S>."),
    ("singular-count", "filter_count", "Count the <Z> <S>s.", "What is the number of <Z> <S>?"),
    ("missing-space", "query_color", "What color is the <Z> <S>?", "What color is the<Z> <S>?"),
    ("missing-space", "query_color", "What color is the <Z> <S>?", "What color is the <Z> <S>of it?"),
    ("odd-marks", "query_color", "What color is the <Z> <S>?", "Look at the <Z> <S>,; what color is it?"),
    ("missing-space", "query_color", "What color is the <Z> <S>?", "What color has the <Z><S>?"),
    ("missing-space", "query_color", "What color is the <Z> <S>?", "What color has the <Z>[<S>] <S>?"),
    ("odd-marks", "query_color", "What color is the <Z> <S>?", "What color has the <Z> <S>??"),
    ("odd-marks", "query_color", "What color is the <Z> <S>?", "What color has the <Z> <S>,?"),
    ("odd-marks", "query_color", "What color is the <Z> <S>?", "What color has the <Z> <S>? ?"),
    ("odd-marks", "query_color", "What color is the <Z> <S>?", "Look at the <Z> <S>.. what color is it?"),
]


@pytest.mark.quick(12)
@pytest.mark.parametrize(("code", "function", "right", "wrong"), DOUBTFUL)
def test_a_text_that_cannot_mean_its_program_is_doubted(
    code: str, function: str, right: str, wrong: str, tmp_path: Path
) -> None:
    assert doubts(asking(function, right), tmp_path) == []
    assert doubts(asking(function, right, wrong), tmp_path) == [(code, "text[1]")]


SOUND = [
    ("query_material", "What is the <Z> <S> made of?"),
    ("query_material", "The <Z> <S> is made of what material?"),
    ("query_color", "There is a <Z> <S>; what is its color?"),
    ("query_shape", "What is the thing of <Z> size and <S>?"),
    ("query_color", "What color is the <Z> <S>, if any..."),
    ("query_color", "Really?! What color is the <Z> <S>?"),
    ("filter_count", "How many <Z> <S> things are there?"),
    ("filter_count", "How many times do you see a <Z> <S>?"),
    ("filter_count", "How many <S>-shaped <Z> things are there?"),
    ("query_size", "Is the <Z> <S> small or large?"),
    ("query_color", "Tell me the color of the <Z> <S>."),
]


@pytest.mark.parametrize(("function", "text"), SOUND)
def test_what_english_can_mean_is_not_doubted(function: str, text: str, tmp_path: Path) -> None:
    assert doubts(asking(function, text), tmp_path) == []


def test_a_slot_that_is_never_said_need_not_be_said(tmp_path: Path) -> None:
    texts = "What color is the <Z> <S>?", "What color is the <S>?"

    assert doubts(asking("query_color", *texts, constraints=[{"type": "NULL", "params": ["<Z>"]}]), tmp_path) == []


def test_languages_without_spaces_or_in_other_words_are_not_doubted(tmp_path: Path) -> None:
    spanish = domain_from_metadata({**CLEVR.record, "language": "es"})

    assert doubts(asking("query_color", "<Z><S>是什么颜色？"), tmp_path) == []
    assert doubts(asking("query_color", "what size <Z> <S>"), tmp_path, spanish) == []


@pytest.mark.parametrize("name", ["clevr", "market"])
def test_no_shipped_text_is_doubted(name: str) -> None:
    catalogue = Catalogue(load_domain(shipped(f"metadata/{name}.json")))
    templates = load_templates(shipped(f"templates/{name}"), catalogue)

    assert [doubt for each in templates for doubt in text_doubts(each)] == []


# Commands -------------------------------------------------------------------------------------------------------------

VAGUE = asking("query_color", "What color is the <Z> <S>?", "What is the color of the <S>??")


def test_generate_says_it_in_a_line_and_check_lists_all(vqagen_: Commands) -> None:
    Path("t.json").write_text(json.dumps([VAGUE]))
    vqagen_.given("scenes sample --count 12 --out scenes.json")
    ran = vqagen_.done("generate --templates t.json --scenes scenes.json --out q.json")
    lines = [line for line in ran.err.splitlines() if "warning" in line]

    assert len(lines) == 1
    assert lines[0].endswith("(1 more warning of this kind; `vqagen check t.json` lists all)")
    assert vqagen_("check t.json --samples 0").out.count(b"  warning  ") == 2


def test_verify_fails_a_text_that_does_not_single_out_its_object(vqagen_: Commands) -> None:
    """ "What is the color of the cube?" of two cubes was right, as the template says it so."""
    Path("t.json").write_text(json.dumps([VAGUE]))
    vqagen_.given("scenes sample --count 12 --out scenes.json")
    vqagen_.done("generate --templates t.json --scenes scenes.json --out q.json")
    ran = vqagen_("verify q.json --scenes scenes.json --templates t.json")

    assert ran.code == 1
    assert b"vague text" in ran.out and b"leaves out <Z> " in ran.out
