"""Starting is quick because nothing heavy is imported before a command needs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from scene_records import large_scene

ROOT = Path(__file__).parents[1]

REPORT = """
import json, sys
ours = {name.partition(".")[0] for name in set(sys.modules) - before} - {"vqagen", *sys.stdlib_module_names}
print(json.dumps(sorted(ours)))
"""


def third_party(statements: str) -> list[str]:
    """The packages from outside the standard library that `statements` load into a fresh interpreter."""
    program = f"import sys\nbefore = set(sys.modules)\n{statements}\n{REPORT}"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded: list[str] = json.loads(done.stdout.splitlines()[-1])
    return loaded


@pytest.mark.parametrize(
    ("statements", "allowed"),
    [
        pytest.param("import vqagen", [], id="import vqagen"),
        pytest.param("from vqagen.cli import cli; cli.main(['--help'], standalone_mode=False)", ["click"], id="--help"),
        *(
            pytest.param(f"from vqagen.cli import run; run('{line} --help'.split())", ["click"], id=line)
            for line in (
                "generate",
                "scenes sample",
                "verify",
                "merge",
                "director generate",
                "human",
                "human serve",
                "human links",
            )
        ),
        pytest.param("import vqagen; vqagen.generate; vqagen.verify; dir(vqagen)", ["orjson"], id="the API"),
        pytest.param("import numpy", ["numpy"], id="this test can fail"),
    ],
)
def test_only_what_is_needed_is_loaded(statements: str, allowed: list[str]) -> None:
    assert third_party(statements) == allowed


def test_questions_about_scenes_of_a_file_need_no_numpy(tmp_path: Path) -> None:
    """To load it takes 0.1 s."""
    (tmp_path / "scenes.json").write_text(json.dumps({"info": {}, "scenes": [large_scene(5)]}), "utf-8")
    line = ["generate", "--scenes", f"{tmp_path}/scenes.json", "--out", f"{tmp_path}/questions.json"]

    loaded = third_party(f"from vqagen.cli import run; assert run({line}) == 0")

    assert "orjson" in loaded and "numpy" not in loaded
