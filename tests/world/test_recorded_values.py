"""What scene records may hold of an attribute beyond one plain value: groups, lists, nothing, nested keys, plug-ins."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from vqagen.errors import BadInput, Problem
from vqagen.plugin import ComputedAttribute, ComputedRelation, Declarations, PlugInError
from vqagen.world.domain import Domain, domain_from_metadata
from vqagen.world.scene import Scene, compile_scene

Record = dict[str, Any]

TYPES: Record = {
    "Color": {"values": ["red", "blue"], "optional": True},
    "Mark": {"values": ["dots", "stripes", "checks"], "key": "look.marks", "multi": True, "optional": True},
    "Part": {"values": {"limb": ["arm", "leg"], "head": []}, "key": "parts", "multi": True},
    "Kind": {"vehicle": {"car": ["suv", "van"], "bike": []}, "ball": []},
    "Relation": ["left"],
}
WORLD = domain_from_metadata({"types": TYPES})


def thing(**changed: Any) -> Record:
    """An object with one value of what it must have; `...` takes a key away."""
    record = {"parts": ["arm"], "kind": "suv", **changed}
    return {key: value for key, value in record.items() if value is not ...}


def scene_of(*things: Record, domain: Domain = WORLD) -> Scene:
    return compile_scene({"objects": list(things), "relationships": {"left": [[] for _ in things]}}, domain)


# Values -----------------------------------------------------------------------------------------------------------

RECORDED: list[tuple[Record, str, object]] = [
    (thing(), "kind", "suv"),
    (thing(kind="ball"), "kind", "ball"),
    (thing(), "color", None),
    (thing(color=None), "color", None),
    (thing(color="red"), "color", "red"),
    (thing(parts=["leg", "arm"]), "part", ("arm", "leg")),
    (thing(), "mark", None),
    (thing(look=None), "mark", None),
    (thing(look={}), "mark", None),
    (thing(look={"marks": None}), "mark", None),
    (thing(look={"marks": []}), "mark", None),
    (thing(look={"marks": ["checks", "dots"]}), "mark", ("dots", "checks")),
    (thing(**{"look.marks": ["dots"]}), "mark", ("dots",)),
    (thing(look={"marks": ["checks"]}, **{"look.marks": ["dots"]}), "mark", ("dots",)),
    (thing(look=5, **{"look.marks": ["dots"]}), "mark", ("dots",)),
]


@pytest.mark.parametrize(("record", "attribute", "value"), RECORDED)
def test_a_value_is_read_as_it_is_recorded(record: Record, attribute: str, value: object) -> None:
    """Lists in the order of the domain; nothing as None; a key with a dot as nested keys, unless it is there itself."""
    scene = scene_of(thing(), record)

    assert scene.values[attribute][1] == value


def test_objects_are_found_by_groups_and_by_members_of_lists() -> None:
    scene = scene_of(
        thing(kind="suv", parts=["arm", "leg"]),
        thing(kind="bike", parts=["head"], look={"marks": ["dots", "checks"]}),
        thing(kind="ball", parts=["leg"], look={"marks": ["dots"]}, color="red"),
    )

    assert scene.having == {
        "color": {"red": 0b100, "blue": 0},
        "mark": {"dots": 0b110, "stripes": 0, "checks": 0b010},
        "part": {"limb": 0b101, "arm": 0b001, "leg": 0b101, "head": 0b010},
        "kind": {"vehicle": 0b011, "car": 0b001, "suv": 0b001, "van": 0, "bike": 0b010, "ball": 0b100},
    }


@given(
    marks=st.lists(st.sampled_from(["dots", "stripes", "checks"]), unique=True), kind=st.sampled_from(["suv", "van"])
)
def test_having_says_what_is_sayable(marks: list[str], kind: str) -> None:
    scene = scene_of(thing(look={"marks": marks}, kind=kind))

    for attribute in WORLD.attributes:
        said = {value for value, objects in scene.having[attribute.name].items() if objects}
        assert said == set(attribute.sayable(scene.values[attribute.name][0]))


# Faults -----------------------------------------------------------------------------------------------------------

ONE_OF = "objects take one of"
FAULTS: list[tuple[Record, str, str]] = [
    (thing(kind="car"), ".kind", f"'car' is a group of values; {ONE_OF}: suv, van"),
    (thing(kind="vehicle"), ".kind", f"'vehicle' is a group of values; {ONE_OF}: suv, van, bike"),
    (thing(kind="vam"), ".kind", "unknown kind 'vam'; did you mean 'van'?"),
    (
        thing(kind=["suv"]),
        ".kind",
        'expected one kind, found a list of 1; if there may be several, give its type "multi"',
    ),
    (
        thing(kind={"suv": 1}),
        ".kind",
        'expected one kind, found an object; if it is inside, give its type a "key": "kind.',
    ),
    (thing(kind=5), ".kind", "unknown kind 5; known: suv, van, bike, ball"),
    (
        thing(kind=None),
        "",
        "no 'kind'; expected one of: suv, van, bike, ball; if there may be none, give its type \"opti",
    ),
    (thing(kind=...), "", "no 'kind'; expected one of: suv, van, bike, ball"),
    (thing(color="rad"), ".color", "unknown color 'rad'; did you mean 'red'?"),
    (thing(color=""), ".color", "unknown color ''; known: red, blue"),
    (thing(color=[]), ".color", "expected one color, found a list of 0"),
    (thing(parts="arm"), ".parts", "expected a list of values, found 'arm'"),
    (thing(parts=[]), ".parts", "expected one or more of: arm, leg, head"),
    (thing(parts=None), "", "no 'parts'; expected a list of arm, leg, head"),
    (thing(parts=["arm", "arm"]), ".parts[1]", "value 'arm' is listed twice"),
    (thing(parts=["arm", "log"]), ".parts[1]", "unknown part 'log'; did you mean 'leg'?"),
    (thing(parts=["limb"]), ".parts[0]", f"'limb' is a group of values; {ONE_OF}: arm, leg"),
    (thing(parts=["arm", None]), ".parts[1]", "unknown part null; known: arm, leg, head"),
    (thing(parts=[["arm"]]), ".parts[0]", 'unknown part ["arm"]'),
    (thing(parts={"arm": 1}), ".parts", "expected a list of values, found an object"),
    (thing(look="dots"), ".look.marks", "expected objects on the way to 'look.marks'"),
    (thing(look={"marks": ["dits"]}), ".look.marks[0]", "unknown mark 'dits'; did you mean 'dots'?"),
    (thing(**{"look.marks": "dots"}), ".look.marks", "expected a list of values, found 'dots'"),
]


def faults_of(*things: Record) -> list[tuple[str, str]]:
    with pytest.raises(BadInput) as caught:
        scene_of(*things)
    return [(problem.path, problem.message) for problem in caught.value.problems]


@pytest.mark.parametrize(("record", "place", "message"), FAULTS)
def test_a_fault_is_told_with_its_place(record: Record, place: str, message: str) -> None:
    ((path, told),) = faults_of(thing(), record)

    assert path == f"scenes[0].objects[1]{place}"
    assert told.startswith(message)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["arm", "suv", "car", "dots", "marks"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["marks", "x"]), inner, max_size=2),
    max_leaves=5,
)


@given(key=st.sampled_from(["color", "look", "look.marks", "parts", "kind"]), value=JSON)
def test_any_value_is_read_or_refused_with_its_place(key: str, value: object) -> None:
    try:
        scene_of(thing(**{key: value}))
    except BadInput as error:
        assert "unusable" not in str(error)


# Plug-ins ---------------------------------------------------------------------------------------------------------


def side(record: Record, scene: Record) -> object:
    """By the place; fails where there is none."""
    return "west" if record["x"] < scene["middle"] else "east"


def near(one: Record, anchor: Record, scene: Record) -> bool:
    return abs(one["x"] - anchor["x"]) <= 1


def with_plug_ins(compute: Any = side, holds: Any = near, **details: Any) -> Domain:
    """A domain with a computed attribute and a computed relation; `details` are said of the attribute by metadata."""
    plugins = Declarations(
        attributes={"Side": ComputedAttribute("Side", ("west", "east"), compute)},
        relations={"near": ComputedRelation("near", holds)},
    )
    types = {"Color": TYPES["Color"], "Relation": ["left"]}
    if details:
        types["Side"] = {"values": ["west", "east"], **details}
    return domain_from_metadata({"types": types}, plugins=plugins)


def computed(domain: Domain, *places: object, **members: Any) -> Scene:
    things = [{"x": place, "color": "red"} for place in places]
    record = {"objects": things, "middle": 2, "relationships": {"left": [[] for _ in things]}, **members}
    return compile_scene(record, domain, 4, "s.json")


def test_plug_ins_compute_values_and_relations() -> None:
    """Of all ordered pairs, whatever the record says."""
    scene = computed(with_plug_ins(), 0, 1, 2, relationships={"near": 5, "left": [[], [0], [0, 1]]})

    assert scene.values["side"] == ["west", "west", "east"]
    assert scene.having["side"] == {"west": 0b011, "east": 0b100}
    assert scene.related == {"left": [0b000, 0b001, 0b011], "near": [0b010, 0b101, 0b010]}


def test_plug_ins_may_give_nothing_or_lists() -> None:
    nothing = computed(with_plug_ins(lambda record, scene: None), 0)
    lists = computed(with_plug_ins(lambda record, scene: ("east", "west"), multi=True), 0)

    assert nothing.values["side"] == [None]
    assert (lists.values["side"], lists.having["side"]) == ([("west", "east")], {"west": 1, "east": 1})


def failing(record: Record, scene: Record) -> object:
    """As a loaded plug-in fails."""
    raise PlugInError([Problem("plug-in: attribute Side failed", "p.py", line=3, column=1)])


COMPUTED_FAULTS: list[tuple[Domain, tuple[object, ...], str, str]] = [
    (with_plug_ins(lambda record, scene: "wast"), (0,), ".objects[0]",
     "the plug-in's side of this object: unknown side 'wast'; did you mean 'west'?"),
    (with_plug_ins(lambda record, scene: ["west", 5], multi=True), (0,), ".objects[0]",
     "the plug-in's side[1] of this object: unknown side 5"),
    (with_plug_ins(lambda record, scene: ["west"]), (0,), ".objects[0]",
     "the plug-in's side of this object: expected one side, found a list of 1"),
    (with_plug_ins(lambda record, scene: None, key="x"), (0,), ".objects[0]",
     "the plug-in's side of this object: unknown side null; known: west, east"),
]  # fmt: skip


@pytest.mark.parametrize(("domain", "places", "place", "message"), COMPUTED_FAULTS)
def test_a_wrong_value_of_a_plug_in_is_told_with_the_scene(
    domain: Domain, places: tuple[object, ...], place: str, message: str
) -> None:
    with pytest.raises(BadInput) as caught:
        computed(domain, *places)

    ((path, told),) = [(problem.path, problem.message) for problem in caught.value.problems]
    assert path == f"scenes[4]{place}"
    assert told.startswith(message) and told.endswith("[scene 4]")


@pytest.mark.parametrize(("color", "message"), [("red", "p.py:3:1: plug-in: attribute Side failed"), ("rot", "'rot'")])
def test_a_plug_in_that_fails_is_told_of_unless_the_scene_is_at_fault(color: str, message: str) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        compile_scene({"objects": [{"x": 0, "color": color}]}, with_plug_ins(failing))

    assert isinstance(caught.value, PlugInError) == (color == "red")
    assert len(caught.value.problems) == 1


# Numbers where text is meant ------------------------------------------------------------------------------------------

DIGITS = domain_from_metadata(
    {
        "types": {
            "Digit": ["0", "2", "2.5"],
            "Lit": {"values": ["true", "false"], "optional": True},
            "Tag": {"values": ["1", "a"], "multi": True, "optional": True, "key": "look.tag"},
            "Kind": ["card"],
        }
    }
)


@pytest.mark.parametrize(("written", "value"), [(2, "2"), ("2", "2"), (0, "0"), (2.5, "2.5")])
def test_a_number_is_read_as_the_text_that_json_writes_in_the_same_way(written: object, value: str) -> None:
    """A "2" was wanted, a 2 was "unknown digit 2; known: 0, 2"."""
    card = {"digit": written, "lit": True, "look": {"tag": [1, "a"]}, "kind": "card"}
    scene = compile_scene({"objects": [card]}, DIGITS)

    assert scene.values == {"digit": [value], "lit": ["true"], "tag": [("1", "a")], "kind": ["card"]}


@pytest.mark.parametrize(
    ("key", "written", "message"),
    [
        ("digit", 2.0, "unknown digit 2.0; known: 0, 2, 2.5"),
        ("digit", True, "unknown digit true; known: 0, 2, 2.5"),
        ("digit", 7, "unknown digit 7; known: 0, 2, 2.5"),
        ("lit", 1, "unknown lit 1; known: true, false"),
        ("kind", 2, "unknown kind 2; known: card"),
    ],
)
def test_a_number_that_is_no_value_is_named_as_it_is_written(key: str, written: object, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        compile_scene({"objects": [{"digit": "0", "kind": "card", key: written}]}, DIGITS)

    assert [each.message for each in caught.value.problems] == [f"{message} [scene 0]"]


@pytest.mark.parametrize("index", [True, 1.0])
def test_an_object_index_is_a_whole_number(index: object) -> None:
    """In Python, both pass for 1."""
    with pytest.raises(BadInput, match="expected a whole number, found"):
        compile_scene({"objects": [thing(), thing()], "relationships": {"left": [[index], []]}}, WORLD)


def test_a_coordinate_is_a_number() -> None:
    things = [thing(**{"3d_coords": [0, 0, 0]}), thing(**{"3d_coords": [True, 0, 0]})]

    with pytest.raises(BadInput, match="expected a number, found true"):
        compile_scene({"objects": things, "directions": {"left": [-1, 0, 0]}}, WORLD)
