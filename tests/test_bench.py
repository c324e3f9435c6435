"""scripts/bench: every benchmark runs, and refuses what it cannot compare. No test reads the figures."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from commands import ROOT

SCRIPTS = ROOT / "scripts"
SMALL = {
    "generate": "--count 2 --repeats 1 --against {root}",
    "sizes": "--count 1 --repeats 1 --size 3",
    "domains": "--scenes 1 --repeats 1",
    "balance": "--scenes 20 --seeds 1 --only answers",
    "dialog": "--scenes 1 --repeats 1",
    "director": "--count 96 --repeats 1",
    "sampling": "--count 2",
    "evaluate": "--count 20 --scenes 2",
    "scale": "--count 20 --repeats 1",
    "human load": "--seconds 1 --clients 2",
    "human kills": "--kills 1 --clients 2 --least 1 --store sqlite",
}
"""Benchmark -> a run of it that takes seconds."""
ELSEWHERE = {"reference": "needs the generator of CLEVR", "kills": "tests/test_resume.py runs it"}


def ask(line: str) -> Result:
    """Run a line of the benchmarks in this process."""
    return CliRunner().invoke(importlib.import_module("bench").bench, line.split())


@pytest.fixture(autouse=True)
def _scripts_are_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_benchmark_runs(name: str) -> None:
    """A small run of it ends without a traceback; limits for large runs may be missed."""
    command = [sys.executable, str(SCRIPTS / "bench.py"), *f"{name} {SMALL[name]}".format(root=ROOT).split()]

    ran = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ran.returncode in (0, 1), ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout


def test_every_benchmark_has_a_small_run() -> None:
    listed = {name.split()[0] for name in SMALL} | set(ELSEWHERE)

    assert set(importlib.import_module("bench").bench.commands) == listed


@pytest.mark.parametrize(
    "line",
    [
        *("generate --repeats 0", "reference --repeats 0", "sizes --repeats 0", "sizes --size 0", "domains --scenes 0"),
        *("balance --scenes 0", "balance --seeds 0", "dialog --scenes 0", "dialog --repeats 0", "director --repeats 0"),
        *("evaluate --count 0", "evaluate --scenes 0", "sampling --count 0", "scale --count 0", "scale --repeats 0"),
        *("kills --kills 0", "kills --scenes 0", "human load --clients 0", "human kills --kills 0"),
    ],
)
def test_nothing_to_measure_is_refused(line: str) -> None:
    """No scene, run or rater, which was a traceback about an empty list or a division by zero."""
    found = ask(line)

    assert found.exit_code == 2
    assert "0 is not in the range x>=1" in found.output


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("sizes --domain nope", 2, "Error: vqagen ships no domain 'nope'; known: clevr, market"),
        ("sizes --domain ./nope", 2, "Error: no domain at ./nope: there is no such folder"),
        ("scale --scenes nope.json", 2, "Error: scenes not found: nope.json"),
        ("scale --scenes {root}/README.md", 3, "README.md: not scenes: expected JSON"),
        ("generate --scenes nope.json", 2, "Error: scenes not found: nope.json"),
        ("balance --only nope", 2, "'nope' is not one of 'answers', 'words', 'pairs'"),
        ("director --count 3", 2, "3 is not in the range x>=16"),
        ("human load --clients 50,many", 2, "Invalid value for '--clients': 'many' is not a valid integer"),
        ("human load --seconds 0", 2, "Invalid value for '--seconds': 0.0 is not in the range x>0"),
    ],
)
def test_mistake_of_the_user_is_a_message(line: str, code: int, said: str) -> None:
    """It ends with the exit code that `vqagen` has for it, and was a traceback."""
    found = ask(line.format(root=ROOT))

    assert isinstance(found.exception, SystemExit), found.exception
    assert found.exit_code == code
    assert said in found.output


def test_missing_redis_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands before the first measurement, also where Redis is the second of two stores."""
    monkeypatch.setattr("redis_servers.PROGRAM", None)

    for line in ("human load --store redis", "human kills"):
        found = ask(line)

        assert found.exit_code == 2
        assert "--store redis needs redis-server or valkey-server: install one of them" in found.output


def test_against_something_else_is_refused(tmp_path: Path) -> None:
    """A folder and a program that are not vqagen: the message says what may be given."""
    for path in (tmp_path, Path(sys.executable)):
        found = ask(f"generate --against {path}")

        assert found.exit_code == 2
        assert f"{path} is neither a checkout nor an executable of vqagen: give a folder" in found.output


def test_folder_without_the_clevr_generator_is_refused(tmp_path: Path) -> None:
    """The message says which files are missing, and where they are."""
    (tmp_path / "question_generation").mkdir()
    (tmp_path / "question_generation" / "metadata.json").write_text("{}")

    found = ask(f"reference --generator {tmp_path}")

    assert found.exit_code == 2
    assert "lacks generate_questions.py, question_engine.py, synonyms.json, CLEVR_1.0_templates;" in found.output
    assert "github.com/facebookresearch/clevr-dataset-gen" in found.output


def test_failure_of_the_clevr_generator_is_shown(tmp_path: Path) -> None:
    """The message has the command and what it said."""
    folder = tmp_path / "question_generation"
    folder.mkdir()
    shutil.copytree(ROOT / "templates" / "clevr", folder / "CLEVR_1.0_templates")
    for name in ("metadata.json", "synonyms.json", "question_engine.py"):
        (folder / name).write_text("")
    (folder / "generate_questions.py").write_text("raise KeyError('split')")

    found = ask(f"reference --generator {tmp_path} --count 1")

    assert found.exit_code == 1
    assert "generate_questions.py --metadata_file" in found.output
    assert "KeyError: 'split'" in found.output
