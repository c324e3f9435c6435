"""Scenes are sampled for any domain: groups, lists, what may be missing, nested keys, relations that are no places."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from vqagen.errors import BadInput
from vqagen.plugin import ComputedAttribute, ComputedRelation, Declarations
from vqagen.world.domain import Domain, domain_from_metadata, load_domain
from vqagen.world.sampler import sample_scenes
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.scene import compile_scene

Record = dict[str, Any]

METADATA: Record = {
    "types": {
        "Color": ["red", "blue", "green"],
        "Tag": {"values": ["sold", "new"], "optional": True},
        "Mark": {
            "values": ["dots", "stripes", "checks", "stars"],
            "key": "look.marks",
            "multi": True,
            "optional": True,
        },
        "Part": {"values": ["arm", "leg"], "key": "look.parts", "multi": True},
        "Kind": {"vehicle": {"car": ["suv", "van"], "bike": []}, "ball": []},
        "Way": ["left", "faces", "joins"],
    },
    "functions": [
        {"name": "relate", "inputs": ["Object"], "side_inputs": ["Way"], "output": "ObjectSet"},
        *({"name": f"query_{name}"} for name in ("color", "tag", "mark", "part", "kind")),
    ],
    "sampling": {
        "comment": "ours",
        "objects": [3, 6],
        "radius": {"attribute": "kind", "values": {"vehicle": 0.5, "bike": 0.3, "ball": 0.4}},
        "solid": {"attribute": "tag", "values": {"comment": "ours", "sold": "cube", "new": "cylinder"}},
        "missing": {"tag": 0.6},
        "list_length": {"look.marks": [2, 3]},
        "relations": {"faces": {"probability": 0.3}, "joins": {"probability": 0.4, "symmetric": True}},
        "directions": {"left": [-1, 0, 0]},
        "restrict": [
            {"attribute": "kind", "value": "car", "only": {"color": ["red"], "look.marks": ["dots", "stars"]}},
            {"attribute": "look.marks", "value": "checks", "only": {"tag": ["new"]}},
            {"attribute": "color", "value": "blue", "only": {"look.parts": ["leg"]}},
        ],
    },
}
DOMAIN = domain_from_metadata(METADATA, "x.json")
RULES = SamplingRules.from_domain(DOMAIN)


def changed(change: Callable[[Record], object]) -> Record:
    metadata = copy.deepcopy(METADATA)
    change(metadata)
    return metadata


@pytest.fixture(scope="module")
def scenes() -> list[Record]:
    return list(sample_scenes(RULES, 0, 0, 150))


@pytest.fixture(scope="module")
def things(scenes: list[Record]) -> list[Record]:
    return [thing for scene in scenes for thing in scene["objects"]]


def share(things: list[Record], holds: Callable[[Record], bool]) -> float:
    return sum(map(holds, things)) / len(things)


def test_objects_have_leaves_in_nested_keys(things: list[Record]) -> None:
    found = Counter(thing["kind"] for thing in things)

    assert set(found) == {"suv", "van", "bike", "ball"}
    assert all(
        set(thing) - {"tag"} == {"color", "look", "kind", "3d_coords", "rotation", "pixel_coords"} for thing in things
    )
    assert all(set(thing["look"]) <= {"marks", "parts"} and "parts" in thing["look"] for thing in things)


def test_what_may_be_missing_is_so_with_its_probability(things: list[Record]) -> None:
    """A quarter by default; what is restricted to nothing is missing too."""
    free = [thing for thing in things if "checks" not in thing["look"].get("marks", [])]

    assert abs(share(free, lambda thing: "tag" not in thing) - 0.6) < 0.08
    assert abs(share(things, lambda thing: "marks" not in thing["look"]) - 0.25) < 0.06


def test_lists_are_as_long_as_they_may_be(things: list[Record]) -> None:
    """Each length as often as the others; values in the order of the domain. By default 1 to 3, if there are three."""
    free = [
        thing["look"]["marks"] for thing in things if "marks" in thing["look"] and thing["kind"] in ("bike", "ball")
    ]
    lengths = Counter(map(len, free))

    assert set(lengths) == {2, 3} and abs(lengths[2] / len(free) - 0.5) < 0.12
    assert all(marks == [mark for mark in METADATA["types"]["Mark"]["values"] if mark in marks] for marks in free)
    assert {len(thing["look"]["parts"]) for thing in things} == {1, 2}


def test_restrictions_may_name_groups_and_members_of_lists(things: list[Record]) -> None:
    cars = [thing for thing in things if thing["kind"] in ("suv", "van")]
    checked = [thing for thing in things if "checks" in thing["look"].get("marks", [])]

    assert {thing["color"] for thing in cars} == {"red"}
    assert {tuple(thing["look"].get("marks", ())) for thing in cars} == {(), ("dots", "stars")}
    assert {thing.get("tag") for thing in checked} == {None, "new"}
    assert {tuple(thing["look"]["parts"]) for thing in things if thing["color"] == "blue"} == {("leg",)}


def test_groups_decide_for_their_members(things: list[Record]) -> None:
    """What is said of a member itself goes before. Height is radius."""
    heights = {thing["kind"]: thing["3d_coords"][2] for thing in things}

    assert heights == {"suv": 0.5, "van": 0.5, "bike": 0.3, "ball": 0.4}


def test_relations_hold_by_chance_where_positions_do_not_tell_them(scenes: list[Record]) -> None:
    pairs = sum(len(scene["objects"]) * (len(scene["objects"]) - 1) for scene in scenes)
    held = {
        name: sum(len(row) for scene in scenes for row in scene["relationships"][name]) / pairs
        for name in ("faces", "joins")
    }

    assert abs(held["faces"] - 0.3) < 0.05
    assert abs(held["joins"] - 0.4) < 0.06
    assert list(scenes[0]["relationships"]) == ["left", "faces", "joins"]
    assert list(scenes[0]["directions"]) == ["left"]
    for scene in scenes:
        joins = scene["relationships"]["joins"]
        assert all(i in joins[j] and i != j for i, row in enumerate(joins) for j in row)


def with_plug_ins(metadata: Record) -> Domain:
    """The domain with a computed attribute and a computed relation."""
    plugins = Declarations(
        attributes={"Color": ComputedAttribute("Color", (), lambda thing, scene: "red")},
        relations={"faces": ComputedRelation("faces", lambda one, anchor, scene: True)},
    )
    return domain_from_metadata(metadata, "x.json", plugins)


def test_what_plug_ins_compute_is_not_sampled() -> None:
    metadata = changed(lambda metadata: metadata["sampling"].update(restrict=[]))
    del metadata["sampling"]["relations"]["faces"]
    domain = with_plug_ins(metadata)
    (record,) = sample_scenes(SamplingRules.from_domain(domain), 0, 0, 1)

    assert "color" not in record["objects"][0]
    assert list(record["relationships"]) == ["left", "joins"]
    assert set(compile_scene(record, domain).values["color"]) == {"red"}


# Mistakes ---------------------------------------------------------------------------------------------------------


def sampling(**members: Any) -> Callable[[Record], object]:
    return lambda metadata: metadata["sampling"].update(members)


def types(**members: Any) -> Callable[[Record], object]:
    """Types added to the metadata, as attributes."""

    def change(metadata: Record) -> None:
        metadata["types"].update(members)
        metadata["functions"] += [{"name": f"query_{name.lower()}"} for name in members]

    return change


MISTAKES: list[tuple[Callable[[Record], object], str]] = [
    (sampling(relations={}), "sampling.directions: no direction for relation 'faces'; give it one here, or"),
    (sampling(relations={"fases": {"probability": 0.1}}), "sampling.relations.fases: unknown relation 'fases'; did"),
    (
        sampling(relations={"faces": {"probability": 2}}),
        "sampling.relations.faces.probability: expected 1 or less, found 2",
    ),
    (sampling(relations={"faces": {"symmetric": True}}), "sampling.relations.faces: missing key 'probability'"),
    (sampling(missing={"color": 0.2}), "sampling.missing.color: every object has a value of 'color'"),
    (sampling(missing={"tig": 0.2}), "sampling.missing.tig: unknown attribute 'tig'; did you mean 'tag'?"),
    (sampling(missing={"tag": -1}), "sampling.missing.tag: expected 0 or more, found -1"),
    (sampling(list_length={"tag": [1, 2]}), "sampling.list_length.tag: objects have one value of 'tag'"),
    (sampling(list_length={"look.marks": [2, 9]}), "sampling.list_length.look.marks: expected two numbers from 0 to 4"),
    (sampling(list_length={"look.marks": [2, 1]}), "sampling.list_length.look.marks: expected two numbers from 0 to 4"),
    (sampling(list_length={"look.parts": [0, 1]}), "sampling.list_length.look.parts: expected two numbers from 1 to"),
    (sampling(list_length={"look": [0, 1]}), "sampling.list_length.look: unknown attribute 'look'"),
    (sampling(radius={"attribute": "kind", "values": {"car": 1, "ball": 1}}),
     "sampling.radius.values: nothing for value 'bike'"),
    (sampling(radius={"attribute": "look.parts", "values": {"arm": 1, "leg": 1}}),
     "sampling.radius.attribute: attribute 'look.parts' has lists of values; it cannot decide"),
    (sampling(restrict=[{"attribute": "kind", "value": "cat", "only": {"color": ["red"]}}]),
     "sampling.restrict[0].value: unknown value 'cat'; did you mean 'car'?"),
    (sampling(restrict=[{"attribute": "color", "value": "red", "only": {"look.parts": ["lag"]}}]),
     "sampling.restrict[0].only.look.parts[0]: unknown value 'lag'; did you mean 'leg'?"),
    (types(Look=["good"]), "types.Look: object key 'look' is taken"),
    (types(Twist={"values": ["half"], "key": "rotation.name"}), "types.Twist: object key 'rotation.name' is taken"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), MISTAKES)
def test_a_mistake_is_told_with_its_place(change: Callable[[Record], object], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        SamplingRules.from_domain(domain_from_metadata(changed(change), "x.json"))

    assert any(str(problem).startswith(f"x.json: {message}") for problem in caught.value.problems)


def test_a_mistake_in_a_file_is_told_with_its_line(tmp_path: Any) -> None:
    path = tmp_path / "d.json"
    path.write_text('{"types": {"Size": ["small"]},\n "sampling": {\n  "margin": -1}}')
    with pytest.raises(BadInput) as caught:
        SamplingRules.from_domain(load_domain(path))

    assert str(caught.value).startswith(f"{path}:3:13: sampling.margin: expected 0 or more, found -1")
