"""Metadata: what a vocabulary is read as, where its defaults come from, and what is said of a faulty one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vqagen.errors import BadInput, InputWarning
from vqagen.plugin import ComputedAttribute, ComputedRelation, Declarations
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


# Values in groups, and what else can be said of them --------------------------------------------------------------


def kind(**details: Any) -> Metadata:
    """Metadata with one type in its long form."""
    return {"types": {"Kind": {"values": ["suv", "van"], **details}}}


def deep(levels: int) -> object:
    """Groups inside of groups."""
    groups: object = ["leaf"]
    for level in reversed(range(levels)):
        groups = {f"g{level}": groups}
    return groups


CAR = {"suv": "car", "van": "car"}
VALUE_FORMS: list[tuple[object, str, Metadata]] = [
    (["suv", "van"], "suv van", {}),
    ({"values": ["suv", "van"]}, "suv van", {}),
    ({"car": ["suv", "van"]}, "car suv van", CAR),
    ({"comment": "wheels", "car": ["suv", "van"]}, "car suv van", CAR),
    ({"values": {"car": ["suv", "van"]}}, "car suv van", CAR),
    ({"vehicle": {"car": ["suv", "van"], "bike": []}}, "vehicle car suv van bike",
     {**CAR, "car": "vehicle", "bike": "vehicle"}),
    ({"car": ["suv"], "bike": None}, "car suv bike", {"suv": "car"}),
    (["bike", {"car": ["suv", {"van": ["camper"]}]}], "bike car suv van camper", {**CAR, "camper": "van"}),
    ({"values": ["suv", "van", "bike"], "parents": CAR}, "suv van bike car", CAR),
    ({"values": ["car", "suv", "van"], "parents": CAR}, "car suv van", CAR),
    ({"values": ["suv", "van"], "parents": {**CAR, "car": "vehicle"}}, "suv van car vehicle",
     {**CAR, "car": "vehicle"}),
    ({"values": {"car": ["suv"]}, "parents": {"suv": "car", "car": "vehicle"}}, "car suv vehicle",
     {"suv": "car", "car": "vehicle"}),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "values", "parents"), VALUE_FORMS)
def test_values_may_stand_in_groups(entry: object, values: str, parents: Metadata) -> None:
    """A group comes before its members, or behind all values where only `parents` name it."""
    found = domain_from_metadata({"types": {"Kind": entry}}).attributes[0]

    assert (" ".join(found.values), found.parents) == (values, parents)


def test_objects_have_leaves_of_which_groups_are_said() -> None:
    (found,) = domain_from_metadata({"types": {"Kind": {"vehicle": {"car": ["suv", "van"], "bike": []}}}}).attributes

    assert found.leaves == ("suv", "van", "bike")
    assert found.lineage["suv"] == ("suv", "car", "vehicle")
    assert found.leaves_of("car") == ("suv", "van")
    assert found.leaves_of("vehicle") == found.leaves
    assert found.leaves_of("bike") == ("bike",)
    assert found.sayable(("suv", "van")) == ("suv", "car", "vehicle", "van")
    assert found.sayable(None) == ()


def test_a_type_may_say_all_of_itself() -> None:
    details = {"key": "text.body", "null": "thing", "display": {"suv": "SUV"}, "multi": True, "optional": True}
    (found,) = domain_from_metadata(kind(**details, comment="ours")).attributes

    assert found == Attribute(
        "kind", "Kind", "text.body", ("suv", "van"), "thing", display={"suv": "SUV"}, multi=True, optional=True
    )
    assert hash(found) == hash(domain_from_metadata(kind(**details)).attributes[0])


def test_types_without_values_are_kept_for_plug_ins() -> None:
    found = domain(Part=None, PartSet=None)

    assert found.abstract_types == ("Part", "PartSet")
    assert found.types == ("Object", "ObjectSet", "Integer", "Bool", "Part", "PartSet", "Size", "Shape", "Relation")
    assert "Part" not in found.value_types


def test_rewrites_are_compiled_and_synonyms_kept() -> None:
    rewrite = {"pattern": r"\bthing (\w+)", "replace": r"\1 thing", "comment": "ours"}
    synonyms = {"Size": {"small": ["tiny"]}}
    found = domain_from_metadata({"types": TYPES, "rewrites": [rewrite], "synonyms": synonyms})

    ((pattern, replacement),) = found.rewrites
    assert pattern.sub(replacement, "a thing red") == "a red thing"
    assert found.synonyms_section == synonyms


def test_comments_and_schemas_are_no_content() -> None:
    comment = {"comment": "ours"}
    found = domain_from_metadata(
        {"$schema": "x", **comment, "types": {**comment, **TYPES}, "plurals": {**comment, "ox": "oxen"}, "info": 1}
    )

    assert found.value_types == domain().value_types
    assert found.plurals == {"ox": "oxen"}
    assert found.record["info"] == 1


DOUBTS: list[tuple[Metadata, str]] = [
    ({"types": TYPES, "synonym": {}}, "synonym: unknown key 'synonym'; did you mean 'synonyms'?"),
    (kind(mutli=True), "types.Kind.mutli: unknown key 'mutli'; did you mean 'multi'?"),
    (kind(colour="red"), "types.Kind.colour: unknown key 'colour'; known: values, attribute"),
    ({"types": {"Kind": {"value": ["suv"]}}}, "types.Kind.value: 'value' is taken for a group of values"),
    ({"types": {**TYPES, "Relation": {"values": ["left"], "multi": True}}}, "types.Relation.multi: unknown key"),
    ({"types": TYPES, "rewrites": [{"pattern": "a", "replace": "", "flag": 1}]}, "rewrites[0].flag: unknown key"),
]


@pytest.mark.parametrize(("metadata", "message"), DOUBTS)
def test_what_may_not_be_meant_is_warned_of(metadata: Metadata, message: str) -> None:
    with pytest.warns(InputWarning) as caught:
        domain_from_metadata(metadata, "d.json")

    assert [str(each.message).startswith(f"d.json: {message}") for each in caught] == [True]


# Plug-ins ---------------------------------------------------------------------------------------------------------


def side(thing: Metadata, scene: Metadata) -> str:
    return "west"


def near(thing: Metadata, anchor: Metadata, scene: Metadata) -> bool:
    return True


def plugins(*values: str, type_name: str = "Side", relation: str = "near") -> Declarations:
    return Declarations(
        attributes={type_name: ComputedAttribute(type_name, values, side, source="p.py", line=3)},
        relations={relation: ComputedRelation(relation, near)},
    )


def test_a_computed_attribute_joins_the_domain() -> None:
    """Behind the others; objects may have no value."""
    found = domain_from_metadata({"types": TYPES}, plugins=plugins("west", "east"))

    assert found.attributes[:-1] == domain().attributes
    assert found.attributes[-1] == Attribute("side", "Side", "side", ("west", "east"), "", optional=True)
    assert found.attributes[-1].compute is side


@pytest.mark.parametrize("listed", [(), ("west", "east"), ("west", "east", "coast")])
def test_metadata_may_say_more_of_a_computed_attribute(listed: tuple[str, ...]) -> None:
    """Then it is where the metadata have it, declared function or not."""
    entry = {"values": {"coast": ["west", "east"]}, "null": "side"}
    metadata = {"types": {"Side": entry, **TYPES}, "functions": declared("query_size")}
    found = domain_from_metadata(metadata, plugins=plugins(*listed)).attributes

    assert [attribute.type for attribute in found] == ["Side", "Size"]
    assert (found[0].values, found[0].null, found[0].optional) == (("coast", "west", "east"), "side", False)
    assert found[0].compute is side


@pytest.mark.parametrize(("name", "relations"), [("near", ("left", "right", "near")), ("left", ("left", "right"))])
def test_a_computed_relation_joins_the_domain(name: str, relations: tuple[str, ...]) -> None:
    found = domain_from_metadata({"types": TYPES}, plugins=plugins("west", relation=name))

    assert found.relations == relations
    assert found.computed_relations == {name: near}
    assert set(found.recorded_relations) == {"left", "right"} - {name}


PLUG_IN_FAULTS: list[tuple[Metadata, Declarations, str]] = [
    (TYPES, plugins(), "p.py:3:1: attribute Side: no values: list them in its decorator, or under types.Side"),
    (TYPES, plugins("west", "west"), "p.py:3:1: attribute Side[1]: value 'west' is listed twice"),
    (TYPES, plugins("west", type_name="Relation"), "p.py:3:1: attribute Relation: Relation is a type of another kind"),
    (TYPES, plugins("west", type_name="Object"), "p.py:3:1: attribute Object: Object is a type of another kind"),
    (TYPES, plugins("west", type_name="size"), "d.json: types.size: a type 'size' in other case is declared"),
    ({**TYPES, "Side": ["left"]}, plugins("west"), "d.json: types.Side: values differ from those of the plug-in"),
]


@pytest.mark.parametrize(("types", "given", "message"), PLUG_IN_FAULTS)
def test_a_plug_in_must_fit_the_domain(types: Metadata, given: Declarations, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        domain_from_metadata({"types": types}, "d.json", given)

    assert [str(problem).startswith(message) for problem in caught.value.problems] == [True]


# As other generators write it -------------------------------------------------------------------------------------


def test_types_may_stand_under_attributes() -> None:
    """As in CLEAR: `relate…` are the relations, and slots are filled unless a template says otherwise."""
    sounds = {
        "loudness": {"placeholder": "<L>", "values": ["quiet", "loud"]},
        "relate_timing": {"placeholder": "<RT>", "values": ["before", "after"]},
    }
    found = domain_from_metadata({"attributes": sounds})

    assert [attribute.type for attribute in found.attributes] == ["loudness"]
    assert (found.relation_type, found.relations) == ("relate_timing", ("before", "after"))
    assert (found.fills_slots, domain().fills_slots) == (True, False)
    assert found.types_record == sounds


def test_mistakes_under_attributes_are_told_there() -> None:
    with pytest.raises(BadInput, match=r"metadata: attributes.loudness.values\[1\]: expected text or an object"):
        domain_from_metadata({"attributes": {"loudness": {"values": ["quiet", 5]}}})
    found = domain_from_metadata({"attributes": {"loudness": ["quiet"]}})

    assert found.problem("types.loudness", "x").path == "attributes.loudness"
    assert found.problem("types", "x").path == "attributes"
    assert domain().problem("types.Size", "x").path == "types.Size"


def test_a_function_of_something_else_than_objects_makes_no_attribute() -> None:
    functions = [*declared("filter_size Size"), {"name": "query_part", "inputs": ["Part"], "output": "PartName"}]
    found = domain_from_metadata({"types": {**TYPES, "Part": ["door"]}, "functions": functions})

    assert [attribute.type for attribute in found.attributes] == ["Size"]


# Faults -----------------------------------------------------------------------------------------------------------

FAULTS: list[tuple[object, str]] = [
    ([], "expected an object, found a list of 0"),
    ({}, "missing key 'types' or 'attributes'"),
    ({"types": ["Size"]}, "types: expected an object, found a list of 1"),
    ({"types": {"Object": None}}, "types: no attribute: expected at least one type with a list of values"),
    ({"types": {"Relation": ["left"]}}, "types: no attribute"),
    ({"types": {"Size": "small"}}, "types.Size: expected null, a list or an object, found 'small'"),
    ({"types": {"Size": {"comment": "none"}}}, "types.Size: expected values, found a comment alone"),
    ({"types": {"Size": ["small", 5]}}, "types.Size[1]: expected text or an object, found 5"),
    ({"types": {"Size": {"value": ["small"], "multi": True}}}, "types.Size.value: unknown key 'value'; did you mean"),
    ({"types": {"Size": ["small", "large", "small"]}}, "types.Size[2]: value 'small' is listed twice"),
    ({"types": {**TYPES, "size": ["huge"]}}, "types.size: a type 'size' in other case is declared already"),
    ({"types": TYPES, "functions": ["scene"]}, "functions[0]: expected an object, found 'scene'"),
    ({"types": {"Object": ["a"]}}, "types.Object: the name Object is taken by what nodes give"),
    ({"types": TYPES, "synonyms": []}, "synonyms: expected an object, found a list of 0"),
    ({"types": {"Kind": {"car": ["suv"], "van": ["suv"]}}}, "types.Kind.van[0]: value 'suv' is listed twice"),
    ({"types": {"Kind": {"car": {"car": ["suv"]}}}}, "types.Kind.car.car: value 'car' is listed twice"),
    ({"types": {"Kind": deep(5000)}}, "nested too deeply"),
    (kind(values={"car": ["suv"]}, parents={"suv": "van"}),
     "types.Kind.parents.suv: value 'suv' is in two groups, 'car' and 'van'"),
    (kind(parents={"sub": "car"}), "types.Kind.parents.sub: unknown value 'sub'; did you mean 'suv'?"),
    (kind(parents={"suv": "car", "car": "suv"}), "types.Kind.parents.suv: groups in a circle: suv in car in suv"),
    (kind(parents={"suv": "suv"}), "types.Kind.parents.suv: groups in a circle: suv in suv"),
    (kind(parents={"suv": "car", "car": "vehicle", "vehicle": "car"}), "types.Kind.parents.car: groups in a circle"),
    (kind(parents={"suv": ["car"]}), "types.Kind.parents.suv: expected text, found a list of 1"),
    (kind(display={"sub": "SUV"}), "types.Kind.display.sub: unknown value 'sub'; did you mean 'suv'?"),
    (kind(multi="yes"), "types.Kind.multi: expected true or false, found 'yes'"),
    ({"types": {**TYPES, "Relation": {"side": ["left", "right"]}}}, "types.Relation: relations have no groups"),
    ({"types": {**TYPES, "Relation": {"left": "right"}}}, "types.Relation.left: expected null, a list or an object"),
    ({"types": TYPES, "rewrites": [{"replace": ""}]}, "rewrites[0]: missing key 'pattern'"),
    ({"types": TYPES, "rewrites": [{}, {"pattern": "(a", "replace": ""}]},
     "rewrites[1].pattern: not a regular expression"),
    ({"types": TYPES, "rewrites": [{"pattern": "a", "replace": "\\1"}]},
     "rewrites[0].replace: not a replacement for this pattern: invalid group reference 1"),
    ({"types": TYPES, "rewrites": [{"pattern": "a", "replace": r"\g<b>"}]}, "rewrites[0].replace: not a replacement"),
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
    assert sorted(places) == ["plurals", "types.Relation[0]", "types.Shape.key", "types.Shape.values", "types.Size[1]"]


def test_a_mistake_in_a_file_is_told_with_line_and_column(tmp_path: Path) -> None:
    """So is a doubt."""
    path = tmp_path / "d.json"
    path.write_text('{"types": {\n  "Size": {"values": ["small", "small"],\n   "mutli": true}}}')

    with pytest.warns(InputWarning, match=r"d\.json:3:13: types\.Size\.mutli"), pytest.raises(BadInput) as caught:
        load_domain(path)
    assert str(caught.value).startswith(f"{path}:2:32: types.Size.values[1]: value 'small' is listed twice")
