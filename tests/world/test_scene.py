"""Scenes as sets of objects: what a record compiles to, what its views show, and what is said of a faulty one."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from vqagen.errors import BadInput
from vqagen.world.domain import domain_from_metadata
from vqagen.world.scene import Scene, compile_scene

Record = dict[str, Any]

DOMAIN = domain_from_metadata(
    {
        "types": {
            "Color": ["red", "blue", "green"],
            "Shape": {"values": ["cube", "ball"], "key": "form"},
            "Relation": ["left", "right"],
        }
    }
)
RECORD: Record = {
    "image_filename": "a.png",
    "objects": [
        {"color": "red", "form": "cube", "3d_coords": [0, 0, 0]},
        {"color": "blue", "form": "ball", "3d_coords": [1, 0, 0]},
        {"color": "red", "form": "ball", "3d_coords": [2, 0, 0]},
    ],
    "relationships": {"left": [[], [0], [0, 1]], "right": [[1, 2], [2], []], "above": [[], [], []]},
    "directions": {"left": [-1, 0, 0], "right": [1, 0, 0]},
}


def changed(path: str, value: object) -> Record:
    """The record with the value at a path, such as "objects 0 color", set; `...` takes it away."""
    record: Any = copy.deepcopy(RECORD)
    *parents, last = [int(step) if step.isdigit() else step for step in path.split()]
    inside = record
    for step in parents:
        inside = inside[step]
    if value is ...:
        del inside[last]
    else:
        inside[last] = value
    return record  # type: ignore[no-any-return]


@pytest.fixture
def scene() -> Scene:
    return compile_scene(RECORD, DOMAIN, 7)


def test_a_scene_knows_its_objects_by_value(scene: Scene) -> None:
    assert (scene.index, scene.size, scene.everything, scene.start) == (7, 3, 0b111, 0b111)
    assert scene.having == {
        "color": {"red": 0b101, "blue": 0b010, "green": 0},
        "shape": {"cube": 0b001, "ball": 0b110},
    }
    assert scene.values == {"color": ["red", "blue", "red"], "shape": ["cube", "ball", "ball"]}


def test_objects_are_described_for_people(scene: Scene) -> None:
    assert scene.describe(0b110) == "blue ball; red ball"
    assert scene.describe(0) == "nothing"


# Views ------------------------------------------------------------------------------------------------------------


def test_starting_elsewhere_leaves_the_scene_as_it_is(scene: Scene) -> None:
    started = scene.started_from(0b1110)

    assert started.start == 0b110
    assert (started.everything, started.having, started.related) == (scene.everything, scene.having, scene.related)


def test_a_view_hides_objects_everywhere_but_keeps_their_numbers(scene: Scene) -> None:
    view = scene.seen(0b1101)

    assert (view.everything, view.start, view.size) == (0b101, 0b101, 3)
    assert view.having == {"color": {"red": 0b101, "blue": 0, "green": 0}, "shape": {"cube": 0b001, "ball": 0b100}}
    assert view.related == {"left": [0b000, 0b001, 0b001], "right": [0b100, 0b100, 0b000]}
    assert scene == compile_scene(RECORD, DOMAIN, 7)


def test_another_viewer_has_its_own_left_and_right(scene: Scene) -> None:
    swapped = {"left": scene.related["right"], "right": scene.related["left"]}
    view = scene.seen(0b011, swapped)

    assert view.related == {"left": [0b010, 0b000, 0b000], "right": [0b000, 0b001, 0b011]}
    assert view.seen(related={"left": scene.related["left"]}).related["right"] == view.related["right"]


# Faults -----------------------------------------------------------------------------------------------------------

LEFT = "relationships left"
FAULTS: list[tuple[str, object, str, str]] = [
    ("objects", ..., "", "missing key 'objects'"),
    ("objects", {}, ".objects", "expected a list, found an object"),
    ("objects 1", 5, ".objects[1]", "expected an object, found 5"),
    ("objects 1 color", ..., ".objects[1]", "no 'color'; expected one of: red, blue, green"),
    ("objects 1 form", None, ".objects[1]", "no 'form'; expected one of: cube, ball"),
    ("objects 1 color", "gren", ".objects[1].color", "unknown color 'gren'; did you mean 'green'?"),
    ("objects 1 color", "", ".objects[1].color", "unknown color ''; known: red, blue, green"),
    ("objects 1 color", ["red"], ".objects[1].color", "expected one color, found a list of 1"),
    ("objects 1 form", "cone", ".objects[1].form", "unknown shape 'cone'"),
    ("relationships", 5, ".relationships", "expected an object, a list or null, found 5"),
    (LEFT, 5, ".relationships.left", "expected a list or an object, found 5"),
    (LEFT, [[], []], ".relationships.left", "expected a list of 3 rows, one for each object; found a list of 2"),
    (f"{LEFT} 1", 0, ".relationships.left[1]", "expected a list, found 0"),
    (f"{LEFT} 1 0", 3, ".relationships.left[1][0]", "expected an object index 0 to 2, found 3"),
    (f"{LEFT} 1 0", -1, ".relationships.left[1][0]", "expected 0 or more, found -1"),
    (f"{LEFT} 1 0", "0", ".relationships.left[1][0]", "expected a whole number, found '0'"),
    (f"{LEFT} 1 0", 1, ".relationships.left[1][0]", "object 1 is related to itself"),
    (LEFT, {"3": []}, ".relationships.left.3", "unknown object id '3'; known: 0, 1, 2"),
    (LEFT, {"1": None}, ".relationships.left.1", "expected a list, found null or nothing"),
    (LEFT, {"1": [0, 7]}, ".relationships.left.1[1]", "unknown object id '7'; known: 0, 1, 2"),
    (LEFT, {"1": [1]}, ".relationships.left.1[0]", "object 1 is related to itself"),
    ("relationships", [5], ".relationships[0]", "expected an object, found 5"),
    ("relationships", [{"type": "left"}], ".relationships[0]", "missing key 'indexes'"),
    ("relationships", [{"type": "left", "indexes": []}], ".relationships[0].indexes", "expected a list of 3 rows"),
    ("relationships", [{"type": "up", "indexes": []}] * 2, ".relationships[1]", "relation 'up' is listed twice"),
]


def faults_of(record: object) -> list[tuple[str, str]]:
    """(path, message) of everything wrong with a record, without the parts that are the same for all."""
    with pytest.raises(BadInput) as caught:
        compile_scene(record, DOMAIN, 4, "scenes.json")  # type: ignore[arg-type]
    problems = caught.value.problems
    assert all(problem.source == "scenes.json" for problem in problems)
    assert all("[scene 4" in problem.message for problem in problems)
    return [(problem.path.removeprefix("scenes[4]"), problem.message) for problem in problems]


@pytest.mark.parametrize(("path", "value", "place", "message"), FAULTS)
def test_a_fault_is_told_with_its_place(path: str, value: object, place: str, message: str) -> None:
    ((found, told),) = faults_of(changed(path, value))

    assert found == place
    assert told.startswith(message)


@pytest.mark.parametrize("record", [None, 5, "objects", [], ["objects"], True])
def test_what_is_no_scene_is_refused(record: object) -> None:
    ((path, message),) = faults_of(record)

    assert path == ""
    assert message.startswith("expected a scene object, found ")


def test_all_faults_of_a_scene_are_told_at_once() -> None:
    record = changed("objects 0 color", "rad")
    record["objects"][2] = {"form": "bull"}
    record["relationships"]["left"][1] = [9]

    assert [path for path, _ in faults_of(record)] == [
        ".objects[0].color",
        ".objects[2]",
        ".objects[2].form",
        ".relationships.left[1][0]",
    ]


def test_two_objects_cannot_share_an_id() -> None:
    """Where relations are keyed by id: there the later object would take the place of the earlier."""
    record = changed("relationships", {"left": {"a": []}, "right": {"b": []}})
    for entry, name in zip(record["objects"], "aba", strict=True):
        entry["id"] = name

    assert faults_of(record) == [(".objects[2].id", "id 'a' is taken by object 0 [scene 4 (a.png)]")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.floats(-2, 2) | st.sampled_from(["", "red", "left", "0", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["0", "1", "left", "type", "indexes", "color", "id"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values inside a JSON value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, inner in members for found in places(inner, (*path, key)))]


VARIANTS = [
    RECORD,
    changed("relationships", ...),
    changed("relationships", [{"type": "left", "indexes": [[], [0], [0]]}]),
    changed("relationships", {"left": {"0": ["1"], "2": [0, 1]}}),
]


@settings(max_examples=200)
@given(data=st.data(), record=st.sampled_from(VARIANTS), value=JSON)
def test_any_record_compiles_or_is_refused(data: st.DataObject, record: Record, value: object) -> None:
    """A record with one value replaced by any other raises nothing but BadInput, and a fault is always named."""
    *parents, last = data.draw(st.sampled_from(places(record)[1:]))
    inside = damaged = json.loads(json.dumps(record))
    for step in parents:
        inside = inside[step]
    inside[last] = value
    try:
        scene = compile_scene(damaged, DOMAIN)
    except BadInput as error:
        assert "unusable" not in str(error)
    else:
        assert scene.everything == (1 << scene.size) - 1
