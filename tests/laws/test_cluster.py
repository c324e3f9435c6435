"""The Dask engine, against real schedulers and real worker processes that really die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from toy_work import Toy, begun, toy_windows
from waiting import PATIENCE, wait_until

from vqagen.errors import BadInput, InputWarning, UsageError, VqagenError
from vqagen.run.blocks import Block, in_order
from vqagen.run.cluster import Cluster
from vqagen.run.engines import pack_work
from vqagen.run.windows import Window, WindowFailed, in_process

distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
HIDE_VQAGEN = "import sys; sys.modules['vqagen'] = None"
"""As `sitecustomize.py` it makes a Python that has no vqagen, installed or not."""
IMPORTABLE = os.pathsep.join([str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "helpers")])


@pytest.fixture(autouse=True)
def importable_in_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of a test find vqagen and the tests' own work."""
    monkeypatch.setenv("PYTHONPATH", IMPORTABLE)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler on a loaded machine may answer late, and a worker may take long to be back."""
    monkeypatch.setattr("vqagen.run.cluster.TIMEOUT", PATIENCE)
    monkeypatch.setattr("vqagen.run.cluster.PATIENCE", PATIENCE)


class DaskProcesses:
    """A scheduler, which has no vqagen, and workers, as a person starts them by hand."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        (folder / "bare").mkdir()
        (folder / "bare" / "sitecustomize.py").write_text(HIDE_VQAGEN)
        self.bare = {"PYTHONPATH": str(folder / "bare")}
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", **self.bare)
        wait_until(
            lambda: self._file.exists() and self._file.read_text().rstrip().endswith("}")
        )  # not all comes at once
        self.address: str = json.loads(self._file.read_text())["address"]

    @property
    def _file(self) -> Path:
        return self.folder / "scheduler.json"

    def worker(self, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker of one thread."""
        plain = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder))
        return self._start("worker", *plain, *options, **environment)

    def _start(self, role: str, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{role}", "--scheduler-file", str(self._file), *options]
        log = (self.folder / "log").open("ab")
        with log:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, "DASK_TEMPORARY_DIRECTORY": str(self.folder), **environment},
                stdout=log,
                stderr=log,
            )
        self.processes.append(process)
        return process

    def wait_for_workers(self, count: int) -> None:
        """Wait until so many have come to the scheduler."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with distributed.Client(self.address, timeout=PATIENCE, set_as_default=False) as client:
                client.wait_for_workers(count, timeout=PATIENCE)

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[DaskProcesses]:
    """A scheduler that has no workers yet."""
    (tmp_path / "dask").mkdir()
    processes = DaskProcesses(tmp_path / "dask")
    yield processes
    processes.end()


def expected(count: int) -> list[Block]:
    """The blocks of so many items, made in this process by the plain engine."""
    return list(in_process(Toy(), toy_windows(count)))


def done_on(address: str, work: Toy, count: int) -> list[Block]:
    return list(in_order(Cluster(address)(work, toy_windows(count)), 0))


def test_blocks_are_those_of_one_process_in_order(tmp_path: Path) -> None:
    """`local:N` starts workers of its own."""
    work = Toy({4: "doubt"}, folder=str(tmp_path))
    with pytest.warns(InputWarning, match=r"^a doubtful toy$"):
        blocks = done_on("local:2", work, 40)

    assert blocks == expected(40)


WRONG = [
    (Toy({0: "rest", 6: "mistake", 8: "bug"}), BadInput, "^toys.json: no such thing$"),
    (Toy({6: "bug"}), WindowFailed, "(?s)^toys 6 to 7:.*ZeroDivisionError"),
    (Toy({6: "stubborn mistake"}), VqagenError, "^toys.json: no such thing$"),
    (Toy({6: "twofold mistake"}), VqagenError, "^toys.json: no such thing$"),
    (Toy({6: "foreign mistake"}), VqagenError, "^no such thing$"),
    (Toy(loading="mistake"), VqagenError, "^the worker on .*: toys.json: no such thing$"),
    (Toy(loading="bug"), WindowFailed, "(?s)^the worker on .*ZeroDivisionError"),
]


def test_what_is_wrong_with_a_window_is_raised_in_its_turn(dask: DaskProcesses) -> None:
    """The blocks before it are given out, as one process would; a window that kills its workers ends the run."""
    for _ in range(2):
        dask.worker()
    dask.wait_for_workers(2)
    for work, error, message in WRONG:
        given: list[Block] = []
        with pytest.raises(error, match=message):
            given.extend(in_order(Cluster(dask.address)(work, toy_windows(16)), 0))  # `extend` keeps what came before
        assert given == ([] if work.loading else expected(6))


def test_work_that_cannot_be_sent_is_refused() -> None:
    with pytest.raises(VqagenError, match=r"^cannot be done by other processes than this one: .*lambda"):
        pack_work(Toy(encode=lambda records: b""))


def test_windows_are_read_no_further_ahead_than_workers_need(dask: DaskProcesses) -> None:
    """Four windows a thread are begun at most, so memory stays as it is however long the run."""
    dask.worker()
    dask.wait_for_workers(1)
    read: list[tuple[int, Window]] = []
    blocks = Cluster(dask.address)(Toy(), (read.append(window) or window for window in toy_windows(100)))

    ahead = [len(read) - given for given, _ in enumerate(in_order(blocks, 0))]

    assert max(ahead) <= 4
    assert len(read) == 50


def test_a_killed_worker_loses_nothing(dask: DaskProcesses, tmp_path: Path) -> None:
    """SIGKILL in the middle of a window: the other worker does it again. `test_processes.py` has a quick test of it."""
    notes = tmp_path / "notes"
    notes.mkdir()
    workers = {process.pid: process for process in (dask.worker(), dask.worker())}
    dask.wait_for_workers(2)
    blocks = Cluster(dask.address)(Toy({2: "stay once"}, folder=str(notes)), toy_windows(24))
    first = next(blocks)
    wait_until(lambda: 2 in begun(notes))

    workers[begun(notes)[2]].send_signal(signal.SIGKILL)

    assert [*in_order([first, *blocks], 0)] == expected(24)


def test_a_lost_scheduler_ends_the_run_in_one_line(dask: DaskProcesses) -> None:
    dask.worker()
    blocks = Cluster(dask.address)(Toy({8: "stay"}), toy_windows(16))
    next(blocks)

    dask.scheduler.kill()
    dask.scheduler.wait()

    with pytest.raises(VqagenError, match=f"^lost the scheduler at {dask.address}; what is done is kept"):
        list(blocks)


def test_an_unreachable_scheduler_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vqagen.run.cluster.TIMEOUT", 0.5)

    with pytest.raises(UsageError, match=r"^cannot reach the scheduler at tcp://127.0.0.1:9: .*$"):
        done_on("tcp://127.0.0.1:9", Toy(), 1)


def test_an_address_of_a_kind_that_cannot_be_used_is_refused_quietly(capfd: pytest.CaptureFixture[str]) -> None:
    """Dask leaves the traceback of a client that was made in part."""
    with pytest.raises(UsageError, match=r"^cannot reach the scheduler at tls://127\.0\.0\.1:1: "):
        done_on("tls://127.0.0.1:1", Toy(), 1)

    assert capfd.readouterr() == ("", "")


def test_what_is_no_address_is_refused() -> None:
    for address in ("local:0", "http://127.0.0.1:80", "tcp://", "tcp://host", "host:8786", ""):
        with pytest.raises(UsageError, match=f"^--cluster {address}: expected the address of a Dask scheduler, such"):
            Cluster(address)


def test_a_worker_without_vqagen_is_named(dask: DaskProcesses) -> None:
    dask.worker(**dask.bare)

    with pytest.raises(VqagenError, match=r"^every worker needs vqagen \d\S+, and one lacks it: .*vqagen"):
        done_on(dask.address, Toy(), 3)


def test_a_worker_with_another_vqagen_is_named(dask: DaskProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    dask.worker()
    monkeypatch.setattr("vqagen.run.cluster.__version__", "99.0")

    with pytest.raises(VqagenError, match=r"^the worker on \S+ has vqagen \d\S+; this run is by 99.0$"):
        done_on(dask.address, Toy(), 3)
