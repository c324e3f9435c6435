"""Workers: what comes back of them is in order and whole, whatever becomes of one of them, and none is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from commands import Commands, finish, start
from marks import marked, set_mark
from scene_records import sampled_scenes
from toy_work import Toy, ToyJob, begun, toy_windows
from waiting import wait_until

from vqagen.errors import BadInput, InputWarning, VqagenError
from vqagen.run.engines.child import start_python
from vqagen.run.engines.in_process import in_process
from vqagen.run.engines.ordering import Ordering
from vqagen.run.engines.processes import TRIES, Processes, _cause
from vqagen.run.work import Block, Engine, Window, WindowFailed

Result = TypeVar("Result")


def made(job: ToyJob, engine: Engine, first: int | None = None) -> list[Block]:
    """All blocks of a job."""
    first = job.first if first is None else first
    with closing(engine(job.work(first), job.windows(first))) as blocks:
        return list(blocks)


def made_until(job: ToyJob, kind: type[Exception], workers: int = 2) -> tuple[list[int], str]:
    """The first items of the blocks that come before an error, and the error."""
    seen = []
    with pytest.raises(kind) as raised, closing(Processes(workers)(job.work(0), job.windows(0))) as blocks:
        for block in blocks:
            seen.append(block.first)
    return seen, str(raised.value)


def with_warnings(action: Callable[[], Result]) -> tuple[Result, list[str]]:
    """What an action comes to, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        result = action()
    return result, [str(each.message) for each in caught]


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """What `marked` finds the processes of this test by."""
    return set_mark(monkeypatch, tmp_path)


@pytest.fixture
def vqagen_(capfdbinary: pytest.CaptureFixture[bytes]) -> Commands:
    return Commands(capfdbinary)


# The same blocks -----------------------------------------------------------------------------------------------------


@pytest.mark.quick("0-20-3-3", "5-14-4-2")
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize(("first", "count", "size"), [(0, 20, 3), (5, 14, 4), (2, 9, 0)])
def test_any_number_of_workers_makes_the_same_blocks(workers: int, first: int, count: int, size: int) -> None:
    """Also if a run begins inside a window, and if its windows cannot be shared out evenly."""
    job = ToyJob(count, size, first)

    assert made(job, Processes(workers)) == made(job, in_process)


def test_blocks_come_in_order_however_long_each_window_takes() -> None:
    job = ToyJob(24, 2, toy=Toy(dict.fromkeys((0, 6, 8, 10, 20), "rest")))

    assert made(job, Processes(3)) == made(job, in_process)


@pytest.mark.quick(1)
@pytest.mark.parametrize("workers", [2, 3])
def test_no_more_than_four_windows_a_worker_are_ahead_of_what_is_given_out(tmp_path: Path, workers: int) -> None:
    """That bounds memory, though one window lasts while its worker's fellows are idle. They go on when it is done."""
    ahead = 4 * workers
    job = ToyJob(100, 2, toy=Toy({0: "wait for the crowd"}, folder=str(tmp_path), crowd=ahead))
    read: list[Window] = []
    windows = (read.append(window) or window for window in job.windows(0))
    with closing(Processes(workers)(job.work(0), windows)) as blocks:
        ahead_of_each = [len(read) - given for given, _ in enumerate(blocks)]

    assert ahead_of_each[0] == ahead
    assert max(ahead_of_each) == ahead
    assert len(read) == len(ahead_of_each) == len(begun(tmp_path)) == 50


def test_what_a_window_prints_is_no_result(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    made(ToyJob(toy=Toy({4: "print"})), Processes(2))
    out, err = capfdbinary.readouterr()

    assert (out, err) == (b"", b"printed by a plug-in\n")


def test_doubts_are_told_in_order() -> None:
    job = ToyJob(30, 1, toy=Toy({3: "doubt", 9: "doubt"}))

    assert with_warnings(lambda: made(job, Processes(2)))[1] == ["a doubtful toy"] * 2


# Workers that die ----------------------------------------------------------------------------------------------------

KILLED = "a worker process was killed by SIGKILL (out of memory?)"
DEATHS = [("die", "was killed by SIGKILL (out of memory?)"), ("exit", "ended with exit code 7")]


@pytest.mark.quick("die twice-2")
@pytest.mark.parametrize(("act", "times"), [("die once", 1), ("die twice", 2)])
def test_a_window_whose_worker_dies_is_done_again(tmp_path: Path, act: str, times: int) -> None:
    job = ToyJob(20, 3, toy=Toy({7: act}, folder=str(tmp_path)))
    blocks, told = with_warnings(lambda: made(job, Processes(2)))

    assert told == [f"{KILLED} while doing toys 6 to 8: begun again"] * times
    assert blocks == made(replace(job, toy=Toy()), in_process)


def test_all_workers_may_die_at_once(tmp_path: Path) -> None:
    job = ToyJob(20, 1, toy=Toy(dict.fromkeys((4, 5, 6), "die once"), folder=str(tmp_path)))
    blocks, told = with_warnings(lambda: made(job, Processes(3)))

    assert sorted(told) == [f"{KILLED} while doing toy {index}: begun again" for index in (4, 5, 6)]
    assert blocks == made(replace(job, toy=Toy()), in_process)


@pytest.mark.quick(1)
@pytest.mark.parametrize(("act", "cause"), DEATHS)
def test_a_window_that_kills_every_worker_is_given_up_in_its_turn(act: str, cause: str) -> None:
    """What comes before it is not lost, although it takes longer."""
    job = ToyJob(20, 2, toy=Toy({4: "rest", 5: "rest", 6: act}))
    (seen, error), told = with_warnings(lambda: made_until(job, VqagenError))

    assert (seen, len(told)) == ([0, 2, 4], TRIES - 1)
    assert error == f"a worker process {cause} while doing toys 6 to 7: given up after 3 times"


def test_a_worker_that_falls_silent_is_not_said_to_have_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not waited for either."""
    monkeypatch.setattr("vqagen.run.engines.processes.DYING", 0.1)
    job = ToyJob(20, 3, toy=Toy({7: "hang up once"}, folder=str(tmp_path)))
    blocks, told = with_warnings(lambda: made(job, Processes(2)))

    assert told == ["a worker process closed its connection while doing toys 6 to 8: begun again"]
    assert blocks == made(replace(job, toy=Toy()), in_process)


def test_workers_that_are_killed_while_blocks_are_written_lose_nothing(mark: str) -> None:
    job = ToyJob(40, 1)

    def kill_the_first() -> list[int]:
        blocks = []
        with closing(Processes(2)(job.work(0), job.windows(0))) as making:
            for block in making:
                blocks.append(block.first)
                if len(blocks) == 1:
                    for process in marked(mark):
                        os.kill(process, signal.SIGKILL)
        return blocks

    assert with_warnings(kill_the_first)[0] == list(range(40))


def test_a_worker_that_dies_while_the_next_window_is_read_loses_nothing(tmp_path: Path) -> None:
    """The window cannot be sent to it any more, and is sent to another worker."""
    job = ToyJob(4, 1, toy=Toy(folder=str(tmp_path)))

    def windows() -> Iterator[Window]:
        for number, window in enumerate(job.windows(0)):
            if number == 1:
                worker = begun(tmp_path)[0]
                os.kill(worker, signal.SIGKILL)
                os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT)
            yield window

    blocks, told = with_warnings(lambda: list(Processes(1)(job.work(0), windows())))

    assert told == [f"{KILLED} while doing toy 1: begun again"]
    assert blocks == made(replace(job, toy=Toy()), in_process)


# Errors --------------------------------------------------------------------------------------------------------------


def test_a_mistake_in_a_window_is_told_in_its_turn() -> None:
    job = ToyJob(20, 2, toy=Toy({1: "rest", 5: "mistake"}))

    assert made_until(job, BadInput) == ([0, 2], "toys.json: no such thing")


def test_a_bug_in_a_window_names_its_items_and_its_place() -> None:
    seen, error = made_until(ToyJob(20, 2, toy=Toy({3: "rest", 5: "bug"})), WindowFailed)

    assert seen == [0, 2]
    assert error.startswith("toys 4 to 5:\nTraceback (most recent call last):\n")
    assert error.endswith("in act\n    raise make()\nZeroDivisionError: a bug of ours\n")


@pytest.mark.quick(1)
@pytest.mark.parametrize("why", [VqagenError("toy 7 cannot be read"), ZeroDivisionError("a bug of ours")])
def test_an_input_that_cannot_be_read_further_is_told_when_all_before_is_done(why: Exception) -> None:
    """What was read of the window itself is not a window."""
    job = ToyJob(20, 2, toy=Toy({1: "rest", 2: "rest"}), unreadable=7, why=why)

    assert made_until(job, type(why)) == ([0, 2, 4], str(why))


def test_of_several_errors_the_first_is_told() -> None:
    """Such as when the input ends in one, and then a worker that still starts cannot load its work."""
    ordering = Ordering(iter([]), ahead=4)
    ordering.stop(VqagenError("the first"))
    ordering.stop(VqagenError("the second"))

    with pytest.raises(VqagenError, match=r"^the first$"):
        ordering.end()


def test_work_that_cannot_be_loaded_says_why() -> None:
    assert made_until(ToyJob(toy=Toy(loading="mistake")), BadInput, workers=1) == ([], "toys.json: no such thing")


@pytest.mark.parametrize("act", ["stubborn mistake", "twofold mistake"])
def test_a_mistake_that_cannot_be_sent_keeps_its_words(act: str) -> None:
    """Not every exception can be pickled, and not everything that was pickled can be made again."""
    told = "toys.json: no such thing"
    (seen, error), warned = with_warnings(lambda: made_until(ToyJob(20, 2, toy=Toy({5: act})), VqagenError, workers=1))

    assert (seen, error, warned) == ([0, 2], told, [])
    assert with_warnings(lambda: made_until(ToyJob(toy=Toy(loading=act)), VqagenError, workers=1)) == (([], told), [])


def test_a_mistake_that_only_the_worker_knows_is_one_of_ours() -> None:
    seen, error = made_until(ToyJob(20, 2, toy=Toy({5: "foreign mistake"})), WindowFailed, workers=1)

    assert seen == [0, 2]
    assert error.startswith("what a worker has sent cannot be read:\nTraceback")
    assert error.endswith("No module named 'a_module_of_the_worker'\n")


def test_work_that_cannot_be_sent_is_refused(mark: str) -> None:
    work = Toy(encode=lambda records: b"")

    with pytest.raises(VqagenError, match=r"^cannot be done by other processes than this one: .*lambda"):
        list(Processes(2)(work, toy_windows(9)))
    assert marked(mark) == set()


@pytest.mark.quick("exit-ended with exit code 7")
@pytest.mark.parametrize(("act", "cause"), DEATHS)
def test_workers_that_die_while_they_start_are_given_up(act: str, cause: str) -> None:
    job = ToyJob(3, toy=Toy(loading=act))
    (seen, error), told = with_warnings(lambda: made_until(job, VqagenError))

    began = f"a worker process {cause} before it could begin with toys 0 to 2"
    assert told == [f"{began}: begun again"] * (TRIES - 1)
    assert (seen, error) == ([], f"{began}: given up after 3 times")


def test_a_worker_that_dies_while_it_starts_is_replaced(tmp_path: Path) -> None:
    job = ToyJob(3, toy=Toy(loading="die once", folder=str(tmp_path)))
    blocks, told = with_warnings(lambda: made(job, Processes(2)))

    assert told == [f"{KILLED} before it could begin with toys 0 to 2: begun again"]
    assert [block.first for block in blocks] == [0, 2]


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("loading", "last"), [("bug", "ZeroDivisionError: a bug of ours"), ("disk", "FileNotFoundError: ")]
)
def test_a_bug_while_loading_says_where_it_is(loading: str, last: str) -> None:
    seen, error = made_until(ToyJob(toy=Toy(loading=loading)), WindowFailed, workers=1)

    assert seen == []
    assert error.startswith("a worker process could not load its work:\nTraceback")
    assert error.splitlines()[-1].startswith(last)


def test_a_worker_that_runs_out_of_memory_says_so_in_one_line() -> None:
    """In a window, and while it loads what it needs."""
    advice = "out of memory in a worker; start fewer workers"

    doing = made_until(ToyJob(20, 2, toy=Toy({5: "memory"})), VqagenError, workers=1)
    assert doing == ([0, 2], f"toys 4 to 5: {advice}")
    loading = made_until(ToyJob(toy=Toy(loading="memory")), VqagenError, workers=1)
    assert loading == ([], f"a worker process could not load its work: {advice}")


@pytest.mark.parametrize(
    "error",
    [
        "MemoryError",
        "ImportError('libx.so: failed to map segment from shared object')",
        "RuntimeError('can\\'t start new thread')",
    ],
)
def test_a_worker_that_cannot_begin_for_lack_of_memory_is_known_by_its_exit_code(error: str) -> None:
    """It prints no traceback, for it is begun again."""
    child = start_python(f"raise {error}", [])

    assert _cause(child.wait()) == "ran out of memory"


def test_a_machine_that_starts_no_process_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    assert made_until(ToyJob(), VqagenError) == ([], "cannot start a worker process: No such file or directory")


# The end -------------------------------------------------------------------------------------------------------------


def consumed_early(blocks: Generator[Block]) -> None:
    blocks.close()


def interrupted(blocks: Generator[Block]) -> None:
    with pytest.raises(KeyboardInterrupt), closing(blocks):
        raise KeyboardInterrupt


@pytest.mark.quick(1)
@pytest.mark.parametrize("end", [consumed_early, interrupted])
def test_no_worker_outlives_what_takes_the_blocks(mark: str, end: Callable[[Generator[Block]], None]) -> None:
    """Not even one that is in the middle of a window."""
    job = ToyJob(20, 2, toy=Toy(dict.fromkeys(range(6, 20, 2), "stay")))
    blocks = Processes(2)(job.work(0), job.windows(0))
    next(blocks)
    assert len(marked(mark)) == 2

    end(blocks)

    assert marked(mark) == set()


@pytest.mark.quick(1)
@pytest.mark.parametrize("act", ["mistake", "bug", "die"])
def test_no_worker_outlives_an_error(mark: str, act: str) -> None:
    job = ToyJob(20, 2, toy=Toy({2: act, 4: "stay", 6: "stay"}))
    with_warnings(lambda: made_until(job, Exception, workers=3))

    assert marked(mark) == set()


PARENT = """
import sys
sys.path.insert(0, {tests!r})
from toy_work import Toy, toy_windows
from vqagen.run.engines.ordering import Ordering
from vqagen.run.engines.processes import Processes
work = Toy(dict.fromkeys(range(4, 20), "stay"), folder={folder!r})
for block in Processes(2)(work, toy_windows(20)):
    print(block.first, flush=True)
"""


@pytest.mark.quick(1)  # the test below sends another
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_workers_end_with_their_parent_however_that_ends(mark: str, tmp_path: Path, number: signal.Signals) -> None:
    """They are in the middle of a window, and the signal is not for them."""
    program = PARENT.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    parent = start("", program)
    wait_until(lambda: len(begun(tmp_path)) == 4)
    assert len(marked(mark)) == 3

    parent.send_signal(number)
    finish(parent)

    assert parent.returncode != 0
    wait_until(lambda: marked(mark) == set())


def test_ctrl_c_reaches_the_parent_alone(mark: str, tmp_path: Path) -> None:
    """A terminal sends it to a process group, and a batch system sends SIGTERM to every process it knows of."""
    program = PARENT.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    parent = start("", program, process_group=0)
    wait_until(lambda: len(begun(tmp_path)) == 4)
    workers = marked(mark) - {parent.pid}

    assert all(os.getpgid(worker) != parent.pid for worker in workers)
    for worker in workers:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(worker, number)
    assert marked(mark) == {parent.pid, *workers}

    os.killpg(parent.pid, signal.SIGINT)
    finish(parent)
    wait_until(lambda: marked(mark) == set())


# Programs ------------------------------------------------------------------------------------------------------------

PLUGIN = """
from vqagen.plugin import function
print("loaded")

@function("ObjectSet", output="Integer", asks="count")
def corners(scene, objects):
    print("at work")
    if BUG and scene.index == 5:
        raise ZeroDivisionError("a bug of the plug-in")
    return 8 * objects.bit_count()
"""
TEMPLATE = {
    "name": "corners",
    "text": ["How many corners are there?"],
    "params": [],
    "nodes": [{"type": "scene", "inputs": []}, {"type": "corners", "inputs": [0]}],
    "constraints": [],
}
SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, "parts")
sys.path.append(Path("elsewhere"))
import vqagen
print("run once")
files = vqagen.find_domain(templates="templates.json", plugins=["corners.py"])
settings, options = vqagen.QuestionSettings(reset_counts_every=2), vqagen.RunOptions(workers=2)
vqagen.write_questions("scenes.json", sys.argv[1], files, settings, options=options)
"""
ASKED = "generate --scenes scenes.json --templates templates.json --plugin corners.py --reset-counts-every 2"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with scenes, a plug-in that prints, and a template that needs it."""
    monkeypatch.chdir(tmp_path)
    records = sampled_scenes(9, seed=3)
    Path("scenes.json").write_text(json.dumps({"info": {}, "scenes": records}))
    Path("templates.json").write_text(json.dumps([TEMPLATE]))
    Path("corners.py").write_text(f"BUG = False\n{PLUGIN}")
    return tmp_path


def test_a_plug_in_gives_the_same_bytes_with_workers(folder: Path, vqagen_: Commands) -> None:
    """Standard output has them and nothing else, although the plug-in prints."""
    vqagen_.done(f"{ASKED} -o q.json --workers 1")

    assert vqagen_.done(f"{ASKED} -o - --workers 2").out == Path("q.json").read_bytes()
    assert len(json.loads(Path("q.json").read_bytes())["questions"]) == 9


def test_a_bug_of_a_plug_in_names_its_line(folder: Path, vqagen_: Commands) -> None:
    Path("corners.py").write_text(f"BUG = True\n{PLUGIN}")
    for workers in (1, 2):
        ran = vqagen_(f"{ASKED} -o q{workers}.json --workers {workers}")

        assert ran.code == 3
        assert "corners.py:10:9: plug-in: function corners failed: ZeroDivisionError: a bug of the plug-in" in ran.err


def test_a_script_needs_no_guard_and_may_change_its_path(folder: Path) -> None:
    """`multiprocessing` would run it again in each worker, and not know of a path that it has set itself."""
    Path("parts").mkdir()
    Path("parts/helper.py").write_text("BUG = False")
    Path("corners.py").write_text(f"from helper import BUG\n{PLUGIN}")
    Path("script.py").write_text(SCRIPT)
    ran = subprocess.run([sys.executable, "script.py", "q.json"], capture_output=True, check=False)

    assert (ran.returncode, ran.stdout.count(b"run once")) == (0, 1), ran
    assert len(json.loads(Path("q.json").read_bytes())["questions"]) == 9


@pytest.mark.slow
def test_a_reader_that_goes_away_leaves_no_worker(folder: Path, mark: str) -> None:
    process = start(f"{ASKED} -o - --workers 2 --instances-per-template 0", cwd=folder)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    finish(process)

    assert marked(mark) == set()
