"""`vqagen init`: what it writes works at once, in every command that it names, and nothing is ever overwritten."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest
from commands import PROGRAM, ROOT, Commands, finish, start

from vqagen.authoring.scaffold import STARTER_FILES, write_starter
from vqagen.errors import UsageError
from vqagen.json.schema import schema_faults, schema_names, schema_text
from vqagen.language.domain_files import find_domain, load_domain_files

STARTER = ROOT / "vqagen" / "authoring" / "starter"


@pytest.fixture
def vqagen_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Commands(capsysbinary)


def contents(folder: Path) -> dict[str, bytes | None]:
    """All that lies in a folder; folders have no bytes."""
    found = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in found}


def next_commands(err: str) -> list[str]:
    """The command lines that `init` says come next, without `vqagen`."""
    return [line.removeprefix("  vqagen ") for line in err.partition("next:\n")[2].splitlines()]


# What is written --------------------------------------------------------------------------------------------------


def test_it_says_what_it_wrote(vqagen_: Commands) -> None:
    ran = vqagen_.done("init farm")
    told = [line.removeprefix("wrote ") for line in ran.err.partition("next:\n")[0].splitlines()]

    assert ran.out == b""
    assert sorted(told) == [str(path) for path in sorted(Path("farm").rglob("*")) if path.is_file()]


def test_the_folder_names_the_domain(tmp_path: Path) -> None:
    """Wherever it lies, and whatever letters it has."""
    for folder in ("farm", "a b/deep/er/my-farm_2.0", "dvůr"):
        write_starter(tmp_path / folder)
        assert load_domain_files(find_domain(tmp_path / folder)).domain.name == Path(folder).name


@pytest.mark.parametrize("given", [".", "./", "../here", "../here/."])
def test_the_working_folder_can_be_the_domain(given: str, vqagen_: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("here").mkdir()
    monkeypatch.chdir("here")
    vqagen_.done(f"init {given}")

    assert json.loads((Path("metadata.json")).read_text("utf-8"))["dataset"] == "here"


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "farm").mkdir()
    write_starter(tmp_path / "farm")

    assert (tmp_path / "farm" / "metadata.json").is_file()


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


def test_the_starter_shows_the_forms_of_attributes(tmp_path: Path) -> None:
    """Groups, an optional value, a word for what is left open, relations; and templates of three kinds."""
    write_starter(tmp_path / "farm")
    materials = load_domain_files(find_domain(tmp_path / "farm"))
    attributes = materials.domain.attributes

    assert any(set(attribute.leaves) < set(attribute.values) for attribute in attributes)
    assert any(attribute.optional for attribute in attributes)
    assert attributes[-1].null == "animal"
    assert len(materials.domain.relations) == 4
    assert sorted(template.answer_type for template in materials.templates) == ["Bool", "Color", "Integer"]


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


def test_the_strict_check_finds_nothing(vqagen_: Commands) -> None:
    """Nor does it once scenes and questions lie in the folder."""
    lines = next_commands(vqagen_.done("init farm").err)
    vqagen_.done("check --strict farm")
    for line in lines[2:4]:
        vqagen_.done(line)

    vqagen_.done("check --strict farm")


def test_every_template_finds_questions(vqagen_: Commands) -> None:
    """In nearly every scene, and with more than one answer."""
    vqagen_.done("init farm")
    vqagen_.done("scenes sample --domain ./farm --count 100 -o scenes.json")
    vqagen_.done("generate --domain ./farm --scenes scenes.json --templates-per-image 3 --out questions.json")
    answers: dict[int, list[object]] = {}
    for record in json.loads(Path("questions.json").read_bytes())["questions"]:
        answers.setdefault(record["question_family_index"], []).append(record["answer"])

    assert len(answers) == 3
    assert all(len(given) >= 80 for given in answers.values())
    assert all(len(set(map(str, given))) > 1 for given in answers.values())


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
        ("init", "Missing argument 'DOMAIN'"),
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


def test_a_second_run_overwrites_nothing(vqagen_: Commands) -> None:
    vqagen_.done("init farm")
    Path("farm/metadata.json").write_text("mine")
    before = contents(Path())
    ran = vqagen_("init farm")

    assert (ran.code, ran.err) == (
        2,
        "vqagen: farm/metadata.json is in the way; a domain is started in a new or empty folder\n",
    )
    assert contents(Path()) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_told(vqagen_: Commands) -> None:
    Path("locked").mkdir(mode=0o500)
    ran = vqagen_("init locked/farm")

    assert (ran.code, ran.err) == (3, "vqagen: Permission denied: locked/farm\n")


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """But the folder that was there before."""
    (tmp_path / "there").mkdir()
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)); {PROGRAM}"
    for folder in ("there", "new/farm"):
        ran = finish(start(f"init {folder}", limited, cwd=tmp_path))

        assert ran.code == 3
        assert ran.err == f"vqagen: cannot write {folder}/schemas/director.schema.json: File too large\n"
        assert contents(tmp_path) == {"there": None}


def test_a_refusal_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is in the way"):
        write_starter(tmp_path.parent)
