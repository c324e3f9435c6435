"""Measures rater studies: `load` on the server."""

from __future__ import annotations

import click
from bench_human_load import load


@click.group()
def human() -> None:
    """Measure the server of a rater study.

    \b
    Example:
      scripts/bench human load --seconds 10
    """


human.add_command(load)
