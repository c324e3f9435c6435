"""Templates as other generators write them, templates that make several, and literal values in descriptions."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from scene_records import sampled_scenes

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import shipped
from vqagen.language.catalogue import Catalogue
from vqagen.language.loading import load_templates
from vqagen.language.template import Described, Template
from vqagen.language.template_record import MOST
from vqagen.world.domain import domain_from_metadata, load_domain

Record = dict[str, Any]

CLEVR = Catalogue(load_domain(shipped("metadata") / "clevr.json"))

COUNT: Record = {
    "name": "count",
    "text": ["How many <C> <S>s are <R> the <Z> <S2>?"],
    "params": [
        {"type": "Color", "name": "<C>"},
        {"type": "Shape", "name": "<S>"},
        {"type": "Relation", "name": "<R>"},
        {"type": "Size", "name": "<Z>"},
        {"type": "Shape", "name": "<S2>"},
    ],
    "nodes": [
        {"type": "scene", "inputs": []},
        {"type": "filter_unique", "inputs": [0], "side_inputs": ["<Z>", "<S2>"]},
        {"type": "relate_filter_count", "inputs": [1], "side_inputs": ["<R>", "<C>", "<S>"]},
    ],
    "constraints": [{"type": "NULL", "params": ["<C>"]}],
}


def load(folder: Path, records: list[Record], catalogue: Catalogue = CLEVR) -> tuple[Template, ...]:
    (folder / "mine.json").write_text(json.dumps(records, indent=1))
    return load_templates(folder / "mine.json", catalogue)


def problems_of(folder: Path, records: list[Record], catalogue: Catalogue = CLEVR) -> tuple[Problem, ...]:
    with pytest.raises(BadInput) as raised:
        load(folder, records, catalogue)
    return raised.value.problems


def told(folder: Path, records: list[Record], catalogue: Catalogue = CLEVR) -> list[tuple[str, str]]:
    return [(problem.path, problem.message) for problem in problems_of(folder, records, catalogue)]


def nodes(*steps: tuple[str, list[int], list[str]]) -> list[Record]:
    return [{"type": name, "inputs": inputs, "side_inputs": sides} for name, inputs, sides in steps]


def counting(*side_inputs: str, name: str = "filter_count") -> Record:
    """A template that counts what its side inputs describe, and declares no params."""
    text = " ".join(each for each in side_inputs if each.startswith("<"))
    return {"text": [f"How many {text} things?"], "nodes": nodes(("scene", [], []), (name, [0], list(side_inputs)))}


# Slots that are filled ------------------------------------------------------------------------------------------------


SOUNDS = Catalogue(
    domain_from_metadata(
        {
            "attributes": {
                "loudness": {"placeholder": "<L>", "values": ["quiet", "loud"]},
                "instrument": {"placeholder": "<I>", "values": ["cello", "flute"]},
                "relate_timing": {"placeholder": "<RT>", "values": ["before", "after"]},
            }
        }
    )
)
SOUND: Record = {
    "text": ["How many <L2> <I2>s are <RT> the <L> <I>?"],
    "nodes": nodes(
        ("scene", [], []),
        ("filter_unique", [0], ["<L>", "<I>"]),
        ("relate_filter_count", [1], ["<RT>", "<L2>", "<I2>"]),
    ),
}


def test_slots_are_filled_where_the_metadata_has_attributes_in_place_of_types(tmp_path: Path) -> None:
    (template,) = load(tmp_path, [SOUND], SOUNDS)

    filled = [(each.kind.name, each.params[0].value) for each in template.constraints]
    assert filled == [("NOT_NULL", slot) for slot in ("<L>", "<I>", "<L2>", "<I2>")]


def test_but_for_those_that_a_template_opens(tmp_path: Path) -> None:
    """All slots of their types, as CLEAR has it."""
    (template,) = load(tmp_path, [{**SOUND, "can_be_null_attributes": ["<L>"]}], SOUNDS)

    assert [each.params[0].value for each in template.constraints] == ["<I>", "<I2>"]


# Other names ----------------------------------------------------------------------------------------------------------


def as_written_elsewhere() -> Record:
    record = copy.deepcopy(COUNT)
    for node in record["nodes"]:
        node["function"] = node.pop("type")
        if "side_inputs" in node:
            node["value_inputs"] = node.pop("side_inputs")
    del record["nodes"][0]["inputs"]
    record["text"] = record["text"][0]
    return record


def test_other_names_for_the_same(tmp_path: Path) -> None:
    """`function`, `value_inputs`, a scene without inputs, and one text without a list around it."""
    assert load(tmp_path, [as_written_elsewhere()]) == load(tmp_path, [COUNT])


@pytest.mark.parametrize(
    ("node", "key", "value", "path", "message"),
    [
        (2, "function", "relate_filter_cuont", "[0].nodes[2].function", "did you mean 'relate_filter_count'?"),
        (2, "value_inputs", ["<R>", "<C>", "<S>", "<Q>"], "[0].nodes[2].value_inputs[3]", "slot <Q> is not declared"),
        (1, "value_inputs", ["<Z>", "<S2>", "<R>"], "[0].nodes[1].value_inputs", "takes no Relation slot"),
        (1, "type", "filter_unique", "[0].nodes[1].function", "'function' is another name for 'type'"),
        (1, "side_inputs", ["<Z>"], "[0].nodes[1].value_inputs", "'value_inputs' is another name for 'side_inputs'"),
    ],
)
def test_a_mistake_is_told_where_it_was_written(
    tmp_path: Path, node: int, key: str, value: Any, path: str, message: str
) -> None:
    record = as_written_elsewhere()
    record["nodes"][node][key] = value

    problem = problems_of(tmp_path, [record])[0]

    assert problem.path == path
    assert message in problem.message


def test_constraints_by_other_names(tmp_path: Path) -> None:
    constraints = [
        {"type": "NOT-NULL", "params": ["<Z>"]},
        {"type": "SIZE", "params": ["<Z>", "large"]},
        {"type": "CONST_GT", "params": [2, 1]},
    ]

    (template,) = load(tmp_path, [{**COUNT, "constraints": constraints}])

    assert [each.kind.name for each in template.constraints] == ["NOT_NULL", "IN", "OUT_GE_CONST"]


def test_constants_of_a_constraint_may_stand_under_a_key_of_their_own(tmp_path: Path) -> None:
    """The key is that of the constraint's type, as clevr-robot-env writes them."""
    constraints = [
        {"params": ["<S>"], "type": "SHAPE", "shape": "sphere"},
        {"params": ["<C>"], "type": "COLOR_SET", "color": ["red", "blue"]},
    ]
    given = [each.params[1:] for each in load(tmp_path, [{**COUNT, "constraints": constraints}])[0].constraints]

    assert [[constant.value for constant in constants] for constants in given] == [["sphere"], ["red", "blue"]]


def test_a_wrong_constant_is_told_where_it_was_written(tmp_path: Path) -> None:
    constraints = [
        {"params": ["<S>"], "type": "SHAPE", "shape": "spheer"},
        {"params": ["<C>"], "type": "COLOR_SET", "color": ["red", "bleu"]},
    ]

    assert told(tmp_path, [{**COUNT, "constraints": constraints}]) == [
        ("[0].constraints[0].shape", "unknown Shape 'spheer'; did you mean 'sphere'?"),
        ("[0].constraints[1].color[1]", "unknown Color 'bleu'; did you mean 'blue'?"),
    ]


# Params that are left out ---------------------------------------------------------------------------------------------

SHOP_TYPES = {
    "Size": ["small", "large"],
    "Material": ["glass", "wooden"],
    "Shape": {"values": ["flat", "long"], "placeholder": "<HN>"},
    "Name": ["bowl", "glass"],
    "Relation": {"values": ["before", "after"], "placeholder": "<RT>"},
}
SHOP_CATALOGUE = Catalogue(domain_from_metadata({"types": SHOP_TYPES}))


def test_types_of_slots_from_their_names_and_placeholders(tmp_path: Path) -> None:
    side_inputs = ["<Size>", "<material_2>", "<NAME>", "<HN2>"]
    (template,) = load(tmp_path, [counting(*side_inputs)], SHOP_CATALOGUE)

    assert template.slots == dict(zip(side_inputs, ["Size", "Material", "Name", "Shape"], strict=True))


def test_a_slot_whose_type_cannot_be_told(tmp_path: Path) -> None:
    """One complaint, at its first use."""
    record = counting("<Size>", "<M>")
    record["nodes"] += nodes(("filter_count", [0], ["<M>"]), ("less_than", [1, 2], []))

    ((path, message),) = told(tmp_path, [record], SHOP_CATALOGUE)

    assert path == "[0].nodes[1].side_inputs[1]"
    assert message.startswith("cannot tell the type of slot <M>; declare it and all others in params, such as ")


def test_a_function_tells_the_type_of_a_slot(tmp_path: Path) -> None:
    """A slot's name says nothing then; nor elsewhere in the template."""
    steps = [("scene", [], []), ("filter_name", [0], ["<S>"]), ("unique", [1], []), ("relate", [2], ["<X>"])]
    record = {
        "text": "Does any <S> come <X> the <S>?",
        "nodes": nodes(*steps, ("filter", [3], ["<S>"]), ("exist", [4], [])),
    }

    (template,) = load(tmp_path, [record], SHOP_CATALOGUE)

    assert template.slots == {"<S>": "Name", "<X>": "Relation"}


def test_a_text_with_a_slot_that_no_node_fills(tmp_path: Path) -> None:
    record = {**counting("<Color>"), "text": ["How many <Color> <Shape>s?"]}

    assert told(tmp_path, [record]) == [("[0].text[0]", "no node fills slot <Shape>; nodes fill <Color>")]


# Literal values -------------------------------------------------------------------------------------------------------


def test_a_description_may_say_a_value(tmp_path: Path) -> None:
    (template,) = load(tmp_path, [counting("red", "<Shape>")])

    node = template.nodes[1]
    assert node.side_inputs == ("red", "<Shape>")
    assert template.described(node) == (Described("", "Color", "red"), Described("<Shape>", "Shape", None))


def test_a_related_description_may_name_its_relation(tmp_path: Path) -> None:
    record = copy.deepcopy(COUNT)
    record["nodes"][2]["side_inputs"][0] = "left"
    record["params"] = [each for each in record["params"] if each["name"] != "<R>"]
    record["text"] = ["How many <C> <S>s are left of the <Z> <S2>?"]

    (template,) = load(tmp_path, [record])

    assert template.relation(template.nodes[2]) == Described("", "Relation", "left")
    assert [each.type for each in template.described(template.nodes[2])] == ["Color", "Shape"]


# The last node --------------------------------------------------------------------------------------------------------


# Templates that make several ------------------------------------------------------------------------------------------

QUERY: Record = {
    "name": "query",
    "for": {"asked": "*"},
    "text": ["What {asked} is the <X>?"],
    "params": [{"type": "Shape", "name": "<X>"}],
    "nodes": nodes(("scene", [], []), ("filter_unique", [0], ["<X>"]), ("query_{asked}", [1], [])),
}

EITHER: Record = {
    "name": "{left}_or_{right}",
    "for": {"comment": "Each pair in both orders.", "left": "*", "right": ["Size", "Color"]},
    "text": ["How many things are <{Left}> or <{Right}>?"],
    "params": [{"type": "{Left}", "name": "<{Left}>"}, {"type": "{Right}", "name": "<{Right}>"}],
    "nodes": nodes(
        ("scene", [], []),
        ("filter_{left}", [0], ["<{Left}>"]),
        ("filter_{right}", [0], ["<{Right}>"]),
        ("union", [1, 2], []),
        ("count", [3], []),
    ),
}

TEXTS: Record = {
    "name": "more_{than}",
    "for": [{"than": "greater_than", "word": "more"}, {"than": "less_than", "word": "fewer"}],
    "text": ["Are there {word} <C> things than <C2> ones?"],
    "params": [{"type": "Color", "name": "<C>"}, {"type": "Color", "name": "<C2>"}],
    "nodes": nodes(
        ("scene", [], []), ("filter_count", [0], ["<C>"]), ("filter_count", [0], ["<C2>"]), ("{than}", [1, 2], [])
    ),
}


def test_a_template_for_each_attribute(tmp_path: Path) -> None:
    templates = load(tmp_path, [QUERY])

    asked = [attribute.name for attribute in CLEVR.domain.attributes]
    assert [template.name for template in templates] == [f"query-{name}" for name in asked]
    assert [template.texts[0] for template in templates] == [f"What {name} is the <X>?" for name in asked]
    assert [template.nodes[2].type for template in templates] == [f"query_{name}" for name in asked]


def test_a_template_for_each_pair_of_attributes(tmp_path: Path) -> None:
    """No pair of an attribute with itself; a capital makes the type of the name."""
    templates = load(tmp_path, [EITHER])

    assert [template.name for template in templates] == [
        "size_or_color", "color_or_size", "material_or_size", "material_or_color", "shape_or_size", "shape_or_color",
    ]  # fmt: skip
    assert templates[0].slots == {"<Size>": "Size", "<Color>": "Color"}


def test_a_template_for_each_text(tmp_path: Path) -> None:
    more, fewer = load(tmp_path, [TEXTS])

    assert (more.name, more.texts[0]) == ("more_greater_than", "Are there more <C> things than <C2> ones?")
    assert (fewer.name, fewer.nodes[3].type) == ("more_less_than", "less_than")


def test_every_template_that_is_made_counts(tmp_path: Path) -> None:
    """Indexes and families go on, so that none is there twice."""
    templates = load(tmp_path, [COUNT, QUERY, {**COUNT, "name": "again"}])

    assert [template.index for template in templates] == list(range(6))
    assert [template.family for template in templates] == list(range(6))
    assert templates[5].name == "again"


def broken(record: Record, **changes: Any) -> Record:
    return {**copy.deepcopy(record), **changes}


@pytest.mark.parametrize(
    ("record", "path", "message"),
    [
        (broken(QUERY, text=["What {askt} is <X>?"]),
         "[0].text[0]", "unknown placeholder {askt}; known: {Asked}, {asked}"),
        (broken(TEXTS, name="{then}"), "[0].name", "unknown placeholder {then}; known: {than}, {word}"),
        (broken(QUERY, text=["What is <X>]?"]), "[0].text[0]", "optional brackets [ ] do not pair up"),
        (broken(QUERY, text=["What <{asked}> is <X>?"]), "[0].text[0]",
         "slot <size> is not declared; params declare <X> (with asked = size, and 3 more)"),
        (broken(QUERY, params=[{"type": "{Asked}", "name": "<X>"}, {"type": "Shape", "name": "<Y>"}],
                nodes=nodes(("scene", [], []), ("filter_shape", [0], ["<X>"]), ("count", [1], []))),
         "[0].nodes[1].side_inputs[0]",
         "filter_shape takes a Shape, but slot <X> is a Size (with asked = size, and 2 more)"),
        (broken(TEXTS, **{"for": [{"than": "less_than", "word": "f"}, {"than": "les_than", "word": "g"}]}),
         "[0].nodes[3].type", "unknown node type 'les_than'; did you mean 'less_than'? "
         "(with for[1]: than = les_than, word = g)"),
        (broken(TEXTS, **{"for": [{"than": "less_than", "word": "f"}, {"than": "less_than"}]}),
         "[0].for[1]", "expected the placeholders of for[0], than, word; found than"),
        (broken(EITHER, **{"for": {"left": "*", "right": ["Colour"]}}),
         "[0].for.right[0]", "unknown attribute type 'Colour'; did you mean 'Color'?"),
        (broken(EITHER, **{"for": {"left": ["Size"], "right": ["Size"]}}),
         "[0].for", "leaves no choice, as no two placeholders take the same attribute"),
        (broken(EITHER, name="{left}"),
         "[0].name", "makes several templates called 'material'; put more placeholders into the name"),
    ],
)  # fmt: skip
def test_a_mistake_of_a_template_that_makes_several(tmp_path: Path, record: Record, path: str, message: str) -> None:
    """It is told once, where it was written, with the choice that fails first unless all fail alike."""
    (problem,) = problems_of(tmp_path, [record])

    assert (problem.path, problem.message[: len(message)]) == (path, message)


def test_a_name_that_another_template_makes(tmp_path: Path) -> None:
    found = told(tmp_path, [{**COUNT, "name": "query-size"}, QUERY])

    assert found == [("[1].name", "name 'query-size' is taken by [0]")]


def test_too_many_templates(tmp_path: Path) -> None:
    """Rather than to make them for minutes."""
    types = {f"T{number}": ["a", "b"] for number in range(40)}
    catalogue = Catalogue(domain_from_metadata({"types": types}))

    found = told(tmp_path, [broken(QUERY, **{"for": dict.fromkeys("abcdef", "*")})], catalogue)

    assert found == [("[0].for", f"makes more than {MOST:,} templates")]


# Anything at all ------------------------------------------------------------------------------------------------------


# Nodes ----------------------------------------------------------------------------------------------------------------

SLOTS = {"<Z>": "Size", "<C>": "Color", "<S>": "Shape", "<Z2>": "Size", "<C2>": "Color", "<S2>": "Shape"}


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
    report = json.loads(vqagen_.done("verify q.json --scenes scenes.json --templates mine.json --json").out)
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


@pytest.mark.quick(1)
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


@pytest.mark.quick(1)
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
