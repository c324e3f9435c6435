"""Real runs that are killed, or find the disk full: --resume ends them with the bytes of a run that was left alone."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from commands import PROGRAM, Commands, Ran, finish, start
from marks import marked, set_mark
from scene_records import many_scenes
from waiting import wait_until

import vqagen
from scripts.benches.bench_kills import Room, killed
from vqagen.files.locations import shipped
from vqagen.run.runner import Progress

SCENES, WINDOW = 100, 5
ONE_HOP = shipped("templates") / "clevr" / "one_hop.json"
ASKED = f"generate --scenes scenes.json --templates {ONE_HOP} --reset-counts-every {WINDOW}"
"""20 blocks; the templates of one file are loaded in half the time."""


HANGS_UP = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); {PROGRAM}"
"""The program, also where `nohup` lets it inherit that SIGHUP is ignored."""


class Killed(BaseException):
    """Ends a run in this process."""


@pytest.fixture(scope="module")
def scenes() -> bytes:
    return json.dumps({"info": {}, "scenes": many_scenes(SCENES)}).encode()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scenes: bytes) -> Path:
    """A working folder with scenes."""
    monkeypatch.chdir(tmp_path)
    Path("scenes.json").write_bytes(scenes)
    return tmp_path


@pytest.fixture
def vqagen_(capfdbinary: pytest.CaptureFixture[bytes]) -> Commands:
    return Commands(capfdbinary)


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    return set_mark(monkeypatch, tmp_path)


def blocks_of(out: str) -> int:
    """How many blocks of an output are finished."""
    return len([*Path(f"{out}.part").glob("*.block")])


def started_until(line: str, out: str, blocks: int) -> subprocess.Popen[bytes]:
    """A run that has made so many blocks, or is done: it may be quicker than we look."""
    process = start(f"{ASKED} -o {out} {line}", HANGS_UP, stdout=subprocess.DEVNULL)
    wait_until(lambda: process.poll() is not None or blocks_of(out) >= blocks)
    return process


def struck(line: str, out: str, blocks: int, number: signal.Signals) -> Ran:
    """A run that gets a signal when it has made so many blocks, and not only when its output is complete."""
    for _ in range(9):
        process = started_until(line, out, blocks)
        process.send_signal(number)
        ran = finish(process)
        if Path(f"{out}.part").exists():
            return ran
        for made in Path().glob(f"{out}*"):
            made.unlink()
    raise AssertionError(f"always done before it was killed: {ran.err}")


def limited(size: int) -> Callable[[], None]:
    """Lets a process write no file larger than that, as a full disk would."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def done_all_but_the_end(out: str, until: int = SCENES) -> None:
    """Leave what a run leaves that is killed when all is made and the output is not; or when so much is made."""

    def kill(progress: Progress) -> None:
        if progress.items == until:
            raise Killed

    files, chosen = vqagen.find_domain(templates=ONE_HOP), vqagen.QuestionSettings(reset_counts_every=WINDOW)
    with pytest.raises(Killed):
        vqagen.write_questions("scenes.json", out, files, chosen, on_progress=kill)


# Kills ---------------------------------------------------------------------------------------------------------------


class Kill(NamedTuple):
    """How a run is killed."""

    number: signal.Signals
    code: int
    workers: int
    out: str
    blocks: int
    """Finished when it is killed."""
    again: int = 0
    """Finished when going on is killed too, by SIGKILL; 0 if it is not."""
    options: str = ""


KILLS = [
    Kill(signal.SIGKILL, -9, 2, "q.jsonl", 9, again=14),
    Kill(signal.SIGTERM, 143, 1, "q.jsonl.gz", 4, again=5),
    Kill(signal.SIGINT, 130, 1, "q.parquet", 3, again=12),
    Kill(signal.SIGHUP, 129, 2, "q.json", 7, options="--dedupe"),
]


@pytest.mark.slow
@pytest.mark.parametrize("kill", KILLS, ids=lambda kill: f"{kill.number.name}-{kill.workers}-{kill.out}")
def test_a_run_that_is_killed_goes_on_with_the_same_bytes(
    kill: Kill, folder: Path, vqagen_: Commands, mark: str
) -> None:
    """Whatever killed it, and whoever finishes it; nothing is left running, or lying about."""
    if kill.out.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    Path("whole").mkdir()
    vqagen_.done(f"{ASKED} -o whole/{kill.out} {kill.options}")

    ran = struck(f"--workers {kill.workers} {kill.options}", kill.out, kill.blocks, kill.number)
    assert ran.code == kill.code, ran.err
    wait_until(lambda: marked(mark) == set())
    assert blocks_of(kill.out) >= kill.blocks
    if kill.again:
        process = started_until(f"--workers {kill.workers} {kill.options} --resume", kill.out, kill.again)
        process.kill()
        finish(process)
        wait_until(lambda: marked(mark) == set())
    vqagen_.done(f"{ASKED} -o {kill.out} {kill.options} --resume")

    made = sorted(path for path in os.listdir() if path.startswith("q."))
    assert made == sorted(os.listdir("whole"))
    assert [Path(name).read_bytes() for name in made] == [Path("whole", name).read_bytes() for name in made]


@pytest.mark.slow
def test_a_run_of_one_window_that_is_killed_keeps_what_it_made(folder: Path) -> None:
    """The default window has 250 scenes; a kill lost all of them."""
    chosen, files, seen = vqagen.QuestionSettings(), vqagen.find_domain(templates=ONE_HOP), list[int]()
    vqagen.write_questions("scenes.json", "whole.json", files, chosen)

    def kill(progress: Progress) -> None:
        raise Killed

    with pytest.raises(Killed):
        vqagen.write_questions("scenes.json", "q.json", files, chosen, on_progress=kill)
    resume = vqagen.RunOptions(resume=True)
    on_progress = lambda progress: seen.append(progress.resumed_items)  # noqa: E731
    vqagen.write_questions("scenes.json", "q.json", files, chosen, options=resume, on_progress=on_progress)

    assert seen == [25, 25, 25, 25]
    assert Path("q.json").read_bytes() == Path("whole.json").read_bytes()


@pytest.mark.slow
def test_five_kills_at_random_moments_change_nothing(tmp_path: Path) -> None:
    """Signals, lost workers and full disks; `scripts/bench kills` does so by the hundred."""
    results = list(killed(Room.furnished(tmp_path, scenes=100), 5, seed=0))

    assert [(str(result.trial), result.faults) for result in results if result.faults] == []


# A full disk ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_full_disk_loses_nothing(folder: Path, vqagen_: Commands) -> None:
    """The largest block does not fit; those before it do."""
    done_all_but_the_end("whole.json")
    sizes = [path.stat().st_size for path in Path("whole.json.part").glob("*.block")]
    vqagen_.done(f"{ASKED} -o whole.json --resume")
    ran = finish(start(f"{ASKED} -o q.json --workers 2", preexec_fn=limited(max(sizes) - 1)))

    assert ran.code == 3
    assert ran.err.splitlines() == [
        "vqagen: cannot write q.json.part: File too large",
        "  what was made is kept in q.json.part; the same command with --resume finishes it",
    ]
    assert 0 < blocks_of("q.json") < SCENES / WINDOW

    vqagen_.done(f"{ASKED} -o q.json --resume")
    assert Path("q.json").read_bytes() == Path("whole.json").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("out", ["q.jsonl.gz", "q.json"])
def test_a_disk_that_is_full_at_the_end_loses_nothing(folder: Path, vqagen_: Commands, out: str) -> None:
    """While the output is packed, completed, or put together."""
    vqagen_.done(f"{ASKED} -o whole.{out}")
    done_all_but_the_end(out)
    ran = finish(start(f"{ASKED} -o {out} --resume", preexec_fn=limited(20_000)))

    assert (ran.code, Path(out).exists()) == (3, False)
    assert ran.err.splitlines() == [
        f"vqagen: cannot write {out}: File too large",
        f"  what was made is kept in {out}.part; the same command with --resume finishes it",
    ]

    vqagen_.done(f"{ASKED} -o {out} --resume")
    assert Path(out).read_bytes() == Path(f"whole.{out}").read_bytes()
    assert [name for name in os.listdir() if "part" in name] == []
