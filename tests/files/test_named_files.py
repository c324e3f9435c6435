"""Files that a domain's metadata names: plug-ins, plurals and rewrites, found by every command by themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Commands

import vqagen
from vqagen.authoring.check.checking import check_paths
from vqagen.errors import BadInput
from vqagen.world.domain import load_domain

METADATA: dict[str, Any] = {
    "plugins": ["legs.py"],
    "plurals": "words/plurals.json",
    "rewrites": "rewrites.json",
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
PLURALS = {"comment": "Not regular.", "sheep": "sheep", "goose": "geese"}
REWRITES = [{"pattern": "^How many legs", "replace": "What number of legs"}]


@pytest.fixture
def farm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A domain whose metadata names files, in the folder `farm` of the working folder."""
    monkeypatch.chdir(tmp_path)
    folder = Path("farm")
    write(folder, "metadata.json", METADATA)
    write(folder, "templates/legs.json", TEMPLATES)
    write(folder, "words/plurals.json", PLURALS)
    write(folder, "rewrites.json", REWRITES)
    (folder / "legs.py").write_text(PLUGIN)
    return folder


def write(folder: Path, name: str, content: Any) -> None:
    """Write a JSON file of the domain."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1))


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
    write(farm, "words/plurals.json", {**PLURALS, "cow": "cows"})
    after = vqagen.load_domain_files(vqagen.find_domain("./farm")).hashes

    assert list(before) == ["metadata", "templates", "synonyms", "plugins", "plurals", "rewrites"]
    assert [role for role in before if before[role] != after[role]] == ["plugins", "plurals"]
    assert list(vqagen.load_domain_files().hashes) == ["metadata", "templates", "synonyms"]


def test_no_output_takes_the_place_of_a_named_file(farm: Path) -> None:
    files = vqagen.find_domain("./farm")

    assert {farm / "legs.py", farm / "words/plurals.json", farm / "rewrites.json"} <= set(files.inputs)


@pytest.mark.parametrize(
    ("section", "value", "path", "message"),
    [
        ("plugins", "legs.py", "plugins", "expected a list, found 'legs.py'"),
        ("plugins", [7], "plugins[0]", "expected text, found 7"),
        ("plugins", ["leg.py"], "plugins[0]", "no such file: 'leg.py'; did you mean 'legs.py'?"),
        ("plugins", ["/a.py"], "plugins[0]", "expected a path beside this file, found the absolute path '/a.py'"),
        ("plurals", "no\0file", "plurals", "no such file: 'no\\x00file'; it is looked for in farm"),
        ("plurals", 3, "plurals", "expected an object or text, found 3"),
        ("rewrites", "rewrite.json", "rewrites", "no such file: 'rewrite.json'; did you mean 'rewrites.json'?"),
    ],
)  # fmt: skip
def test_a_wrong_name_is_a_mistake_at_its_place(section: str, value: Any, path: str, message: str, farm: Path) -> None:
    write(farm, "metadata.json", {**METADATA, section: value})

    with pytest.raises(BadInput) as raised:
        load_domain(farm / "metadata.json")

    (problem,) = [each for each in raised.value.problems if each.path == path]
    assert (problem.source, problem.message) == (str(farm / "metadata.json"), message)
    assert problem.line is not None


@pytest.mark.parametrize(
    ("file", "content", "path", "line", "message"),
    [
        ("words/plurals.json", {"goose": 2}, "goose", 2, "expected text, found 2"),
        ("words/plurals.json", ["geese"], "", 1, "expected an object, found a list of 1"),
        ("rewrites.json", [{"pattern": "("}], "[0]", 2, "missing key 'replace'"),
        ("rewrites.json", [{"pattern": "(", "replace": ""}], "[0].pattern", 3, "not a regular expression: "),
    ],
)
def test_a_mistake_in_a_named_file_is_told_with_its_place_there(
    file: str, content: Any, path: str, line: int | None, message: str, farm: Path
) -> None:
    write(farm, file, content)

    with pytest.raises(BadInput) as raised:
        load_domain(farm / "metadata.json")

    (problem,) = raised.value.problems
    assert (problem.source, problem.path) == (str(farm / file), path)
    assert line in (None, problem.line)
    assert problem.message.startswith(message)


def test_check_reports_mistakes_of_a_named_file_under_its_name(farm: Path) -> None:
    write(farm, "rewrites.json", [{"pattern": "(", "replace": ""}])
    (farm / "words/plurals.json").write_text("{")
    report = check_paths([farm], samples=0)

    assert [(file.path, len(file.errors)) for file in report.files if file.errors] == [
        ("farm/rewrites.json", 1),
        ("farm/words/plurals.json", 1),
    ]
