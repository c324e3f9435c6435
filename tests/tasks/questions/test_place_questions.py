"""Answers that are places: right by an oracle of coordinates and masks alone, verified, balanced, in all files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from depth import some
from oracles.places import box_of, objects_of

from vqagen.files.locations import shipped
from vqagen.language.domain_files import find_domain, load_domain_files

MADE = (
    "scenes sample --count 60 --seed 2 -o sampled.json",
    "scenes draw sampled.json --width 240 -o pictures",
    "generate --scenes pictures/scenes.json --templates clevr-places --trace -o places.json",
)
CHECK = "verify {} --scenes pictures/scenes.json --templates clevr-places"


def _records(path: str) -> list[dict[str, Any]]:
    text = Path(path).read_text("utf-8")
    if path.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text)[Path(path).stem if path.endswith("scenes.json") else "questions"]


def _asked(path: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    scenes = _records("pictures/scenes.json")
    return ((record, scenes[record["scene_index"]]) for record in _records(path))


def test_answers_are_what_coordinates_and_masks_say(vqagen_: Commands) -> None:
    """Objects, points and boxes; sets are empty now and then."""
    vqagen_.given(*MADE)
    types = Counter[tuple[str, bool]]()
    for record, scene in _asked("places.json"):
        right = objects_of(record["program"], scene)
        assert record["answer"] == (", ".join(map(str, right)) or "none")
        things = [scene["objects"][i] for i in right]
        assert record["answer_points"] == [thing["pixel_coords"][:2] for thing in things]
        assert record["answer_boxes"] == [box_of(thing["mask"]) for thing in things]
        assert record["trace"][-1] == right
        types[record["question_type"], not right] += 1

    assert types["point", False] > 100
    assert types["mark", False] > 100
    assert types["mark", True] > 20
    assert not types["point", True]


@pytest.mark.slow
def test_thousands_of_answers_are_what_coordinates_say(vqagen_: Commands) -> None:
    """Without pictures there are no boxes, and answers are right."""
    vqagen_.given(
        "scenes sample --count 400 --seed 8 -o scenes.json",
        "generate --scenes scenes.json --templates clevr-places --dialect generator -o places.json",
    )
    scenes, records = _records("scenes.json"), _records("places.json")
    wrong = [each for each in records if each["answer"] != objects_of(each["program"], scenes[each["scene_index"]])]

    assert len(records) > 2_500
    assert wrong == []
    assert not any("answer_boxes" in each for each in records)


@pytest.mark.parametrize("out", some(["all.jsonl", "all.parquet"], 2))
def test_every_format_and_dialect_is_verified(vqagen_: Commands, out: str) -> None:
    """Verify reads back what was written, with points and boxes."""
    vqagen_.given(*MADE)
    for dialect in ("text", "generator", "release"):
        name = f"{dialect}_{out}"
        vqagen_.done(
            f"generate --scenes pictures/scenes.json --count 4 --templates clevr-places --dialect {dialect} -o {name}"
        )
        assert b" 0 wrong" in vqagen_.done(CHECK.format(name)).out


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("answer", "99", "wrong answer"),
        ("answer_points", [[1, 2]], "wrong answer_points"),
        ("answer_boxes", [[0, 0, 999, 999]], "wrong answer_boxes"),
        ("answer_boxes", None, "wrong answer_boxes"),
        ("answer_points", [[1.0, True]], "wrong answer_points"),
        ("answer", list, "expected text as the answer, found a list of 1"),
    ],
)
def test_verify_finds_a_spoiled_place(vqagen_: Commands, key: str, value: object, told: str) -> None:
    """Whatever of the place is wrong."""
    vqagen_.given(*MADE)
    document = json.loads(Path("places.json").read_text("utf-8"))
    record = document["questions"][0]
    record[key] = [int(record[key])] if value is list else value
    Path("spoiled.json").write_text(json.dumps(document), "utf-8")
    ran = vqagen_(CHECK.format("spoiled.json"))

    assert ran.code == 1
    assert told in ran.out.decode() + ran.err


def test_verify_says_what_it_does_not_read(vqagen_: Commands) -> None:
    """Without the info of the file, its templates are not known, nor what its mentions and reasonings must be."""
    vqagen_.given(*MADE)
    vqagen_.done("generate --scenes pictures/scenes.json --count 2 --trace --reasoning boxes -o told.jsonl")
    lines = Path("told.jsonl").read_text("utf-8").splitlines(keepends=True)
    Path("told.jsonl.info.json").unlink()
    told = vqagen_.done("verify told.jsonl --scenes pictures/scenes.json").out.decode()

    assert f"not proved: {len(lines)} texts, and any mentions and reasonings, not read: the file does not say" in told


@pytest.mark.parametrize(
    ("box", "told"),
    [
        ([-9, 5, 20, 30], "the box [-9, 5, 20, 30] lies outside of the picture, which has 240 x 160 pixels"),
        ([30, 5, 20, 30], "expected a box such as [180, 110, 244, 171], found [30, 5, 20, 30]"),
        ([9, 5, 999, 30], "the box [9, 5, 999, 30] lies outside"),
        ([9, 5], "expected a box such as [180, 110, 244, 171], found [9, 5]"),
    ],
)
def test_impossible_boxes_are_refused(vqagen_: Commands, box: list[int], told: str) -> None:
    """With their object, in answers and in reasonings."""
    vqagen_.given(*MADE)
    document = json.loads(Path("pictures/scenes.json").read_text("utf-8"))
    for thing in document["scenes"][0]["objects"]:
        thing["box"] = box
    Path("odd.json").write_text(json.dumps(document), "utf-8")
    for options in ("--templates clevr-places", "--reasoning boxes"):
        ran = vqagen_(f"generate --scenes odd.json --count 1 {options} -o odd.jsonl --force")
        assert (ran.code, told in ran.err, ".box" in ran.err) == (3, True, True), ran.err


def test_hidden_answers_hide_places(vqagen_: Commands) -> None:
    """A record of a test set has neither objects nor points nor boxes."""
    vqagen_.given(*MADE)
    vqagen_.done(
        "generate --scenes pictures/scenes.json --count 2 --templates clevr-places --hide-answers -o hidden.jsonl"
    )
    assert not [key for record in _records("hidden.jsonl") for key in record if "answer" in key or key == "program"]


def test_no_third_is_more_common_than_the_middle_whatever_is_said(vqagen_: Commands) -> None:
    """Of questions with one relation, and so many words: no place leads by more than one answer before the middle.

    That is so across, in depth, and for both together.
    """
    vqagen_.given(
        "scenes sample --count 150 --seed 8 -o scenes.json",
        "generate --scenes scenes.json --templates clevr-places --only point.json#one_hop -o places.json",
    )
    scenes, counts = _records("scenes.json"), Counter[tuple[Any, int, Any]]()
    for record in _records("places.json"):
        names = [node["type"] for node in record["program"]]
        relation = record["program"][names.index("relate")]["value_inputs"][0]
        words, thirds = len(names) - names.index("relate") - 3, list[int]()
        pixels = [thing["pixel_coords"] for thing in scenes[record["scene_index"]]["objects"]]
        own = pixels[int(record["answer"])]
        for axis in (0, 1):
            rank = sum(pixel[axis] < own[axis] for pixel in pixels)
            thirds.append(3 * rank // len(pixels))
        for said in (relation, (relation, words)):
            counts.update([(said, 0, thirds[0]), (said, 1, thirds[1]), (said, 2, (*thirds,))])

    assert sum(counts.values()) > 600
    assert len({said for said, *_ in counts}) > 12
    middle = (1, 1, (1, 1))
    assert [key for key in counts if counts[key] > counts[*key[:2], middle[key[1]]] + 2] == []


@pytest.mark.slow
def test_no_number_of_a_set_is_more_common_with_some_relations(vqagen_: Commands) -> None:
    """Two relations have no number twice more than its share of all, and late questions not one number nearly alone."""
    vqagen_.given(
        "scenes sample --count 150 --seed 8 -o scenes.json",
        "generate --scenes scenes.json --templates clevr-places -o m.json"
        " --only mark.json#two_hop --only mark.json#same_color",
    )
    with_both, numbers, related = Counter[tuple[str, int]](), Counter[int](), Counter[str]()
    alike = list[int]()
    for record in _records("m.json"):
        relations = " ".join(node["value_inputs"][0] for node in record["program"] if node["type"] == "relate")
        number = 0 if record["answer"] == "none" else record["answer"].count(",") + 1
        if relations:
            with_both[relations, number] += 1
            numbers[number] += 1
            related[relations] += 1
        else:
            alike.append(number)
    ahead = {key: with_both[key] - related[key[0]] * numbers[key[1]] / related.total() for key in with_both}

    assert len(related) == 16
    assert max(ahead.values()) < 1.5
    assert len(alike) > 80
    assert Counter(alike[-20:]).most_common(1)[0][1] < 14


def test_the_default_asks_for_no_place() -> None:
    """The default templates are those of `templates/clevr`, none of which ends in a place."""
    loaded = load_domain_files()
    assert {each.file for each in loaded.templates} == {path.name for path in shipped("templates/clevr").iterdir()}
    assert not {"Place", "Places"} & {each.answer_type for each in loaded.templates}


def test_the_shipped_templates_are_as_they_should_be(vqagen_: Commands) -> None:
    """Not even doubtful: `check` tries all of them; each has three texts at least."""
    folder = shipped("templates/clevr-places")
    vqagen_.done(f"check {folder} --strict --domain clevr")
    templates = load_domain_files(find_domain(templates="clevr-places")).templates
    assert len(templates) == 18
    assert min(len(template.texts) for template in templates) >= 3


def test_scenes_without_pixels_have_objects_alone(vqagen_: Commands) -> None:
    """Nothing says where they are in a picture."""
    vqagen_.given(*MADE)
    document = json.loads(Path("sampled.json").read_text("utf-8"))
    for scene in document["scenes"]:
        for thing in scene["objects"]:
            del thing["pixel_coords"]
    Path("bare.json").write_text(json.dumps(document), "utf-8")
    vqagen_.done("generate --scenes bare.json --count 5 --templates clevr-places -o bare.jsonl")
    records = _records("bare.jsonl")

    assert {"point", "mark"} == {each["question_type"] for each in records}
    assert not any(key.startswith("answer_") for each in records for key in each)


@pytest.mark.parametrize("pixel", ["x", [1], [1e300, 1, 1], [True, None, 2]])
def test_what_is_no_pixel_is_told(vqagen_: Commands, pixel: object) -> None:
    vqagen_.given(*MADE)
    document = json.loads(Path("sampled.json").read_text("utf-8"))
    document["scenes"][0]["objects"][1]["pixel_coords"] = pixel
    Path("odd.json").write_text(json.dumps(document), "utf-8")
    ran = vqagen_("generate --scenes odd.json --count 1 --templates clevr-places -o odd.jsonl")

    assert ran.code == 3
    assert "objects[1].pixel_coords: expected the pixel of an object, such as [212, 140, 9.8], found" in ran.err


def test_pairs_and_ends_without_a_node_are_refused(vqagen_: Commands) -> None:
    """One clear line each."""
    vqagen_.given(*MADE)
    ran = vqagen_("generate --scenes sampled.json --templates clevr-places --balance pairs -o pairs.json")
    assert (ran.code, "answers that are places are no pairs" in ran.err) == (2, True)

    nodes = [{"type": "scene"}, {"type": "filter_unique", "inputs": [0], "side_inputs": ["<C>"]}]
    Path("own.json").write_text(json.dumps([{"text": "Point to the <C> thing.", "nodes": nodes}]), "utf-8")
    ran = vqagen_("generate --scenes sampled.json --templates own.json -o own.jsonl")
    assert "filter_unique gives Object; to ask where that is, add a node point" in ran.err
