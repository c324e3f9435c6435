"""Whatever kills the server or its store, no acknowledged answer is lost, changed or doubled."""

from __future__ import annotations

from pathlib import Path

import pytest
from human_kills import run_kills
from redis_servers import redis_server


def test_a_killed_server_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    """Once, in a short run; `scripts/bench human kills` has twenty kills and ten thousand answers."""
    result = run_kills(tmp_path, kills=1, clients=5, least=50)

    assert result.faults == []


@pytest.mark.slow
def test_five_kills_lose_nothing(tmp_path: Path) -> None:
    """Neither in SQLite, nor in Redis, which is itself killed once."""
    results = [run_kills(tmp_path / "sqlite", kills=5, clients=20, least=1_000)]
    with redis_server(tmp_path / "redis") as redis:
        results.append(run_kills(tmp_path / "served", kills=5, clients=20, least=1_000, redis=redis))

    assert [result.faults for result in results] == [[], []]
    assert min(result.acknowledged for result in results) >= 1_000
    assert results[1].redis_kills == 1
