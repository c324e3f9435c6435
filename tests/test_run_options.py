"""By what options a run is done: who says how many workers, and what is refused."""

from __future__ import annotations

import pytest

from vqagen.errors import InputWarning, UsageError
from vqagen.run.engines.in_process import in_process
from vqagen.run.engines.processes import Processes
from vqagen.run.options import RunOptions


@pytest.mark.parametrize("workers", [3, "3", "03"])
def test_workers_may_be_a_number_or_its_text(workers: int | str) -> None:
    engine = RunOptions(workers).engine(window=5)

    assert isinstance(engine, Processes)
    assert engine.workers == 3


@pytest.mark.parametrize("workers", [1, "1"])
def test_one_worker_is_this_process(workers: int | str) -> None:
    assert RunOptions(workers).engine(window=5) is in_process


def test_there_may_be_one_worker_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    engines = []
    for cores in (1, 3):
        monkeypatch.setattr("vqagen.run.options.available_cores", lambda cores=cores: cores)
        engines.append(RunOptions("auto").engine(window=5))

    assert engines[0] is in_process
    assert isinstance(engines[1], Processes)
    assert engines[1].workers == 3


LONG = "9" * 5000
"""More digits than Python reads."""


@pytest.mark.parametrize(
    ("workers", "found"),
    [
        (0, "0"),
        ("0", "'0'"),
        (-2, "-2"),
        ("-2", "'-2'"),
        ("many", "'many'"),
        (1.5, "1.5"),
        ("", "''"),
        (LONG, repr(LONG)),
    ],
)
@pytest.mark.parametrize("window", [0, 5])
def test_what_is_no_number_of_workers_is_refused(workers: int | str, found: str, window: int) -> None:
    with pytest.raises(UsageError) as refused:
        RunOptions(workers).engine(window)

    assert str(refused.value) == f"--workers must be a number from 1 on, or auto; found {found}"


@pytest.mark.parametrize("options", [RunOptions(2), RunOptions("auto"), RunOptions(cluster="local:2")])
def test_one_window_of_all_is_done_by_one_process(options: RunOptions) -> None:
    with pytest.warns(InputWarning, match=r"^all is one window, which one process does alone$"):
        assert options.engine(window=0) is in_process


@pytest.mark.parametrize("workers", [2, "2", "auto"])
def test_a_cluster_has_workers_of_its_own(workers: int | str) -> None:
    with pytest.raises(UsageError, match=r"^--workers are of this machine; a cluster has its own"):
        RunOptions(workers, cluster="local:2").engine(window=5)
