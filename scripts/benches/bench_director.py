"""Measures director trials: their time and size, alone and with pictures; and who answers them without looking."""

from __future__ import annotations

import gc
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median

import click
from bench_costs import count_option, repeats_option

import vqagen
from vqagen.errors import counted
from vqagen.run.job import Job
from vqagen.run.windows import Span
from vqagen.tasks.director.policies import BLIND
from vqagen.tasks.director.statistics import ALL, CONTROLS, PLAIN_TESTS, RULE_TESTS
from vqagen.tasks.director.task import DirectorTask, director_task
from vqagen.tasks.record_files import find_trials

REFERENCE_MS, REFERENCE_KB, REFERENCE_RECORD_KB = 26.5, 74, 15.4
"""Of the first director task at its defaults: time and size of a trial with its picture, size of its record."""
LEAST = 16
"""Trials, of which a sixteenth has pictures in the shorter of two runs."""
RUNS = {
    "default, 4x4": {},
    "paired": {"paired": True},
    "relational": {"questions": "relational"},
    "8x8, 90 % full": {"width": 8, "height": 8, "fill": 0.9, "related": 0.5, "size_share": 0.15},
    "--compat reference": {"compat": "reference"},
}


@click.command()
@count_option("--count", default=960, type=click.IntRange(min=LEAST), help="Trials; pictures are made for a quarter.")
@repeats_option(default=3)
@click.option("--trials", type=click.Path(exists=True), help="Do not time: measure these trials, of whatever version.")
def director(count: int, repeats: int, trials: str | None) -> None:
    """Time director trials in one process: alone, with records, and from nothing to a folder of pictures.

    Then say how often those are right who miss a view or words, or who guess, and in which cells the answers are.

    \b
    Examples:
      scripts/bench director --count 2000
      scripts/bench director --trials old/trials.jsonl
    """
    if trials is not None:
        _say_guesses(trials)
        return
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

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "trials")
        vqagen.write_trials(out, vqagen.DirectorSettings(count=count, seed=1, render=("none",)))
        _say_guesses(str(out))


def _say_guesses(path: str) -> None:
    """Print who is right without looking, on control and test trials and on both, and the places of the answers."""
    statistics = vqagen.stats(path).facts
    groups = [group for group in (CONTROLS, RULE_TESTS, PLAIN_TESTS, ALL) if group in statistics["groups"]]
    click.echo(f"\n{counted(statistics['trials'], 'trial'):18}" + "".join(f"{group:>20}" for group in groups))
    for name, accuracy in statistics["accuracy"].items():
        mark = " *" if name in BLIND else ""
        click.echo(f"{name + mark:18}" + "".join(f"{accuracy[group]:20.3f}" for group in groups))
    click.echo("* reads the instruction and ignores what is blocked")
    places, blocked = Counter[str](), Counter[int]()
    for record in find_trials(path).records():
        label, width, height = record["answer"], record["width"], record["height"]
        at_edge = (label[0] in f"A{chr(64 + width)}") + (int(label[1:]) in (1, height))
        places[("center", "edge", "corner")[at_edge]] += 1
        blocked[record["counts"]["related_blocked"]] += 1
    for name, counts in (("answers", places), ("fitting blocked", blocked)):
        shares = (f"{value} {count / statistics['trials']:.3f}" for value, count in sorted(counts.items(), key=str))
        click.echo(f"{name:18}{', '.join(shares)}")
    for name, probe in vqagen.audit(path).to_record()["probes"].items():
        click.echo(f"{'audit ' + name:18}{probe['accuracy']:.3f}, by chance {probe['chance']:.3f}")


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
    for window in Job(task, Span(0, count)).windows(0):
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
