"""`vqagen init`: what it writes works at once, in every command that it names, and nothing is ever overwritten."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from commands import PROGRAM, ROOT, Commands, finish, start

from vqagen.authoring.scaffold import STARTER_FILES, write_starter
from vqagen.files.schema import schema_faults, schema_names, schema_text

STARTER = ROOT / "vqagen" / "authoring" / "starter"


def contents(folder: Path) -> dict[str, bytes | None]:
    """All that lies in a folder; folders have no bytes."""
    found = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in found}


def next_commands(err: str) -> list[str]:
    """The command lines that `init` says come next, without `vqagen`."""
    return [line.removeprefix("  vqagen ") for line in err.partition("next:\n")[2].splitlines()]


# What is written --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STARTER_FILES)
def test_each_file_names_a_schema_that_lies_beside_it_and_fits(name: str, tmp_path: Path) -> None:
    """So do the starter's own files, which lie elsewhere."""
    write_starter(tmp_path / "farm")
    for path in (tmp_path / "farm" / name, STARTER / name):
        document = json.loads(path.read_text("utf-8"))
        schema = path.parent / document["$schema"]
        kind = schema.name.removesuffix(".schema.json")

        assert schema.read_text("utf-8") == schema_text(kind)
        assert list(schema_faults(document, kind)) == []


def test_every_schema_comes_along(tmp_path: Path) -> None:
    write_starter(tmp_path / "farm")

    assert contents(tmp_path / "farm" / "schemas") == {
        f"{name}.schema.json": schema_text(name).encode() for name in schema_names()
    }


def test_every_file_of_the_starter_is_written() -> None:
    assert sorted(STARTER_FILES) == sorted(name for name, content in contents(STARTER).items() if content is not None)


# What works at once -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["farm", "'my things/farm'", "."])
def test_the_next_commands_work(folder: str, vqagen_: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, as printed; and every question is right."""
    Path("start").mkdir()
    monkeypatch.chdir("start")
    lines = next_commands(vqagen_.done(f"init {folder}").err)
    ran = [vqagen_.done(line) for line in lines]
    (place,) = map(Path, shlex.split(folder))
    questions = json.loads((place / "questions.json").read_bytes())["questions"]

    assert [line.split()[0] for line in lines] == ["check", "explain", "scenes", "generate", "verify"]
    assert ran[-1].out == f"{len(questions)} questions checked, 0 wrong\n".encode()
    assert len(questions) > 50
    assert {record["question_family_index"] for record in questions} == {0, 1, 2}


@pytest.mark.slow
@pytest.mark.parametrize("domain", ["clevr", "market"])
def test_a_copy_of_a_shipped_domain_asks_the_same(domain: str, vqagen_: Commands) -> None:
    """It is named for its folder, its files name the schemas beside them, and the next commands work."""
    for line in next_commands(vqagen_.done(f"init mine --from {domain}").err):
        vqagen_.done(line)
    for path in (*Path("mine").glob("*.json"), *Path("mine/templates").glob("*.json")):
        document = json.loads(path.read_text("utf-8"))
        if isinstance(document, dict) and "$schema" in document:
            assert (path.parent / document["$schema"]).is_file(), path
    asked = "generate --scenes mine/scenes.json --count 5 --only count --out"
    vqagen_.done(f"{asked} copy.jsonl --domain ./mine")
    vqagen_.done(f"{asked} shipped.jsonl --domain {domain}")

    assert json.loads(Path("mine/metadata.json").read_text("utf-8"))["dataset"] == "mine"
    assert Path("copy.jsonl").read_bytes() == Path("shipped.jsonl").read_bytes()


def test_another_attribute_is_a_line_of_metadata(vqagen_: Commands) -> None:
    """As the README says; the other files stay as they are."""
    vqagen_.done("init farm")
    metadata = Path("farm/metadata.json")
    text = metadata.read_text("utf-8").replace('"Color":', '"Mood": ["calm", "nervous"],\n    "Color":')
    metadata.write_text(text, "utf-8")
    listed = vqagen_.done("explain --list functions --domain ./farm").out.decode()

    assert all(f"  {name}_mood(" in listed for name in ("filter", "query", "same", "equal"))
    vqagen_.done("check --strict farm")


# What is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("init", "missing argument 'DOMAIN'"),
        ("init ''", "the name is empty"),
        ("init full", "vqagen: full/.hidden is in the way; a domain is started in a new or empty folder"),
        ("init full/metadata.json", "vqagen: full/metadata.json is in the way"),
        ("init full/metadata.json/farm", "vqagen: Not a directory: full/metadata.json/farm"),
        ("init .", "vqagen: full is in the way"),
        ("init clevr", "vqagen: vqagen ships a domain 'clevr' already; give yours another name"),
        ("init things/market", "vqagen ships a domain 'market' already"),
        ("init 'my farm'", "vqagen: 'my farm' cannot name a domain: a name has letters, digits, - _ and . only"),
        ("init .farm", "vqagen: '.farm' cannot name a domain"),
        ("init farm:1", "vqagen: 'farm:1' cannot name a domain"),
        ("init -- -farm", "vqagen: '-farm' cannot name a domain"),
        ("init 'a\"b'", "vqagen: 'a\"b' cannot name a domain"),
        ("init /", "vqagen: '/' cannot name a domain"),
    ],
)
def test_what_cannot_be_is_told_and_leaves_everything(line: str, told: str, vqagen_: Commands) -> None:
    Path("full").mkdir()
    Path("full/metadata.json").write_text("mine")
    Path("full/.hidden").write_text("mine too")
    before = contents(Path())
    ran = vqagen_(line)

    assert ran.code in (2, 3)
    assert told in ran.err
    assert contents(Path()) == before


@pytest.mark.slow
def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """But the folder that was there before."""
    (tmp_path / "there").mkdir()
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)); {PROGRAM}"
    for folder in ("there", "new/farm"):
        ran = finish(start(f"init {folder}", limited, cwd=tmp_path))

        assert ran.code == 3
        assert ran.err == f"vqagen: cannot write {folder}/schemas/director.schema.json: File too large\n"
        assert contents(tmp_path) == {"there": None}
