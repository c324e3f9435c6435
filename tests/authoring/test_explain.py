"""`vqagen explain`: parts in words, objects by name, examples that are right, and reasons where there is none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from commands import ROOT, Commands
from depth import some
from families import SHIPPED, Collection
from scene_records import SMALL_SCENES, scene_record

from vqagen.authoring.catalogues import constraint_entries, function_entries
from vqagen.authoring.check.tryouts import sampled_scenes
from vqagen.authoring.explanation import ObjectNames, explain_template, find_templates
from vqagen.cli import cli
from vqagen.errors import UsageError
from vqagen.language.domain_files import LoadedDomain, find_domain, load_domain_files
from vqagen.plugin import Record
from vqagen.search.state import SceneTables
from vqagen.world.domain import domain_from_metadata
from vqagen.world.scene import compile_scene

CLEVR = SHIPPED[0].materials
SCENES = tuple(compile_scene(record, CLEVR.domain, i) for i, record in enumerate(SMALL_SCENES))

PARAMS = [
    {"type": kind, "name": f"<{letter}{number}>"}
    for number in ("", "2")
    for letter, kind in zip("ZCMS", ("Size", "Color", "Material", "Shape"), strict=True)
]
FIRST, SECOND = ["<Z>", "<C>", "<M>", "<S>"], ["<Z2>", "<C2>", "<M2>", "<S2>"]


def node(kind: str, inputs: Sequence[int] = (), side_inputs: Sequence[str] = ()) -> dict[str, Any]:
    return {"type": kind, "inputs": list(inputs), "side_inputs": list(side_inputs)}


def constraint(kind: str, *params: Any) -> dict[str, Any]:
    return {"type": kind, "params": list(params)}


def template(nodes: Sequence[dict[str, Any]], constraints: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """A template whose one text says every slot that its nodes use."""
    used = {side for each in nodes for side in each["side_inputs"]}
    params = [each for each in [*PARAMS, {"type": "Relation", "name": "<R>"}] if each["name"] in used]
    text = " ".join(["What of", *(each["name"] for each in params)]) + "?"
    return {"name": "mine", "text": [text], "params": params, "nodes": list(nodes), "constraints": list(constraints)}


def load(folder: Path, *records: dict[str, Any], file: str = "mine.json") -> LoadedDomain:
    (folder / file).write_text(json.dumps({"templates": records}))
    return load_domain_files(find_domain(templates=folder / file))


def explain(folder: Path, record: dict[str, Any], scene: dict[str, Any] = SMALL_SCENES[0]) -> Record:
    materials = load(folder, record)
    tables = [SceneTables(compile_scene(scene, materials.domain))]
    return explain_template(materials, materials.templates[0], tables, "test")


# Names ------------------------------------------------------------------------------------------------------------


def test_names_say_lists_gaps_and_the_noun_and_no_more_than_they_must() -> None:
    """Of more than four attributes, those that tell objects apart; with the noun last, wherever it is declared."""
    domain = domain_from_metadata(
        {
            "types": {
                "Kind": {"values": ["cup", "jug"], "null": "vessel", "optional": True},
                "Age": ["old", "new"],
                "Mark": {"values": ["dot", "line"], "multi": True, "optional": True, "display": {"dot": "dotted"}},
                "Use": ["tea", "milk"],
                "Make": ["fine", "rough"],
            }
        }
    )
    same = {"use": "tea", "make": "fine"}
    record = {
        "objects": [
            {"kind": "cup", "age": "old", "mark": ["dot", "line"], **same},
            {"kind": "cup", "age": "new", "mark": [], **same},
            {"age": "new", **same},
        ]
    }

    scene = compile_scene(record, domain)

    assert ObjectNames(scene, domain).names == ["old cup", "new cup", "new vessel"]
    assert ObjectNames(scene, domain, {"Mark"}).names == ["dotted and line cup", "cup", "vessel"]


# Programs and constraints in words --------------------------------------------------------------------------------


def test_the_tree_begins_with_the_answer_and_shows_a_shared_node_once(tmp_path: Path, vqagen_: Commands) -> None:
    shared = template(
        [
            node("scene"),
            node("filter_unique", [0], FIRST),
            node("same_color", [1]),
            node("same_size", [1]),
            node("union", [2, 3]),
            node("count", [4]),
        ]
    )
    load(tmp_path, shared)

    lines = vqagen_.done("explain mine.json#mine --templates mine.json --count 0").out.decode().splitlines()
    tree = [line.rstrip() for line in lines[lines.index("Program") + 1 : lines.index("Program") + 8]]

    steps = ["filter_size", "filter_color", "filter_material", "filter_shape", "unique"]
    assert tree[0] == "  5 count -> Integer  The number of objects in a set."
    assert [(len(line) - len(line.lstrip()), int(line.split()[0])) for line in tree] == [
        (2, 5),
        (4, 4),
        (6, 2),
        (8, 1),
        (10, 0),
        (6, 3),
        (8, 1),
    ]
    assert tree[3].endswith(f"= {', '.join(steps)}")
    assert tree[6].endswith("as above")


# Which templates are meant ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ("b.json#one", ["b.json#one"]),
        ("b.json#1", ["b.json#two"]),
        ("mine/b.json#two", ["b.json#two"]),
        ("./mine/b.json#two", ["b.json#two"]),
        ("two", ["b.json#two"]),
        ("deep/a.json#one", ["deep/a.json#one"]),
        ("b.json", ["b.json#one", "b.json#two"]),
    ],
)
def test_a_template_is_meant_by_its_id_its_name_or_its_file(wanted: str, ids: list[str], tmp_path: Path) -> None:
    found, is_file = find_templates(two_files(tmp_path).templates, wanted, tmp_path / "mine")

    assert ([each.id for each in found], is_file) == (ids, wanted == "b.json")


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("b.json#twoo", "unknown template 'b.json#twoo'; did you mean 'b.json#two'?"),
        ("c.json", "did you mean 'b.json'?"),
        ("one", "'one' may be any of\n  b.json#one\n  deep/a.json#one"),
        ("deep/a.json#onee", "did you mean 'deep/a.json#one'?"),
        ("xyzzy", "unknown template 'xyzzy'; without one, all are listed"),
    ],
)
def test_a_slip_is_answered_with_what_comes_nearest(wanted: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        find_templates(two_files(tmp_path).templates, wanted, tmp_path / "mine")

    assert told in str(caught.value)


def two_files(folder: Path) -> LoadedDomain:
    """mine/b.json with the templates one and two, and mine/deep/a.json with one."""
    one = {**template([node("scene"), node("filter_count", [0], FIRST)]), "name": "one"}
    two = {**template([node("scene"), node("filter_exist", [0], FIRST)]), "name": "two"}
    (folder / "mine/deep").mkdir(parents=True)
    (folder / "mine/b.json").write_text(json.dumps({"templates": [one, two]}))
    (folder / "mine/deep/a.json").write_text(json.dumps({"templates": [one]}))
    return load_domain_files(find_domain(templates=folder / "mine"))


# Examples -----------------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize("collection", SHIPPED, ids=str)
def test_every_shipped_family_is_explained_by_examples_that_are_right(collection: Collection) -> None:
    """The last step gives the answer, and everything can be written as JSON."""
    materials = collection.materials
    tables = [SceneTables(each) for each in sampled_scenes(materials.domain, seed=0)]
    for each in some(materials.templates):
        explained = explain_template(materials, each, tables, "sampled", count=2)

        tried, examples = explained["tried"], explained["examples"]
        assert tried["found"] + sum(tried["failures"].values()) == tried["scenes"] == len(tables)
        assert examples, each.id
        assert all(example["steps"][-1]["output"] == example["answer"] for example in examples)
        json.dumps(explained)


def test_examples_are_of_different_scenes_as_long_as_there_are_any() -> None:
    (count,), _ = find_templates(CLEVR.templates, "zero_hop.json#count", ROOT / "templates/clevr")
    examples = explain_template(CLEVR, count, [SceneTables(each) for each in SCENES], "test", count=7)["examples"]

    assert [each["scene"] for each in examples] == [0, 1, 2, 0, 1, 2, 0]
    assert len({(each["scene"], str(each["steps"])) for each in examples}) == 7


# Why there is none --------------------------------------------------------------------------------------------------

UNIQUE = [node("scene"), node("filter_unique", [0], FIRST)]
TWINS = scene_record(["small red metal cube"] * 2, [0, 1], [0, 1])
LONE = scene_record(["small red metal cube"], [0], [0])
UNRELATED = {"objects": SMALL_SCENES[0]["objects"]}


@pytest.mark.parametrize(
    ("record", "scene", "node_number", "told"),
    [
        pytest.param(
            template([*UNIQUE, node("query_color", [1])]),
            TWINS,
            1,
            "no option, whatever was chosen before: nothing fits exactly one object",
            id="nothing unique",
        ),
        pytest.param(
            template([*UNIQUE, node("relate_filter_count", [1], ["<R>", *SECOND])]),
            UNRELATED,
            2,
            "no option, whatever was chosen before: the scene does not say how objects are related",
            id="no relations",
        ),
        pytest.param(
            template([*UNIQUE, node("same_color", [1]), node("filter_unique", [2], SECOND), node("query_size", [3])]),
            LONE,
            3,
            "no option, whatever was chosen before: a relation in it is idle",
            id="nothing alike",
        ),
        pytest.param(
            template([*UNIQUE, node("query_color", [1])], [constraint("NULL", each) for each in FIRST]),
            SMALL_SCENES[0],
            1,
            "its options must also meet: NULL(<Z>): The slot is left open. NULL(<C>)",
            id="constraints of one node",
        ),
        pytest.param(
            template(
                [*UNIQUE, node("filter_unique", [0], SECOND), node("equal_object", [1, 2])],
                [constraint("OUT_NEQ", 1, 2)],
            ),
            LONE,
            2,
            "because: OUT_NEQ(1, 2): The nodes' outputs differ.",
            id="constraint between nodes",
        ),
        pytest.param(
            template([*UNIQUE, node("same_size", [1]), node("unique", [2]), node("query_color", [3])]),
            LONE,
            1,
            "because: unique of a set that does not hold exactly one object",
            id="undefined step",
        ),
        pytest.param(
            template([node("scene"), node("unique", [0]), node("query_color", [1])]),
            TWINS,
            1,
            "the same for every question of the scene: unique of a set that does not hold exactly one object",
            id="undefined before any choice",
        ),
        pytest.param(
            template([node("scene"), node("count", [0])], [constraint("OUT_GE_CONST", 1, 4)]),
            TWINS,
            1,
            "the same for every question of the scene: OUT_GE_CONST(1, 4): The node's number",
            id="constraint before any choice",
        ),
    ],
)
def test_the_step_that_ended_it_is_told_with_its_reason(
    record: dict[str, Any], scene: dict[str, Any], node_number: int, told: str, tmp_path: Path
) -> None:
    if not record["params"]:
        record = {**record, "text": ["What of it?"]}
    explained = explain(tmp_path, record, scene)

    assert not explained["examples"]
    assert explained["failure"]["node"] == node_number
    assert told in explained["failure"]["verdict"]


# The command --------------------------------------------------------------------------------------------------------


@pytest.fixture
def vqagen_(vqagen_: Commands, tmp_path: Path) -> Commands:
    """Runs commands in a folder with scenes.json."""
    (tmp_path / "scenes.json").write_text(json.dumps({"scenes": SMALL_SCENES}))
    return vqagen_


def test_a_template_is_shown_in_full(vqagen_: Commands) -> None:
    out = vqagen_.done("explain one_hop.json#query_color --scenes scenes.json --scene 0 --count 1").out.decode()
    lines = out.splitlines()

    assert lines[0] == "one_hop.json#query_color  Color"
    for title in ("Texts", "Slots", "Program", "Constraints", "Examples", "Scenes"):
        assert title in lines
    assert "  3 query_color -> Color  The value an object has." in lines
    assert "      1 filter_unique <Z> <C> <M> <S> -> Object" in out
    assert "  NULL(<C2>): The slot is left open." in lines
    assert "3 objects: large red metal cube; small red rubber sphere; small blue metal cube" in out
    assert "found in 1 of 1 scene (scenes.json)" in out
    assert "\x1b" not in out


def test_a_file_is_shown_in_short_and_all_templates_in_a_list(vqagen_: Commands) -> None:
    file = vqagen_.done("explain clevr/zero_hop.json").out.decode()
    everything = vqagen_.done("explain").out.decode()

    of_file = [each for each in CLEVR.templates if each.file == "zero_hop.json"]
    assert [line.split("  ")[0] for line in file.splitlines()[::2]] == [each.id for each in of_file]
    assert [line.split()[:2] for line in everything.splitlines()] == [
        [each.id, each.answer_type] for each in CLEVR.templates
    ]


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "line",
    [
        "one_hop.json#count --scenes scenes.json",
        "one_hop.json",
        "",
        "--list functions",
        "--list constraints",
        "--list vocabulary",
    ],
)
def test_json_holds_the_same_facts(line: str, vqagen_: Commands) -> None:
    """Every text that is shown there is in the lines for people, and the other way round it is JSON."""
    shown, record = vqagen_.done(f"explain {line}").out.decode(), json.loads(vqagen_.done(f"explain {line} --json").out)

    told = record if isinstance(record, list) else [record]
    for each in told:
        assert (each.get("id") or each.get("signature") or each["name"]) in shown
        for example in each.get("examples", []):
            assert example["question"] in shown


def test_the_catalogues_have_every_function_constraint_and_value(vqagen_: Commands) -> None:
    functions, constraints, words = (
        vqagen_.done(f"explain --list {which}").out.decode() for which in ("functions", "constraints", "vocabulary")
    )

    assert [each for each in function_entries(CLEVR.catalogue) if each["signature"] not in functions] == []
    assert [each for each in constraint_entries(CLEVR.catalogue) if each["meaning"] not in constraints] == []
    assert "relate_filter_unique(Object; <relation>, <value> …) -> Object" in functions
    assert "Shape  shape  key shape; left open: thing / object" in words
    assert "  metal  metal / metallic / shiny" in words


@pytest.mark.slow
def test_the_same_seed_explains_the_same(vqagen_: Commands) -> None:
    """Another seed draws other scenes."""
    line = "explain three_hop.json#count --count 3"

    assert vqagen_.done(line).out == vqagen_.done(line).out != vqagen_.done(f"{line} --seed 1").out


def test_a_terminal_gets_colours_unless_it_wants_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, is_coloured in (("OTHER", True), ("NO_COLOR", False)):
        monkeypatch.setenv(variable, "1")
        shown = CliRunner().invoke(cli, ["explain", "--list", "constraints"], color=True)

        assert (shown.exit_code, "\x1b[" in shown.output) == (0, is_coloured)
