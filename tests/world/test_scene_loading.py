"""Scene files: every layout gives the same scenes, and a broken file says where it breaks."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from vqagen.errors import BadInput
from vqagen.world.domain import domain_from_metadata
from vqagen.world.loading import find_scenes, load_scenes

ROOT = Path(__file__).parents[2]
Record = dict[str, Any]
Writer = Callable[[Path, list[Record]], Path]

WORLD = domain_from_metadata(
    {"types": {"Color": ["red", "blue"], "Shape": ["cube", "ball"], "Relation": ["left", "right"]}}, "world.json"
)
INFO = {"split": "test", "version": "1"}


def scene_record(index: int) -> Record:
    """A row of index % 4 objects from left to right, with a name that is not plain ASCII and full of JSON's signs."""
    size = index % 4
    return {
        "image_index": index,
        "image_filename": f'ü "{{[]}}, {{" {index:03d}.png',
        "objects": [
            {"image_index": i, "color": "red" if i % 2 else "blue", "shape": "cube", "3d_coords": [i, 0.5, 0.0]}
            for i in range(size)
        ],
        "relationships": {
            "left": [list(range(i)) for i in range(size)],
            "right": [list(range(i + 1, size)) for i in range(size)],
        },
        "directions": {"left": [-1.0, 0.0, 0.0], "right": [1.0, 0.0, 0.0]},
    }


SCENES = [scene_record(index) for index in range(12)]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = text.encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


def document(name: str, *, info_is: str = "first", **layout: Any) -> Writer:
    """How to write {"info", "scenes"} under a name; `info_is` first, last or missing."""

    def written(folder: Path, scenes: list[Record]) -> Path:
        members: Record = {"license": ["MIT"], "scenes": scenes, "more": [{"a": 1}, {"a": 2}]}
        if info_is == "first":
            members = {"info": INFO, **members}
        elif info_is == "last":
            members["info"] = INFO
        return write(folder / name, json.dumps(members, **layout))

    return written


def lines(name: str, separator: str = "\n", end: str = "\n") -> Writer:
    return lambda folder, scenes: write(folder / name, separator.join(map(json.dumps, scenes)) + end)


def folder_of(name: str) -> Writer:
    """A folder with one scene in each file; `name` is filled with the scene's index."""

    def written(folder: Path, scenes: list[Record]) -> Path:
        for index in reversed(range(len(scenes))):
            write(folder / "rendered" / name.format(index), json.dumps(scenes[index], indent=2))
        write(folder / "rendered" / "notes.txt", "not a scene")
        write(folder / "rendered" / ".hidden.json", "not a scene")
        write(folder / "rendered" / ".checkpoints" / "a.json", "not a scene")
        return folder / "rendered"

    return written


LAYOUTS: dict[str, Writer] = {
    "document": document("scenes.json"),
    "document, info last": document("scenes.json", info_is="last"),
    "document, no info": document("scenes.json", info_is="missing"),
    "document, indented": document("scenes.json", indent=2),
    "document, no spaces": document("scenes.json", separators=(",", ":"), ensure_ascii=False),
    "document, gz": document("scenes.json.gz"),
    "document, other suffix": document("scenes.txt"),
    "list": lambda folder, scenes: write(folder / "scenes.json", json.dumps(scenes)),
    "list, byte order mark": lambda folder, scenes: write(folder / "scenes.json", "\ufeff" + json.dumps(scenes)),
    "lines": lines("scenes.jsonl"),
    "lines, gz": lines("scenes.jsonl.gz"),
    "lines, blank ones": lines("scenes.ndjson", "\n\n  \r\n", "\n \n"),
    "lines, no last newline": lines("scenes.jsonl", end=""),
    "lines, named .json": lines("scenes.json"),
    "folder": folder_of("{:03d}.json"),
    "folder, gz": folder_of("{:03d}.json.gz"),
    "folder, nested": folder_of("part{0:03d}/scene.json"),
}


@pytest.fixture(params=LAYOUTS)
def layout(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_layout_gives_the_same_records(layout: str, tmp_path: Path) -> None:
    source = find_scenes(LAYOUTS[layout](tmp_path, SCENES))

    assert [(index, record) for index, record, _ in source.entries()] == list(enumerate(SCENES))
    assert all(file.is_file() for file in source.files)


def test_info_is_found_wherever_it_stands(tmp_path: Path) -> None:
    found = {name: find_scenes(write(tmp_path, SCENES)).info for name, write in LAYOUTS.items()}

    documents = {name for name in LAYOUTS if name.startswith("document") and "no info" not in name}
    assert {name for name, info in found.items() if info == INFO} == documents
    assert {name for name, info in found.items() if info == {}} == set(LAYOUTS) - documents


@pytest.mark.parametrize("name", ["scene.json", "scene.json.gz", "scene.jsonl", "folder/scene.json"])
def test_one_scene_alone_is_a_source_of_one(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, json.dumps(SCENES[3]))
    source = find_scenes(path.parent if path.parent.name == "folder" else path)

    assert list(source.records()) == [SCENES[3]]
    assert source.files == [path]


def test_a_folder_is_read_in_the_order_of_its_paths(tmp_path: Path) -> None:
    """Natural order of the path inside the folder: by character, but numbers by value ("9" before "10")."""
    names = ["9.json", "10.json", "A.json", "a.json", "a/1.json", "a/10/2.json", "a1.json", "s_2.json", "s_10.json"]
    for name in reversed(names):
        write(tmp_path / name, json.dumps({"objects": [], "name": name}))

    assert [record["name"] for record in find_scenes(tmp_path).records()] == names


# Relations --------------------------------------------------------------------------------------------------------


def without(key: str, record: Record) -> Record:
    return {name: value for name, value in record.items() if name != key}


def with_ids(record: Record) -> Record:
    """Relations keyed by object id; objects without any members have no entry."""
    ids = "abc"
    objects = [{"id": name, **entry} for name, entry in zip(ids, record["objects"], strict=True)]
    keyed = {
        relation: {ids[i]: [ids[j] for j in row] for i, row in enumerate(rows) if row}
        for relation, rows in record["relationships"].items()
    }
    return {**record, "objects": objects, "relationships": keyed}


ROW = scene_record(3)
FLAT = {**ROW, "objects": [without("3d_coords", entry) for entry in ROW["objects"]]}
RELATION_FORMS = {
    "adjacency": ROW,
    "list of tables": {**ROW, "relationships": [{"type": k, "indexes": v} for k, v in ROW["relationships"].items()]},
    "keyed by id": with_ids(ROW),
    "keyed by index as text": {
        **ROW,
        "relationships": {k: {str(i): row for i, row in enumerate(v)} for k, v in ROW["relationships"].items()},
    },
    "computed": without("relationships", ROW),
    "computed, null": {**ROW, "relationships": None},
    "one computed, one given": {**ROW, "relationships": without("left", ROW["relationships"])},
    "adjacency without coordinates": without("directions", FLAT),
}


@pytest.mark.parametrize("form", RELATION_FORMS)
def test_relations_can_be_written_in_many_ways(form: str, tmp_path: Path) -> None:
    path = write(tmp_path / "scene.json", json.dumps(RELATION_FORMS[form]))
    (scene,) = load_scenes(path, WORLD)

    assert scene.related == {"left": [0b000, 0b001, 0b011], "right": [0b110, 0b100, 0b000]}


def test_a_scene_may_have_no_objects(tmp_path: Path) -> None:
    (scene,) = load_scenes(write(tmp_path / "scene.json", '{"objects": []}'), WORLD)

    assert (scene.size, scene.everything, scene.related) == (0, 0, {"left": [], "right": []})


# Faults -----------------------------------------------------------------------------------------------------------

GOOD = json.dumps(scene_record(1))
TEXT = json.dumps({"info": {}, "scenes": SCENES}, indent=1)
LINES = "\n".join(map(json.dumps, SCENES))
PACKED = gzip.compress(TEXT.encode() * 20, mtime=0)

BROKEN: list[tuple[str, str | bytes, str]] = [
    ("a.json", "", "a.json: the file is empty"),
    ("a.json", " \n ", "the file is empty"),
    ("a.json.gz", gzip.compress(b""), "the file is empty"),
    ("a.json", "[]", "no scenes: the list is empty"),
    ("a.json", '{"scenes": []}', "scenes: no scenes: the list is empty"),
    ("a.json", '{"scenes": {"0": {}}}', "scenes: expected a list of scenes, found an object"),
    ("a.json", '{"info": {}, "scenes": "a.json"}', "scenes: expected a list of scenes, found 'a.json'"),
    ("a.json", '{"info": {}, "scenes": null}', "scenes: expected a list of scenes, found null or nothing"),
    ("a.json", '{"info": [1], "scenes": [{}]}', "info: expected an object, found a list of 1"),
    ("a.json", '{"info": {}, "Scene": [1, 2]}', "found 'info', 'Scene'; is 'Scene' meant?"),
    ("a.json", '{"info": {}, "questions": [{}]}', "expected the key 'scenes' (a list of scenes) or 'objects'"),
    ("a.json", "{}", "found an empty object"),
    ("a.jsonl", '{"object": []}', "found 'object'; is 'object' meant?"),
    ("a.json", "scenes", "expected JSON that begins with '{' or '[', found 's'"),
    ("a.json", '"scenes"', "expected JSON that begins with '{' or '[', found '\"'"),
    ("a.json", PACKED, "compressed: give the file a name that ends in .gz"),
    ("a.json", TEXT.encode("utf-16"), "not UTF-8 text"),
    ("a.json", '{"scenes": [{"objects": "é"}]}'.encode("latin-1"), "a.json:1:26: scenes[0]: not valid JSON: not UTF-8"),
    ("a.json", '{"info": {"x": "é"}}'.encode("latin-1"), "a.json:1:17: info: not valid JSON: not UTF-8 text"),
    ("a.json", '{"scenes"; []}', "a.json:1:10: scenes: not valid JSON: expected ':', found ';'"),
    ("a.json", "{scenes: []}", "expected a key in quotes, found 's'"),
    ("a.json", '{"info": {},\n "scenes": [{"objects" []}]}', "a.json:2:24: scenes[0]: not valid JSON: Expecting ':'"),
    ("a.json", f'{{"scenes": [{GOOD}, {GOOD}\n{GOOD}]}}', "a.json:2:1: scenes[1]: not valid JSON: expected ',' or"),
    ("a.json", f'{{"info": {{}}, "scenes": [{GOOD}, {GOOD[:-1]}, {GOOD}]}}', "scenes[1]: not valid JSON"),
    ("a.json", f'{{"info": {{}}, "scenes": [{GOOD}, {{"objects": NaN}}]}}', "scenes[1]: not valid JSON: NaN and Inf"),
    ("a.json", f'[{GOOD}, {{"objects": [{{"3d_coords": [1e999]}}]}}]', "scenes[1]: not valid JSON"),
    ("a.json", TEXT[: len(TEXT) // 2], "the file ends inside a value"),
    ("a.json", TEXT[:-1], "expected ',' or '}', found the end of the file"),
    ("a.json", TEXT + "}", "expected the end of the file, found '}'"),
    ("a.json", f"[{GOOD}] []", "expected the end of the file, found '['"),
    ("a.json", GOOD + "]", "a.json:1:"),
    ("a.json", f"[{GOOD}, [1]]", "scenes[1]: expected a scene object, found a list of 1"),
    ("a.json", f"[{GOOD}, null]", "scenes[1]: expected a scene object, found null or nothing"),
    ("a.json", '{"a": ' + "[" * 100_000, "nested too deeply"),
    ("a.json", '{"scenes": [' + '{"a": ' * 100_000, "scenes[0]: not valid JSON: nested too deeply"),
    ("a.jsonl", "\n".join([GOOD, "", "{]", GOOD]), "a.jsonl:3:2: scenes[1]: not valid JSON"),
    ("a.jsonl", "\n".join([GOOD, "[1]"]), "a.jsonl:2: scenes[1]: expected a scene object, found a list of 1"),
    ("a.jsonl", "\n".join([GOOD, GOOD + GOOD]), "a.jsonl:2:"),
    ("a.jsonl", GOOD.encode() + '\n{"é": "ü'.encode()[:-1] + b'"}', "a.jsonl:2:8: scenes[1]: not valid JSON: not UTF"),
    ("a.jsonl", LINES[:-5], f"a.jsonl:{len(SCENES)}:"),
    ("a.jsonl", "\n".join([GOOD, '{"objects": [{}]}']), "a.jsonl:2: scenes[1].objects[0]: no 'color'"),
    ("a.json.gz", b"[]", "damaged or cut off: Not a gzipped file"),
    ("a.json.gz", PACKED[: len(PACKED) // 2], "damaged or cut off: Compressed file ended"),
    ("a.json.gz", PACKED[:500] + b"\xff" * 40 + PACKED[540:], "damaged or cut off: "),
    ("a.jsonl.gz", gzip.compress(LINES.encode(), mtime=0)[:-20], "damaged or cut off: Compressed file ended"),
    ("folder/a.json", f"[{GOOD}]", "folder/a.json: many scenes in one file of a folder"),
    ("folder/a.json", GOOD[:-5], "folder/a.json:1:"),
    ("folder/a.json.gz", gzip.compress(GOOD.encode())[:-9], "folder/a.json.gz: "),
    ("folder/a.json", '{"objects": [{}]}', "folder/a.json: scenes[0].objects[0]: no 'color'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), BROKEN, ids=[f"{i}" for i in range(len(BROKEN))])
def test_a_broken_file_says_where(name: str, content: str | bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(BadInput) as caught:
        list(load_scenes(path.parent if "/" in name else path, WORLD))

    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path}{os.sep}")


def test_scenes_of_another_domain_are_named_as_such(tmp_path: Path) -> None:
    """First, before all that their objects have in common with no object of this domain."""
    (tmp_path / "scenes.json").write_text(json.dumps({"objects": [{"color": "red", "kind": "hen"}] * 2}))

    with pytest.raises(BadInput) as raised:
        list(load_scenes(tmp_path / "scenes.json", WORLD))
    message = "no object has 'shape': of another domain than this? --domain names it [scene 0]"
    assert raised.value.problems[0].message == message


def test_scenes_before_the_broken_one_are_read(tmp_path: Path) -> None:
    """Streaming: a fault is told when it is come to."""
    path = write(tmp_path / "a.json", json.dumps([*SCENES[:4], {"objects": [{"color": "rad"}]}, 7]))
    scenes = load_scenes(path, WORLD)

    assert len(list(islice(scenes, 4))) == 4
    with pytest.raises(BadInput) as caught:
        next(scenes)
    assert [problem.path for problem in caught.value.problems] == [
        "scenes[4].objects[0].color",
        "scenes[4].objects[0]",
    ]


MEMORY = r"""
import re, sys
from vqagen.world.domain import load_domain
from vqagen.world.loading import load_scenes
count = sum(1 for _ in load_scenes(sys.argv[1], load_domain(sys.argv[2])))
print(count, int(re.search(r"VmHWM:\s+(\d+) kB", open("/proc/self/status").read())[1]) // 1024)
"""
"""Not `ru_maxrss`, which begins with what the process that starts this one uses."""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize(
    ("opening", "closing"),
    [('{"info": {}, "scenes": [', "]}"), ('{"scenes": [', '], "info": {}}')],
    ids=["first", "last"],
)
def test_a_large_document_is_never_held(opening: str, closing: str, tmp_path: Path) -> None:
    """Parsed whole, these 18,000 scenes take 170 MB."""
    looks = {"color": "red", "shape": "cube", "material": "metal", "size": "small", "3d_coords": [0.123456789] * 3}
    record = {
        "objects": [{**looks, "rotation": i / 7} for i in range(7)],
        "relationships": {name: [[]] * 7 for name in ("left", "right", "behind", "front")},
    }
    path = write(tmp_path / "large.json", opening + ", ".join([json.dumps(record)] * 18_000) + closing)
    command = [sys.executable, "-c", MEMORY, str(path), str(ROOT / "metadata" / "clevr.json")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    count, megabytes = map(int, done.stdout.split())

    assert count == 18_000
    assert megabytes < 100
