"""Starting is quick because nothing heavy is imported before a command needs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from scene_records import large_scene

ROOT = Path(__file__).parents[2]

HELPED = ("generate", "scenes sample", "verify", "merge", "human", "human serve", "human links")
REPORT = """
ours = {name.partition(".")[0] for name in set(sys.modules) - before} - {"vqagen", *sys.stdlib_module_names}
print("LOADED", json.dumps(sorted(ours)))
"""


def test_only_what_is_needed_is_loaded(tmp_path: Path) -> None:
    """One process loads more and more: the help of commands, names of the API, a run. numpy takes 0.1 s to load."""
    (tmp_path / "scenes.json").write_text(json.dumps({"info": {}, "scenes": [large_scene(5)]}), "utf-8")
    line = ["generate", "--scenes", f"{tmp_path}/scenes.json", "--out", f"{tmp_path}/questions.json"]
    steps = {
        "import vqagen": [],
        "from vqagen.cli import cli, run; cli.main(['--help'], standalone_mode=False)": ["click"],
        f"for line in {HELPED}: run([*line.split(), '--help'])": ["click"],
        "vqagen.generate; vqagen.verify; dir(vqagen)": ["click", "orjson"],
    }
    a_run = [f"assert run({line}) == 0", REPORT, "import numpy", REPORT]
    program = "\n".join(
        ["import sys, json", "before = set(sys.modules)", *(f"{each}\n{REPORT}" for each in steps), *a_run]
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    loaded = [json.loads(each.removeprefix("LOADED ")) for each in done.stdout.splitlines() if each[:7] == "LOADED "]
    assert loaded[:-2] == list(steps.values())
    assert ["numpy" in names for names in loaded[-2:]] == [False, True]


MOST_MODULES = 75
"""Modules of ours that a run of `vqagen generate` loads. The number only shrinks, to 75."""


def test_questions_load_no_other_task(tmp_path: Path) -> None:
    """A run of one task loads what it needs alone: nothing of dialogs and trials."""
    (tmp_path / "scenes.json").write_text(json.dumps({"info": {}, "scenes": [large_scene(5)]}), "utf-8")
    line = ["generate", "--scenes", f"{tmp_path}/scenes.json", "--out", f"{tmp_path}/questions.json"]
    called = f"from vqagen.cli import run; assert run({line}) == 0"
    program = f"import json, sys; {called}; print(json.dumps([*sys.modules]))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    ours = [name for name in json.loads(done.stdout.splitlines()[-1]) if name.partition(".")[0] == "vqagen"]

    assert [name for name in ours if name.startswith(("vqagen.tasks.dialog", "vqagen.tasks.director"))] == []
    assert len(ours) <= MOST_MODULES
