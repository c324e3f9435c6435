"""scripts/bench: every benchmark runs. No test reads the figures."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys

import pytest
from commands import ROOT

SCRIPTS = ROOT / "scripts" / "benches"
SMALL = {
    "generate": "--count 2 --repeats 1 --against {root}",
    "sizes": "--count 1 --repeats 1 --size 3",
    "domains": "--scenes 1 --repeats 1",
    "balance": "--scenes 20 --seeds 1 --only words --only pairs",
    "dialog": "--scenes 1 --repeats 1",
    "director": "--count 96 --repeats 1",
    "sampling": "--count 2",
    "verify": "--count 2 --spoil 5 --repeats 1",
    "evaluate": "--count 20 --scenes 2",
    "export": "--count 20 --to trl",
    "environment": "--samples 3",
    "pictures": "--count 1 --repeats 1 --reference 9 --width 60",
    "scale": "--count 20 --repeats 1",
    "human load": "--seconds 1 --clients 2",
    "human kills": "--kills 1 --clients 2 --least 1 --store sqlite",
}
"""Benchmark -> a run of it that takes seconds."""
LOOPS = "1", " ".join(["1"] * 1000)
ELSEWHERE = {
    "reference": "needs the generator of CLEVR",
    "kills": "tests/laws/test_resume.py runs it",
    "trainers": "installs torch",
    "learning": "installs torch",
    "reasoning": "installs torch",
}


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["perf", "valgrind"])
def test_instructions_are_counted(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two runs of a program that does nothing else, the longer one has more."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    instructions = importlib.import_module("bench_instructions")
    if not shutil.which(tool) or not instructions.counted_by(tool, ["true"]):
        pytest.skip(f"{tool} is not installed, or counts nothing on this machine")

    short, long = (instructions.counted_by(tool, ["sh", "-c", f"for i in {numbers}; do :; done"]) for numbers in LOOPS)

    assert 100_000 < short < long


@pytest.mark.parametrize(
    ("log", "count"),
    [
        ("==7== Command: vqagen\n==7== \n==7== I   refs:      5,631,120,345\n", 5_631_120_345),
        ("# started on Sun Nov 29\n\n5631120345,,instructions:u,1502110,100.00,,\n", 5_631_120_345),
        ("<not supported>,,instructions:u,0,100.00,,\n", None),
        ("", None),
    ],
)
def test_a_log_tells_the_instructions(log: str, count: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of both tools, also where neither is installed."""
    monkeypatch.syspath_prepend(str(SCRIPTS))

    assert importlib.import_module("bench_instructions").count_in(log) == count


@pytest.mark.slow
def test_benchmarks_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small run of each ends without a traceback; limits for large runs may be missed."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    listed = {name.split()[0] for name in SMALL} | set(ELSEWHERE)
    assert set(importlib.import_module("bench").bench.commands) == listed
    for name, flags in SMALL.items():
        command = [sys.executable, str(SCRIPTS / "bench.py"), *f"{name} {flags}".format(root=ROOT).split()]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)

        assert ran.returncode in (0, 1) and "Traceback" not in ran.stderr and ran.stdout, f"{name}: {ran.stderr}"
