"""`vqagen init`: what it writes works at once, in every command that it names, and nothing is ever overwritten."""

from __future__ import annotations

import json
import pickle
import shlex
from pathlib import Path

import pytest
from commands import PROGRAM, ROOT, Commands, finish, start

import vqagen
from vqagen.authoring.scaffold import STARTER_FILES, write_starter
from vqagen.errors import UsageError
from vqagen.files.locations import files_in, shipped
from vqagen.files.schema import schema_faults, schema_names, schema_text
from vqagen.language.domain_files import DIALOGS, METADATA, QUESTIONS, SHIPPED_DOMAINS, find_domain
from vqagen.tasks.director.catalogue import SHIPPED_CATALOGUE
from vqagen.tasks.director.instructions import SHIPPED_INSTRUCTIONS
from vqagen.tasks.questions.settings import RecordForm
from vqagen.tasks.questions.task import question_task

STARTER = ROOT / "vqagen" / "authoring" / "starter"


def contents(folder: Path) -> dict[str, bytes | None]:
    """All that lies in a folder; folders have no bytes."""
    found = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in found}


def next_commands(err: str) -> list[str]:
    """The command lines that `init` says come next, without `vqagen`."""
    return [line.removeprefix("  vqagen ") for line in err.partition("next:\n")[2].splitlines()]


# What is written --------------------------------------------------------------------------------------------------


def test_each_file_names_a_schema_that_lies_beside_it_and_fits(tmp_path: Path) -> None:
    """So do the starter's own files, which lie elsewhere; every schema comes along."""
    write_starter(tmp_path / "farm")
    for path in (folder / name for name in STARTER_FILES for folder in (tmp_path / "farm", STARTER)):
        document = json.loads(path.read_text("utf-8"))
        schema = path.parent / document["$schema"]
        kind = schema.name.removesuffix(".schema.json")

        assert schema.read_text("utf-8") == schema_text(kind)
        assert list(schema_faults(document, kind)) == []
    schemas = {f"{name}.schema.json": schema_text(name).encode() for name in schema_names()}
    assert contents(tmp_path / "farm" / "schemas") == schemas
    assert sorted(STARTER_FILES) == sorted(name for name, content in contents(STARTER).items() if content is not None)


# What works at once -----------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
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
    proved = "answers recomputed; texts match their templates"
    assert ran[-1].out == f"{len(questions)} questions checked, 0 wrong: {proved}\n".encode()
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


# Shipped ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHIPPED_DOMAINS)
def test_every_listed_file_is_shipped(name: str) -> None:
    listed = SHIPPED_DOMAINS[name]

    assert all((ROOT / path).exists() for path in listed.values())
    assert find_domain(name).metadata == shipped(listed[METADATA])
    assert find_domain(name).templates == find_domain(name, task=QUESTIONS).templates == shipped(listed[QUESTIONS])
    assert find_domain(name, task=DIALOGS).templates == shipped(listed[DIALOGS])
    assert find_domain(name, templates="mine.json").templates == Path("mine.json")


def test_every_shipped_file_is_listed() -> None:
    """So each is tested, for tests walk the list: what lies beside the pages is a domain's or the director task's."""
    domains = [place for each in SHIPPED_DOMAINS.values() for place in each.values()]
    further = (
        SHIPPED_CATALOGUE,
        SHIPPED_INSTRUCTIONS,
        "templates/clevr-places",
    )  # tests/tasks/questions/test_places.py
    places = [ROOT / place for place in (*domains, *further)]
    files = {path for folder in ("metadata", "templates") for path in files_in(ROOT / folder)}
    pages = {ROOT / folder / "README.md" for folder in ("metadata", "templates")}

    assert pages < files
    assert [str(path) for path in sorted(files - pages) if not any(path.is_relative_to(each) for each in places)] == []


def test_a_folder_here_does_not_take_the_place_of_a_shipped_domain(vqagen_: Commands) -> None:
    write_starter(Path("farm"))
    Path("farm").rename("clevr")

    assert find_domain("clevr").metadata == shipped("metadata/clevr.json")
    assert find_domain("./clevr").metadata == Path("clevr/metadata.json")


@pytest.mark.parametrize("written", ["./farm", "farm/", "./farm/", Path("farm"), "../here/farm", "."])
def test_a_path_is_one_if_it_says_so(written: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_starter(tmp_path / "here" / "farm")
    monkeypatch.chdir(tmp_path / "here" / "farm" if written == "." else tmp_path / "here")

    assert find_domain(written).metadata.samefile(tmp_path / "here" / "farm" / "metadata.json")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("farm", "vqagen ships no domain 'farm'; write ./farm for the folder of that name"),
        ("clever", "vqagen ships no domain 'clever'; did you mean 'clevr'?"),
        ("zoo", "vqagen ships no domain 'zoo'; known: clevr, market"),
        ("./zoo", "no domain at ./zoo: there is no such folder"),
        ("./empty", "no domain at ./empty: a domain's folder holds metadata.json"),
    ],
)
def test_what_is_no_domain_is_said(written: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_starter(Path("farm"))
    Path("empty").mkdir()

    with pytest.raises(UsageError) as raised:
        find_domain(written)

    assert str(raised.value) == message


# In the info ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_info_of_questions_names_any_domain_and_takes_none_for_a_shipped_one(vqagen_: Commands) -> None:
    """One's own is called by its folder or file, and never by where this is; scenes name shipped ones alone."""
    write_starter(Path("farm"))
    Path("clevr.json").write_bytes(shipped("metadata/clevr.json").read_bytes())
    cases = {
        "": ("clevr", "clevr"),
        "--domain market": ("market", "market"),
        "--domain ./farm": (None, "farm"),
        "--metadata ./farm/../clevr.json": (None, "clevr (own)"),
    }
    for number, (flags, (of_scenes, of_questions)) in enumerate(cases.items()):
        vqagen_.done(f"scenes sample --count 2 {flags} -o s{number}.json")
        vqagen_.done(f"generate --scenes s{number}.json {flags} -o q{number}.json")

        for file, expected in ((f"s{number}.json", of_scenes), (f"q{number}.json", of_questions)):
            assert json.loads(Path(file).read_bytes())["info"]["generator"]["domain"] == expected


def test_a_worker_refuses_files_that_were_changed(tmp_path: Path) -> None:
    """Also templates, although it does not read them: those of its run are with its task."""
    write_starter(tmp_path / "farm")
    files = vqagen.find_domain(tmp_path / "farm")
    task = question_task(files, vqagen.QuestionSettings(), RecordForm())
    hashes, pickled = task.hashes(), pickle.dumps(task)
    (template, *_) = files_in(tmp_path / "farm" / "templates")
    template.write_text(template.read_text() + "\n")

    with pytest.raises(vqagen.VqagenError, match="a worker reads other templates than the run began with"):
        pickle.loads(pickled).load(hashes)


def test_a_task_is_pickled_with_the_templates_that_it_has_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that has loaded none is pickled without them, and the other process reads them."""
    files = vqagen.find_domain("market")
    task, other = (question_task(files, vqagen.QuestionSettings(), RecordForm()) for _ in range(2))
    templates = task.domain.templates
    pickled, without = pickle.dumps(task), pickle.dumps(other)
    again = pickle.loads(without)
    assert again.domain.templates == templates

    monkeypatch.setattr("vqagen.language.domain_files.read_template_files", None)
    assert pickle.loads(pickled).domain.templates == templates


def test_the_templates_beside_ones_own_metadata_are_taken(vqagen_: Commands) -> None:
    """Metadata with templates beside it is a domain; alone, it is asked about by the shipped templates."""
    vqagen_.done("init farm")
    farm = find_domain("./farm")
    assert find_domain(metadata="farm/metadata.json") == farm
    assert find_domain(metadata="farm/metadata.json", task="dialog") == find_domain("./farm", task="dialog")

    Path("own.json").write_bytes(Path("farm/metadata.json").read_bytes())
    assert find_domain(metadata="own.json").templates == find_domain().templates
    assert b"first.json#query_color" in vqagen_.done("explain --metadata farm/metadata.json").out
