"""Whatever kills the server or its store, no acknowledged answer is lost, changed or doubled."""

from __future__ import annotations

import asyncio
import re
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from human_kills import Ledger, Rater, Server, differences, make_large_study, run_kills
from human_stores import STUDY, claim, claimed, submit
from ports import free_port
from redis_servers import redis_server
from study_files import make_study

from vqagen.api import load_study
from vqagen.human.links.secret import load_secret
from vqagen.human.links.tokens import Link, sign
from vqagen.human.store.committer import Committer
from vqagen.human.store.opening import ANSWERS, open_store
from vqagen.human.store.store import StoreError, Submitted


def test_a_killed_server_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    """Once, in a short run; the slow tests have twenty kills and ten thousand answers."""
    result = run_kills(tmp_path, kills=1, clients=5, least=50)

    assert result.faults == []


@pytest.mark.slow
def test_twenty_kills_lose_nothing_of_ten_thousand_answers(tmp_path: Path) -> None:
    result = run_kills(tmp_path, kills=20, clients=50, least=10_000)

    assert result.faults == []
    assert result.acknowledged >= 10_000


@pytest.mark.slow
def test_twenty_kills_lose_nothing_in_redis(tmp_path: Path) -> None:
    """Five of them are of Redis."""
    with redis_server(tmp_path / "redis") as redis:
        result = run_kills(tmp_path, kills=20, clients=50, least=10_000, redis=redis)

    assert result.faults == []
    assert (result.acknowledged >= 10_000, result.redis_kills) == (True, 5)


def trace_of(folder: Path) -> list[str]:
    """Return the system calls of a server that one rater answers."""
    study = make_large_study(folder)
    server, trace = Server(study, free_port()), folder / "trace.txt"
    server.start()
    assert server.process is not None
    calls = "trace=fsync,fdatasync,recvfrom,read,sendto,sendmsg,write"
    command = ["strace", "-f", "-y", "-s", "60", "-e", calls, "-o", str(trace), "-p", str(server.process.pid)]
    tracer = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        assert tracer.stderr is not None
        if b"attached" not in tracer.stderr.readline():
            pytest.skip("strace may not look at other processes here")
        token = sign(Link(load_study(study).id), load_secret(study))
        rater = Rater(server.port, token, "p0", Ledger(), Random(0))
        asyncio.run(rater.take_part(lambda: False))
    finally:
        server.kill()
        tracer.communicate()
    return trace.read_text("utf-8", "replace").splitlines()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_log_is_on_the_disk_before_each_reply(tmp_path: Path) -> None:
    """Between an answer and its acknowledgement there is an fdatasync of the log that has succeeded."""
    waiting: set[str] = set()
    is_synced, replies = False, 0
    for line in trace_of(tmp_path):
        thread = line.split()[0]
        if re.search(r'"(PUT|POST) /api/v1/(responses|consent|complete)', line):
            is_synced = False
        if re.search(r"f(data)?sync\(\d+<[^>]*-wal>", line):
            waiting |= {thread} if "unfinished" in line else set()
            is_synced |= line.endswith("= 0")
        elif re.search(r"f(data)?sync resumed", line) and thread in waiting:
            waiting.discard(thread)
            is_synced |= line.endswith("= 0")
        elif re.search(r'(sendto|sendmsg|write)\(.*"HTTP/1.1 201', line):
            replies += 1
            assert is_synced, line

    assert replies == 26, "a consent and 25 answers"


# A full disk ----------------------------------------------------------------------------------------------------------


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size: writing it fails as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_nothing_is_acknowledged_while_the_disk_is_full(tmp_path: Path) -> None:
    """When there is room again, answers are kept without a new start."""
    path = tmp_path / "answers.sqlite"

    async def work(committer: Committer) -> list[int]:
        acknowledged = []
        await committer.write(claim("a"))
        with largest_file(120_000):
            for trial in range(1, 200):
                try:
                    await committer.write(submit("t-0-0", trial, 5, idem="x" * 500 + str(trial)))
                except StoreError:
                    continue
                acknowledged.append(trial)
            with pytest.raises(StoreError, match=r"free some space|cannot (open|write)"):
                await committer.write(submit("t-0-0", 500, 5, idem="x" * 900))
        assert await committer.write(submit("t-0-0", 1_000, 5)) == Submitted("new", 5)
        return acknowledged

    committer = Committer(lambda: open_store(path, STUDY, create=True))
    try:
        acknowledged = asyncio.run(work(committer))
    finally:
        committer.stop()

    store = open_store(path, STUDY, create=False)
    assert 0 < len(acknowledged) < 199
    assert {answer.trial for answer in store.answers()} >= {*acknowledged, 1_000}
    store.close()


# The ledger -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "ledger", "fault"),
    [
        ({}, {}, "changed: ('p0', 1)"),
        ({("p0", 1): 4}, {}, "changed: ('p0', 1)"),
        ({("p0", 1): 5}, {"answers": {("p0", 1): 5, ("p0", 2): 5}}, "lost: ('p0', 2)"),
        ({("p0", 1): 5}, {"consents": {"p1"}}, "lost: consent of p1"),
        ({("p0", 1): 5}, {"completed": {"p0"}}, "lost: end of p0"),
        ({("p0", 1): 5}, {"answers": {("p0", 1): 5}, "consents": {"p0"}}, ""),
    ],
)
def test_a_difference_between_ledger_and_store_is_found(
    tmp_path: Path, sent: dict[tuple[str, int], int], ledger: dict[str, Any], fault: str
) -> None:
    """The tests above could fail."""
    study = make_study(tmp_path)
    store = open_store(study.folder / ANSWERS, study.id, create=True)
    made = claimed(store, "a", *study.tasks, person="p0")
    store.apply([submit(made.id, 1, 5)])
    store.close()

    assert list(differences(study.folder, "", Ledger(sent, **ledger))) == ([fault] if fault else [])
