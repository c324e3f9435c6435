"""The documentation is true: every example in it runs, in order, and prints what its page says."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import readme_blocks
from readme_blocks import PAGES, ROOT, examples

import vqagen.language.constraints  # noqa: F401  (importing the module declares them)
from vqagen.human.study.study import Serving
from vqagen.human.study.texts import DEFAULT_TEXTS
from vqagen.language.catalogue import COMPOSITE_NAMES
from vqagen.plugin import BUILT_IN

TEMPLATES_PAGE = ROOT / "docs" / "templates.md"
STUDIES_PAGE = ROOT / "docs" / "studies.md"
QUICK_PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md")


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if page in QUICK_PAGES else pytest.mark.slow) for page in PAGES],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_examples_print_what_their_page_says(page: Path, tmp_path: Path) -> None:
    """After each other, in this process where they can; `python tests/readme_blocks.py` makes them agree again."""
    programs = readme_blocks.make_programs(tmp_path / "bin")
    (folder := tmp_path / "page").mkdir()
    for example in [example for example in examples() if example.page == page]:
        if example.needs_process:
            printed = readme_blocks.run(example, folder, programs)
        else:
            printed = readme_blocks.run_here(example, folder)

        assert printed == example.printed, str(example)


def test_the_readme_is_short() -> None:
    """It is a first screen; `docs` holds the rest."""
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 250


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    """Links inside the repository are relative but in the README, which PyPI shows too: there they begin with the
    repository's address. GitHub makes a heading's anchor of its words."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    text, here = page.read_text("utf-8"), re.compile(rf"\]\({urls['Repository']}/(?:blob|raw)/main/")
    if page == ROOT / "README.md":
        assert not re.findall(r"\]\((?!https:)[^)]*\)", text)
        text = here.sub("](", text)
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", text):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text("utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings]


def test_the_page_on_templates_names_every_constraint() -> None:
    """An author finds all of them there."""
    text = TEMPLATES_PAGE.read_text("utf-8")
    assert [name for name in BUILT_IN.constraints if f"`{name}`" not in text] == []


def test_the_page_on_templates_counts_the_composite_nodes() -> None:
    """It says how many nodes only templates have."""
    number = {8: "eight", 10: "ten", 12: "twelve"}[len(COMPOSITE_NAMES)]
    assert f"there are {number} that only templates" in re.sub(r"\s+", " ", TEMPLATES_PAGE.read_text("utf-8"))


def test_the_page_on_studies_has_every_word_and_every_setting_of_serving() -> None:
    """Each key of texts.json and of serving.json, and each name that texts have a value for, stands there as code."""
    page, texts = STUDIES_PAGE.read_text("utf-8"), json.loads(DEFAULT_TEXTS.read_text("utf-8"))
    keys = [*texts, *(f"{{{{{name}}}}}" for name in texts["values"]), *Serving.names()]

    assert [key for key in keys if f"`{key}`" not in page] == []
