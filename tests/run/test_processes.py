"""Workers: what comes back of them is in order and whole, whatever becomes of one of them, and none is left behind."""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TypeVar

import pytest
from commands import Commands, finish, start
from marks import marked, set_mark
from scene_records import sampled_scenes
from toy_work import Toy, ToyJob, begun
from waiting import wait_until

from vqagen.errors import BadInput, InputWarning, VqagenError
from vqagen.run.blocks import Block, in_order
from vqagen.run.engines import TRIES, Processes, do_window
from vqagen.run.windows import Engine, Window, WindowFailed, in_process

Result = TypeVar("Result")


def begun_on(engine: Engine, job: ToyJob) -> Generator[Block]:
    """The blocks of a job, as they are finished."""
    return engine(job.work(), ((job.first, window) for window in job.windows(job.first)))


def made(job: ToyJob, engine: Engine) -> list[Block]:
    """All blocks of a job, in order."""
    with closing(begun_on(engine, job)) as blocks:
        return list(in_order(blocks, job.first))


def made_until(job: ToyJob, kind: type[Exception], workers: int = 2) -> tuple[list[int], str]:
    """The first items of the blocks that come before an error and follow each other, and the error."""
    seen = []
    with pytest.raises(kind) as raised, closing(begun_on(Processes(workers), job)) as blocks:
        for block in in_order(blocks, job.first):
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


def test_workers_make_the_same_blocks_in_order_whatever_becomes_of_one(tmp_path: Path, mark: str) -> None:
    """Also if a run begins inside a window, one worker dies, and each window takes another time; none is left."""
    acts = {6: "die once", 9: "rest", 12: "rest", 13: "doubt"}
    job = ToyJob(14, 4, 5, toy=Toy(acts, folder=str(tmp_path)))
    blocks, told = with_warnings(lambda: made(job, Processes(2)))

    assert blocks == made(replace(job, toy=Toy()), in_process)
    assert told == [f"{KILLED} while doing toys 4 to 7: begun again", "a doubtful toy"]
    assert marked(mark) == set()


@pytest.mark.slow
def test_any_number_of_workers_makes_the_same_blocks() -> None:
    """Also if windows cannot be shared out evenly, and for one window of all."""
    for workers, (count, size, first) in product((1, 3), [(20, 3, 0), (9, 0, 2)]):
        job = ToyJob(count, size, first)
        assert made(job, Processes(workers)) == made(job, in_process)


@pytest.mark.slow
def test_no_more_than_four_windows_a_worker_are_ahead_of_what_is_given_out(tmp_path: Path) -> None:
    """That bounds memory, though one window lasts while its worker's fellows are idle. They go on when it is done."""
    workers, ahead = 2, 8
    job = ToyJob(100, 2, toy=Toy({0: "wait for the crowd"}, folder=str(tmp_path), crowd=ahead))
    read: list[Window] = []
    windows = (read.append(window) or (0, window) for window in job.windows(0))
    with closing(Processes(workers)(job.work(), windows)) as blocks:
        ahead_of_each = [len(read) - given for given, _ in enumerate(in_order(blocks, 0))]

    assert ahead_of_each[0] == ahead
    assert max(ahead_of_each) == ahead
    assert len(read) == len(ahead_of_each) == len(begun(tmp_path)) == 50


@pytest.mark.slow
def test_blocks_are_handed_over_before_their_window_is_done(tmp_path: Path, mark: str) -> None:
    """Two windows of one worker each, which never end: a kill loses what is in the making, and no more."""
    job = ToyJob(20, 10, toy=Toy({6: "stay", 18: "stay"}, folder=str(tmp_path)))
    with closing(begun_on(Processes(2), job)) as blocks:
        assert sorted(next(blocks).first for _ in range(7)) == [0, 2, 4, 10, 12, 14, 16]


@pytest.mark.slow
def test_a_worker_that_dies_in_a_window_hands_over_no_block_twice(tmp_path: Path) -> None:
    job = ToyJob(10, 10, toy=Toy({6: "die once"}, folder=str(tmp_path)))
    blocks, _ = with_warnings(lambda: [*begun_on(Processes(1), job)])

    assert blocks == made(replace(job, toy=Toy()), in_process)


# Workers that die ----------------------------------------------------------------------------------------------------

KILLED = "a worker process was killed by SIGKILL (out of memory?)"
DEATHS = [
    (Toy({4: "rest", 5: "rest", 6: "die"}), "was killed by SIGKILL (out of memory?) while doing toys 6 to 7"),
    (Toy({4: "rest", 5: "rest", 6: "exit"}), "ended with exit code 7 while doing toys 6 to 7"),
    (Toy(loading="exit"), "ended with exit code 7 while doing toys 0 to 1"),
]


@pytest.mark.slow
def test_a_window_whose_worker_dies_twice_is_done_a_third_time(tmp_path: Path) -> None:
    job = ToyJob(20, 3, toy=Toy({7: "die twice"}, folder=str(tmp_path)))
    blocks, told = with_warnings(lambda: made(job, Processes(2)))

    assert told == [f"{KILLED} while doing toys 6 to 8: begun again"] * 2
    assert blocks == made(replace(job, toy=Toy()), in_process)


@pytest.mark.slow
@pytest.mark.parametrize(("toy", "cause"), DEATHS)
def test_a_window_that_kills_every_worker_is_given_up_in_its_turn(toy: Toy, cause: str) -> None:
    """What comes before it is not lost, although it takes longer."""
    (seen, error), told = with_warnings(lambda: made_until(ToyJob(20, 2, toy=toy), VqagenError))

    assert (seen, told) == ([] if toy.loading else [0, 2, 4], [f"a worker process {cause}: begun again"] * (TRIES - 1))
    assert error == f"a worker process {cause}: given up after 3 times"


@pytest.mark.slow
def test_workers_that_are_killed_while_blocks_are_written_lose_nothing(mark: str) -> None:
    job = ToyJob(40, 1)

    def kill_the_first() -> list[int]:
        blocks = []
        with closing(begun_on(Processes(2), job)) as making:
            for block in making:
                blocks.append(block.first)
                if len(blocks) == 1:
                    for process in marked(mark):
                        os.kill(process, signal.SIGKILL)
        return blocks

    assert sorted(with_warnings(kill_the_first)[0]) == list(range(40))


# Errors --------------------------------------------------------------------------------------------------------------


MISTAKES = [
    ({1: "rest", 5: "mistake"}, BadInput, "^toys.json: no such thing$"),
    (
        {3: "rest", 5: "bug"},
        WindowFailed,
        r"(?s)^toys 4 to 5:\nTraceback .*in act\n.*ZeroDivisionError: a bug of ",
    ),
    ({5: "stubborn mistake"}, VqagenError, "^toys.json: no such thing$"),
    ({5: "twofold mistake"}, VqagenError, "^toys.json: no such thing$"),
    ({5: "foreign mistake"}, VqagenError, "^no such thing$"),
    ({5: "memory"}, VqagenError, "^toys 4 to 5: out of memory in a worker; start fewer workers$"),
]


def test_the_outcome_of_a_window_comes_back_as_it_was() -> None:
    """Not every exception can be pickled, and not everything that was pickled can be made again."""
    for acts, kind, message in MISTAKES:
        items = [item for window in ToyJob(2, 2, 4).windows(4) for item in window]
        outcome = do_window("", (pickle.dumps(Toy({5: acts[5]})), 0, pickle.dumps(items)), lambda block: None)
        sys.modules.pop("a_module_of_the_worker", None)
        error = pickle.loads(pickle.dumps(outcome)).error

        assert isinstance(error, kind) and re.search(message, str(error)), (acts, error)


@pytest.mark.slow
def test_a_mistake_in_a_window_is_told_in_its_turn() -> None:
    for acts, kind, message in MISTAKES:
        seen, error = made_until(ToyJob(20, 2, toy=Toy(acts)), kind)

        assert seen == [0, 2] and re.search(message, error), (acts, error)


@pytest.mark.slow
def test_an_input_that_cannot_be_read_further_is_told_when_all_before_is_done() -> None:
    """What was read of the window itself is not a window."""
    why = ZeroDivisionError("a bug of ours")
    job = ToyJob(20, 2, toy=Toy({1: "rest", 2: "rest"}), unreadable=7, why=why)

    assert made_until(job, type(why)) == ([0, 2, 4], str(why))


@pytest.mark.slow
def test_work_that_cannot_be_loaded_says_why() -> None:
    ours = r"(?s)^a worker process could not load its work:\nTraceback.*\n"
    faults = [
        ("mistake", BadInput, "^toys.json: no such thing$"),
        ("stubborn mistake", VqagenError, "^toys.json: no such thing$"),
        ("memory", VqagenError, "could not load its work: out of memory in a worker; start fewer workers$"),
        ("bug", WindowFailed, f"{ours}ZeroDivisionError: a bug of ours"),
        ("disk", WindowFailed, f"{ours}FileNotFoundError: "),
    ]
    for loading, kind, message in faults:
        seen, error = made_until(ToyJob(toy=Toy(loading=loading)), kind, workers=1)

        assert seen == [] and re.search(message, error), (loading, error)


def test_a_machine_that_starts_no_process_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    assert made_until(ToyJob(), VqagenError) == ([], "cannot start a worker process: No such file or directory")


# The end -------------------------------------------------------------------------------------------------------------


def consumed_early(blocks: Generator[Block]) -> None:
    blocks.close()


def interrupted(blocks: Generator[Block]) -> None:
    with pytest.raises(KeyboardInterrupt), closing(blocks):
        raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("end", [consumed_early, interrupted])
def test_no_worker_outlives_what_takes_the_blocks(mark: str, end: Callable[[Generator[Block]], None]) -> None:
    """Not even one that is in the middle of a window."""
    job = ToyJob(20, 2, toy=Toy(dict.fromkeys(range(6, 20, 2), "stay")))
    blocks = begun_on(Processes(2), job)
    next(blocks)
    assert len(marked(mark)) == 2

    end(blocks)

    assert marked(mark) == set()


PARENT = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # `nohup` lets programs inherit that it is ignored
sys.path.insert(0, {tests!r})
from toy_work import Toy, toy_windows
from vqagen.run.engines import Processes
work = Toy(dict.fromkeys(range(4, 20), "stay"), folder={folder!r})
for block in Processes(2)(work, toy_windows(20)):
    print(block.first, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_workers_end_with_their_parent_however_that_ends(mark: str, tmp_path: Path, number: signal.Signals) -> None:
    """They are in the middle of a window, and the signal is not for them."""
    program = PARENT.format(tests=str(Path(__file__).parents[1] / "helpers"), folder=str(tmp_path))
    parent = start("", program)
    wait_until(lambda: len(begun(tmp_path)) == 4)
    assert len(marked(mark)) == 3

    parent.send_signal(number)
    finish(parent)

    assert parent.returncode != 0
    wait_until(lambda: marked(mark) == set())


@pytest.mark.slow
def test_ctrl_c_reaches_the_parent_alone(mark: str, tmp_path: Path) -> None:
    """A terminal sends it to a process group, and a batch system sends SIGTERM to every process it knows of."""
    program = PARENT.format(tests=str(Path(__file__).parents[1] / "helpers"), folder=str(tmp_path))
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


@pytest.mark.slow
def test_a_bug_of_a_plug_in_names_its_line(folder: Path, vqagen_: Commands) -> None:
    Path("corners.py").write_text(f"BUG = True\n{PLUGIN}")
    for workers in (1, 2):
        ran = vqagen_(f"{ASKED} -o q{workers}.json --workers {workers}")

        assert ran.code == 3
        assert "corners.py:10:9: plug-in: function corners failed: ZeroDivisionError: a bug of the plug-in" in ran.err


@pytest.mark.slow
def test_a_script_needs_no_guard_and_may_change_its_path(folder: Path) -> None:
    """`multiprocessing` would run it again in each worker, and not know of a path that it has set itself."""
    Path("parts").mkdir()
    Path("parts/helper.py").write_text("BUG = False")
    Path("corners.py").write_text(f"from helper import BUG\n{PLUGIN}")
    Path("script.py").write_text(SCRIPT)
    ran = subprocess.run([sys.executable, "script.py", "q.json"], capture_output=True, check=False)

    assert (ran.returncode, ran.stdout.count(b"run once")) == (0, 1), ran
    assert len(json.loads(Path("q.json").read_bytes())["questions"]) == 9
