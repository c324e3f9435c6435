"""The documentation is true: every example in it runs, in order, and prints what its page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import depth
import pytest
import readme_blocks
from readme_blocks import PAGES, ROOT, examples

import vqagen.language.constraints  # noqa: F401  (importing the module declares them)
from vqagen.human.study.serving import Serving
from vqagen.human.study.texts import DEFAULT_TEXTS
from vqagen.language.catalogue import COMPOSITE_NAMES
from vqagen.plugin import BUILT_IN

TEMPLATES_PAGE = ROOT / "templates" / "README.md"
STUDIES_PAGE = ROOT / "docs" / "studies.md"
"""Its first example makes the study that the others are about, which takes half a minute."""
QUICK = 14
"""Examples of README.md that the quick run takes: the first ones. It takes all of other pages but STUDIES_PAGE."""


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if page == STUDIES_PAGE else ()) for page in PAGES],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_examples_print_what_their_page_says(page: Path, tmp_path: Path) -> None:
    """After each other, in this process where they can; `python tests/readme_blocks.py` makes them agree again."""
    programs = readme_blocks.make_programs(tmp_path / "bin")
    (folder := tmp_path / "page").mkdir()
    listed = [example for example in examples() if example.page == page]
    for example in listed[:QUICK] if depth.is_quick and page.parent == ROOT else listed:
        if example.needs_process:
            printed = readme_blocks.run(example, folder, programs)
        else:
            printed = readme_blocks.run_here(example, folder)

        assert printed == example.printed, str(example)


def test_the_flag_table_has_every_option_of_generate() -> None:
    """The table has one row for each option, with the words of its help; `readme_blocks.py --flags` writes it."""
    assert readme_blocks.flag_tables(ROOT / "README.md") == [readme_blocks.generate_flags()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    """Links inside the repository are relative; GitHub makes a heading's anchor of its words."""
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text("utf-8")):
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
