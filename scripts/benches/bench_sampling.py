"""The benchmark `sampling`: the cost of drawing scenes and verifying questions."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import click
from bench_costs import count_option, cpu_seconds, in_turn, report

import vqagen
from vqagen.run.options import RunOptions
from vqagen.tasks.sampling.settings import SamplingSettings

REPEATS = 5


@click.command()
@count_option("--count", default=250, help="How many scenes.")
def sampling(count: int) -> None:
    """Time sampling, generating and verifying; CPU time, in turn, medians of five; a first run does not count.

    \b
    Example:
      scripts/bench sampling
    """
    anew = RunOptions(force=True)
    with tempfile.TemporaryDirectory() as folder:
        scenes, questions = Path(folder) / "scenes.json", Path(folder) / "questions.json"
        phases: dict[str, Callable[[], object]] = {
            "sample": lambda: vqagen.write_scenes(scenes, SamplingSettings(count=count), options=anew),
            "generate": lambda: vqagen.write_questions(scenes, questions, options=anew),
            "verify": lambda: vqagen.verify(questions, scenes),
        }
        seconds = in_turn({name: partial(cpu_seconds, phase) for name, phase in phases.items()}, REPEATS + 1)
    for name, (_, *found) in seconds.items():
        report(name, f"{median(found) / count * 1000:.3f} ms a scene")
