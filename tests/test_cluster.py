"""The Dask engine, against real schedulers and real worker processes that really die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_work import Spelling, windows
from waiting import wait_until

from vqagen.errors import InputWarning, UsageError, VqagenError
from vqagen.run.cluster import Cluster
from vqagen.run.in_process import in_process
from vqagen.run.work import Block, WindowFailed, Work

distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

ROOT = Path(__file__).parents[1]
HIDE_VQAGEN = "import sys; sys.modules['vqagen'] = None"
"""As `sitecustomize.py` it makes a Python that has no vqagen, installed or not."""
IMPORTABLE = os.pathsep.join([str(ROOT), str(ROOT / "tests")])


@pytest.fixture(autouse=True)
def importable_in_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of a test find vqagen and the tests' own work."""
    monkeypatch.setenv("PYTHONPATH", IMPORTABLE)


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
            with distributed.Client(self.address, timeout=30, set_as_default=False) as client:
                client.wait_for_workers(count, timeout=60)

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


def expected(number: int) -> list[Block]:
    """The blocks of `windows(number)`, made in this process by the plain engine."""
    return list(in_process(Spelling(), windows(number)))


def done_on(address: str, work: Work, number: int) -> list[Block]:
    return list(Cluster(address)(work, windows(number)))


def test_blocks_are_those_of_one_process_in_order_and_work_is_loaded_once_a_worker(tmp_path: Path) -> None:
    work = Spelling(folder=str(tmp_path), slow=((0, 0.3), (6, 0.1)), warned=(4,))

    with pytest.warns(InputWarning, match="^scene 4 is doubtful$"):
        blocks = done_on("local:2", work, 20)

    assert blocks == expected(20)
    assert len(list(tmp_path.glob("loaded-*"))) == 2


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        (Spelling(wrong=(6, 8), slow=((0, 0.3),)), VqagenError, "^scene 6 is wrong$"),
        (Spelling(broken=(6,)), WindowFailed, "(?s)^scenes 6 to 7:.*ZeroDivisionError"),
        (Spelling(unreadable=True), VqagenError, "^the worker on .*: templates.json: cannot be read$"),
    ],
    ids=["user's mistake", "our mistake", "not to be loaded"],
)
def test_what_is_wrong_with_a_window_is_raised_in_its_turn(work: Spelling, error: type, message: str) -> None:
    """The blocks before it are given out, as one process would."""
    given: list[Block] = []

    with pytest.raises(error, match=message):
        given.extend(Cluster("local:2")(work, windows(8)))  # `extend` keeps what came before the error

    assert given == ([] if work.unreadable else expected(3))


def test_a_window_that_kills_its_workers_ends_the_run() -> None:
    """Dask may blame a window that only waited beside it. What was given out before is right in any case."""
    given: list[Block] = []

    with pytest.raises(
        VqagenError, match=r"^given up: scenes \d to \d, or what waited beside them, lost their worker 3 times"
    ):
        given.extend(Cluster("local:2")(Spelling(deadly=(6,)), windows(8)))

    assert given == expected(8)[: len(given)]
    assert len(given) <= 3


def test_windows_are_read_no_further_ahead_than_workers_need() -> None:
    """Four windows a thread are begun at most, so memory stays as it is however long the run."""
    begun: list[int] = []
    blocks = Cluster("local:1")(Spelling(), (begun.append(window.number) or window for window in windows(50)))

    ahead = [len(begun) - given for given, _ in enumerate(blocks)]

    assert max(ahead) <= 4
    assert len(begun) == 50


def test_the_cluster_forgets_what_was_done(dask: DaskProcesses) -> None:
    """Neither inputs nor results stay on the scheduler or the workers."""
    dask.worker()
    blocks = Cluster(dask.address)(Spelling(), windows(30, record_size=100_000))
    with distributed.Client(dask.address, set_as_default=False) as onlooker:
        held = [len(list(*onlooker.has_what().values())) for _ in blocks]
        wait_until(lambda: not any(onlooker.has_what().values()))

    assert len(held) == 30
    assert max(held) < 15  # four at most are ahead; letting go of the others takes a moment


def test_a_killed_worker_loses_nothing(dask: DaskProcesses, tmp_path: Path) -> None:
    """SIGKILL in the middle of a window: the other worker does it again."""
    dask.worker()
    doomed = dask.worker()
    dask.wait_for_workers(2)
    work = Spelling(folder=str(tmp_path), slow=tuple((first, 0.2) for first in range(0, 24, 2)))
    blocks = Cluster(dask.address)(work, windows(12))
    first = next(blocks)
    wait_until(lambda: list(tmp_path.glob(f"*-{doomed.pid}")))

    doomed.send_signal(signal.SIGKILL)

    assert [first, *blocks] == expected(12)


def test_a_local_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    work = Spelling(folder=str(tmp_path), deadly_once=(2,))

    assert done_on("local:1", work, 4) == expected(4)


def test_a_run_without_workers_says_so_and_waits(dask: DaskProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vqagen.run.cluster.PATIENCE", 0.0)
    monkeypatch.setattr("vqagen.run.cluster.LOOK", 0.1)
    blocks: list[Block] = []

    with pytest.warns(InputWarning, match=f"^no workers at {dask.address}: waiting for some to come$") as told:
        threading.Timer(1, dask.worker).start()
        blocks = done_on(dask.address, Spelling(), 5)

    assert blocks == expected(5)
    assert len(told) == 1


def test_a_lost_scheduler_ends_the_run_in_one_line(dask: DaskProcesses) -> None:
    dask.worker()
    blocks = Cluster(dask.address)(Spelling(slow=((8, 60),)), windows(8))
    next(blocks)

    dask.scheduler.kill()

    with pytest.raises(VqagenError, match=f"^lost the scheduler at {dask.address}; what is done is kept"):
        list(blocks)


def test_an_unreachable_scheduler_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vqagen.run.cluster.TIMEOUT", 0.5)

    with pytest.raises(UsageError, match=r"^cannot reach the scheduler at tcp://127.0.0.1:9: .*$"):
        done_on("tcp://127.0.0.1:9", Spelling(), 1)


@pytest.mark.parametrize("address", ["local:0", "local:x", "local:", "tcp://", "tcp://host", "host:8786", ""])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(
        UsageError, match=f"^--cluster {address}: expected the address of a Dask scheduler, such as tcp"
    ):
        Cluster(address)


def test_a_worker_without_vqagen_is_named(dask: DaskProcesses) -> None:
    dask.worker(**dask.bare)

    with pytest.raises(VqagenError, match=r"^no vqagen on tcp://127.0.0.1:\d+: every worker needs vqagen \d"):
        done_on(dask.address, Spelling(), 3)


def test_a_worker_with_another_vqagen_is_named(dask: DaskProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    dask.worker()
    monkeypatch.setattr("vqagen.run.cluster.__version__", "99.0")

    with pytest.raises(VqagenError, match=r"^the worker on \S+ has vqagen \d\S+; this run is by 99.0$"):
        done_on(dask.address, Spelling(), 3)


SCRIPT = """
from cluster_work import Spelling, windows
from vqagen.run.cluster import Cluster
try:
    for block in Cluster("local:2")(Spelling(folder={folder!r}, slow=((4, {seconds}),)), windows(6)):
        print(block.first, flush=True)
except KeyboardInterrupt:
    print("interrupted")
"""


def started(folder: Path, seconds: int) -> subprocess.Popen[bytes]:
    """A process of its own, with no `if __name__ == "__main__"`, that stays at its third window for a while."""
    script = folder / "script.py"
    script.write_text(SCRIPT.format(folder=str(folder), seconds=seconds))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, str(script)], start_new_session=True, **pipes)


def workers_noted(folder: Path) -> set[int]:
    return {int(path.name.split("-")[1]) for path in folder.glob("loaded-*")}


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_run_leaves_nothing_behind(tmp_path: Path) -> None:
    """Neither processes, nor words on the terminal."""
    process = started(tmp_path, seconds=0)

    out, err = process.communicate(timeout=60)

    assert (process.returncode, out.split(), err) == (0, [b"0", b"2", b"4", b"6", b"8", b"10"], b"")
    assert not any(map(is_alive, workers_noted(tmp_path)))


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_an_ended_run_leaves_no_workers(tmp_path: Path, end: signal.Signals) -> None:
    """Ctrl-C in a terminal goes to all processes of the run; SIGKILL to the one. None but the script says a word."""
    process = started(tmp_path, seconds=60)
    wait_until(lambda: list(tmp_path.glob("4-*")) and len(workers_noted(tmp_path)) == 2)

    (os.killpg if end == signal.SIGINT else os.kill)(process.pid, end)
    out, err = process.communicate(timeout=60)

    assert (b"interrupted" in out, err) == (end == signal.SIGINT, b"")
    wait_until(lambda: not any(map(is_alive, workers_noted(tmp_path))))


def test_dask_is_not_imported_before_it_is_asked_for() -> None:
    code = "import sys, vqagen.run.cluster; sys.exit('distributed' in sys.modules or 'dask' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
