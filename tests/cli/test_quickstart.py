"""scripts/quickstart leads a newcomer to a shell in which `vqagen` is a command."""

from __future__ import annotations

import shutil
import subprocess
import venv
from pathlib import Path

import pytest
from readme_blocks import ROOT, make_programs


@pytest.mark.slow
def test_the_last_lines_of_quickstart_activate_its_environment(tmp_path: Path) -> None:
    """They can be pasted as printed, though the folder's name has a space. Installing is left out here."""
    clone = tmp_path / "a clone"
    (clone / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "quickstart", clone / "scripts")
    make_programs(tmp_path / "programs")
    prepare = clone / "scripts" / "prepare"
    prepare.write_text("#!/bin/sh\n")
    prepare.chmod(0o755)
    venv.create(clone / ".venv")
    for program in (tmp_path / "programs").iterdir():
        shutil.move(program, clone / ".venv" / "bin" / program.name)

    printed = subprocess.run([clone / "scripts" / "quickstart"], capture_output=True, text=True, check=True).stdout
    pasted = [line for line in printed.splitlines()[-2:] if line.startswith("  ")]
    shell = subprocess.run(
        ["bash", "-c", "\n".join([*pasted, "command -v vqagen"])], cwd="/", capture_output=True, text=True, check=True
    )

    assert len(pasted) == 2
    assert "Usage: vqagen" in shell.stdout
    assert shell.stdout.splitlines()[-1] == str(clone / ".venv" / "bin" / "vqagen")
