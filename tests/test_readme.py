"""The README is true: every example in it runs, in order, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import readme_blocks
from readme_blocks import README, Example, examples

import vqagen.language.constraints  # noqa: F401  (importing the module declares them)
from vqagen.language.composite import COMPOSITE_NAMES
from vqagen.plugin import BUILT_IN


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The one folder in which the examples run after each other."""
    return tmp_path_factory.mktemp("readme")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`vqagen` and `python`."""
    return readme_blocks.make_programs(tmp_path_factory.mktemp("environment") / "bin")


@pytest.mark.parametrize("example", examples(), ids=str)
def test_an_example_prints_what_the_readme_says(example: Example, folder: Path, programs: Path) -> None:
    """After `python tests/readme_blocks.py` they agree again; look at what changed before you commit it."""
    assert readme_blocks.run(example, folder, programs) == example.printed


def test_the_readme_names_every_constraint() -> None:
    """An author finds all of them there."""
    text = README.read_text("utf-8")
    assert [name for name in BUILT_IN.constraints if f"`{name}`" not in text] == []


def test_the_readme_counts_the_composite_nodes() -> None:
    """It says how many nodes only templates have."""
    number = {8: "eight", 10: "ten", 12: "twelve"}[len(COMPOSITE_NAMES)]
    assert f"there are {number} that only templates" in re.sub(r"\s+", " ", README.read_text("utf-8"))
