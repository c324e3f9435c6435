"""Measures whether drawn pictures can be learned from: a small network that sees them beside one that does not."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import click
from bench_trainers import SCRIPTS, TORCH, environment_options, make_environment


@click.command()
@click.option("--scenes", default=4500, show_default=True, help="Scenes to learn from, with four questions each.")
@click.option("--epochs", default=14, show_default=True, help="How often each question is shown.")
@click.option("--families", default="zero_hop.json", show_default=True, help="Files of templates, with commas between.")
@environment_options
def learning(scenes: int, epochs: int, families: str, folder: Path | None, torch: str) -> None:
    """Train two networks on drawn pictures of 120x80 and questions in pairs, one of which is shown gray.

    Prints how they answer 2,000 questions about 500 new scenes. Runs in one thread, about half an hour.

    \b
    Example:
      scripts/bench learning --scenes 500 --epochs 2
    """
    with tempfile.TemporaryDirectory() as place:
        programs = make_environment((folder or Path(place)) / "learning", (TORCH, "numpy"), torch)
        command = [str(programs / "python"), str(SCRIPTS / "film.py"), str(scenes), str(epochs), families]
        done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, cwd=place, check=False)
    raise SystemExit(done.returncode)
