"""Plug-ins that a domain's metadata names are found by every command by themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Commands

import vqagen
from vqagen.errors import BadInput
from vqagen.world.domain import load_domain

METADATA: dict[str, Any] = {
    "plugins": ["legs.py"],
    "plurals": {"comment": "Not regular.", "sheep": "sheep", "goose": "geese"},
    "rewrites": [{"pattern": "^How many legs", "replace": "What number of legs"}],
    "types": {
        "Color": ["black", "white"],
        "Animal": {"values": ["sheep", "goose"], "null": "animal"},
        "Relation": ["left", "right", "behind", "front"],
    },
}
TEMPLATES = [
    {
        "name": "legs",
        "text": "How many legs do the <C> <A>s have?",
        "params": [{"type": "Color", "name": "<C>"}, {"type": "Animal", "name": "<A>"}],
        "nodes": [
            {"type": "scene", "inputs": []},
            {"type": "filter", "inputs": [0], "side_inputs": ["<C>", "<A>"]},
            {"type": "legs", "inputs": [1]},
        ],
        "constraints": [{"type": "NOT_NULL", "params": ["<A>"]}],
    }
]
PLUGIN = '''
from vqagen.bits import indexes
from vqagen.plugin import function

LEGS = {"sheep": 4, "goose": 2}


@function("ObjectSet", output="Integer")
def legs(scene, objects):
    """How many legs the objects of a set have."""
    return sum(LEGS[scene.values["animal"][i]] for i in indexes(objects))
'''


@pytest.fixture
def farm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A domain whose metadata names a file, in the folder `farm` of the working folder."""
    monkeypatch.chdir(tmp_path)
    folder = Path("farm")
    write(folder, "metadata.json", METADATA)
    write(folder, "templates/legs.json", TEMPLATES)
    (folder / "legs.py").write_text(PLUGIN)
    return folder


def write(folder: Path, name: str, content: Any) -> None:
    """Write a JSON file of the domain."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1))


@pytest.mark.slow
def test_every_command_finds_what_the_metadata_names(farm: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Workers in other processes do too, and `verify` runs the plug-in's function again."""
    run = Commands(capsysbinary)
    run.done("scenes sample --domain ./farm --count 6 -o scenes.json")
    run.done("generate --domain ./farm --scenes scenes.json -o questions.json --workers 2 --reset-counts-every 3")
    questions = json.loads(Path("questions.json").read_bytes())["questions"]

    assert {text.split(" legs")[0] for text in (each["question"] for each in questions)} == {"What number of"}
    assert any("geese" in each["question"] for each in questions)
    assert b" 0 wrong" in run.done("verify --domain ./farm questions.json --scenes scenes.json").out
    assert b"How many legs the objects of a set have" in run.done("explain --domain ./farm --list functions").out
    assert run.done("explain --domain ./farm legs --scenes scenes.json").out
    assert run.done("check --strict farm scenes.json").out.startswith(b"0 errors, 0 warnings")


def test_the_hashes_of_named_files_are_in_the_info(farm: Path) -> None:
    """And no other file's: without them, an info is what it was."""
    before = vqagen.load_domain_files(vqagen.find_domain("./farm")).hashes
    (farm / "legs.py").write_text(PLUGIN + "\n")
    after = vqagen.load_domain_files(vqagen.find_domain("./farm")).hashes

    assert list(before) == ["metadata", "templates", "synonyms", "plugins"]
    assert [role for role in before if before[role] != after[role]] == ["plugins"]
    assert list(vqagen.load_domain_files().hashes) == ["metadata", "templates", "synonyms"]


def test_no_output_takes_the_place_of_a_named_file(farm: Path) -> None:
    files = vqagen.find_domain("./farm")

    assert farm / "legs.py" in files.inputs


@pytest.mark.parametrize(
    ("section", "value", "path", "message"),
    [
        ("plugins", "legs.py", "plugins", "expected a list, found 'legs.py'"),
        ("plugins", [7], "plugins[0]", "expected text, found 7"),
        ("plugins", ["leg.py"], "plugins[0]", "no such file: 'leg.py'; did you mean 'legs.py'?"),
        ("plugins", ["/a.py"], "plugins[0]", "expected a path beside this file, found the absolute path '/a.py'"),
        ("plugins", ["no\0file"], "plugins[0]", "no such file: 'no\\x00file'; it is looked for in farm"),
        ("plurals", "words.json", "plurals", "expected an object, found 'words.json'"),
    ],
)  # fmt: skip
def test_a_wrong_name_is_a_mistake_at_its_place(section: str, value: Any, path: str, message: str, farm: Path) -> None:
    write(farm, "metadata.json", {**METADATA, section: value})

    with pytest.raises(BadInput) as raised:
        load_domain(farm / "metadata.json")

    (problem,) = [each for each in raised.value.problems if each.path == path]
    assert (problem.source, problem.message) == (str(farm / "metadata.json"), message)
    assert problem.line is not None
