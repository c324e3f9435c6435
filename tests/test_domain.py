"""Metadata: what a vocabulary is read as, where its defaults come from, and what is said of a faulty one."""

from __future__ import annotations

import copy
import json
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vqagen.errors import BadInput, describe
from vqagen.files import shipped
from vqagen.world.domain import Attribute, Domain, domain_from_metadata, load_domain

Metadata = dict[str, Any]

TYPES: Metadata = {"Object": None, "Size": ["small", "large"], "Shape": ["cube", "ball"], "Relation": ["left", "right"]}


def declared(*functions: str) -> list[Metadata]:
    """Declared functions, each written as its name and its side inputs."""
    split = [function.split() for function in functions]
    return [{"name": name, "inputs": ["ObjectSet"], "side_inputs": types} for name, *types in split]


def domain(*functions: str, **types: object) -> Domain:
    """The domain of TYPES with others added or put in place, and of declared functions."""
    return domain_from_metadata({"types": {**TYPES, **types}, "functions": declared(*functions)})


def nulls(found: Domain) -> dict[str, str]:
    return {attribute.type: attribute.null for attribute in found.attributes}


def test_a_list_of_values_makes_an_attribute() -> None:
    found = domain_from_metadata({"dataset": "d", "types": TYPES, "plurals": {"cube": "cubes"}})

    assert found.name == "d"
    assert found.attributes == (
        Attribute("size", "Size", "size", ("small", "large"), ""),
        Attribute("shape", "Shape", "shape", ("cube", "ball"), "thing"),
    )
    assert found.relations == ("left", "right")
    assert found.plurals == {"cube": "cubes"}


def test_an_attribute_may_say_more_of_itself() -> None:
    shape = {"values": ["cube"], "key": "form", "null": "item"}

    assert domain(Shape=shape).attributes[-1] == Attribute("shape", "Shape", "form", ("cube",), "item")


def test_types_can_be_asked_for_their_values() -> None:
    found = domain()

    assert found.value_types == ("Size", "Shape", "Relation")
    assert found.types == ("Object", "ObjectSet", "Integer", "Bool", "Size", "Shape", "Relation")
    assert found.attribute_of("Shape") == found.attributes[1]
    assert found.attribute_of("Relation") is None
    assert found.values_of("Shape") == ("cube", "ball")
    assert found.values_of("Relation") == ("left", "right")
    assert found.values_of("Object") == found.values_of("Colour") == ()


def test_a_domain_may_have_no_relations() -> None:
    found = domain_from_metadata({"types": {"Size": ["small"]}})

    assert found.relations == ()
    assert found.value_types == ("Size",)


def test_a_domain_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        domain().name = "other"  # type: ignore[misc]


def test_declared_functions_say_which_types_are_attributes() -> None:
    found = domain("filter_size Size", "query_shape", "same_place", Place=["here", "there"])

    assert [attribute.type for attribute in found.attributes] == ["Size", "Shape"]


def test_the_relation_type_is_what_relate_takes() -> None:
    found = domain("relate Direction", "filter_size Size", Direction=["up", "down"])

    assert (found.relation_type, found.relations) == ("Direction", ("up", "down"))


QUERIES = ("query_size", "query_shape")
HEAD_NOUNS: list[tuple[str, Domain, dict[str, str]]] = [
    ("the last attribute", domain(), {"Size": "", "Shape": "thing"}),
    ("the last side input of filter", domain("filter Shape Size", *QUERIES), {"Size": "thing", "Shape": ""}),
    ("filter without side inputs", domain("filter", *QUERIES), {"Size": "", "Shape": "thing"}),
    ("given", domain(Size={"values": ["small"], "null": "one"}), {"Size": "one", "Shape": ""}),
    ("given, and empty", domain(Shape={"values": ["cube"], "null": ""}), {"Size": "", "Shape": ""}),
    ("an attribute of its own", domain(Size={"values": ["small"], "null": ""}), {"Size": "", "Shape": "thing"}),
]  # fmt: skip


@pytest.mark.parametrize(("found", "expected"), [row[1:] for row in HEAD_NOUNS], ids=[row[0] for row in HEAD_NOUNS])
def test_the_head_noun_is_thing_unless_some_word_is_given(found: Domain, expected: dict[str, str]) -> None:
    assert nulls(found) == expected


# Faults -----------------------------------------------------------------------------------------------------------

FAULTS: list[tuple[object, str]] = [
    ([], "expected an object, found a list of 0"),
    ({}, "types: expected an object, found null or nothing"),
    ({"types": ["Size"]}, "types: expected an object, found a list of 1"),
    ({"types": {"Object": None}}, "types: no attribute: expected at least one type with a list of values"),
    ({"types": {"Relation": ["left"]}}, "types: no attribute"),
    ({"types": {"Size": []}}, "types.Size: expected null, a list of values, or {'values': [...]}; found a list of 0"),
    ({"types": {"Size": "small"}}, "types.Size: expected null, a list of values, or {'values': [...]}; found 'small'"),
    ({"types": {"Size": {"value": ["small"]}}}, "types.Size: expected null, a list of values"),
    ({"types": {"Size": ["small", 5]}}, "types.Size[1]: expected a value as text, found 5"),
    ({"types": {"Size": ["small", ""]}}, "types.Size[1]: expected a value as text, found ''"),
    ({"types": {"Size": ["small", "large", "small"]}}, "types.Size[2]: value 'small' is listed twice"),
    ({"types": {**TYPES, "Relation": []}}, "types.Relation: expected null, a list of values"),
    ({"types": {**TYPES, "size": ["huge"]}}, "types.size: a type called 'size', but for the case, is there already"),
    ({"types": {"Size": {"values": ["small"], "key": 5}}}, "types.Size.key: expected text, found 5"),
    ({"types": {"Size": {"values": ["small"], "null": ["a"]}}}, "types.Size.null: expected text, found a list of 1"),
    ({"types": TYPES, "functions": {}}, "functions: expected a list of objects, found an object"),
    ({"types": TYPES, "functions": ["scene"]}, "functions[0]: expected an object, found 'scene'"),
    ({"types": TYPES, "functions": [{"name": "relate", "side_inputs": "Relation"}, *declared("query_size")]},
     "functions[0].side_inputs: expected a list of types, found 'Relation'"),
    ({"types": TYPES, "functions": [*declared("query_size"), {"name": "filter", "side_inputs": 5}]},
     "functions[1].side_inputs: expected a list of types, found 5"),
    ({"types": TYPES, "plurals": ["cubes"]}, "plurals: expected an object, found a list of 1"),
    ({"types": TYPES, "plurals": {"cube": None}}, "plurals.cube: expected text, found null or nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("metadata", "message"), FAULTS)
def test_a_fault_is_told_with_its_place(metadata: object, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        domain_from_metadata(metadata, "d.json")

    assert any(str(problem).startswith(f"d.json: {message}") for problem in caught.value.problems)


def test_all_faults_are_told_at_once() -> None:
    types = {"Size": ["small", "small"], "Shape": {"values": [], "key": 1}, "Relation": [None]}
    with pytest.raises(BadInput) as caught:
        domain_from_metadata({"types": types, "plurals": 7})

    places = [problem.path for problem in caught.value.problems]
    assert sorted(places) == ["plurals", "types.Relation[0]", "types.Shape", "types.Shape.key", "types.Size[1]"]


def test_a_file_that_is_not_json_is_told_by_line(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    path.write_text('{"types": {\n  "Size": ["small",, "large"]}}')

    with pytest.raises(BadInput, match=r"d\.json:2:20: not valid JSON"):
        load_domain(path)


def places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values inside a JSON value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, inner in members for found in places(inner, (*path, key)))]


WHOLE: Metadata = {
    "dataset": "d",
    "types": {**TYPES, "Color": {"values": ["red"], "key": "color", "null": "thing"}},
    "functions": declared("filter Size Shape", "filter_size Size", "query_shape", "relate Relation"),
    "plurals": {"cube": "cubes"},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "red", "relate", "Size"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["values", "null", "Size", "name", "side_inputs"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(deadline=None, max_examples=150)
@given(path=st.sampled_from(places(WHOLE)[1:]), value=JSON)
def test_any_metadata_is_read_or_refused(path: tuple[Any, ...], value: object) -> None:
    """Metadata with one value replaced by any other raises nothing but BadInput."""
    inside = damaged = copy.deepcopy(WHOLE)
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    try:
        found = domain_from_metadata(damaged)
    except BadInput:
        return
    assert found.attributes
    assert all(attribute.values for attribute in found.attributes)


# Metadata that exists ---------------------------------------------------------------------------------------------


def test_the_shipped_clevr_domain() -> None:
    found = load_domain(shipped("metadata") / "clevr.json")

    assert [attribute.key for attribute in found.attributes] == ["size", "color", "material", "shape"]
    assert [len(attribute.values) for attribute in found.attributes] == [2, 8, 2, 3]
    assert found.relations == ("left", "right", "behind", "front")
    assert nulls(found) == {"Size": "", "Color": "", "Material": "", "Shape": "thing"}
    assert found.source.endswith("clevr.json")


def test_the_reference_metadata_names_the_same_world(shared: Path) -> None:
    """Attributes may stand in another order there; the word for each left open is the same."""
    path = shared / "data" / "clevr_v1" / "metadata.json"
    found, ours = load_domain(path), load_domain(shipped("metadata") / "clevr.json")

    assert found.name == ours.name
    assert {attribute.type: attribute for attribute in found.attributes} == {
        attribute.type: attribute for attribute in ours.attributes
    }
    assert set(found.relations) == set(ours.relations)
    assert [dict(function) for function in found.declared] == json.loads(path.read_text("utf-8"))["functions"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null or nothing"),
        ({}, "an object"),
        ([1], "a list of 1"),
        (True, "True"),
        ("a" * 50, "'" + "a" * 36 + "…"),
    ],
)
def test_a_value_is_described_in_short(value: object, words: str) -> None:
    assert describe(value) == words
