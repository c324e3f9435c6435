"""Measures the endless environment: samples a second by level, drawn or not, and how balanced answers are."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from itertools import islice

import click
from bench_costs import count_option

from vqagen.environments.endless import ALL, LEVELS, NAMED, Sample, environment
from vqagen.language.domain_files import DEFAULT_DOMAIN


@click.command("environment")
@count_option("--samples", default=200, help="Samples of each level.")
@click.option("--domain", default=DEFAULT_DOMAIN, show_default=True, help="Domain of the questions.")
@click.option("--width", default=240, show_default=True, help="Width of pictures in pixels.")
def endless(samples: int, domain: str, width: int) -> None:
    """Count the samples a second of CPU time, and the commonest answers of each type.

    \b
    Example:
      scripts/bench environment --samples 50
    """
    click.echo("level      without pictures  with  samples a CPU second; the commonest answer of each type")
    for level in (*range(1, len(LEVELS) + 1), ALL, *(NAMED if domain == DEFAULT_DOMAIN else ())):
        made = environment(domain, level, width=width)
        made[0].png()  # loads what is loaded once
        began = time.process_time()
        found = list(islice(made, samples))
        asked = time.process_time()
        for sample in found:
            sample.png()
        drawn = time.process_time()
        click.echo(
            f"{level!s:9}  {samples / (asked - began):16.0f}  {samples / (drawn - began):4.0f}  {_commonest(found)}"
        )


def _commonest(samples: list[Sample]) -> str:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for sample in samples:
        counts[sample.answer_type][sample.answer] += 1
    leading = {kind: counter.most_common(1)[0] for kind, counter in sorted(counts.items())}
    return ", ".join(f"{kind}: {answer} {most / counts[kind].total():.2f}" for kind, (answer, most) in leading.items())
