"""The benchmark `sizes`: what questions about a scene cost by the number of its objects."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from statistics import median
from typing import Any, NamedTuple

import click
from bench_costs import count_option, repeats_option

import vqagen
from vqagen import Generation, LoadedDomain, find_domain, load_domain_files
from vqagen.tasks.questions.generator import QuestionGenerator
from vqagen.world.sampler import sample_scene
from vqagen.world.sampling_rules import SamplingRules

SIZES = (3, 6, 10, 20, 40, 63, 64, 100, 200, 500)
LARGE = 100
"""Objects above which a fifth of the scenes are measured."""
RATIOS = ((3, 6, 2.0), (64, 63, 1.1), (100, 20, 10.0))
"""Two sizes, and how many times the cost of the second a scene of the first may cost."""
LOOKS = 3
"""Different objects of a scene of objects that are alike."""
Scenes = Sequence[Mapping[str, Any]]


class Measured(NamedTuple):
    """Questions about scenes of one size."""

    milliseconds: float
    """CPU time of a scene, read, searched and worded."""
    questions: float
    tries: float
    """Families tried for a scene."""


@click.command()
@click.option("--domain", "domains", multiple=True, default=("clevr",), show_default=True, help="May be repeated.")
@count_option("--count", default=250, help="Scenes of a size; a fifth for more than 100 objects.")
@repeats_option(default=3)
@count_option("--size", "sizes", multiple=True, default=SIZES, help="May be repeated.")
@click.option("--compat", type=click.Choice(["none", "clevr"]), default="none", show_default=True)
@click.option("--alike", is_flag=True, help="Draw the looks of three objects a scene; all others look like them.")
def sizes(domains: Sequence[str], count: int, repeats: int, sizes: Sequence[int], compat: str, alike: bool) -> None:
    """Time questions about scenes by the number of their objects, in one process, the sizes in turn.

    Objects are drawn on a plane that grows with their number. Memory is the most that one scene needs at once.

    \b
    Example:
      scripts/bench sizes --count 100
    """
    settings = vqagen.QuestionSettings(compat=compat)
    for name in domains:
        loaded = load_domain_files(find_domain(name))
        click.echo(f"{name:12} ms/scene  questions   tries  memory")
        of_size = {size: list(scenes_of(loaded, size, count if size <= LARGE else count // 5, alike)) for size in sizes}
        runs: dict[int, list[Measured]] = {size: [] for size in sizes}
        for _ in range(repeats):
            for size, scenes in of_size.items():
                runs[size].append(measure(loaded, settings, scenes))
        for size, scenes in of_size.items():
            typical = median(run.milliseconds for run in runs[size])
            _, questions, tries = runs[size][0]
            memory = megabytes(loaded, settings, scenes[:1])
            click.echo(f"{size:4} objects {typical:9.2f}  {questions:9.1f}  {tries:6.1f}  {memory:3.0f} MB")
        for line in ratio_lines(runs):
            click.echo(line)


def scenes_of(loaded: LoadedDomain, size: int, count: int, alike: bool = False) -> Iterator[dict[str, Any]]:
    """Yield scenes of so many objects, drawn by the domain's rules except those that need room in the picture."""
    rules = SamplingRules.from_domain(loaded.domain)
    half = rules.area[1] * max(1.0, size / 6) ** 0.5
    rules = replace(rules, objects=(size, size), area=(-half, half), margin=0.0, min_visible_pixels=0)
    for index in range(max(count, 1)):
        record = sample_scene(rules, 0, index)
        if alike:
            objects = record["objects"]
            for number, each in enumerate(objects[LOOKS:]):
                for key in rules.attributes:
                    each.pop(key, None)
                    each |= {key: value for key, value in objects[number % LOOKS].items() if key in rules.attributes}
        yield record


def measure(loaded: LoadedDomain, settings: vqagen.QuestionSettings, scenes: Scenes) -> Measured:
    """Make questions about scenes; templates are compiled before."""
    run = Generation(scenes, loaded, settings)
    compile_families(run.generator)
    gc.collect()
    started = time.process_time()
    questions = sum(len(made) for _, made in run.by_scene())
    seconds = time.process_time() - started
    count = len(scenes)
    return Measured(seconds / count * 1000, questions / count, run.tally.tries.total() / count)


def compile_families(generator: QuestionGenerator) -> None:
    """Compile all families, which otherwise happens when each is first tried."""
    assert all(generator.families[number] for number in range(len(generator.templates)))


def megabytes(loaded: LoadedDomain, settings: vqagen.QuestionSettings, scenes: Scenes) -> float:
    """Return the most memory that questions about a scene need at once, beside the loaded templates."""
    run = Generation([*scenes, *scenes], loaded, settings).by_scene()
    next(run)
    tracemalloc.start()
    for _ in islice(run, 1):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def ratio_lines(runs: Mapping[int, Sequence[Measured]]) -> Iterator[str]:
    """Yield how many times the cost of one size another has, for those of which the ratio is bounded."""
    for size, base, most in RATIOS:
        if size in runs and base in runs:
            pairs = zip(runs[size], runs[base], strict=True)
            ratio = median(one.milliseconds / other.milliseconds for one, other in pairs)
            yield f"{size} to {base} objects: {ratio:.2f} times (at most {most})"
