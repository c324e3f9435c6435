"""Kills real runs at random moments, lets `--resume` finish them, and compares the bytes."""

from __future__ import annotations

import json
import os
import resource
import shutil
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
"""Scenes of a window, each of which is a block."""
COMMANDS = {
    "generate": "generate --scenes {scenes} --out {out} --workers {workers} --reset-counts-every 50",
    "dialog": "dialog --scenes {scenes} --out {out} --workers {workers} --dialogs-per-image 2",
    "director": "director generate --count {count} --out {out} --workers {workers} --render svg",
    "dataset": "dataset {out} --count 6 --pictures drawn --width 120 --questions 2 --workers {workers}",
}
"""The commands whose runs are killed by SIGKILL. A window of 50 scenes has two blocks."""
PATIENCE = 120.0
"""Seconds in which processes must be gone whose parent is."""


@click.command()
@count_option("--kills", default=60, help="How many runs to kill in the middle.")
@click.option("--seed", default=0, show_default=True)
@count_option("--scenes", default=300)
@click.option("--command", type=click.Choice([*COMMANDS]), multiple=True, help="Kill runs of this command, by SIGKILL.")
def kills(kills: int, seed: int, scenes: int, command: tuple[str, ...]) -> None:
    """Kill real runs at random moments, finish them, and compare; exit code 1 on any difference.

    Without --command, runs of `generate` are killed in many ways.

    \b
    Example:
      scripts/bench kills --kills 60 --seed 1
      scripts/bench kills --kills 10 --scenes 100 --command dialog --command dataset
    """
    with tempfile.TemporaryDirectory() as folder:
        if command:
            faults = [fault for each in command for fault in commands_killed(Path(folder), each, kills, seed, scenes)]
            click.echo("\n".join(faults) or "no difference")
            sys.exit(1 if faults else 0)
        room = Room.furnished(Path(folder), scenes)
        told = ", ".join(f"{seconds:.1f} s with {workers}" for workers, seconds in room.seconds.items())
        click.echo(f"seed {seed}; {scenes} scenes; an uninterrupted run takes {told}")
        results = list(killed(room, kills, seed))
        click.echo(table(results))
        faults = [f"{result.trial}: {fault}" for result in results for fault in result.faults]
        faults += full_file_system(room)
    click.echo("\n".join(faults) or "no difference")
    sys.exit(1 if faults else 0)


# Commands ------------------------------------------------------------------------------------------------------------


def commands_killed(folder: Path, command: str, kills: int, seed: int, scenes: int) -> Iterator[str]:
    """Kill runs of a command with two workers, at a block or a moment, and yield what is not as after a whole run."""
    given = folder / "scenes.json"
    given.write_text(json.dumps({"info": {}, "scenes": list(vqagen.sample_scenes(scenes))}))

    def started(out: Path, resume: str = "", workers: int = 2) -> subprocess.Popen[bytes]:
        words = COMMANDS[command].format(scenes=given, out=out, workers=workers, count=scenes).split()
        return run_of([*words, *resume.split()], out)

    begun = time.monotonic()
    code, err = ended(started(folder / f"{command}.json"))
    seconds = time.monotonic() - begun
    assert code == 0, f"an uninterrupted run of {command} failed: {err}"
    whole, hits, kept = files_of(folder / f"{command}.json"), 0, list[int]()
    for number in range(kills):
        out, random = folder / f"{command}-{number}.json", Random(f"{seed}/{command}/{number}")
        for resume in ("", "--resume")[: random.choice((1, 1, 2))]:
            process, wanted = started(out, resume), blocks_below(out) + random.choice((1, 1, 2, 3, 99))
            until = time.monotonic() + random.uniform(0.2, 1.2) * seconds * (1 if wanted > 98 else 9)
            while process.poll() is None and blocks_below(out) < wanted and time.monotonic() < until:
                time.sleep(0.02)
            hits += struck(process, signal.SIGKILL)
            ended(process)
            kept.append(blocks_below(out))
        code, err = ended(started(out, "--resume"))
        fault = err if code else "the output differs" if files_of(out) != whole else ""
        if left := [*folder.rglob("*.part")]:
            fault += f"{left} is left"
        if fault:
            yield f"{command}, run {number}: {fault}"
        click.echo(f"{command}: {hits} kills so far, blocks kept {kept}, {fault or 'no difference'}", err=True)
        remove(out)
    click.echo(f"{command}: {hits} kills of {kills} runs of {seconds:.0f} s; blocks kept: {sorted(kept)}")


def blocks_below(out: Path) -> int:
    """How many blocks are finished of an output, or of the outputs that a folder is made of."""
    with suppress(FileNotFoundError):  # a folder may go while it is looked into
        return sum(1 for beside in out.parent.glob(f"{out.name}*") for _ in beside.rglob("*.block"))
    return 0


def files_of(out: Path) -> dict[str, bytes]:
    """The files of an output, or beside it, by their names without its own."""
    paths = [path for beside in out.parent.glob(f"{out.name}*") for path in (beside, *beside.rglob("*"))]
    return {str(path).removeprefix(str(out)): path.read_bytes() for path in paths if path.is_file()}


def remove(out: Path) -> None:
    """Delete an output."""
    for path in out.parent.glob(f"{out.name}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


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
    """Blocks that are finished after the first kill."""
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
        return run_of(["generate", *given, "--reset-counts-every", str(WINDOW), *options], out, limit)

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
        return found + ([f"{out}.part is left"] if Path(f"{out}.part").exists() else [])


def run_of(words: list[str], out: Path, limit: int = 0) -> subprocess.Popen[bytes]:
    """A run of a command in the folder of its output."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        env={**os.environ, "PYTHONPATH": path, MARK: str(out)},
        preexec_fn=(lambda: limited(limit)) if limit else None,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=out.parent,
    )


def content(out: Path) -> bytes:
    """Of an output, and of the info beside it."""
    beside = info_beside(str(out), JSON_LINES if "jsonl" in out.name else JSON)
    return out.read_bytes() + (Path(beside).read_bytes() if beside else b"")


def limited(size: int) -> None:
    """Let this process write no file larger than that."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def blocks_in(out: Path) -> int:
    """How many blocks of an output are finished."""
    return sum(1 for _ in Path(f"{out}.part").glob("*.block"))


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
    _, err = process.communicate(timeout=1800)
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
