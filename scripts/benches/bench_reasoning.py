"""Measures whether reasoning helps a small network to answer: networks that learn it, beside some that do not."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import click
from bench_trainers import SCRIPTS, TORCH, environment_options, make_environment


@click.command()
@click.option("--scenes", default=4000, show_default=True, help="Scenes to learn from, with 13 questions each.")
@click.option("--steps", default=4000, show_default=True, help="Batches of 32 questions that each network learns from.")
@click.option("--seed", default=0, show_default=True, help="Seed of the transformers; questions stay the same.")
@environment_options
def reasoning(scenes: int, steps: int, seed: int, folder: Path | None, torch: str) -> None:
    """Train small transformers to answer questions about drawn pictures, with and without reasoning.

    Prints how they answer questions of no hop to three hops about 600 new scenes. Runs in one thread, about an hour.

    \b
    Example:
      scripts/bench reasoning --scenes 200 --steps 20
    """
    with tempfile.TemporaryDirectory() as place:
        programs = make_environment((folder or Path(place)) / "reasoning", (TORCH, "numpy", "scipy"), torch)
        command = [str(programs / "python"), str(SCRIPTS / "reasoner.py"), *map(str, (scenes, steps, seed))]
        done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, cwd=place, check=False)
    raise SystemExit(done.returncode)
