"""Costs of whole commands and of work in this process, which the other benchmarks compare and print."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeVar

import click

count_option = partial(click.option, type=click.IntRange(min=1), show_default=True)
"""An option for a number of things, of which there must be one."""
repeats_option = partial(count_option, "--repeats", help="Runs of which the median is shown.")
VQAGEN = Path(sys.executable).with_name("vqagen")
LOOK = 0.05
"""Seconds between two looks at the memory of the process tree."""
HEADER = "wall s   CPU s  ms/scene  questions/s  memory"
"""The columns of `figures`."""
Name = TypeVar("Name")
Measured = TypeVar("Measured")


class Ran(NamedTuple):
    """What a process and all that it started took."""

    seconds: float
    """From its start to its end."""
    cpu: float
    """Seconds of CPU time in user mode, which other programs on the machine change least."""
    peak: float
    """Most resident MB of the whole tree at once; what processes share counts for each."""


def run_command(command: Sequence[str], **environment: str) -> Ran:
    """Run a command, and watch the memory of its processes (Linux: from /proc).

    `environment`: variables that differ from this process's. If the command fails: ClickException, with its exit code.
    """
    with tempfile.TemporaryFile() as said:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=said, env={**os.environ, "PYTHONPATH": "", **environment}
        )
        ended, peak = threading.Event(), [0.0]
        watcher = threading.Thread(target=watch, args=(process.pid, ended, peak), daemon=True)
        watcher.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        ended.set()
        watcher.join()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            why = said.read().decode(errors="replace").strip()
            failed = click.ClickException(f"exit code {process.returncode} of: {shlex.join(command)}\n{why}")
            failed.exit_code = process.returncode
            raise failed
    return Ran(seconds, usage.ru_utime, peak[0])  # its ru_maxrss would count this process too, from which it forked


def watch(process: int, ended: threading.Event, peak: list[float]) -> None:
    """Keep the highest sum of resident memory; of the process itself, the highest that the kernel saw."""
    while not ended.wait(LOOK):
        now = sum(resident(number) for number in tree(process))
        peak[0] = max(peak[0], now, resident(process, "VmHWM"))


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


def resident(number: int, figure: str = "VmRSS") -> float:
    """Return the MB in memory of a process, or another figure of its status; 0 if it ended meanwhile."""
    try:
        lines = Path(f"/proc/{number}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(figure)), 0.0)


def in_turn(works: Mapping[Name, Callable[[], Measured]], repeats: int) -> dict[Name, list[Measured]]:
    """Do each work, then each again, and so on, so that a machine that becomes slower does so for all."""
    results: dict[Name, list[Measured]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            results[name].append(work())
    return results


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    started = time.process_time()
    work()
    return time.process_time() - started


def figures(runs: Sequence[Ran], scenes: int, questions: int) -> str:
    """Return the columns of HEADER: medians, and the highest peak of memory."""
    seconds, cpu = median(run.seconds for run in runs), median(run.cpu for run in runs)
    rate, peak = questions / cpu, max(run.peak for run in runs)
    return f"{seconds:6.2f}  {cpu:6.2f}  {cpu / scenes * 1000:8.2f}  {rate:11,.0f}  {peak:3.0f} MB"


def ratio(runs: Sequence[float], base: Sequence[float]) -> str:
    """Return the median of the ratios pair by pair, and their range."""
    ratios = [one / other for one, other in zip(runs, base, strict=True)]
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def digest(path: Path) -> str:
    """Of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def report(phase: str, figures: str) -> None:
    """One line."""
    click.echo(f"{phase:28} {figures}")
