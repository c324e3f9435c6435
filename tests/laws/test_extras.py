"""scripts/extras tries every extra that pyproject.toml has."""

from __future__ import annotations

import re
import tomllib

from readme_blocks import ROOT


def test_every_extra_is_tried_alone() -> None:
    """But `dev`, in which the tests run; and an installation without any."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    script = (ROOT / "scripts" / "extras").read_text("utf-8")
    (tried,) = re.findall(r"set -- (.*)$", script, re.MULTILINE)

    assert set(tried.split()) == {*extras, "none"} - {"dev"}
    assert set(re.findall(r"^try_(\w+)\(\)", script, re.MULTILINE)) >= set(tried.split())


def test_a_fresh_clone_needs_two_commands_which_its_first_screen_names() -> None:
    """And CI runs the second."""
    first_screen = "\n".join((ROOT / "README.md").read_text("utf-8").splitlines()[:40])

    assert re.findall(r"^    (scripts/\w+)", first_screen, re.MULTILINE) == ["scripts/quickstart", "scripts/test"]
    assert "scripts/test --all" in (ROOT / ".ci" / "run").read_text("utf-8")
