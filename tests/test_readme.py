"""The documentation is true: every example in it runs, in order, and prints what its page says."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
import readme_blocks
from _pytest.mark import ParameterSet
from readme_blocks import PAGES, ROOT, Example, examples

import vqagen.language.constraints  # noqa: F401  (importing the module declares them)
from vqagen.language.composite import COMPOSITE_NAMES
from vqagen.plugin import BUILT_IN

TEMPLATES_PAGE = ROOT / "templates" / "README.md"
QUICK = 14
"""Examples of README.md that the quick run takes: the first ones, which need no others. It takes all of other pages."""
Folders = dict[Path, Path]


def marked_examples() -> list[ParameterSet]:
    """Return all examples; most of README.md are slow."""
    listed = examples()
    quick = [example for example in listed if example.page.parent == ROOT][:QUICK]
    quick += [example for example in listed if example.page.parent != ROOT]
    slow = [pytest.mark.slow]
    return [pytest.param(example, marks=[] if example in quick else slow) for example in listed]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """The folders in which the examples of a page run after each other: in this process where they can, or none."""
    return defaultdict(lambda: tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `vqagen` and `python`."""
    return readme_blocks.make_programs(tmp_path_factory.mktemp("environment") / "bin")


@pytest.mark.parametrize("example", marked_examples(), ids=str)
def test_an_example_prints_what_its_page_says(example: Example, folders: Folders, programs: Path) -> None:
    """After `python tests/readme_blocks.py` they agree again; look at what changed before you commit it."""
    folder = folders[example.page]
    if example.needs_process:
        assert readme_blocks.run(example, folder, programs) == example.printed
    else:
        assert readme_blocks.run_here(example, folder) == example.printed


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
