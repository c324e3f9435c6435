"""Which files a domain is made of: a shipped one by its name, one's own by its path."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from commands import ROOT, Commands

import vqagen
from vqagen.authoring.scaffold import write_starter
from vqagen.errors import UsageError
from vqagen.files.locations import files_in
from vqagen.files.shipped import shipped
from vqagen.language.domain_files import DIALOGS, QUESTIONS, SHIPPED_DOMAINS, find_domain
from vqagen.tasks.director.catalogue import SHIPPED_CATALOGUE
from vqagen.tasks.director.instructions import SHIPPED_INSTRUCTIONS
from vqagen.tasks.questions.settings import RecordForm
from vqagen.tasks.questions.task import question_task


def generator_of(file: str) -> dict[str, object]:
    """The `generator` of a file's info."""
    generator: dict[str, object] = json.loads(Path(file).read_bytes())["info"]["generator"]
    return generator


# Shipped ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHIPPED_DOMAINS)
def test_every_listed_file_is_shipped(name: str) -> None:
    listed = SHIPPED_DOMAINS[name]

    assert (ROOT / listed.metadata).is_file()
    assert all((ROOT / templates).exists() for templates in listed.templates.values())
    assert find_domain(name).metadata == shipped(listed.metadata)
    assert find_domain(name).templates == shipped(next(iter(listed.templates.values())))
    for task, templates in listed.templates.items():
        assert find_domain(name, task=task).templates == shipped(templates)


def test_every_shipped_file_is_listed() -> None:
    """So each is tested, for tests walk the list: what lies beside the pages is a domain's or the director task's."""
    domains = [place for each in SHIPPED_DOMAINS.values() for place in (each.metadata, *each.templates.values())]
    places = [ROOT / place for place in (*domains, SHIPPED_CATALOGUE, SHIPPED_INSTRUCTIONS)]
    files = {path for folder in ("metadata", "templates") for path in files_in(ROOT / folder)}
    pages = {ROOT / folder / "README.md" for folder in ("metadata", "templates")}

    assert pages < files
    assert [str(path) for path in sorted(files - pages) if not any(path.is_relative_to(each) for each in places)] == []


@pytest.mark.parametrize(
    ("domain", "task", "templates"),
    [("market", QUESTIONS, "templates/market"), ("market", DIALOGS, "templates/dialog"),
     (None, QUESTIONS, "templates/clevr")],
)  # fmt: skip
def test_templates_are_those_for_the_task(domain: str | None, task: str, templates: str) -> None:
    assert find_domain(domain, task=task).templates == shipped(templates)
    assert find_domain(domain, task=task, templates="mine.json").templates == Path("mine.json")


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


def test_the_info_names_a_shipped_domain_and_no_other(vqagen_: Commands) -> None:
    """Of a folder of one's own it says nothing that depends on where it is."""
    write_starter(Path("farm"))
    Path("clevr.json").write_bytes(shipped("metadata/clevr.json").read_bytes())
    cases = {"": "clevr", "--domain market": "market", "--domain ./farm": None, "--metadata clevr.json": None}
    for number, (flags, expected) in enumerate(cases.items()):
        vqagen_.done(f"scenes sample --count 2 {flags} -o s{number}.json")
        vqagen_.done(f"generate --scenes s{number}.json {flags} -o q{number}.json")

        assert generator_of(f"s{number}.json")["domain"] == expected
        assert generator_of(f"q{number}.json")["domain"] == expected


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
