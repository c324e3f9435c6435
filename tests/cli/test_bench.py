"""scripts/bench: every benchmark runs. No test reads the figures."""

from __future__ import annotations

import importlib
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
    "scale": "--count 20 --repeats 1",
    "human load": "--seconds 1 --clients 2",
    "human kills": "--kills 1 --clients 2 --least 1 --store sqlite",
}
"""Benchmark -> a run of it that takes seconds."""
ELSEWHERE = {
    "reference": "needs the generator of CLEVR",
    "kills": "tests/laws/test_resume.py runs it",
    "trainers": "installs torch",
    "learning": "installs torch",
}


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
