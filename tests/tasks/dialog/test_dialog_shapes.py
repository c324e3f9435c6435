"""Dialogs in the shapes of other tools: field by field what their readers read, written down in our own words."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import orjson
import pytest
from generated_dialogs import generated
from handmade_dialogs import ANSWERS, COUNT, DIALOGS, EXTREME, RELATION, SEVERAL, UNIQUE, dialogs_about
from scene_records import sampled_scenes

from vqagen import find_domain
from vqagen.tasks.dialog.formats import ClevrDialog, VisDial
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.dialog.task import all_answers, dialog_task
from vqagen.tasks.foreign import ForeignFormat

Json = Any
INFO = {"generator": {"answers": ANSWERS}}


def written(kind: type[ForeignFormat], records: Any = DIALOGS) -> Json:
    """What a file of a format says."""
    form = kind(INFO)
    numbered = [{**record, "dialog_index": number} for number, record in enumerate(records)]
    lines = [orjson.dumps(form.written(entry)) for entry in form.entries(numbered)]
    return json.loads(form.head() + b",".join(lines) + form.tail())


@pytest.fixture
def images() -> Json:
    """Three images with five dialogs each, but for the last."""
    return written(ClevrDialog, [*dialogs_about(0), *dialogs_about(4), *dialogs_about(1)])


def items(record: Any) -> list[Json]:
    """The history of one dialog."""
    history: list[Json] = written(ClevrDialog, [record])[0]["dialogs"][0]["graph"]["history"]
    return history


# The shape ------------------------------------------------------------------------------------------------------------


def test_an_image_has_one_entry_with_all_of_its_dialogs(images: Json) -> None:
    assert [list(image) for image in images] == [["split", "image_index", "image_filename", "dialogs"]] * 3
    assert [(image["split"], image["image_index"], len(image["dialogs"])) for image in images] == [
        ("val", 0, 5),
        ("val", 4, 6),
        ("val", 1, 5),
    ]
    dialog = images[0]["dialogs"][0]
    assert list(dialog) == ["caption", "template", "dialog", "template_info", "graph"]
    assert set(dialog["dialog"][0]) == {"question", "answer", "template"}
    assert set(dialog["graph"]) == {"objects", "relationships", "counts", "exists", "history"}
    assert len(dialog["template_info"]) == len(dialog["graph"]["history"]) == 11


def test_what_a_scene_does_not_say_is_null_and_its_index_is_its_place() -> None:
    bare = {key: value for key, value in UNIQUE.items() if key not in ("split", "image_index", "image_filename")}
    (image,) = written(ClevrDialog, [{**bare, "scene_index": 3}])

    assert (image["split"], image["image_index"], image["image_filename"]) == (None, 3, None)


def test_an_answer_is_a_number_if_the_question_counts_and_else_a_text(images: Json) -> None:
    for image in images:
        for dialog in image["dialogs"]:
            for each in dialog["dialog"]:
                assert type(each["answer"]) is (int if each["template"].startswith("count") else str)


def test_a_template_is_named_without_its_texts() -> None:
    (image,) = written(ClevrDialog, [EXTREME])
    caption, *rounds = image["dialogs"][0]["template_info"]

    assert all(
        set(each) >= {"name", "type", "label", "inputs", "constraints", "references", "index"} for each in rounds
    )
    assert (caption["label"], caption["type"]) == ("extreme-left", "caption")
    assert [each["type"] for each in rounds[:3]] == ["seek", "seek", "count"]
    assert rounds[5]["inputs"] == [
        {"type": "Relation", "name": "<R>"},
        {"type": "Attribute", "name": "<A>"},
        {"type": "Description", "name": "<D>"},
    ]


# The graph ------------------------------------------------------------------------------------------------------------

EARLIER_RED = {"required": ["color"], "optional": [], "color": "red"}


@pytest.mark.parametrize(
    ("record", "place", "expected"),
    [
        (
            EXTREME,
            0,
            {"objects": [{"id": 0, "size": "large", "left_count": 0, "left_exist": False}], "group_id": 0},
        ),
        (UNIQUE, 0, {"objects": [{"id": 3, "color": "green", "unique": True}], "group_id": 0}),
        (
            COUNT,
            0,
            {"objects": [{"id": i, "size": "small"} for i in (1, 3, 4)], "size": "small", "count": 3, "group_id": 0},
        ),
        (
            SEVERAL,
            0,
            {"objects": [{"id": 0, "shape": "cube"}, {"id": 4, "shape": "cube"}], "shape": "cube", "group_id": 0},
        ),
        (
            RELATION,
            0,
            {"objects": [{"id": 1, "shape": "sphere"}, {"id": 0, "color": "red"}], "relation": "right", "group_id": 0},
        ),
        (EXTREME, 1, {"objects": [{"id": 0, "color": "red"}], "focus_id": 0, "focus_desc": None, "dependence": -1}),
        (
            EXTREME,
            3,
            {
                "objects": [{"id": 2, "color": "blue"}, {"id": 4, "color": "blue"}],
                "count": 2,
                "color": "blue",
                "dependence": None,
            },
        ),
        (
            EXTREME,
            4,
            {"objects": [{"id": 4, "color": "blue", "shape": "cube"}], "count": 1, "shape": "cube", "dependence": 2},
        ),
        (EXTREME, 5, {"objects": [], "focus_id": 4, "focus_desc": None, "dependence": 3}),
        (
            EXTREME,
            6,
            {"objects": [{"id": 1, "shape": "sphere"}], "focus_id": 0, "focus_desc": EARLIER_RED, "dependence": 0},
        ),
        (
            EXTREME,
            7,
            {"objects": [{"id": 2, "shape": "sphere"}], "count": 1, "focus_id": 1, "focus_desc": None, "dependence": 5},
        ),
        (EXTREME, 8, {"objects": [], "focus_id": 2, "focus_desc": None, "dependence": 6}),
        (EXTREME, 9, {"objects": [{"id": i} for i in range(5)], "count": 5, "dependence": None}),
        (SEVERAL, 3, {"objects": [{"id": i} for i in (1, 2, 3)], "dependence": None}),
        (SEVERAL, 4, {"objects": [{"id": i} for i in (1, 2, 3)], "count": 3, "dependence": 2}),
    ],
)
def test_an_item_of_the_history_says_what_its_round_told(record: Any, place: int, expected: Json) -> None:
    item = items(record)[place]
    label = record["rounds"][place - 1]["label"] if place else record["caption"]["label"]

    mergeable = label not in ("count-att-no", "exist-other")
    assert item == {"round": place, "template": label, "mergeable": mergeable, **expected}


def test_an_item_keeps_what_its_round_told_when_later_rounds_tell_more() -> None:
    """The reference's first items held what was told in the last round (B4), and a `volatile` flag (B5)."""
    whole, first = items(EXTREME), items({**EXTREME, "rounds": EXTREME["rounds"][:1]})

    assert whole[:2] == first
    assert "volatile" not in json.dumps(whole)


def test_the_graph_says_at_the_end_what_was_told_and_answered_of_each_object() -> None:
    (image,) = written(ClevrDialog, [EXTREME])
    graph = image["dialogs"][0]["graph"]

    assert graph["objects"]["0"] == {
        "id": 0,
        "size": "large",
        "color": "red",
        "material": "metal",
        "left_count": 0,
        "left_exist": False,
        "right_exist": "yes",
        "right_count": 4,
    }
    assert graph["objects"]["1"] == {"id": 1, "shape": "sphere", "shape_exclude_count": 1}
    assert graph["objects"]["4"] == {"id": 4, "color": "blue", "shape": "cube", "right_exist": "no"}
    assert graph["objects"]["2"] == {"id": 2, "color": "blue", "shape": "sphere", "front_count": 0, "front_exist": "no"}
    assert graph["counts"] == graph["exists"] == {}


def test_a_relation_stands_as_in_scenes() -> None:
    """The reference wrote it the other way round (B14): object 1 is right of object 0."""
    (image,) = written(ClevrDialog, [RELATION])

    assert image["dialogs"][0]["graph"]["relationships"] == {"right": {"0": [1]}}


def test_members_of_several_are_not_known_before_they_are_counted() -> None:
    told = written(ClevrDialog, [{**SEVERAL, "rounds": []}])[0]["dialogs"][0]["graph"]["objects"]

    assert told == {}


# Readers --------------------------------------------------------------------------------------------------------------


def stitched_objects(history: list[Json]) -> dict[int, Json]:
    """The objects that DialogStitch knows after merging all items; an item that contradicts what is known stops it."""
    objects: dict[int, Json] = {}
    for item in history:
        if not item["mergeable"]:
            continue
        for told in item["objects"]:
            known = objects.setdefault(told["id"], {})
            assert all(known.get(key, value) == value for key, value in told.items())
            known.update(told)
        if "relation" in item:
            assert len(item["objects"]) == 2
    return objects


def test_dialog_stitch_measures_how_far_back_a_round_refers(images: Json) -> None:
    """The item's place in the history less one, less its `dependence`; nothing for a round without."""
    history = images[0]["dialogs"][0]["graph"]["history"]
    distances = [
        place - 1 - item["dependence"] for place, item in enumerate(history) if item.get("dependence") is not None
    ]

    assert distances == [1, 1, 1, 1, 5, 1, 1, 9]


# Dialogs of the generator -------------------------------------------------------------------------------------------


def shaped(domain: str) -> Json:
    """A few generated dialogs of a domain, in CLEVR-Dialog's shape."""
    return written(ClevrDialog, generated(4, domain=domain))


@pytest.fixture(params=["clevr", "market"])
def graphs(request: pytest.FixtureRequest) -> list[Json]:
    """The graphs of generated dialogs."""
    return [dialog["graph"] for image in shaped(request.param) for dialog in image["dialogs"]]


@pytest.mark.quick(1)
def test_an_early_reference_depends_on_an_item_that_told_its_value(graphs: list[Json]) -> None:
    """The item whose place is one more than the `dependence`: it has the focus with a value that names it."""
    seen = 0
    for history in (graph["history"] for graph in graphs):
        for item in (item for item in history if "early" in item["template"]):
            names = {(each, item["focus_desc"][each]) for each in item["focus_desc"]["required"]}
            told = [each for each in history[item["dependence"] + 1]["objects"] if each["id"] == item["focus_id"]]
            assert any(names & each.items() for each in told)
            seen += 1

    assert seen >= 50


@pytest.mark.quick(1)
def test_merging_the_items_never_contradicts_and_gives_the_objects_of_the_graph(graphs: list[Json]) -> None:
    for graph in graphs:
        for entity, told in stitched_objects(graph["history"]).items():
            assert told.items() <= graph["objects"][str(entity)].items()


def is_true(key: str, told: Any, entity: int, scene: Json) -> bool:
    """Whether a fact of the graph about an object is one of the scene."""
    things, name = scene["objects"], key.rpartition("_")[0]
    if key in ("id", "unique"):
        return True
    if key in things[entity]:
        return told == things[entity][key]
    if name in scene["relationships"]:
        number = len(scene["relationships"][name][entity])
    else:
        attribute = name.removesuffix("_exclude")
        number = sum(each[attribute] == things[entity][attribute] for each in things) - 1
    return told == number if key.endswith("_count") else told in (("yes",) if number else ("no", False))


def test_the_graph_says_what_is_true_of_the_scene() -> None:
    for image, scene in zip(shaped("clevr"), sampled_scenes(4), strict=True):
        for dialog in image["dialogs"]:
            for entity, facts in dialog["graph"]["objects"].items():
                assert [key for key, told in facts.items() if not is_true(key, told, int(entity), scene)] == []


@pytest.mark.parametrize(("domain", "size"), [("clevr", 29), ("market", 46)])
def test_every_answer_of_a_generated_dialog_is_listed_beforehand(domain: str, size: int) -> None:
    answers = dialog_task(find_domain(domain, task="dialogs"), DialogSettings()).generator_info()["answers"]

    made = generated(4, domain=domain)
    assert {str(each["answer"]) for record in made for each in record["rounds"]} <= set(answers)
    assert len(answers) == size
    assert all_answers(["left", "none of them", "left"], 1) == ["yes", "no", "none", "left", "none of them", "0", "1"]


# VisDial --------------------------------------------------------------------------------------------------------------


def test_a_question_is_listed_once_and_every_answer_of_the_domain_is_an_option() -> None:
    document = written(VisDial, [*dialogs_about(0), *dialogs_about(1)])
    data = document["data"]
    asked = [data["questions"][each["question"]] for dialog in data["dialogs"] for each in dialog["dialog"]]

    assert (document["version"], document["split"]) == ("1.0", "val")
    assert len(set(data["questions"])) == len(data["questions"]) < len(asked)
    assert asked[:2] == ["What color is it", "And material"]
    assert data["dialogs"][0]["caption"] == "A large thing lies leftmost"
    assert data["answers"] == ANSWERS
    assert all(each["answer_options"] == list(range(29)) for dialog in data["dialogs"] for each in dialog["dialog"])


def test_a_larger_number_is_added_where_it_comes_first() -> None:
    """A scene may have more objects than the domain's sampled scenes; options before it stay as they were."""
    data = written(VisDial, [*dialogs_about(4), *dialogs_about(6)])["data"]
    many = [len(each["answer_options"]) for dialog in data["dialogs"] for each in dialog["dialog"]]

    assert data["answers"] == [*ANSWERS, "12"]
    assert set(many) == {29, 30} and many == sorted(many)


def test_each_dialog_has_a_number_of_its_own() -> None:
    """Five dialogs of an image share `image_id`: readers number questions by it, and they would be the same."""
    dialogs = written(VisDial)["data"]["dialogs"]

    assert [(dialog["image_id"], dialog["dialog_id"]) for dialog in dialogs] == [(7, number) for number in range(5)]


def test_a_file_without_dialogs_is_a_document_still() -> None:
    assert written(VisDial, []) == {
        "version": "1.0",
        "data": {"dialogs": [], "questions": [], "answers": ANSWERS},
        "split": None,
    }
    assert written(ClevrDialog, []) == []


def test_shapes_leave_the_records_as_they_are() -> None:
    before = deepcopy(DIALOGS)
    for form in (ClevrDialog, VisDial):
        written(form)

    assert before == DIALOGS
