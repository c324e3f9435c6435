"""Template files: every mistake is told once, with its file, line, column, JSON path, and what would be right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from families import REFERENCE
from scene_records import sampled_scenes

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.locations import shipped
from vqagen.language.catalogue import Catalogue
from vqagen.language.loading import find_template_files, load_templates, read_template_files
from vqagen.language.template import Template
from vqagen.world.domain import domain_from_metadata, load_domain

CATALOGUE = Catalogue(load_domain(shipped("metadata") / "clevr.json"))

RIGHT = """\
{
  "comment": "Three right templates, to be broken line by line.",
  "templates": [
    {
      "name": "count",
      "text": [
        "How many <C> <S>s do you see?",
        "What number of <C> <S>s [can be seen]?"
      ],
      "params": [
        {"type": "Color", "name": "<C>"},
        {"type": "Shape", "name": "<S>"}, {"type": "Size", "name": "<Z>"}
      ],
      "nodes": [
        {"type": "scene", "inputs": []},
        {"type": "filter_count", "inputs": [0], "side_inputs": ["<C>", "<S>"]}
      ],
      "constraints": [
        {"type": "NOT_NULL", "params": ["<C>"]}
      ]
    },
    {
      "name": "same",
      "comment": ["A node for each half,", "and one that compares."],
      "text": ["Is the <C> <S> also the <C2> <S2>?"],
      "params": [
        {"type": "Color", "name": "<C>"}, {"type": "Shape", "name": "<S>"},
        {"type": "Color", "name": "<C2>"}, {"type": "Shape", "name": "<S2>"}
      ],
      "nodes": [
        {"type": "scene", "inputs": []},
        {"type": "filter_unique", "inputs": [0], "side_inputs": ["<C>", "<S>"]},
        {"type": "scene", "inputs": []},
        {"type": "filter_unique", "inputs": [2], "side_inputs": ["<C2>", "<S2>"]},
        {"type": "equal_object", "inputs": [1, 3]}
      ],
      "constraints": [
        {"type": "NEQ", "params": ["<S>", "<S2>"]},
        {"type": "OUT_NEQ", "params": [1, 3]}
      ]
    },
    {
      "name": "beside",
      "text": ["How many <M> things are <R2> what is <R> the red <S>?"],
      "params": [
        {"type": "Shape", "name": "<S>"}, {"type": "Relation", "name": "<R>"},
        {"type": "Relation", "name": "<R2>"}, {"type": "Material", "name": "<M>"}
      ],
      "nodes": [
        {"type": "scene", "inputs": []},
        {"type": "filter_color", "inputs": [0], "side_inputs": ["red"]},
        {"type": "filter_unique", "inputs": [1], "side_inputs": ["<S>"]},
        {"type": "relate", "inputs": [2], "side_inputs": ["<R>"]},
        {"type": "unique", "inputs": [3]},
        {"type": "relate_filter_count", "inputs": [4], "side_inputs": ["<R2>", "<M>"]}
      ]
    }
  ]
}
"""

# (what stands in RIGHT, what is written there, the line of the mistake, its JSON path, what is said)
MISTAKES: list[tuple[str, str, int, str, str]] = [
    # shape
    ('"templates": [', '"template": [', 1, "", "missing key 'templates' (found 'template')"),
    ('"comment": "Three', '"comment": 3, "was": "Three', 2, "comment", "expected text or a list, found 3"),
    ('"name": "count"', '"name": 3', 5, "templates[0].name", "expected text, found 3"),
    ('"name": "count"', '"name": ""', 5, "templates[0].name", "expected some text, found ''"),
    ('"params": [\n        {"type": "Color", "name": "<C>"},', '"param": [\n        {"type": "Color", "name": "<C>"},',
     10, "templates[0].param", "unknown key 'param'; did you mean 'params'?"),
    ('"text": ["Is the', '"texts": ["Is the', 22, "templates[1]", "missing key 'text' (found 'texts')"),
    ('["How many <M> things are <R2> what is <R> the red <S>?"]', '{"en": "How many <M> things?"}',
     44, "templates[2].text", "expected text or a list, found an object"),
    ('["How many <M> things are <R2> what is <R> the red <S>?"]', '""',
     44, "templates[2].text", "expected some text, found ''"),
    ('["How many <M> things are <R2> what is <R> the red <S>?"]', '"How many <Q> things?"',
     44, "templates[2].text", "slot <Q> is not declared"),
    ('["Is the <C> <S> also the <C2> <S2>?"]', "[]",
     25, "templates[1].text", "expected a list of at least 1, found a list of 0"),
    ('"What number of <C> <S>s [can be seen]?"', '""', 8, "templates[0].text[1]", "expected some text, found ''"),
    ('"What number of <C> <S>s [can be seen]?"', "null", 8, "templates[0].text[1]", "expected text, found null"),
    ('{"type": "Color", "name": "<C>"},\n', '"<C>",\n',
     11, "templates[0].params[0]", "expected an object, found '<C>'"),
    ('{"type": "Color", "name": "<C>"},\n', '{"name": "<C>"},\n', 11, "templates[0].params[0]", "missing key 'type'"),
    ('"name": "<C>"},\n', '"name": "C"},\n',
     11, "templates[0].params[0].name", "expected a slot such as <X>, found 'C'"),
    ('"name": "<C>"},\n', '"name": "<my C>"},\n',
     11, "templates[0].params[0].name", "expected a slot such as <X>, found '<my C>'"),
    ('"inputs": [0], "side_inputs": ["<C>", "<S>"]}\n', '"input": [0], "side_inputs": ["<C>", "<S>"]}\n',
     16, "templates[0].nodes[1].input", "unknown key 'input'; did you mean 'inputs'?"),
    ('"inputs": [0], "side_inputs": ["<C>", "<S>"]}\n', '"inputs": [0], "side_input": ["<C>", "<S>"]}\n',
     16, "templates[0].nodes[1].side_input", "unknown key 'side_input'; did you mean 'side_inputs'?"),
    ('"type": "equal_object", ', "", 35, "templates[1].nodes[4]", "missing key 'type' or 'function'"),
    ('"inputs": [1, 3]', '"inputs": 1', 35, "templates[1].nodes[4].inputs", "expected a list, found 1"),
    ('"inputs": [1, 3]', '"inputs": [1, -3]', 35, "templates[1].nodes[4].inputs[1]", "expected 0 or more, found -3"),
    ('"inputs": [1, 3]', '"inputs": [1, "3"]',
     35, "templates[1].nodes[4].inputs[1]", "expected a whole number, found '3'"),
    ('"inputs": [1, 3]', '"inputs": [1.0, 3]',
     35, "templates[1].nodes[4].inputs[0]", "expected a whole number, found 1.0"),
    ('"inputs": [1, 3]', '"inputs": [true, 3]',
     35, "templates[1].nodes[4].inputs[0]", "expected a whole number, found true"),
    ('"side_inputs": ["red"]', '"side_inputs": "red"',
     51, "templates[2].nodes[1].side_inputs", "expected a list, found 'red'"),
    ('"side_inputs": ["red"]', '"side_inputs": [7]',
     51, "templates[2].nodes[1].side_inputs[0]", "expected text, found 7"),
    ('[\n        {"type": "NOT_NULL", "params": ["<C>"]}\n      ]', '{"NOT_NULL": "<C>"}',
     18, "templates[0].constraints", "expected a list, found an object"),
    ('[\n        {"type": "NOT_NULL", "params": ["<C>"]}\n      ]', '"NOT_NULL <C>"',
     18, "templates[0].constraints", "expected a list, an object or null, found 'NOT_NULL <C>'"),
    ('"NOT_NULL", "params": ["<C>"]', '"NOT_NULL", "params": "<C>"',
     19, "templates[0].constraints[0].params", "expected a list, found '<C>'"),
    ('"NOT_NULL", "params": ["<C>"]', '"NOT_NULL", "param": ["<C>"]',
     19, "templates[0].constraints[0]", "missing key 'params' (found 'param')"),
    # keys, names, slots
    ('"constraints": [\n        {"type": "NOT', '"constraint": [\n        {"type": "NOT',
     18, "templates[0].constraint", "unknown key 'constraint'; did you mean 'constraints'?"),
    ('"name": "beside"', '"name": "count"', 43, "templates[2].name", "name 'count' is taken by templates[0]"),
    ('"Color", "name": "<C>"},\n', '"Colour", "name": "<C>"},\n',
     11, "templates[0].params[0].type", "unknown slot type 'Colour'; did you mean 'Color'?"),
    ('"type": "Relation", "name": "<R>"', '"type": "ObjectSet", "name": "<R>"',
     46, "templates[2].params[1].type", "unknown slot type 'ObjectSet'; known: Size, Color,"),
    ('"type": "Relation", "name": "<R2>"', '"type": "Relations", "name": "<R2>"',
     47, "templates[2].params[2].type", "unknown slot type 'Relations'; did you mean 'Relation'?"),
    ('{"type": "Color", "name": "<C2>"}, {"type": "Shape", "name": "<S2>"}',
     '{"type": "Color", "name": "<C2>"}, {"type": "Shape", "name": "<S2>"}, {"type": "Shape", "name": "<S>"}',
     28, "templates[1].params[4].name", "slot <S> is declared twice"),
    # nodes
    ('"type": "equal_object"', '"type": "equal_objects"',
     35, "templates[1].nodes[4].type", "unknown node type 'equal_objects'; did you mean 'equal_object'?"),
    ('"type": "filter_count"', '"type": "filter_cout"',
     16, "templates[0].nodes[1].type", "unknown node type 'filter_cout'; did you mean 'filter_count'?"),
    ('"inputs": [1, 3]', '"inputs": [1, 4]',
     35, "templates[1].nodes[4].inputs[1]", "input 4 is not an earlier node; this is node 4, counted from 0"),
    ('"filter_unique", "inputs": [2]', '"filter_unique", "inputs": [4]',
     34, "templates[1].nodes[3].inputs[0]", "input 4 is not an earlier node; this is node 3, counted from 0"),
    ('"inputs": [1, 3]', '"inputs": [1, 17]',
     35, "templates[1].nodes[4].inputs[1]", "input 17 is not an earlier node; this is node 4, counted from 0"),
    ('"inputs": [1, 3]', '"inputs": [1]', 35, "templates[1].nodes[4].inputs", "equal_object takes 2 inputs, found 1"),
    ('"inputs": [1, 3]', '"inputs": [1, 2]',
     35, "templates[1].nodes[4].inputs[1]", "equal_object takes Object, but node 2 gives ObjectSet"),
    ('"filter_unique", "inputs": [2]', '"filter_unique", "inputs": [1]',
     34, "templates[1].nodes[3].inputs[0]", "filter_unique takes ObjectSet, but node 1 gives Object"),
    ('"filter_unique", "inputs": [2]', '"filter_unique", "inputs": [0, 2]',
     34, "templates[1].nodes[3].inputs", "filter_unique takes 1 input, found 2"),
    ('"filter_count", "inputs"', '"filter", "inputs"',
     16, "templates[0].nodes[1]", "the last node must give an answer, but filter gives ObjectSet"),
    ('"filter_count", "inputs"', '"filter_unique", "inputs"',
     16, "templates[0].nodes[1]", "the last node must give an answer, but filter_unique gives Object"),
    # side inputs
    ('["red"]', '["rde"]', 51, "templates[2].nodes[1].side_inputs[0]", "unknown Color 'rde'; did you mean 'red'?"),
    ('["red"]', '["cube"]', 51, "templates[2].nodes[1].side_inputs[0]", "unknown Color 'cube'"),
    ('["red"]', "[]", 51, "templates[2].nodes[1].side_inputs",
     "filter_color takes 1 side input (Color), found 0"),
    (', "side_inputs": ["red"]', "",
     51, "templates[2].nodes[1].side_inputs", "filter_color takes 1 side input (Color), found 0"),
    ('["red"]', '["<S>"]',
     51, "templates[2].nodes[1].side_inputs[0]", "filter_color takes a Color, but slot <S> is a Shape"),
    ('["red"]', '["<Q>"]',
     51, "templates[2].nodes[1].side_inputs[0]", "slot <Q> is not declared; params declare <S>, <R>, <R2>, <M>"),
    ('{"type": "unique", "inputs": [3]}', '{"type": "unique", "inputs": [3], "side_inputs": ["red"]}',
     54, "templates[2].nodes[4].side_inputs", "unique takes no side inputs, found 1"),
    ('["<R2>", "<M>"]', '["<R2>", "<M>", "<R3>"]',
     55, "templates[2].nodes[5].side_inputs[2]", "slot <R3> is not declared; params declare <S>, <R>, <R2>, <M>"),
    ('["<R2>", "<M>"]', '["<R2>", "<M>", "metal"]',
     55, "templates[2].nodes[5].side_inputs[2]", "a second Material; relate_filter_count takes one of each type"),
    ('["<R2>", "<M>"]', '["<R2>", "<M>", "tiny"]', 55, "templates[2].nodes[5].side_inputs[2]", "unknown value 'tiny'"),
    ('["<R2>", "<M>"]', '["<R2>", "<M>", "left"]',
     55, "templates[2].nodes[5].side_inputs[2]", "a second Relation; relate_filter_count takes one of"),
    ('["<R2>", "<M>"]', '["<R2>", "<M>", "<R>"]', 55, "templates[2].nodes[5].side_inputs[2]", "a second Relation;"),
    ('"side_inputs": ["<C2>", "<S2>"]', '"side_inputs": ["<C2>", "<S2>", "<C>"]',
     34, "templates[1].nodes[3].side_inputs[2]", "a second Color; filter_unique takes one of each type"),
    ('"inputs": [1], "side_inputs": ["<S>"]', '"inputs": [1], "side_inputs": ["<S>", "<R>"]',
     52, "templates[2].nodes[2].side_inputs", "filter_unique takes no Relation slot"),
    # constraints
    ('"NOT_NULL"', '"NOTNULL"',
     19, "templates[0].constraints[0].type", "unknown constraint 'NOTNULL'; did you mean 'NOT_NULL'?"),
    ('"NOT_NULL", "params": ["<C>"]', '"NOT_NULL", "params": ["<D>"]',
     19, "templates[0].constraints[0].params[0]", "slot <D> is not declared; params declare <C>, <S>, <Z>"),
    ('"NOT_NULL", "params": ["<C>"]', '"NOT_NULL", "params": ["<C>", "<S>"]',
     19, "templates[0].constraints[0].params", "NOT_NULL takes a slot, found 2 parameters"),
    ('["<S>", "<S2>"]', '["<S>"]', 38, "templates[1].constraints[0].params", "NEQ takes 2 slots, found 1 parameter"),
    ('["<S>", "<S2>"]', '["<S>", 3]',
     38, "templates[1].constraints[0].params[1]", "NEQ takes slots, found the node number 3"),
    ('["<S>", "<S2>"]', '["<S>", "<C2>"]',
     38, "templates[1].constraints[0].params", "NEQ compares like with like, found Shape and Color"),
    ('"OUT_NEQ", "params": [1, 3]', '"OUT_NEQ", "params": [1, 5]',
     39, "templates[1].constraints[1].params[1]", "there is no node 5; nodes are 0 to 4"),
    ('"OUT_NEQ", "params": [1, 3]', '"OUT_NEQ", "params": [-1, 3]',
     39, "templates[1].constraints[1].params[0]", "there is no node -1"),
    ('"OUT_NEQ", "params": [1, 3]', '"OUT_NEQ", "params": [1, "<S2>"]',
     39, "templates[1].constraints[1].params[1]", "OUT_NEQ takes node numbers, found '<S2>'"),
    ('"OUT_NEQ", "params": [1, 3]', '"OUT_NEQ", "params": [1, 2]',
     39, "templates[1].constraints[1].params", "OUT_NEQ compares like with like, found Object and ObjectSet"),
    ('["<C>"]', '["<Z>"]', 19, "templates[0].constraints[0].params[0]", "no node fills slot <Z>"),
    ('"NOT_NULL", "params": ["<C>"]', '"NOT_ALL_NULL", "params": []',
     19, "templates[0].constraints[0].params", "NOT_ALL_NULL takes one or more slots, found no parameters"),
    ('"NOT_NULL", "params": ["<C>"]', '"ONE_OF", "params": ["<C>", "<S>", 1]',
     19, "templates[0].constraints[0].params[2]", "ONE_OF takes slots, found the node number 1"),
    ('"NOT_NULL", "params": ["<C>"]', '"IN", "params": ["<C>"]',
     19, "templates[0].constraints[0].params", "IN takes a slot and one or more constants, found 1 parameter"),
    ('"NOT_NULL", "params": ["<C>"]', '"IN", "params": ["<C>", "red", "gren"]',
     19, "templates[0].constraints[0].params[2]", "unknown Color 'gren'; did you mean 'green'?"),
    ('"NOT_NULL", "params": ["<C>"]', '"IN", "params": ["<C>", ["red", "gren"]]',
     19, "templates[0].constraints[0].params[1]", "unknown Color 'gren'; did you mean 'green'?"),
    ('"NOT_NULL", "params": ["<C>"]', '"COLOR_SET", "params": ["<C>", ["red", "large"]]',
     19, "templates[0].constraints[0].params[1]", "unknown Color 'large'"),
    ('"NOT_NULL", "params": ["<C>"]', '"IN", "params": ["<C>", "<S>"]',
     19, "templates[0].constraints[0].params[1]", "IN takes values of Color, found slot <S>; EQ and NEQ compare slots"),
    ('"NOT_NULL", "params": ["<C>"]', '"OUT_GT_CONST", "params": [0, 1]',
     19, "templates[0].constraints[0].params[0]", "OUT_GT_CONST compares numbers, but node 0 gives ObjectSet"),
    ('"NOT_NULL", "params": ["<C>"]', '"CONST_LEQ", "params": [1, "2"]',
     19, "templates[0].constraints[0].params[1]", "CONST_LEQ compares with a number, found '2'"),
    ('"NOT_NULL", "params": ["<C>"]', '"OUT_GT_CONST", "params": [1]',
     19, "templates[0].constraints[0].params", "OUT_GT_CONST takes a node and a constant, found 1 parameter"),
    ('"name": "beside",', '"name": "beside", "constraints": [{"type": "NOT_ALL_NULL", "params": ["<S>", "<R>"]}],',
     43, "templates[2].constraints[0].params[1]", "slot <R> is never left open"),
    ('"name": "beside",', '"name": "beside", "constraints": [{"type": "NULL", "params": ["<R2>"]}],',
     43, "templates[2].constraints[0].params[0]", "slot <R2> is never left open; only a description's attributes are"),
    ('"name": "beside",', '"name": "beside", "constraints": [{"type": "NULL", "params": ["<R>"]}],',
     43, "templates[2].constraints[0].params[0]", "slot <R> is never left open"),
    # texts
    ("number of <C> <S>s", "number of <C> <T>s", 8, "templates[0].text[1]", "slot <T> is not declared"),
    ("number of <C> <S>s", "number of <Z> <S>s",
     8, "templates[0].text[1]", "no node fills slot <Z>"),
    ("number of <C> <S>s", "number of <c> <S>s", 8, "templates[0].text[1]", "slot <c> is not declared"),
    ("number of <C> <S>s", "number of <C <S>s",
     8, "templates[0].text[1]", "a stray '<' or '>'; a slot is written <X>, without spaces"),
    ("number of <C> <S>s", "number of < C > <S>s", 8, "templates[0].text[1]", "a stray '<' or '>'"),
    ("[can be seen]", "[can be seen", 8, "templates[0].text[1]", "optional brackets [ ] do not pair up"),
    ("[can be seen]", "can be] [seen", 8, "templates[0].text[1]", "optional brackets [ ] do not pair up"),
]  # fmt: skip


def load_text(folder: Path, text: str, name: str = "mine.json") -> tuple[Template, ...]:
    (folder / name).write_text(text, encoding="utf-8")
    return load_templates(folder, CATALOGUE)


def problems_of(folder: Path, text: str) -> tuple[Problem, ...]:
    with pytest.raises(BadInput) as raised:
        load_text(folder, text)
    assert {Path(problem.source).name for problem in raised.value.problems} == {"mine.json"}
    return raised.value.problems


def broken(old: str, new: str, text: str = RIGHT) -> str:
    assert old in text
    return text.replace(old, new, 1)


# One mistake ------------------------------------------------------------------------------------------------------


def test_what_is_broken_below_is_right(tmp_path: Path) -> None:
    assert [template.name for template in load_text(tmp_path, RIGHT)] == ["count", "same", "beside"]


@pytest.mark.parametrize(("old", "new", "line", "path", "message"), MISTAKES)
def test_mistake(tmp_path: Path, old: str, new: str, line: int, path: str, message: str) -> None:
    """One mistake gives one complaint."""
    (problem,) = problems_of(tmp_path, broken(old, new))

    assert (problem.path, problem.line) == (path, line)
    assert message in problem.message


@pytest.mark.parametrize("text", ['"x"', "3", "null", "true"])
def test_a_file_that_holds_no_templates(tmp_path: Path, text: str) -> None:
    (problem,) = problems_of(tmp_path, text)

    assert problem.message.startswith("expected a list or an object, found ")
    assert (problem.path, problem.line, problem.column) == ("", 1, 1)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"types": {"Color": ["red"]}, "functions": []}', "this looks like metadata, which does not belong"),
        ('{"info": {}, "scenes": []}', "this looks like a scene file, which"),
        ('{"objects": [], "relationships": {}}', "this looks like a scene, which"),
        ('{"questions": []}', "this looks like a question file, which"),
    ],
)
def test_a_file_of_another_kind(tmp_path: Path, text: str, what: str) -> None:
    (problem,) = problems_of(tmp_path, text)

    assert problem.message.startswith(f"missing key 'templates'; {what}")


# Several mistakes -------------------------------------------------------------------------------------------------


def test_all_mistakes_are_told_in_reading_order(tmp_path: Path) -> None:
    text = broken('"name": "beside"', '"name": "same"')
    for old, new in (
        ('"type": "Relation", "name": "<R>"', '"type": "Relatoin", "name": "<R>"'),
        ("the red <S>?", "the red <S>]?"),
        ('"inputs": [1, 3]}', '"inputs": [1, 3, 3]}'),
        ('"NEQ"', '"NEQUAL"'),
        ('"equal_object"', '"equal_objekt"'),
        ("How many <C>", "How many <X>"),
    ):
        text = broken(old, new, text)

    problems = problems_of(tmp_path, text)

    assert [(problem.line, problem.path) for problem in problems] == [
        (7, "templates[0].text[0]"),
        (35, "templates[1].nodes[4].type"),
        (38, "templates[1].constraints[0].type"),
        (43, "templates[2].name"),
        (44, "templates[2].text[0]"),
        (46, "templates[2].params[1].type"),
    ]


def test_mistakes_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    """Of shape, of meaning and of syntax, in the order of the files."""
    (tmp_path / "a.json").write_text(broken('["red"]', '["rde"]'))
    (tmp_path / "b.json").write_text(RIGHT)
    (tmp_path / "c.json").write_text(broken('"text": ["Is', '"texts": ["Is'))
    (tmp_path / "d.json").write_text("[,]")

    with pytest.raises(BadInput) as raised:
        load_templates(tmp_path, CATALOGUE)

    assert [Path(problem.source).name for problem in raised.value.problems] == ["a.json", "c.json", "d.json"]


# Bad templates among others -----------------------------------------------------------------------------------------


def test_bad_templates_are_set_apart_from_the_others(tmp_path: Path) -> None:
    """By whole records where the file is a list of them, by the whole file where it is not."""
    (tmp_path / "a.json").write_text(broken('"text": ["Is', '"texts": ["Is'))
    (tmp_path / "b.json").write_text(broken('"name": "beside"', '"name": "count"'))
    (tmp_path / "c.json").write_text("[,]")
    (tmp_path / "d.json").write_text('{"template": []}')
    (tmp_path / "e.json").write_text(RIGHT)

    placed, bad = read_template_files(tmp_path, CATALOGUE)
    templates = [each.template for each in placed]

    assert [each.id for each in bad] == ["a.json#same", "b.json#count", "c.json", "d.json"]
    assert [template.id for template in templates] == [
        "a.json#count", "a.json#beside", "b.json#count", "b.json#same", "e.json#count", "e.json#same", "e.json#beside"
    ]  # fmt: skip
    assert [template.family for template in templates] == list(range(7))
    assert [template.index for template in templates] == [0, 2, 0, 1, 0, 1, 2]


# Files and numbers ------------------------------------------------------------------------------------------------


def test_folders_are_read_in_the_order_of_paths(tmp_path: Path) -> None:
    """Whatever order the file system has; other files do not count, nor hidden ones: an editor's copies."""
    hidden = (".mine.json", ".ipynb_checkpoints/mine.json", "a/.cache/b/mine.json")
    for name in ("b/z.json", "a.json", "b/a.json", "B.json", "c/d/e.json", "notes.txt", *hidden):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(RIGHT)
    (tmp_path / "c.json").mkdir()

    names = [file.name for file in find_template_files(tmp_path)]

    assert names == ["B.json", "a.json", "b/a.json", "b/z.json", "c/d/e.json"]


def test_families_are_numbered_in_the_file_and_over_all_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    load_text(tmp_path, RIGHT, "a.json")
    templates = load_text(tmp_path, RIGHT, "sub/b.json")

    assert [template.family for template in templates] == [0, 1, 2, 3, 4, 5]
    assert [template.index for template in templates] == [0, 1, 2, 0, 1, 2]
    assert [template.id for template in templates[2:4]] == ["a.json#beside", "sub/b.json#count"]
    assert load_templates(str(tmp_path / "a.json"), CATALOGUE)[0].id == "a.json#count"


@pytest.mark.parametrize("name", ["", "nowhere"])
def test_no_templates(tmp_path: Path, name: str) -> None:
    """An empty folder is not a run of nothing."""
    with pytest.raises(UsageError, match=r"no template files|templates not found"):
        load_templates(tmp_path / name, CATALOGUE)


def nameless() -> list[dict[str, Any]]:
    return [{key: value for key, value in each.items() if key != "name"} for each in json.loads(RIGHT)["templates"]]


def test_the_index_stands_for_a_name(tmp_path: Path) -> None:
    """An id must not mean two templates."""
    templates = load_text(tmp_path, json.dumps(nameless()))
    assert [template.id for template in templates] == ["mine.json#0", "mine.json#1", "mine.json#2"]

    first, *others = nameless()
    (problem,) = problems_of(tmp_path, json.dumps([{**first, "name": "2"}, *others]))
    assert (problem.path, problem.message) == ("[2].name", "name '2' is taken by [0]")


def test_a_template_is_what_was_written(tmp_path: Path) -> None:
    _, same, beside = load_text(tmp_path, RIGHT)

    assert (beside.answer_type, beside.last_function.asks) == ("Integer", "count")
    assert list(same.slots) == ["<C>", "<S>", "<C2>", "<S2>"]
    assert [constraint.slots or constraint.nodes for constraint in same.constraints] == [("<S>", "<S2>"), (1, 3)]
    assert [node.composite is not None for node in same.nodes] == [False, True, False, True, False]


def test_the_reference_templates_load_unmodified(shared: Path) -> None:
    if not REFERENCE.is_dir():
        pytest.skip("no reference templates in shared/")

    templates = load_templates(REFERENCE / "templates", Catalogue(load_domain(REFERENCE / "metadata.json")))

    assert len(templates) == 90
    assert [template.family for template in templates] == list(range(90))


# Bad templates --------------------------------------------------------------------------------------------------------

SOUND = {"name": "count", "text": "How many <S>s are there?", "params": [{"type": "Shape", "name": "<S>"}],
         "nodes": [{"type": "scene"}, {"type": "filter_count", "inputs": [0], "side_inputs": ["<S>"]}]}  # fmt: skip
EXIST = {**SOUND, "name": "exist", "text": "Is there a <S>?",
         "nodes": [{"type": "scene"}, {"type": "filter_exist", "inputs": [0], "side_inputs": ["<S>"]}]}  # fmt: skip
BAD = {**SOUND, "name": "bad", "text": "How many <Z>s are there [?"}
FILES: dict[str, Any] = {"a.json": [SOUND, BAD], "b.json": "[,]", "c.json": [EXIST]}


@pytest.fixture
def vqagen_(vqagen_: Commands) -> Commands:
    """Runs commands in a folder with scenes, and with three template files of which two have mistakes."""
    Path("templates").mkdir()
    for name, content in FILES.items():
        Path("templates", name).write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    Path("scenes.json").write_text(json.dumps({"scenes": sampled_scenes(4)}))
    return vqagen_


LINE = "generate --scenes scenes.json --templates templates -o out.json"


def document(file: str = "out.json") -> Any:
    """The content of a JSON file."""
    return json.loads(Path(file).read_bytes())


def test_one_bad_template_stops_a_run_that_is_not_told_to_skip(vqagen_: Commands) -> None:
    ran = vqagen_(LINE)

    assert ran.code == 3
    assert "a.json:" in ran.err and "b.json:" in ran.err
    assert ran.err.endswith("  vqagen generate --skip-bad-templates uses the others\n")
    assert not Path("out.json").exists()


def test_compat_ignores_the_constraints_that_the_clevr_generator_ignores(vqagen_: Commands) -> None:
    """It looks a parameter up, finds nothing, and never applies the constraint; what else is wrong stays wrong."""
    nodes_for_slots = {"type": "NEQ", "params": [0, 1]}
    no_such_node = {"type": "OUT_NEQ", "params": [1, 2]}
    idle = {**SOUND, "name": "idle", "constraints": [nodes_for_slots, {"type": "NULL", "params": ["<Q>"]}]}
    late = {**EXIST, "name": "late", "constraints": [no_such_node]}
    Path("math.json").write_text(json.dumps([idle, late], indent=1))
    Path("plain.json").write_text(json.dumps([{**SOUND, "name": "idle"}, {**EXIST, "name": "late"}], indent=1))
    line = "generate --scenes scenes.json --dialect generator --compat clevr"
    assert vqagen_(f"{line[:-15]} --templates math.json -o no.json").code == 3
    ran = vqagen_.done(f"{line} --templates math.json -o math_q.json")
    vqagen_.done(f"{line} --templates plain.json -o plain_q.json")

    left_out = "this constraint is left out, as the CLEVR generator does: "
    assert ran.err.count(left_out) == 4
    assert f"[1].constraints[0].params[1]: {left_out}there is no node 2; nodes are 0 to 1" in ran.err
    asked = [[each["question"] for each in document(file)["questions"]] for file in ("math_q.json", "plain_q.json")]
    assert asked[0] == asked[1] != []

    Path("math.json").write_text(json.dumps([{**idle, "text": "How many <Z>s?"}]))
    assert vqagen_(f"{line} --templates math.json -o no.json").code == 3


def test_bad_templates_are_skipped_and_named(vqagen_: Commands) -> None:
    """By template where the file can be read as JSON, by file where it cannot; once each."""
    ran = vqagen_.done(f"{LINE} --skip-bad-templates --reset-counts-every 2 --report report.json")
    generator = document()["info"]["generator"]

    assert generator["families"] == ["a.json#count", "c.json#exist"]
    assert generator["settings"]["skip_bad_templates"] is True
    assert {question["question_type"] for question in document()["questions"]} == {"count", "exist"}
    assert document("report.json")["skipped_templates"] == ["a.json#bad", "b.json"]
    assert ran.err.count("skipped a.json#bad: ") == ran.err.count("skipped b.json: not valid JSON") == 1
    assert "templates/a.json:28:11: [1].text: " in ran.err and "(and 1 more mistake)" in ran.err
    assert "  skipped: 2 bad templates (a.json#bad, b.json)" in ran.err


def test_nobody_can_ask_for_skipped_templates_alone(vqagen_: Commands) -> None:
    ran = vqagen_(f"{LINE} --skip-bad-templates --only bad")
    assert (ran.code, "--only: unknown question type or template 'bad'" in ran.err) == (2, True)

    Path("templates", "a.json").unlink()
    Path("templates", "c.json").unlink()
    ran = vqagen_(f"{LINE} --skip-bad-templates")
    assert (ran.code, "no template is left: " in ran.err) == (2, True)


def test_shards_and_resumed_runs_skip_the_same(vqagen_: Commands) -> None:
    flags = "--skip-bad-templates --reset-counts-every 2"
    vqagen_.done(f"{LINE} {flags}")
    whole = Path("out.json").read_bytes()
    for k in (1, 2):
        vqagen_.done(f"{LINE.replace('out.json', f's{k}.json')} {flags} --shard {k}/2")
    vqagen_.done("merge s1.json s2.json -o merged.json")

    assert Path("merged.json").read_bytes() == whole
    assert "is complete" in vqagen_.done(f"{LINE} {flags} --resume").err


# Causes before their consequences -------------------------------------------------------------------------------------

HOP = {
    "name": "hop",
    "text": ["How many <S2>s are <R> the <S>?", "What number of <S2>s are <R> the <S>?"],
    "params": [
        {"type": "Shape", "name": "<S>"},
        {"type": "Relation", "name": "<R>"},
        {"type": "Shape", "name": "<S2>"},
    ],
    "nodes": [
        {"type": "scene", "inputs": []},
        {"type": "filter_unique", "inputs": [0], "side_inputs": ["<S>"]},
        {"type": "relate_filter_count", "inputs": [1], "side_inputs": ["<R>", "<S2>"]},
    ],
    "constraints": [{"type": "NEQ", "params": ["<S>", "<S2>"]}],
}


def messages_of(record: dict[str, Any], path: Path) -> list[str]:
    (path / "t.json").write_text(json.dumps([record]))
    with pytest.raises(BadInput) as caught:
        load_templates(path, CATALOGUE)
    return [f"{each.path}: {each.message}" for each in caught.value.problems]


def test_missing_side_inputs_are_one_mistake(tmp_path: Path) -> None:
    """They were the last of six: each text and each constraint named the slot that no node fills."""
    scene, _, relate = HOP["nodes"]
    without = {**HOP, "nodes": [scene, {"type": "filter_unique", "inputs": [0]}, relate]}

    assert messages_of(without, tmp_path) == [
        "[0].nodes[1].side_inputs: filter_unique has no side inputs, and no node fills <S>; list them here"
    ]


def test_a_slot_that_no_node_fills_is_named_once(tmp_path: Path) -> None:
    texts = [text.replace("<S>", "<S> <X>") for text in HOP["text"]]

    assert messages_of({**HOP, "text": texts}, tmp_path) == [
        "[0].text[0]: slot <X> is not declared; params declare <S>, <R>, <S2>"
    ]


def test_a_template_has_at_most_a_hundred_nodes(tmp_path: Path) -> None:
    """The search goes as deep as there are nodes: 400 ended in a RecursionError."""
    filters = [{"type": "filter_shape", "inputs": [i], "side_inputs": ["cube"]} for i in range(400)]
    nodes = [{"type": "scene", "inputs": []}, *filters, {"type": "count", "inputs": [400]}]

    assert messages_of({"name": "deep", "text": ["How many cubes?"], "nodes": nodes}, tmp_path) == [
        "[0].nodes: expected a list of at most 100, found a list of 402"
    ]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("MUST_BE_NULL", "known: "),
        ("NOT_NUL", "did you mean 'NOT_NULL'?"),
        ("NUL", "did you mean 'NULL'?"),
        ("OUT_NQE", "did you mean 'OUT_NEQ'?"),
        ("IS_OPEN", "known: "),
    ],
)
def test_only_a_slip_of_the_keyboard_has_a_hint(name: str, hint: str, tmp_path: Path) -> None:
    """MUST_BE_NULL was said to mean its opposite, NOT_NULL."""
    (found,) = messages_of({**HOP, "constraints": [{"type": name, "params": ["<S>"]}]}, tmp_path)

    assert f"unknown constraint '{name}'; {hint}" in found


def test_a_number_where_text_is_meant_is_named(tmp_path: Path) -> None:
    digits = Catalogue(domain_from_metadata({"types": {"Digit": ["1", "2"], "Shape": ["cube"]}}))
    nodes = [{"type": "scene"}, {"type": "filter_count", "inputs": [0], "side_inputs": ["<D>"]}]
    record = {"name": "n", "text": ["How many show <D>?"], "params": [{"type": "Digit", "name": "<D>"}], "nodes": nodes}
    (tmp_path / "t.json").write_text(json.dumps([{**record, "constraints": [{"type": "IN", "params": ["<D>", 2]}]}]))

    with pytest.raises(BadInput, match=r"unknown Digit 2, which is no text; did you mean '2'\?"):
        load_templates(tmp_path, digits)
