"""The benchmark `sampling`: the cost of drawing scenes, placing objects, and verifying questions."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import click
from bench_costs import count_option, cpu_seconds, in_turn, report

import vqagen
from vqagen import find_domain, load_domain_files
from vqagen.rng import stream
from vqagen.run.options import RunOptions
from vqagen.tasks.sampling.settings import SamplingSettings
from vqagen.world.sampler import Ground
from vqagen.world.sampling_rules import SamplingRules

REPEATS = 5
OBJECTS = 5000
"""Objects that are placed."""


@click.command()
@count_option("--count", default=250, help="How many scenes.")
def sampling(count: int) -> None:
    """Time sampling, placing, generating and verifying; CPU time, in turn, medians of five; a first run does not count.

    \b
    Example:
      scripts/bench sampling
    """
    anew = RunOptions(force=True)
    rules = SamplingRules.from_domain(load_domain_files(find_domain()).domain)
    with tempfile.TemporaryDirectory() as folder:
        scenes, questions = Path(folder) / "scenes.json", Path(folder) / "questions.json"
        phases: dict[str, Callable[[], object]] = {
            "sample": lambda: vqagen.write_scenes(scenes, SamplingSettings(count=count), options=anew),
            "generate": lambda: vqagen.write_questions(scenes, questions, options=anew),
            "verify": lambda: vqagen.verify(questions, scenes),
            "place": lambda: place_objects(rules, Ground(rules)),
        }
        seconds = in_turn({name: partial(cpu_seconds, phase) for name, phase in phases.items()}, REPEATS + 1)
    for name, (_, *found) in seconds.items():
        is_placing = name.startswith("place")
        each = median(found) / (OBJECTS if is_placing else count)
        report(name, f"{each * 1000:.3f} ms " + ("an object" if is_placing else "a scene"))


def place_objects(rules: SamplingRules, ground: Ground) -> None:
    """Place spheres of two sizes, starting again when there is no room."""
    rng = stream(0, "bench")
    for _ in range(OBJECTS):
        if isinstance(ground.place("sphere", 0.35 if rng.random() < 0.5 else 0.7, rng), str):
            ground.clear()
