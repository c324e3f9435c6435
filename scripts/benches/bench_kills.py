"""Kills real runs of `vqagen generate` at random moments, lets `--resume` finish them, and compares the bytes."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import cycle, islice, product
from pathlib import Path
from random import Random

import click
from bench_costs import count_option

import vqagen
from vqagen.files.formats import JSON, JSON_LINES, info_beside

ROOT = Path(__file__).parents[2]
PROGRAM = "from vqagen.cli import main; main()"
MARK = "VQAGEN_KILLS"
"""A variable in the environment of all processes of a run, workers included; they are found by its value."""
ENDINGS = {"json": "", "jsonl": "", "json.gz": "", "jsonl.zst": "zstandard", "parquet": "pyarrow"}
"""How outputs end, and the library that each needs."""
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
WAYS = (*SIGNALS, "worker", "disk full")
"""A signal to the run; SIGKILL to one of its workers, which it must survive; or a file may not grow further."""
WINDOW = 5
"""Scenes of a window, each of which is a block of the journal."""
PATIENCE = 120.0
"""Seconds in which processes must be gone whose parent is."""


@click.command()
@count_option("--kills", default=60, help="How many runs to kill in the middle.")
@click.option("--seed", default=0, show_default=True)
@count_option("--scenes", default=300)
def kills(kills: int, seed: int, scenes: int) -> None:
    """Kill real runs at random moments, finish them, and compare; exit code 1 on any difference.

    \b
    Example:
      scripts/bench kills --kills 60 --seed 1
    """
    with tempfile.TemporaryDirectory() as folder:
        room = Room.furnished(Path(folder), scenes)
        told = ", ".join(f"{seconds:.1f} s with {workers}" for workers, seconds in room.seconds.items())
        click.echo(f"seed {seed}; {scenes} scenes; an uninterrupted run takes {told}")
        results = list(killed(room, kills, seed))
        click.echo(table(results))
        faults = [f"{result.trial}: {fault}" for result in results for fault in result.faults]
        faults += full_file_system(room)
    click.echo("\n".join(faults) or "no difference")
    sys.exit(1 if faults else 0)


# Trials --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """How a run is to be killed."""

    number: int
    way: str
    workers: int
    ending: str
    moment: float
    """As a share of all blocks; below 0, of the time that an uninterrupted run takes, from its start on."""
    again: tuple[float, ...]
    """When going on is killed too, before it is left alone: as shares of that time."""

    def __str__(self) -> str:
        return f"trial {self.number} ({self.way}, {self.workers} workers, .{self.ending}, at {self.moment:.2f})"


@dataclass
class Result:
    """What a trial came to."""

    trial: Trial
    hit: bool = False
    """Whether the run was still running."""
    hit_again: int = 0
    kept: int = 0
    """Blocks in the journal after the first kill."""
    faults: list[str] = field(default_factory=list)


def trials(seed: int, endings: Iterable[str]) -> Iterator[Trial]:
    """Every way with every number of workers in turn; endings and moments at random."""
    endings = list(endings)
    for number, (workers, way) in enumerate(cycle(product((1, 2), WAYS))):
        random = Random(f"{seed}/{number}")
        again = tuple(random.uniform(0.2, 1.0) for _ in range(random.choice((0, 0, 1, 2))))
        workers = 2 if way == "worker" else workers
        yield Trial(number, way, workers, random.choice(endings), random.uniform(-0.2, 1.02), again)


def killed(room: Room, wanted: int, seed: int) -> Iterator[Result]:
    """Trials until so many have hit a running process."""
    hits = 0
    for trial in islice(trials(seed, room.whole), 4 * wanted):
        result = tried(room, trial)
        hits += result.hit + result.hit_again
        yield result
        if hits >= wanted:
            return


def tried(room: Room, trial: Trial) -> Result:
    """Kill a run, let it be finished, and compare."""
    result = Result(trial)
    out = room.folder / f"{trial.number}.{trial.ending}"
    result.hit = killed_once(room, trial, out, result.faults)
    result.kept = blocks_in(out)
    for share in trial.again:
        process = room.started(out, trial.workers, "--resume")
        time.sleep(share * room.seconds[trial.workers])
        result.hit_again += struck(process, signal.SIGKILL)
        ended(process)
    code, err = ended(room.started(out, trial.workers, "--resume"))
    result.faults += [f"--resume ended with {code}: {err}"] if code else []
    result.faults += room.differences(out, trial.ending)
    return result


def killed_once(room: Room, trial: Trial, out: Path, faults: list[str]) -> bool:
    """Whether the run was killed before it was done."""
    limit = int(abs(trial.moment) * room.size) if trial.way == "disk full" else 0
    process, hit = room.started(out, trial.workers, limit=limit), False
    if not limit:
        room.wait(process, out, trial)
    if trial.way in SIGNALS:
        hit = struck(process, SIGNALS[trial.way])
    elif trial.way == "worker":
        hit = worker_struck(process)
    code, err = ended(process)
    faults += [f"process {each} is left" for each in left(process)]
    if trial.way == "disk full":
        hit = code == 3 and "File too large" in err
        faults += [] if hit or code == 0 else [f"a full disk ended with {code}: {err}"]
    elif trial.way == "worker" and code:
        faults += [f"the loss of a worker ended with {code}: {err}"]
    return hit


# Runs ----------------------------------------------------------------------------------------------------------------


@dataclass
class Room:
    """Where runs take place, and what an uninterrupted one makes."""

    folder: Path
    blocks: int
    whole: dict[str, bytes] = field(default_factory=dict)
    """By the ending of the output, with the info beside it."""
    seconds: dict[int, float] = field(default_factory=dict)
    """How long that takes, by the number of workers."""

    @classmethod
    def furnished(cls, folder: Path, scenes: int) -> Room:
        """With scenes, and all uninterrupted runs done."""
        document = {"info": {}, "scenes": list(vqagen.sample_scenes(scenes))}
        (folder / "scenes.json").write_text(json.dumps(document))
        room = cls(folder, scenes // WINDOW)
        for workers in (1, 2):
            begun = time.monotonic()
            room.finished(folder / f"whole{workers}.json", workers)
            room.seconds[workers] = time.monotonic() - begun
        for ending in (ending for ending, library in ENDINGS.items() if not library or find_spec(library)):
            room.whole[ending] = room.finished(folder / f"whole.{ending}", 1)
        return room

    @property
    def size(self) -> int:
        """Of the output, not packed."""
        return len(self.whole["json"])

    def finished(self, out: Path, workers: int) -> bytes:
        """What a run makes that nobody kills."""
        code, err = ended(self.started(out, workers))
        if code:
            raise SystemExit(f"an uninterrupted run failed: {err}")
        return content(out)

    def started(self, out: Path, workers: int, *options: str, limit: int = 0) -> subprocess.Popen[bytes]:
        """A run; files that it writes may have `limit` bytes, if that is not 0."""
        given = ["--scenes", str(self.folder / "scenes.json"), "--out", str(out), "--workers", str(workers)]
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "generate", *given, "--reset-counts-every", str(WINDOW), *options],
            env={**os.environ, "PYTHONPATH": path, MARK: str(out)},
            preexec_fn=(lambda: limited(limit)) if limit else None,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=self.folder,
        )

    def wait(self, process: subprocess.Popen[bytes], out: Path, trial: Trial) -> None:
        """Until the moment of a trial, or the end of the run."""
        if trial.moment < 0:
            time.sleep(-trial.moment * 2 * self.seconds[trial.workers])
        while process.poll() is None and blocks_in(out) < trial.moment * self.blocks:
            time.sleep(0.002)

    def differences(self, out: Path, ending: str) -> list[str]:
        """What is not as after an uninterrupted run."""
        if not out.exists():
            return ["there is no output"]
        found = [] if content(out) == self.whole[ending] else ["the output differs"]
        return found + [f"{out}{end} is left" for end in (".part", ".journal") if Path(f"{out}{end}").exists()]


def content(out: Path) -> bytes:
    """Of an output, and of the info beside it."""
    beside = info_beside(str(out), JSON_LINES if "jsonl" in out.name else JSON)
    return out.read_bytes() + (Path(beside).read_bytes() if beside else b"")


def limited(size: int) -> None:
    """Let this process write no file larger than that."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def blocks_in(out: Path) -> int:
    """How many blocks are in the journal of an output."""
    with suppress(FileNotFoundError):
        return max(Path(f"{out}.journal").read_bytes().count(b"\n") - 1, 0)
    return 0


def struck(process: subprocess.Popen[bytes], number: signal.Signals) -> bool:
    """Send a signal; whether the process was still there."""
    if process.poll() is not None:
        return False
    process.send_signal(number)
    return True


def worker_struck(process: subprocess.Popen[bytes]) -> bool:
    """Kill a worker; whether there was one."""
    for worker in sorted(family(process) - {process.pid})[-1:]:  # the first is Python's resource tracker
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
            return True
    return False


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """The exit code of a process, and what it said."""
    _, err = process.communicate(timeout=300)
    return process.returncode, err.decode()


def left(process: subprocess.Popen[bytes]) -> set[int]:
    """The processes of a run that do not end, although it did."""
    until = time.monotonic() + PATIENCE
    while (there := family(process)) and time.monotonic() < until:
        time.sleep(0.05)
    return there


def family(process: subprocess.Popen[bytes]) -> set[int]:
    """The processes of a run: itself and its workers, also when they have lost it."""
    arguments = process.args
    assert isinstance(arguments, list)
    mark = f"{MARK}={arguments[arguments.index('--out') + 1]}".encode()
    return {int(each.parent.name) for each in Path("/proc").glob("[0-9]*/environ") if mark in environment(each)}


def environment(path: Path) -> list[bytes]:
    """The variables of a process."""
    try:
        return path.read_bytes().split(b"\0")
    except OSError:  # it has gone, or is another user's
        return []


# A file system that is full ------------------------------------------------------------------------------------------


def full_file_system(room: Room) -> list[str]:
    """Fill a small file system, which only root can make, enlarge it, and go on. What is wrong then."""
    place = room.folder / "small"
    place.mkdir()
    mounted = mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place))
    if mounted:
        click.echo(f"a full file system: skipped ({mounted})")
        return []
    try:
        return filled(room, place)
    finally:
        subprocess.run(["umount", str(place)], check=True)


def filled(room: Room, place: Path) -> list[str]:
    """Each kind of output, made on a file system that is doubled whenever it is full."""
    faults = []
    for ending in room.whole:
        out, size = place / f"out.{ending}", 64
        while mount("-o", f"remount,size={size}k", str(place)) == "":
            code, err = ended(room.started(out, 2, "--resume"))
            if code == 0:
                break
            if code != 3 or "No space left on device" not in err:
                return [*faults, f"a full file system ended with {code}: {err}"]
            size *= 2
        faults += [f"a full file system, .{ending}: {each}" for each in room.differences(out, ending)]
        click.echo(f"a full file system, .{ending}: grew from 64 to {size} KiB")
        for each in place.iterdir():
            each.unlink()
    return faults


def mount(*arguments: str) -> str:
    """Mount; why that cannot be done, or nothing."""
    try:
        done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return done.stderr.strip().splitlines()[0] if done.returncode else ""


# The table -----------------------------------------------------------------------------------------------------------


def table(results: list[Result]) -> str:
    """A line for each way and number of workers, and one for all."""
    lines = [f"{'killed by':<12}{'workers':>8}{'runs':>6}{'hit':>5}{'again':>7}{'blocks kept':>13}{'faults':>8}"]
    for way, workers in product(WAYS, (1, 2)):
        chosen = [each for each in results if (each.trial.way, each.trial.workers) == (way, workers)]
        lines += [line(way, str(workers), chosen)] if chosen else []
    return "\n".join([*lines, line("all", "", results)])


def line(way: str, workers: str, results: list[Result]) -> str:
    """The figures of some trials."""
    hit, again = sum(each.hit for each in results), sum(each.hit_again for each in results)
    kept = f"{min(each.kept for each in results)} to {max(each.kept for each in results)}"
    faults = sum(bool(each.faults) for each in results)
    return f"{way:<12}{workers:>8}{len(results):>6}{hit:>5}{again:>7}{kept:>13}{faults:>8}"


if __name__ == "__main__":
    kills()
