"""A new kind of round is one row and one template, as docs/dialogs.md shows."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from readme_blocks import ROOT
from scene_records import sampled_scenes

from vqagen.language.domain_files import DIALOGS, find_domain
from vqagen.tasks.dialog import rounds
from vqagen.tasks.dialog.loading import load_dialog_domain
from vqagen.tasks.dialog.quotas import Quotas
from vqagen.tasks.dialog.search import DialogGenerator
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.world.scene import compile_scene


def indented_block(beginning: str) -> str:
    """The indented block of docs/dialogs.md that begins so, without its indent."""
    text = (ROOT / "docs" / "dialogs.md").read_text("utf-8")
    found = re.search(rf"^    {re.escape(beginning)}.*\n(?:    .*\n)*", text, re.MULTILINE)
    assert found, beginning
    return re.sub("^    ", "", found[0], flags=re.MULTILINE)


@pytest.fixture
def label() -> Iterator[str]:
    """The label of the kind in docs/dialogs.md, registered while the test runs."""
    (added,) = eval(indented_block("RoundKind("), vars(rounds))
    rounds.ROUND_KINDS[added.label] = added
    yield added.label
    del rounds.ROUND_KINDS[added.label]


def test_a_kind_of_round_is_one_row_and_one_template(label: str, tmp_path: Path) -> None:
    """Nothing else is edited: the search asks such questions, and annotates them."""
    shutil.copytree(ROOT / "templates" / "dialog", tmp_path / "templates")
    template = json.loads(indented_block('{"name"'))
    (tmp_path / "templates" / "new.json").write_text(json.dumps({"templates": [template]}))
    loaded = load_dialog_domain(find_domain(templates=tmp_path / "templates", task=DIALOGS))
    shares = ((0, 1), (0.6, 1), (0, 1), (0, 1), (0, 1))
    mostly_exist = Quotas("mostly exist", shares, objective=(("imm2", 1, (5,)),))
    generator = DialogGenerator(loaded, DialogSettings(rounds=6), mostly_exist)

    scenes = [compile_scene(record, loaded.domain, index) for index, record in enumerate(sampled_scenes(5))]
    balance = generator.balance(0)
    dialogs = [record for scene in scenes for record in generator.dialogs(scene, balance)[0]]
    asked = [each for record in dialogs for each in record["rounds"] if each["label"] == label]
    assert asked
    assert {each["answer"] for each in asked} <= {"yes", "no"}
    assert {each["history"]["class"] for each in asked} == {"Coref"}
    assert all(each["question"].startswith("And ") for each in asked)
