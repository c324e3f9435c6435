"""Measures a real `vqagen human serve` under load: raters in another process consent and answer."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "helpers")]
PROGRAM = "from vqagen.cli import main; main()"
LIMITS = {50: (700, 80, 300), 200: (0, 400, 0)}
"""Clients -> least answers a second, most milliseconds of 95 % and of 99 % of answers; 0 for no limit."""
LARGEST_MEMORY = 150
"""MB of the server."""
HEADER = """
| store | clients | answers/s | requests/s | PUT p50 / p95 / p99 ms | errors | MB | server CPU, a request |
"""
JSON = "Content-Type: application/json\r\n"


def check_redis(context: click.Context, parameter: click.Parameter, stores: str | Sequence[str]) -> str | Sequence[str]:
    """Return what `--store` chose. Raises UsageError for Redis on a machine without a server of it."""
    from redis_servers import PROGRAM as SERVER

    if "redis" in stores and SERVER is None:
        raise click.UsageError(
            "--store redis needs redis-server or valkey-server: install one of them, or give --store sqlite"
        )
    return stores


def numbers_of(context: click.Context, parameter: click.Parameter, written: str) -> list[int]:
    """Return the numbers, from 1 on, that are written with commas between them. Raises BadParameter."""
    return [click.IntRange(min=1).convert(each, parameter, context) for each in written.split(",")]


@click.command()
@click.option("--clients", default="50,200", callback=numbers_of, show_default=True, help="Numbers of raters at once.")
@click.option("--seconds", default=60.0, type=click.FloatRange(min=0, min_open=True), show_default=True)
@click.option(
    "--store", type=click.Choice(["sqlite", "redis"]), default="sqlite", callback=check_redis, show_default=True
)
@click.option(
    "--half-open",
    default=0,
    type=click.IntRange(min=0),
    show_default=True,
    help="Clients that send half a request and wait.",
)
@click.option(
    "--idle",
    default=0,
    type=click.IntRange(min=0),
    show_default=True,
    help="Raters that have consented, and keep a connection.",
)
def load(clients: list[int], seconds: float, store: str, half_open: int, idle: int) -> None:
    """Measure answers a second, latencies and memory; exit code 1 if a limit is missed.

    \b
    Example:
      scripts/bench human load --seconds 10 --clients 50
    """
    rows, is_slow = [], False
    for number in clients:
        with tempfile.TemporaryDirectory() as folder, _store(store, Path(folder)) as place:
            study = make_load_study(Path(folder))
            with serving(study, place) as (process, url):
                before = cpu_seconds(process.pid)
                found = _measure(url, token_of(study), number, seconds, half_open, idle)
                cpu = cpu_seconds(process.pid) - before
                memory = peak_memory(process.pid)
        rows.append(_row(store, number, seconds, found, memory, cpu))
        least, p95, p99 = LIMITS.get(number, (0, 0, 0))
        puts = sorted(found["times"]["PUT"])
        is_slow |= bool(found["errors"]) or memory > LARGEST_MEMORY or len(puts) / seconds < least
        is_slow |= bool(p95 and percentile(puts, 95) > p95) or bool(p99 and percentile(puts, 99) > p99)
    click.echo(HEADER + "|---" * HEADER.count(" | ") + "|---|")
    click.echo("\n".join(rows))
    sys.exit(1 if is_slow else 0)


def _row(store: str, clients: int, seconds: float, found: Any, memory: float, cpu: float) -> str:
    puts = sorted(found["times"]["PUT"])
    total = sum(map(len, found["times"].values()))
    shown = " / ".join(f"{percentile(puts, share):.0f}" for share in (50, 95, 99))
    return (
        f"| {store} | {clients} | {len(puts) / seconds:,.0f} | {total / seconds:,.0f} | {shown} |"
        f" {found['errors']} | {memory:.0f} |"
        f" {cpu / seconds:.0%}, {1e6 * cpu / total:.0f} µs |"
    )


def percentile(values: list[float], share: float) -> float:
    """Return the smallest of sorted values that is at least as large as this share of them, in percent."""
    return values[min(len(values) - 1, int(len(values) * share / 100))] if values else 0.0


# The server -----------------------------------------------------------------------------------------------------------


def make_load_study(folder: Path) -> Path:
    """Make a study with more places than a minute of load needs, and return its folder."""
    from study_files import make_study

    systems = ("a", "b", "c", "d")
    return make_study(folder, images=300, systems=systems, trials_per_task=25, raters_per_item=250).folder


def token_of(study: Path) -> str:
    """Return the token of the link for any task."""
    from vqagen.human.study.study import load_study
    from vqagen.human.tokens import Link, load_secret, sign_link

    return sign_link(Link(load_study(study).id), load_secret(study))


@contextmanager
def serving(study: Path, place: str = "") -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Yield a process that serves a study without limits for each rater, and its address."""
    options = ["--port", "0", "--client-rate", "0", *(["--store", place] if place else [])]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM, "human", "serve", str(study), *options]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        found = re.search(r"at (http\S+);", line)
        if not found:
            raise click.ClickException(line + process.stderr.read().decode())
        yield process, found[1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def peak_memory(process: int) -> float:
    """Return the most memory that a process has had, in MB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


def cpu_seconds(process: int) -> float:
    """Return the time that a process has used on all cores; other programs have little influence on it."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _store(kind: str, folder: Path) -> Iterator[str]:
    """Yield the place of an empty store; "" for the study's own."""
    if kind == "sqlite":
        yield ""
        return
    from redis_servers import redis_server

    (folder / "redis").mkdir()
    with redis_server(folder / "redis") as server:
        yield server.url


def _measure(url: str, token: str, clients: int, seconds: float, half_open: int, idle: int) -> dict[str, Any]:
    """Return the results of raters in a process of their own."""
    given = json.dumps([url, token, clients, seconds, half_open, idle])
    ran = subprocess.run([sys.executable, __file__, given], stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


# Raters ---------------------------------------------------------------------------------------------------------------


@dataclass
class Connection:
    """A connection that is kept, over plain sockets: an HTTP library would take more time than the server."""

    host: str
    port: int
    times: dict[str, list[float]]
    reader: asyncio.StreamReader | None = None
    writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, body: Any = None, bearer: str = "") -> tuple[int, Any]:
        """Send a request; return the status and the record of the reply."""
        if self.reader is None or self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        content = b"" if body is None else json.dumps(body).encode()
        session = f"Authorization: Bearer {bearer}\r\n" if bearer else ""
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\n{session}{JSON}Content-Length: {len(content)}\r\n\r\n"
        started = time.perf_counter()
        self.writer.write(head.encode() + content)
        reply = await self.reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", reply)[1])  # type: ignore[index]
        received = await self.reader.readexactly(length)
        self.times[method].append(1000 * (time.perf_counter() - started))
        return int(reply[9:12]), json.loads(received)


@dataclass
class Load:
    """Raters who answer until the time is over."""

    host: str
    port: int
    token: str
    until: float = 0
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: int = 0
    people: int = 0

    async def rater(self) -> None:
        """Take part again and again, each time as another person."""
        connection = Connection(self.host, self.port, self.times)
        while time.monotonic() < self.until:
            try:
                await self.take_part(connection)
            except (OSError, EOFError, AssertionError) as error:
                self.errors += 1
                print(f"error: {error!r}", file=sys.stderr)
                connection = Connection(self.host, self.port, self.times)

    async def take_part(self, connection: Connection) -> None:
        """Answer all trials of a task."""
        session = await self.consent(connection)
        trial = session["trial"]
        while not trial.get("done") and time.monotonic() < self.until:
            number = trial["number"]
            answer = {"value": number % 9 + 1, "rt_ms": 900, "shown_ms": 1000, "blur": 0, "ticket": trial["ticket"]}
            status, reply = await connection.ask("PUT", f"/api/v1/responses/{number}", answer, session["session"])
            assert status == 201, reply
            trial = reply["next"]

    async def consent(self, connection: Connection) -> Any:
        """Consent as a new person."""
        self.people += 1
        who = {"token": self.token, "participant": {"platform": "id", "id": f"p{self.people}"}}
        status, session = await connection.ask("POST", "/api/v1/session", who)
        assert (status, session["state"]) == (200, "new"), session
        more = {"consent_version": session["consent_version"], "agreed": True}
        status, session = await connection.ask("POST", "/api/v1/consent", {**who, **more})
        assert status == 201, session
        return session

    async def half_open(self) -> None:
        """Send half a request, and the same again whenever the server hangs up."""
        while time.monotonic() < self.until:
            reader, writer = await asyncio.open_connection(self.host, self.port)
            writer.write(b"PUT /api/v1/responses/1 HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            with_end = asyncio.create_task(reader.read())
            while time.monotonic() < self.until and not with_end.done():
                writer.write(b"x")
                await asyncio.wait([with_end], timeout=1)
            with_end.cancel()
            writer.close()

    async def run(self, clients: int, seconds: float, half_open: int, idle: int) -> dict[str, Any]:
        """Return the times of all requests that were sent in this many seconds."""
        kept = [Connection(self.host, self.port, defaultdict(list)) for _ in range(idle)]
        for connection in kept:
            await self.consent(connection)
        self.until = time.monotonic() + seconds
        raters = [self.rater() for _ in range(clients)]
        await asyncio.gather(*raters, *(self.half_open() for _ in range(half_open)))
        return {"times": self.times, "errors": self.errors}


def _main(given: str) -> None:
    import resource

    url, token, clients, seconds, half_open, idle = json.loads(given)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    host, _, port = url.removeprefix("http://").partition(":")
    raters = Load(host, int(port), token)
    print(json.dumps(asyncio.run(raters.run(clients, seconds, half_open, idle))))


if __name__ == "__main__":
    _main(sys.argv[1])
