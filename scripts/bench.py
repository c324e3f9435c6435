"""Benchmarks. `generate`: what a scene costs from file to file in one process, and where the time goes. `domains`: what
loading costs, and what many attributes do. `balance`: what can be guessed without the picture (bench_balance.py).
`dialog`, `director`: what dialogs and trials cost (bench_dialog.py, bench_director.py). `evaluate`: what scoring a
million answers costs (bench_evaluate.py). `human`: the server of rater studies (bench_human.py). `sampling`: what
scenes and verification cost (bench_sampling.py). `sizes`: what scenes of few and many objects cost (bench_sizes.py).
`scale`: long runs (bench_scale.py). `kills`: runs that are killed and go on (bench_kills.py)."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

import click
from bench_balance import balance
from bench_dialog import dialog
from bench_director import director
from bench_evaluate import evaluate
from bench_human import human
from bench_kills import kills
from bench_sampling import sampling
from bench_scale import VQAGEN, report, scale
from bench_sizes import sizes
from wide_domain import make_wide_domain

import vqagen
from vqagen.api import Generation, find_domain, find_scenes, load_domain_files, load_scenes
from vqagen.language.question_records import record_writer
from vqagen.language.shipped_domains import SHIPPED_DOMAINS
from vqagen.records.formats import JSON
from vqagen.records.layouts import Arrangement
from vqagen.records.writer import RecordWriter
from vqagen.rng import stream
from vqagen.run.windows import window_of
from vqagen.tasks.questions.generator import QuestionGenerator
from vqagen.tasks.questions.tally import Tally

REPEATS = 5


@click.group()
def bench() -> None:
    """Measure, and print figures."""


@bench.command()
@click.option("--scenes", help="Scene file. [default: 1,000 scenes sampled with seed 0]")
@click.option("--metadata")
@click.option("--templates")
@click.option("--synonyms")
@click.option("--compat", default="none", show_default=True)
@click.option("--degeneracy", default="")
def generate(scenes: str | None, **chosen: str | None) -> None:
    """Time the whole command, then each phase inside one process; medians of five runs.

    \b
    Example:
      scripts/bench generate
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(scenes) if scenes else sampled(Path(folder))
        whole_process(path, Path(folder), chosen)
        phases(path, chosen)
        start_up()


@bench.command()
@click.option("--scenes", default=40, show_default=True, help="Scenes of the wide domain.")
def domains(scenes: int) -> None:
    """Time what loading a domain costs, and questions about scenes with 11 attributes.

    \b
    Example:
      scripts/bench domains
    """
    for name in SHIPPED_DOMAINS:
        report_load(name, find_domain(name))
    with tempfile.TemporaryDirectory() as folder:
        wide = make_wide_domain(Path(folder) / "wide")
        report_load("11 attributes", find_domain(wide))
        records = list(vqagen.sample_scenes(scenes, metadata=wide / "metadata.json"))
        path = Path(folder) / "scenes.json"
        path.write_text(json.dumps({"info": {}, "scenes": records}))
        run = Generation(find_scenes(path), load_domain_files(find_domain(wide)), vqagen.QuestionSettings())
        started = time.process_time()
        made = sum(len(questions) for _, questions in run.by_scene())
        seconds = time.process_time() - started
        report("11 attributes", f"{seconds / scenes * 1000:.1f} ms/scene, {made / scenes:.1f} questions each")


def report_load(name: str, files: vqagen.DomainFiles) -> None:
    """Loading, checking and planning all templates of a domain."""

    def load() -> None:
        materials = load_domain_files(files)
        QuestionGenerator(materials.templates, materials.synonyms, vqagen.QuestionSettings())

    families = len(load_domain_files(files).templates)
    report(f"load {name}", f"{cpu_seconds(load):.3f} s for {families} families")


def sampled(folder: Path) -> Path:
    """A thousand scenes of our own."""
    path = folder / "scenes.json"
    path.write_text(json.dumps({"info": {}, "scenes": list(vqagen.sample_scenes(1000))}))
    return path


def whole_process(scenes: Path, folder: Path, chosen: dict[str, str | None]) -> None:
    """The command from its start to its end, as the operating system accounts for it."""
    out = folder / "questions.json"
    flags = [part for name, value in chosen.items() if value for part in (f"--{name}", value)]
    command = [str(VQAGEN), "generate", "--scenes", str(scenes), "--out", str(out), "--force", *flags]
    count = sum(1 for _ in find_scenes(scenes).records())
    for scope, limit in (("first 250 scenes", ["--count", "250"]), (f"all {count:,} scenes", [])):
        runs = [run_once([*command, *limit]) for _ in range(REPEATS)]
        seconds, peak = median(run[0] for run in runs), max(run[1] for run in runs)
        n_scenes = min(count, 250) if limit else count
        questions = len(json.loads(out.read_bytes())["questions"])
        report(f"command, {scope}", f"{seconds:.2f} s, {seconds / n_scenes * 1000:.2f} ms/scene")
        report("", f"{questions:,} questions, {questions / seconds:,.0f} questions/s, peak memory {peak:.0f} MB")


def run_once(command: list[str]) -> tuple[float, float]:
    """Wall seconds and peak resident MB of one process."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed with exit code {process.returncode}: {' '.join(command)}")
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def phases(scenes: Path, chosen: dict[str, str | None]) -> None:
    """Milliseconds a scene of CPU time for each phase, start-up left out.

    Words and programs are made again from the finished questions; the search is what remains of the whole.
    """
    materials = load_domain_files(
        find_domain(metadata=chosen["metadata"], templates=chosen["templates"], synonyms=chosen["synonyms"])
    )
    settings = vqagen.QuestionSettings(compat=chosen["compat"] or "none", degeneracy=chosen["degeneracy"] or "")
    source = find_scenes(scenes)
    compiled = list(load_scenes(source, materials.domain))
    task = QuestionGenerator(materials.templates, materials.synonyms, settings)
    run = Generation(source, materials, settings)
    made = [question for _, questions in run.by_scene() for question in questions]
    gc.collect()
    gc.freeze()

    load = cpu_seconds(lambda: exhaust(load_scenes(source, materials.domain)))
    size = settings.window
    windows = [list(window) for _, window in groupby(compiled, key=lambda scene: window_of(scene.index, size))]
    ask = cpu_seconds(lambda: [exhaust(task.window(window, Tally())) for window in windows])
    wording = {family.template.id: family.wording for family in task.families}
    random = stream(0, "bench").random
    say = cpu_seconds(lambda: [wording[question.template.id].say(question.words, random) for question in made])
    write = cpu_seconds(lambda: write_all(made))
    total = load + ask + write
    for name, seconds in (("load", load), ("search", ask - say), ("wording", say), ("write", write), ("sum", total)):
        report(name, f"{seconds / len(compiled) * 1000:.3f} ms/scene  {seconds / total:5.0%}")


def write_all(questions: list[vqagen.Question]) -> None:
    """Write all questions to nowhere."""
    to_record = record_writer("generator")
    with open(os.devnull, "wb") as file:
        writer = RecordWriter(file, JSON, {}, Arrangement("questions", "question_index", "scene", 250))
        for first in range(0, len(questions), 10):
            writer.write(to_record(question, first) for question in questions[first : first + 10])


def start_up() -> None:
    """What the command costs before it does anything."""
    report("vqagen --help", f"{median(run_once([str(VQAGEN), '--help'])[0] for _ in range(REPEATS)):.3f} s")


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Median CPU seconds of a piece of work."""
    seconds = []
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        seconds.append(time.process_time() - started)
    return median(seconds)


def exhaust(items: Iterable[Any]) -> None:
    """Go through items and drop them."""
    for _ in items:
        pass


bench.add_command(balance)
bench.add_command(dialog)
bench.add_command(director)
bench.add_command(evaluate)
bench.add_command(human)
bench.add_command(sampling)
bench.add_command(scale)
bench.add_command(sizes)
bench.add_command(kills)

if __name__ == "__main__":
    bench()
