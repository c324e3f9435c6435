"""Every function does what its name says, on one small scene; and metadata may only declare what can be run.

The scene, with its objects by number:

    0 large red metal cube      left to right: 2, 0, 1
    1 small red rubber sphere   front to back: 0, 1, 2
    2 small blue metal cube
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from families import REFERENCE
from scene_records import scene_record

from vqagen.bits import indexes, union_of
from vqagen.errors import BadInput, InputWarning
from vqagen.files.locations import shipped
from vqagen.language.catalogue import Catalogue
from vqagen.language.template_check import read_templates
from vqagen.plugin import (
    BUILT_IN,
    CONSTANT,
    CONSTANTS,
    KINDS,
    NODE,
    NUMBERS,
    PLURAL_KINDS,
    SLOT,
    TYPES,
    VALUES,
    Undefined,
)
from vqagen.world.domain import domain_from_metadata, load_domain
from vqagen.world.scene import compile_scene

CATALOGUE = Catalogue(load_domain(shipped("metadata") / "clevr.json"))
OBJECTS = ("large red metal cube", "small red rubber sphere", "small blue metal cube")
RECORD = scene_record(OBJECTS, [2, 0, 1], [0, 1, 2])
for thing, place in zip(RECORD["objects"], [[0, 0, 0], [1.3, 0.95, 0], [-2, 2.5, 0]], strict=True):
    thing["3d_coords"] = place
DIRECTIONS = {"left": [-1, 0, 0], "right": [1, 0, 0], "behind": [0, 1, 0], "front": [0, -1, 0]}
SCENE = compile_scene({**RECORD, "directions": DIRECTIONS}, CATALOGUE.domain)
NOTHING_KNOWN = compile_scene({**RECORD, "relationships": {}}, CATALOGUE.domain)

# A list stands for an object set, a number where the signature says Object for one object.
RESULTS: list[tuple[str, list[Any], Any]] = [
    ("scene", [], [0, 1, 2]),
    ("unique", [[1]], 1),
    ("unique", [[0]], 0),
    ("not_unique", [[0, 2]], [0, 2]),
    ("relate", [0, "left"], [2]),
    ("relate", [0, "right"], [1]),
    ("relate", [0, "behind"], [1, 2]),
    ("relate", [1, "front"], [0]),
    ("relate", [2, "left"], []),
    ("relate_facing", [0, 1, "left"], [2]),
    ("relate_facing", [0, 1, "right"], []),
    ("relate_facing", [1, 0, "front"], [0, 2]),
    ("relate_facing", [1, 0, "behind"], []),
    ("is_related_facing", [0, 1, 2, "left"], True),
    ("is_related_facing", [1, 0, 2, "left"], False),
    ("is_related_facing", [1, 0, 2, "front"], True),
    ("relate_across", [0, "left"], [1]),
    ("relate_across", [1, "behind"], [0]),
    ("is_related_across", [2, 0, "right"], True),
    ("is_related_across", [2, 0, "behind"], False),
    ("nearest", [0, [0, 1, 2]], [1]),
    ("farthest", [0, [1, 2]], [2]),
    ("nearer", [0, 2, 1], 1),
    ("farther", [0, 2, 1], 2),
    ("times_as_far", [0, 2, 1], 2),  # 1.99 times
    ("union", [[0], [0, 2]], [0, 2]),
    ("union", [[], []], []),
    ("intersect", [[0, 1], [1, 2]], [1]),
    ("intersect", [[0], [1]], []),
    ("difference", [[0, 1], [1, 2]], [0]),
    ("difference", [[1], [1]], []),
    ("point", [1], (1,)),
    ("mark", [[0, 2]], (0, 2)),
    ("mark", [[]], ()),
    ("count", [[]], 0),
    ("count", [[0, 2]], 2),
    ("exist", [[]], False),
    ("exist", [[1, 2]], True),
    ("add", [2, 3], 5),
    ("subtract", [3, 2], 1),
    ("subtract", [3, 3], 0),
    ("choose", [[0, 1, 2], "2"], 2),
    ("choose", [[0, 1], "2"], 2),
    ("and", [True, True], True),
    ("and", [True, False], False),
    ("or", [True, False], True),
    ("or", [False, False], False),
    ("not", [True], False),
    ("not", [False], True),
    ("equal_integer", [2, 2], True),
    ("equal_integer", [2, 3], False),
    ("less_than", [2, 3], True),
    ("less_than", [3, 3], False),
    ("greater_than", [3, 2], True),
    ("greater_than", [2, 2], False),
    ("equal_object", [1, 1], True),
    ("equal_object", [1, 2], False),
    ("filter_size", [[0, 1, 2], "small"], [1, 2]),
    ("filter_color", [[1, 2], "red"], [1]),
    ("filter_color", [[0, 1, 2], "green"], []),
    ("filter_material", [[0, 1], "metal"], [0]),
    ("filter_shape", [[], "cube"], []),
    ("query_size", [0], "large"),
    ("query_color", [2], "blue"),
    ("query_material", [1], "rubber"),
    ("query_shape", [1], "sphere"),
    ("same_size", [0], []),
    ("same_size", [1], [2]),
    ("same_color", [0], [1]),
    ("same_material", [2], [0]),
    ("same_shape", [0], [2]),
    ("different_size", [0], [1, 2]),
    ("different_color", [0], [2]),
    ("different_material", [1], [0, 2]),
    ("different_shape", [0], [1]),
    ("equal_size", ["small", "small"], True),
    ("equal_color", ["red", "blue"], False),
    ("equal_material", ["metal", "rubber"], False),
    ("equal_shape", ["cube", "cube"], True),
    ("count_different_size", [[1, 2]], 1),
    ("count_different_color", [[0, 1, 2]], 2),
    ("count_different_material", [[]], 0),
    ("count_different_shape", [[0, 1]], 2),
]
NO_RESULT: list[tuple[str, list[Any]]] = [
    ("unique", [[]]),
    ("unique", [[0, 2]]),
    ("not_unique", [[]]),
    ("not_unique", [[1]]),
    ("subtract", [2, 3]),
    ("choose", [[0, 1], "3"]),
    ("relate", [0, "left"]),
    ("relate_facing", [0, 1, "front"]),  # object 2 is 92 degrees from the heading
    ("relate_facing", [0, 0, "left"]),
    ("is_related_facing", [0, 1, 1, "front"]),
    ("is_related_facing", [0, 1, 0, "left"]),
    ("is_related_facing", [0, 1, 2, "above"]),
    ("is_related_across", [0, 0, "left"]),
    ("nearest", [0, [0, 1]]),
    ("nearer", [0, 1, 1]),
    ("farther", [0, 0, 1]),
    ("times_as_far", [0, 1, 2]),  # half as far
    ("times_as_far", [1, 2, 0]),  # 2.26 times
]
"""Undefined in the same scene with no relations told."""


def as_input(value: Any) -> Any:
    return union_of(value) if isinstance(value, list) else value


def test_every_function_has_a_row_and_says_what_it_means() -> None:
    """A new function is tested by a new row in RESULTS."""
    assert [function.name for function in CATALOGUE.values() if not function.meaning.endswith(".")] == []
    assert [name for name in CATALOGUE if name not in {row[0] for row in RESULTS}] == []


def test_an_alias_is_another_name_of_the_same_function() -> None:
    """It is found under its own name, so that programs keep what they were written with, and is listed nowhere."""
    assert CATALOGUE["addition"].name == "addition"
    assert CATALOGUE["addition"].run is CATALOGUE["add"].run
    assert CATALOGUE["subtraction"].signature == "subtraction(Integer, Integer) -> Integer"
    assert [name for name in CATALOGUE if name in ("addition", "subtraction")] == []
    assert len(CATALOGUE) == len(list(CATALOGUE)) == len(dict(CATALOGUE))


def test_signature_for_people() -> None:
    assert CATALOGUE["relate"].signature == "relate(Object; Relation) -> ObjectSet"
    assert CATALOGUE["union"].signature == "union(ObjectSet, ObjectSet) -> ObjectSet"
    assert CATALOGUE["scene"].signature == "scene() -> ObjectSet"


# Groups, lists and missing values --------------------------------------------------------------------------------

STALL = domain_from_metadata(
    {
        "types": {
            "Kind": {"fruit": ["apple", "pear"], "vegetable": ["leek"]},
            "Colors": {"values": ["red", "green", "white"], "multi": True, "optional": True},
            "Origin": {"values": ["north", "south"], "optional": True},
        }
    }
)
FOOD = Catalogue(STALL)
ON_SALE = compile_scene(
    {
        "objects": [
            {"kind": "apple", "colors": ["green", "red"], "origin": "north"},
            {"kind": "pear", "colors": ["red", "green"], "origin": "north"},
            {"kind": "apple", "colors": ["red"], "origin": None},
            {"kind": "leek", "colors": [], "origin": "south"},
        ],
        "relationships": {},
    },
    STALL,
)
KINDS_OF_VALUES: list[tuple[str, list[Any], Any]] = [
    ("filter_kind", [[0, 1, 2, 3], "fruit"], [0, 1, 2]),
    ("filter_kind", [[0, 1, 2, 3], "pear"], [1]),
    ("query_kind", [0], "apple"),
    ("same_kind", [0], [2]),
    ("different_kind", [0], [1, 3]),
    ("count_different_kind", [[0, 1, 2]], 2),
    ("filter_colors", [[0, 1, 2, 3], "green"], [0, 1]),
    ("query_colors", [1], ("red", "green")),
    ("same_colors", [0], [1]),
    ("different_colors", [2], [0, 1]),
    ("equal_colors", [("red", "green"), ("red", "green")], True),
    ("equal_colors", [("red", "green"), ("red",)], False),
    ("count_different_colors", [[1, 2, 3]], 2),
    ("same_origin", [0], [1]),
    ("different_origin", [0], [3]),
    ("count_different_origin", [[0, 1, 2]], 1),
]


WITHOUT_VALUE = [
    (f"{what}_{name}", [i]) for what in ("query", "same", "different") for name, i in (("origin", 2), ("colors", 3))
]


@pytest.mark.parametrize(("name", "arguments", "expected"), [*RESULTS, *KINDS_OF_VALUES])
def test_result(name: str, arguments: list[Any], expected: Any) -> None:
    """A group is found by its members but never an answer; lists are equal or not as a whole; none is like nothing."""
    function, scene = (CATALOGUE[name], SCENE) if name in CATALOGUE else (FOOD[name], ON_SALE)

    result = function.run(scene, *map(as_input, arguments))

    found = indexes(result) if function.output == "ObjectSet" else result
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(("name", "arguments"), [*NO_RESULT, *WITHOUT_VALUE])
def test_no_result_is_undefined(name: str, arguments: list[Any]) -> None:
    """There is no special value that means failure."""
    function, scene = (CATALOGUE[name], NOTHING_KNOWN) if name in CATALOGUE else (FOOD[name], ON_SALE)

    with pytest.raises(Undefined):
        function.run(scene, *map(as_input, arguments))


@pytest.mark.parametrize("name", ["same_colors", "different_kind", "same_kind", "different_colors"])
def test_what_is_hidden_is_neither_same_nor_different(name: str) -> None:
    """As seen by someone who sees but one object."""
    assert FOOD[name].run(ON_SALE.seen(union_of([0])), 0) == 0


# What metadata declares ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference_functions(shared: Path) -> list[dict[str, Any]]:
    """What the reference's metadata declares."""
    if not REFERENCE.is_dir():
        pytest.skip("no reference metadata in shared/")
    return list(json.loads((REFERENCE / "metadata.json").read_text("utf-8"))["functions"])


def test_signatures_are_those_of_the_reference(reference_functions: list[dict[str, Any]]) -> None:
    """Inputs, values, outputs and which ones give an answer; no function is missing."""
    declared = [entry for entry in reference_functions if not entry.get("template_only")]

    expected = {
        entry["name"]: (entry["inputs"], entry.get("side_inputs", []), entry["output"], entry["terminal"])
        for entry in declared
    }
    found = {f.name: ([*f.inputs], [*f.values], f.output, bool(f.asks)) for f in CATALOGUE.values()}
    assert {name: found.get(name) for name in expected} == expected


def test_the_reference_metadata_is_accepted(reference_functions: list[dict[str, Any]]) -> None:
    catalogue = Catalogue(load_domain(REFERENCE / "metadata.json"))

    assert len(catalogue.domain.declared) == len(reference_functions)
    assert dict(catalogue) == dict(CATALOGUE)


DECLARED_TYPES = {"Object": None, "Size": ["small", "large"], "Color": ["red", "blue"], "Relation": ["left", "right"]}
RIGHT: list[dict[str, Any]] = [
    {"name": "scene", "inputs": [], "output": "ObjectSet", "terminal": False, "since": "1.0"},
    {"name": "filter_size", "inputs": ["ObjectSet"], "side_inputs": ["Size"], "output": "ObjectSet"},
    {"name": "query_color", "inputs": ["Object"], "output": "Color"},
    {"name": "relate", "inputs": ["Object"], "side_inputs": ["Relation"], "output": "ObjectSet"},
    {"name": "filter", "inputs": ["ObjectSet"], "side_inputs": ["Color", "Size"], "template_only": True},
    {"name": "relate_filter_count", "inputs": ["Object"], "side_inputs": ["Relation", "Size"], "output": "Integer"},
    {"name": "equal_size"},
]


def catalogue_declaring(*more: Any) -> Catalogue:
    """With the RIGHT declarations, and then some more."""
    return Catalogue(domain_from_metadata({"types": DECLARED_TYPES, "functions": [*RIGHT, *more]}, "mine.json"))


def test_right_declarations_are_accepted() -> None:
    """Keys that are absent or unknown are not checked."""
    assert "same_color" in catalogue_declaring()


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"name": "same_sise"}, ".name", "unknown function 'same_sise'; did you mean 'same_size'?"),
    ({"name": "Count"}, ".name", "unknown function 'Count'; did you mean 'count'?"),
    ({"name": "count", "inputs": ["Object"]}, ".inputs", 'count takes ["ObjectSet"], found ["Object"]'),
    ({"name": "count", "inputs": []}, ".inputs", 'count takes ["ObjectSet"], found []'),
    ({"name": "filter_color", "side_inputs": []}, ".side_inputs", 'filter_color takes ["Color"], found []'),
    ({"name": "filter_color", "side_inputs": ["Size"]}, ".side_inputs", 'filter_color takes ["Color"], found ["Size"]'),
    ({"name": "count", "side_inputs": ["Size"]}, ".side_inputs", 'count takes [], found ["Size"]'),
    ({"name": "exist", "output": "Integer"}, ".output", "exist gives Bool, found Integer"),
    (
        {"name": "relate_filter_uniqe", "template_only": True},
        ".name",
        "unknown template-only node 'relate_filter_uniqe'; did you mean",
    ),
    ({"name": "addition", "output": "Bool"}, ".output", "addition gives Integer, found Bool"),
    ({"name": "filter_unique", "inputs": ["Object"]}, ".inputs", 'filter_unique takes ["ObjectSet"], found ["Object"]'),
    ({"name": "filter_unique", "output": "ObjectSet"}, ".output", "filter_unique gives Object, found ObjectSet"),
    (
        {"name": "filter", "side_inputs": ["Relation", "Size"]},
        ".side_inputs",
        "filter takes no Relation and any attributes, found",
    ),
    (
        {"name": "relate_filter", "side_inputs": ["Size"]},
        ".side_inputs",
        "relate_filter takes a Relation and any attributes",
    ),
    (
        {"name": "filter", "side_inputs": ["Colour"]},
        ".side_inputs",
        "filter takes no Relation and any attributes, found",
    ),
]


def test_a_function_that_is_declared_and_unknown_is_warned_of_once() -> None:
    """Forks declare what only their own generators run; a template that uses it is refused, and says why."""
    more = [
        {"name": "query_pose"},
        {"name": "same_sizeout"},
        {"name": "my_same_size"},
        {"name": "partfilter", "template_only": True},
    ]

    with pytest.warns(InputWarning) as told:
        catalogue = catalogue_declaring(*more)

    assert [str(each.message) for each in told] == [
        "mine.json: functions[7].name: unknown functions, which no template can use: "
        "query_pose, same_sizeout, my_same_size, partfilter (a plug-in (--plugin FILE.py) can add functions)"
    ]
    nodes = [{"type": "scene"}, {"type": "partfilter", "inputs": [0]}, {"type": "part_of", "inputs": [1]}]
    _, faults = read_templates({"text": "Which?", "nodes": nodes}, "", catalogue, "mine.json", 0)
    assert faults[0] == (
        "nodes[1].type",
        "nothing runs 'partfilter', which the metadata declares; a plug-in (--plugin FILE.py) can add functions",
    )
    assert faults[1][1].endswith("(a plug-in (--plugin FILE.py) can add functions)")


def test_an_input_may_be_declared_to_be_of_several_types() -> None:
    """Super-CLEVR's query_color takes objects and parts of them."""
    catalogue = catalogue_declaring({"name": "query_color", "inputs": ["Object|Part"]})

    assert catalogue["query_color"].inputs == ("Object",)


def test_a_function_that_is_declared_template_only() -> None:
    """CLEVR-Math declares addition so, with the inputs of another node; its templates use it as the function it is."""
    declared = {"name": "addition", "inputs": ["Object"], "side_inputs": ["Relation"], "template_only": True}

    with pytest.warns(InputWarning, match=r"functions\[7\]: addition is no template-only node but a function"):
        assert catalogue_declaring(declared)["addition"].inputs == ("Integer", "Integer")


@pytest.mark.parametrize(("declared", "place", "message"), WRONG)
def test_wrong_declaration(declared: dict[str, Any], place: str, message: str) -> None:
    """One mistake is told once, with the file, the place, and what would be right."""
    with pytest.raises(BadInput) as raised:
        catalogue_declaring(declared)

    (problem,) = raised.value.problems
    assert (problem.source, problem.path) == ("mine.json", f"functions[{len(RIGHT)}]{place}")
    assert message in problem.message


@pytest.mark.parametrize(
    ("type_name", "function"),
    [("Count", "filter_count"), ("Unique", "filter_unique"), ("Not_unique", "filter_not_unique")],
)
def test_attribute_whose_functions_would_be_hidden(type_name: str, function: str) -> None:
    """A type called Count would make a second filter_count, and templates could mean either."""
    domain = domain_from_metadata({"types": {"Color": ["red"], type_name: ["a", "b"]}})

    with pytest.raises(BadInput, match=function):
        Catalogue(domain)


# Constraints ----------------------------------------------------------------------------------------------------------

CONSTRAINTS = BUILT_IN.constraints

HOLDS: list[tuple[str, tuple[Any, ...], bool]] = [
    ("NULL", (None,), True),
    ("NULL", ("red",), False),
    ("NULL", ("",), False),
    ("NOT_NULL", ("red",), True),
    ("NOT_NULL", (None,), False),
    ("NOT_ALL_NULL", (None, "red"), True),
    ("NOT_ALL_NULL", ("red", "red"), True),
    ("NOT_ALL_NULL", (None, None), False),
    ("ONE_OF", (None, None, None), True),
    ("ONE_OF", (None, "red", None), True),
    ("ONE_OF", ("red", None, "cube"), False),
    ("ONE_OF_FORCE", (None, "red", None), True),
    ("ONE_OF_FORCE", (None, None), False),
    ("ONE_OF_FORCE", ("red", "cube"), False),
    ("NONE_OF", (None, None), True),
    ("NONE_OF", (None, "red"), False),
    ("EQ", ("red", "red"), True),
    ("EQ", ("red", "blue"), False),
    ("EQ", (None, None), True),
    ("EQ", ("red", None), False),
    ("NEQ", ("red", "blue"), True),
    ("NEQ", ("red", "red"), False),
    ("NEQ", (None, "red"), True),
    ("NEQ", (None, None), False),
    ("IN", ("red", "blue", "red"), True),
    ("IN", ("red", ["blue", "red"]), True),
    ("IN", ("red", "reddish"), False),
    ("IN", ("red", ["blue", "reddish"], "green"), False),
    ("IN", (None, "red"), False),
    ("NOT_IN", ("red", "blue"), True),
    ("NOT_IN", ("red", ["blue"], "red"), False),
    ("NOT_IN", (None, "red"), True),
    ("OUT_EQ", (0b101, 0b101), True),
    ("OUT_EQ", (2, 3), False),
    ("OUT_EQ", ("red", "red"), True),
    ("OUT_NEQ", (0, 0), False),
    ("OUT_NEQ", (0, 1), True),
    ("OUT_NEQ", ("red", "blue"), True),
    ("OUT_LT_CONST", (1, 2), True),
    ("OUT_LT_CONST", (2, 2), False),
    ("OUT_LE_CONST", (2, 2), True),
    ("OUT_LE_CONST", (3, 2), False),
    ("OUT_GT_CONST", (3, 2), True),
    ("OUT_GT_CONST", (2, 2), False),
    ("OUT_GE_CONST", (2, 2), True),
    ("OUT_GE_CONST", (1, 2), False),
    ("OUT_EQ_CONST", (2, 2), True),
    ("OUT_EQ_CONST", (1, 2), False),
    ("OUT_NEQ_CONST", (1, 2), True),
    ("OUT_NEQ_CONST", (2, 2), False),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), HOLDS)
def test_constraint(name: str, arguments: tuple[Any, ...], expected: bool) -> None:
    assert CONSTRAINTS[name].holds(*arguments) is expected


def test_every_constraint_has_rows_for_both_outcomes() -> None:
    rows = {(name, expected) for name, _, expected in HOLDS}

    assert [(name, holds) for name in CONSTRAINTS for holds in (True, False) if (name, holds) not in rows] == []


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_constraint_says_what_it_means_and_what_it_takes(name: str) -> None:
    """Plural kinds of parameters come last."""
    kind = CONSTRAINTS[name]
    lengths = {len(arguments) for row, arguments, _ in HOLDS if row == name}

    assert kind.name == name
    assert kind.meaning.endswith((".", ")"))
    assert set(kind.params) <= set(KINDS)
    assert not set(kind.params[:-1]) & set(PLURAL_KINDS)
    assert lengths == {len(kind.params)} or (kind.params[-1] in PLURAL_KINDS and min(lengths) >= len(kind.params))


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_what_is_compared_fits_the_parameters(name: str) -> None:
    """Types are those of two of a kind, numbers those of nodes and constants, values those of a slot."""
    kind = CONSTRAINTS[name]
    fitting = {"": kind.of_openness, TYPES: kind.params in ((SLOT, SLOT), (NODE, NODE)),
               NUMBERS: kind.params == (NODE, CONSTANT), VALUES: kind.params == (SLOT, CONSTANTS)}  # fmt: skip

    assert fitting[kind.compares]


ALIASES = {
    "NOT-NULL": "NOT_NULL",
    "TYPE_NEQ": "NEQ",
    "CONST_TYPE_NEQ": "NOT_IN",
    "CONST_NEQ": "OUT_NEQ_CONST",
    "CONST_GT": "OUT_GE_CONST",
    "CONST_LEQ": "OUT_LE_CONST",
    "COLOR": "IN",
    "SHAPE_SET": "IN",
    "RELATION": "IN",
    "RELATION_SET": "IN",
}


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_alias(alias: str, name: str) -> None:
    """The constraint is known by its proper name then."""
    assert CATALOGUE.constraints[alias] == CONSTRAINTS[name]
    assert alias not in list(CATALOGUE.constraints)


def test_the_names_of_constraints_are_listed_once() -> None:
    assert list(CATALOGUE.constraints) == list(CONSTRAINTS)
