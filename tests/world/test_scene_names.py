"""Scenes of one image name are warned of, and told apart by `scene_index`, which every question carries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from scene_records import sampled_scenes

from vqagen.files.locations import shipped
from vqagen.language.question import read_questions
from vqagen.tasks.questions import verification
from vqagen.world.loading import PlacesOfNames

SCENES = 6
Record = dict[str, Any]


def shared_by(*groups: tuple[int, ...]) -> list[Record]:
    """Sampled scenes, of which those of each group have one name."""
    scenes = sampled_scenes(SCENES, seed=3)
    for number, group in enumerate(groups):
        for place in group:
            scenes[place]["image_filename"] = f"{number}.png"
    return scenes


@pytest.fixture
def vqagen_(vqagen_: Commands) -> Commands:
    """Runs commands in a folder with scenes.json, where two scenes have one name."""
    Path("scenes.json").write_text(json.dumps({"scenes": shared_by((0, 5))}))
    return vqagen_


@pytest.mark.quick(2)
@pytest.mark.parametrize("out", ["q.json", "q.jsonl", "q.parquet"])
@pytest.mark.parametrize("dialect", ["generator", "release"])
def test_questions_name_the_place_of_their_scene_in_the_input(out: str, dialect: str, vqagen_: Commands) -> None:
    """Whatever the scene calls itself, and wherever the run begins."""
    vqagen_.done(f"generate --scenes scenes.json --only one_hop.json --dialect {dialect} --start-index 4 --out {out}")
    records = list(read_questions(Path(out)))
    keys = list(records[0])

    assert {record["scene_index"] for record in records} == {4, 5}
    assert keys[keys.index("image") + 1] == "scene_index"


# Warnings -------------------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize("flags", ["", "--workers 2", "--start-index 1", "--shard 1/1"])
def test_generate_warns_once_of_scenes_of_one_name(flags: str, vqagen_: Commands) -> None:
    """With their number and the first names, wherever the run begins and whoever makes the questions."""
    Path("scenes.json").write_text(json.dumps({"scenes": shared_by((1, 5), (2, 3))}))
    err = vqagen_.done(f"generate --scenes scenes.json --only one_hop.json --out q.json {flags}").err

    assert err.count("warning") == 1
    assert err.startswith(
        "vqagen: warning: scenes.json: 4 scenes share an image_filename: '0.png' (scenes 1, 5), '1.png' (scenes 2, 3);"
        " only scene_index tells their questions apart\n"
    )


def test_check_warns_of_scenes_of_one_name_at_the_second_of_them(vqagen_: Commands) -> None:
    Path("scenes.json").write_text(json.dumps({"scenes": shared_by((1, 4, 5))}))
    out = vqagen_.done("check scenes.json").out.decode()

    message = "3 scenes share an image_filename: '0.png' (scenes 1, 4, 5); only scene_index tells their questions apart"
    assert f"scenes[4].image_filename  {message} [repeated-image]" in out


def test_many_repeated_names_are_counted_and_the_first_are_named() -> None:
    names = PlacesOfNames(start=10)
    for name in ["a", "", "b", "c", "d", "e", "", "a", "a", "b", "c", "d", "a", "a"]:
        names.add(name)

    assert names.repeats() == [[10, 17, 18, 22, 23], [12, 19], [13, 20], [14, 21]]
    assert names.of("a") == [10, 17, 18, 22, 23]
    assert names.of("e") == [15]
    assert names.of("") == names.of("x") == []


# Verification ---------------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize("batch", [1, 7, 2000])
@pytest.mark.parametrize("group", [(0, 1), (0, 5), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("key", ["image_filename", "image_index"])
def test_scenes_of_one_name_are_told_apart_at_any_distance_in_any_batch(
    batch: int, group: tuple[int, ...], key: str, vqagen_: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By `scene_index`; without it the fault is the same, however many questions are looked at together."""
    monkeypatch.setattr(verification, "BATCH", batch)
    scenes = shared_by(group)
    for scene in scenes if key == "image_index" else ():
        scene["image_index"] = 7 if scene["image_filename"] == "0.png" else scene["image_index"] + 10
        del scene["image_filename"]
    Path("scenes.json").write_text(json.dumps({"scenes": scenes}))
    vqagen_.done("generate --scenes scenes.json --only one_hop.json --out q.json")
    vqagen_.done("verify q.json --scenes scenes.json")
    records = list(read_questions(Path("q.json")))
    shared = [place for place, record in enumerate(records) if record.pop("scene_index") in group]
    Path("bare.json").write_text(json.dumps(records))
    ran = vqagen_("verify bare.json --scenes scenes.json --json")
    report = json.loads(ran.out)

    assert report["by_problem"] == {"several scenes": len(shared)}
    assert [mismatch["position"] for mismatch in report["tables"]["mismatches"]["rows"]] == shared
    listed = ", ".join(map(str, group))
    expected = f"{len(group)} scenes have this {key} (scenes {listed}), and the question has no scene_index"
    assert {mismatch["problem"] for mismatch in report["tables"]["mismatches"]["rows"]} == {expected}


# What a file says of its origin ---------------------------------------------------------------------------------------

ORIGINS = [
    ("--scenes other.json", "other scenes than the questions were made from: the content differs"),
    ("--scenes scenes.json --metadata other/metadata.json", "other metadata than the questions were made from"),
    ("--scenes scenes.json --plugin two.py", "other plug-ins than the questions were made from"),
    ("--scenes scenes.json", "a plug-in is missing: the questions were made with one; give it with --plugin"),
]
PLUGIN = """from vqagen.plugin import function


@function("ObjectSet", output="Integer")
def {name}(scene, objects):
    '''The number of objects.'''
    return objects.bit_count()
"""


@pytest.mark.quick(2)
@pytest.mark.parametrize("out", ["q.json", "q.jsonl", "q.parquet"])
@pytest.mark.parametrize(("flags", "message"), ORIGINS)
def test_other_inputs_than_a_file_was_made_from_are_one_line_first(
    flags: str, message: str, out: str, vqagen_: Commands
) -> None:
    Path("one.py").write_text(PLUGIN.format(name="one"))
    Path("two.py").write_text(PLUGIN.format(name="two"))
    Path("other.json").write_text(Path("scenes.json").read_text() + "\n")
    Path("other").mkdir()
    Path("other/metadata.json").write_text(shipped("metadata/clevr.json").read_text() + "\n")
    made_with = "" if "metadata" in flags or "other.json" in flags else "--plugin one.py"
    vqagen_.done(f"generate --scenes scenes.json --only one_hop.json --count 2 --out {out} {made_with}")
    ran = vqagen_(f"verify {out} {flags}")

    assert ran.code == (1 if "plug-in" in message or "metadata" in flags else 0), (
        "texts are not read without their words"
    )
    assert len(ran.err.splitlines()) == 1
    assert ran.err.startswith(f"vqagen: warning: {out}: {message}")
    assert b"answers recomputed; texts " in ran.out
    assert ran.code == (b"texts not checked" in ran.out)


def test_a_file_made_with_hidden_answers_is_refused_in_one_line(vqagen_: Commands) -> None:
    vqagen_.done("generate --scenes scenes.json --only one_hop.json --hide-answers --out q.json")
    ran = vqagen_("verify q.json --scenes scenes.json")

    message = "made with --hide-answers: programs and answers are left out, so there is nothing to verify"
    assert (ran.code, ran.err) == (3, f"vqagen: q.json: {message}\n")


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("-5", "expected 0 or more, found -5"),
        ("1.5", "expected a whole number, text or null, found 1.5"),
        ("true", "expected a whole number, text or null, found true"),
        ("12345678901234567890123", "expected a whole number, text or null, found 1.2345678901234568e+22 (rounded: "),
    ],
)
def test_an_image_index_of_a_scene_is_a_whole_number_from_0_on(number: str, message: str, vqagen_: Commands) -> None:
    """A number beyond 64 bits is not shown as if the file had a fraction."""
    text = json.dumps([{**shared_by()[0], "image_index": 0}]).replace('_index": 0', f'_index": {number}')
    Path("scenes.json").write_text(text)
    generated = vqagen_("generate --scenes scenes.json --only one_hop.json --out q.json")
    checked = vqagen_("check scenes.json")

    assert (generated.code, checked.code) == (3, 1)
    assert generated.err.startswith(f"vqagen: scenes.json: scenes[0].image_index: {message}")
    assert f"image_index  {message}".encode() in checked.out


def test_keys_written_twice_are_named_once(vqagen_: Commands) -> None:
    """The first one is lost, which only `check` said."""
    scene = '{"image_filename": "%d.png", "objects": [{"size": "large", "size": "small", "color": "red", %s}]}'
    rest = '"material": "metal", "shape": "cube"'
    Path("s.json").write_text(f'{{"scenes": [{", ".join(scene % (n, rest) for n in range(3))}]}}')
    ran = vqagen_.done("generate --scenes s.json --out q.json")

    said = "s.json: scenes[0].objects[0].size: the key 'size' is written twice in one object; the first one is lost"
    assert ran.err.count("written twice") == 1
    assert f"{said} (so are keys of 2 more scenes)" in ran.err
