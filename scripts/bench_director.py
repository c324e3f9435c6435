"""Measures director trials: the time of a trial alone, with its record, with a picture in a folder; and their sizes."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import click
from bench_costs import count_option, repeats_option

import vqagen
from vqagen.run.items import number_items
from vqagen.run.windows import Span
from vqagen.tasks.director.task import DirectorTask, director_task

REFERENCE_MS, REFERENCE_KB, REFERENCE_RECORD_KB = 26.5, 74, 15.4
"""Of the first director task at its defaults: time and size of a trial with its picture, size of its record."""
LEAST = 16
"""Trials, of which a sixteenth has pictures in the shorter of two runs."""
RUNS = {
    "default, 4x4": {},
    "paired": {"paired": True},
    "relational": {"questions": "relational"},
    "8x8, 90 % full": {"width": 8, "height": 8, "fill": 0.9, "related": 0.5},
    "--compat reference": {"compat": "reference"},
}


@click.command()
@count_option("--count", default=9600, type=click.IntRange(min=LEAST), help="Trials; pictures are made for a quarter.")
@repeats_option(default=3)
def director(count: int, repeats: int) -> None:
    """Time director trials in one process: alone, with records, and from nothing to a folder of pictures.

    \b
    Example:
      scripts/bench director --count 2000
    """
    click.echo(f"{'':26}  us/trial  with record")
    for name, chosen in RUNS.items():
        task = director_task(vqagen.DirectorSettings(count=count, render=("none",), **chosen))
        alone = _median(repeats, lambda task=task: _make(task, count)) / count
        whole = _median(repeats, lambda task=task: _record(task, count)) / count
        click.echo(f"{name:26}  {alone * 1e6:8.1f}  {whole * 1e6:11.1f}")
    click.echo(f"\n{'folder, 800x600':26}  ms/trial  start-up s  kB a picture  kB a record")
    click.echo(_folder_line(count // 4, repeats))
    figures = f"{REFERENCE_MS:8.2f}  {'':10}  {REFERENCE_KB:12.1f}  {REFERENCE_RECORD_KB:11.1f}"
    click.echo(f"{'the first director task':26}  {figures}")


def _median(repeats: int, measured: Callable[[], object]) -> float:
    """Return the median CPU time; a run before warms up what is kept between trials."""
    measured()
    seconds = []
    for _ in range(repeats):
        gc.collect()
        started = time.process_time()
        measured()
        seconds.append(time.process_time() - started)
    return median(seconds)


def _make(task: DirectorTask, count: int) -> None:
    """Make trials without records."""
    for window in range(-(-count // task.WINDOW)):
        made = task.trials(window)
        for _ in range(min(task.WINDOW, count - window * task.WINDOW)):
            next(made)


def _record(task: DirectorTask, count: int) -> None:
    """Make trials and their records."""
    make = task.load(task.hashes())
    for window in number_items(task.item, Span(0, count), task.WINDOW).windows(0):
        for _ in make(window, 0, task.tally()):
            pass


def _folder_line(count: int, repeats: int) -> str:
    """Return the time of a trial from nothing to a folder. Two runs of different length tell it from the start-up."""
    with tempfile.TemporaryDirectory() as folder:
        outs = [(number, Path(folder, f"{number}")) for number in (count // 4, count)]
        options = vqagen.RunOptions(force=True)

        def run(number: int, out: Path) -> Callable[[], object]:
            settings = vqagen.DirectorSettings(count=number)
            return lambda: vqagen.write_trials(out, settings, options=options)

        short, long = (_median(repeats, run(number, out)) for number, out in outs)
        out = outs[-1][1]
        pictures = [path.stat().st_size for path in out.glob("images/*")]
        record = (out / "trials.jsonl").stat().st_size / count
    each = (long - short) / (count - count // 4)
    sizes = f"{sum(pictures) / len(pictures) / 1000:12.1f}  {record / 1000:11.2f}"
    return f"{'vqagen':26}  {each * 1000:8.3f}  {long - each * count:10.2f}  {sizes}"
