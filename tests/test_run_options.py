"""By what options a run is done: who says how many workers, and what is refused."""

from __future__ import annotations

import pytest

from vqagen.errors import InputWarning, UsageError
from vqagen.run.engines import Processes, in_process
from vqagen.run.options import RunOptions


def test_workers_are_a_number_or_one_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vqagen.run.options.available_cores", lambda: 3)
    for workers in (3, "3", "03", "auto"):
        engine = RunOptions(workers).engine(window=5)
        assert isinstance(engine, Processes) and engine.workers == 3

    monkeypatch.setattr("vqagen.run.options.available_cores", lambda: 1)
    assert [RunOptions(workers).engine(window=5) for workers in (1, "1", "auto")] == [in_process] * 3


def test_what_is_no_number_of_workers_is_refused() -> None:
    """Python reads no number of 5,000 digits."""
    for workers in (0, "0", -2, "-2", "many", 1.5, "", "9" * 5000):
        with pytest.raises(UsageError) as refused:
            RunOptions(workers)

        assert str(refused.value) == f"--workers must be a number from 1 on, or auto; found {workers!r}"


def test_one_window_of_all_is_done_by_one_process() -> None:
    for options in (RunOptions(2), RunOptions("auto"), RunOptions(cluster="tcp://a:1")):
        with pytest.warns(InputWarning, match=r"^all is one window, which one process does alone$"):
            assert options.engine(window=0) is in_process


def test_a_cluster_has_workers_of_its_own() -> None:
    for workers in (2, "2", "auto"):
        with pytest.raises(UsageError, match=r"^--workers are of this machine; a cluster has its own"):
            RunOptions(workers, cluster="tcp://a:1")
