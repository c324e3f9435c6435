"""The benchmark `scale`: one command from 70,000 scenes to 700,000 questions, with one worker and with several."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click

import vqagen
from vqagen.language.domain_files import find_domain
from vqagen.records.formats import JSON
from vqagen.records.layouts import encode_lines
from vqagen.run.engines.in_process import in_process
from vqagen.run.job import make_job
from vqagen.run.output.claim import claimed
from vqagen.run.output.staging import Output, make_target
from vqagen.run.progress import Progress
from vqagen.run.runner import run
from vqagen.run.work import Block, Window, Work
from vqagen.tasks.questions.task import question_task

VQAGEN = Path(sys.executable).with_name("vqagen")
TENTH = 10_000
LOOK = 0.05
"""Seconds between two looks at the memory of the process tree."""


class Ran(NamedTuple):
    """What a process and all that it started took."""

    seconds: float
    peak: float
    """Most resident MB of the whole tree at once; what processes share counts for each."""


@click.command()
@click.option("--scenes", help="Scene file whose scenes are repeated. [default: 1,000 sampled with seed 0]")
@click.option("--count", default=70_000, show_default=True, help="How many scenes.")
@click.option("--workers", default=2, show_default=True)
@click.option("--repeats", default=3, show_default=True, help="Runs with one worker and with several, in turn.")
def scale(scenes: str | None, count: int, workers: int, repeats: int) -> None:
    """Time a long run: workers, memory, how it grows, what the runner itself costs, and going on with a finished run.

    \b
    Example:
      scripts/bench scale --count 5000
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        given = Path(scenes) if scenes else None
        source = repeated(given, count, folder / "scenes.json")
        report("input", f"{count:,} scenes, {source.stat().st_size / 1e6:,.0f} MB")
        compare_workers(source, count, workers, repeats, folder)
        finished(source, folder)
        growth(source, count, folder)
        tenth = min(count, TENTH)
        overhead(repeated(given, tenth, folder / "tenth.json"), tenth, folder)


def repeated(given: Path | None, count: int, path: Path) -> Path:
    """A document of so many scenes: those of a file over and over, each with an index and a file name of its own."""
    records = json.loads(given.read_bytes())["scenes"] if given else list(vqagen.sample_scenes(1000))
    again = (
        {**record, "image_index": index, "image_filename": f"CLEVR_scale_{index:06d}.png"}
        for index, record in enumerate(islice(cycle(records), count))
    )
    with path.open("wb") as file:
        file.write(b'{"info": {"split": "scale"}, "scenes": [\n')
        file.writelines(
            (b",\n" if number else b"") + encode_lines([record])[:-1] for number, record in enumerate(again)
        )
        file.write(b"\n]}\n")
    return path


def compare_workers(source: Path, count: int, workers: int, repeats: int, folder: Path) -> None:
    """One worker and several in turn, so that a machine that becomes slower does so for both."""
    runs: dict[int, list[Ran]] = {1: [], workers: []}
    hashes = set()
    for _ in range(repeats):
        for number, ran in runs.items():
            out = folder / "questions.json"
            ran.append(run_tree(generate(source, out, "--workers", str(number), "--force")))
            hashes.add(digest(out))
    questions = sum(1 for _ in out.open("rb")) - 2
    for number, ran in runs.items():
        seconds = median(each.seconds for each in ran)
        report(
            f"{number} worker" + ("s" if number > 1 else ""),
            f"{seconds:.1f} s, {count / seconds:,.0f} scenes/s, {questions / seconds:,.0f} questions/s, "
            f"peak memory of all processes {max(each.peak for each in ran):.0f} MB",
        )
    ratios = [one.seconds / several.seconds for one, several in zip(runs[1], runs[workers], strict=True)]
    report("rate", f"{median(ratios):.2f} times that of one worker ({min(ratios):.2f} to {max(ratios):.2f})")
    report("output", f"{questions:,} questions, {out.stat().st_size / 1e6:,.0f} MB; {len(hashes)} different file(s)")
    verified = run_tree([str(VQAGEN), "verify", str(out), "--scenes", str(source)])
    report("verify", f"all right, {verified.seconds:.0f} s, peak memory {verified.peak:.0f} MB")


def finished(source: Path, folder: Path) -> None:
    """Going on with a run that is complete."""
    again = [run_tree(generate(source, folder / "questions.json", "--resume")).seconds for _ in range(3)]
    report("resume when finished", f"{median(again):.2f} s")


def growth(source: Path, count: int, folder: Path) -> None:
    """Whether the last scenes cost what the first did: CPU seconds of this process, one worker."""
    marks = [(0, time.process_time())]

    def mark(progress: Progress) -> None:
        marks.append((progress.items, time.process_time()))

    vqagen.write_questions(source, str(folder / "grown.json"), on_progress=mark)
    part = min(TENTH, count // 3)
    first = next(at for scenes, at in marks if scenes >= part) - marks[0][1]
    last = marks[-1][1] - next(at for scenes, at in marks if scenes >= count - part)
    report("growth", f"first {part:,} scenes {first:.1f} s, last {part:,} {last:.1f} s: {last / first:.2f} times")


def overhead(source: Path, count: int, folder: Path) -> None:
    """What starting, journalling, ordering and writing cost: CPU seconds outside of the task."""
    inside = 0.0

    def timed(work: Work, windows: Iterator[Window]) -> Generator[Block]:
        nonlocal inside
        blocks = in_process(work, windows)
        while True:
            before = time.process_time()
            block = next(blocks, None)
            inside += time.process_time() - before
            if block is None:
                return
            yield block

    started = time.process_time()
    out, settings = str(folder / "whole.json"), vqagen.QuestionSettings()
    target = make_target(out, JSON)
    with claimed(target) as claim:
        job = make_job(question_task(find_domain(), settings, vqagen.RecordForm()), source)
        run(job, timed, Output(target, job.info()), claim)
    whole = time.process_time() - started
    report("runner", f"{1 - inside / whole:.1%} of {count:,} scenes: starting, journal, order and writing")


def generate(source: Path, out: Path, *flags: str) -> list[str]:
    """The command."""
    return [str(VQAGEN), "generate", "--scenes", str(source), "--out", str(out), *flags]


def digest(path: Path) -> str:
    """Of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def run_tree(command: list[str]) -> Ran:
    """Run a command, and watch the memory of its processes (Linux: from /proc)."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    peak = [0.0]
    watcher = threading.Thread(target=watch, args=(process, peak), daemon=True)
    watcher.start()
    _, said = process.communicate()
    seconds = time.perf_counter() - started
    watcher.join()
    if process.returncode:
        raise SystemExit(f"failed with exit code {process.returncode}: {' '.join(command)}\n{said.decode()}")
    return Ran(seconds, peak[0])


def watch(process: subprocess.Popen[bytes], peak: list[float]) -> None:
    """Keep the highest sum of resident memory."""
    while process.poll() is None:
        peak[0] = max(peak[0], sum(resident(number) for number in tree(process.pid)))
        time.sleep(LOOK)


def tree(root: int) -> Iterable[int]:
    """A process and all that it started, and so on."""
    yield root
    try:
        children = [
            int(child)
            for thread in os.listdir(f"/proc/{root}/task")
            for child in Path(f"/proc/{root}/task/{thread}/children").read_text().split()
        ]
    except OSError:  # it ended meanwhile
        return
    for child in children:
        yield from tree(child)


def resident(number: int) -> float:
    """MB."""
    try:
        pages = int(Path(f"/proc/{number}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def report(phase: str, figures: str) -> None:
    """One line."""
    click.echo(f"{phase:28} {figures}")
