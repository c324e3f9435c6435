"""Measures rater studies: `load` on the server, `kills` of the server and of Redis, `coverage` of intervals."""

from __future__ import annotations

import click
from bench_human_coverage import coverage
from bench_human_kills import kills
from bench_human_load import load


@click.group()
def human() -> None:
    """Measure the server of a rater study, and its scores.

    \b
    Example:
      scripts/bench human load --seconds 10
    """


human.add_command(load)
human.add_command(kills)
human.add_command(coverage)
