"""`vqagen human serve` as a process: what it refuses, and how it starts and stops, and what a kill costs: nothing."""

from __future__ import annotations

import json
import logging
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest
import uvicorn
from commands import Commands, finish, start
from human_kills import run_kills
from human_requests import Wire, request_bytes
from human_served import participant, serving
from human_stores import open_desk
from redis_servers import RedisServer, redis_server, require_redis
from study_files import make_study

from vqagen.human.server import process
from vqagen.human.server.process import RETRY_EVERY
from vqagen.human.store.facts import ANSWERS, SERVED
from vqagen.human.study.study import load_study
from vqagen.human.tokens import Link, Participant, load_secret, pseudonym, sign_link


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a study that can be served; the working folder is the one around it."""
    monkeypatch.chdir(tmp_path)
    return make_study(tmp_path, raters_per_item=2).folder


@pytest.fixture
def vqagen_(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Runs commands in the working folder. A study that is served, though it should be refused, ends the test."""

    def fail(*_: object) -> None:
        raise AssertionError("the study is served")

    monkeypatch.setattr(uvicorn.Server, "serve", fail)
    return Commands(capsysbinary)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_server_in_order(number: signal.Signals, study: Path) -> None:
    with serving(study) as (process, url):
        assert json.loads(urlopen(f"{url}/readyz").read()) == {"status": "ready"}
        process.send_signal(number)
        ran = finish(process)

    assert ran.code == 0
    assert ran.err == "vqagen: stopped; all acknowledged answers are stored\n"


def test_texts_with_placeholders_are_not_shown_to_raters(study: Path, vqagen_: Commands) -> None:
    texts = study / "texts.json"
    texts.write_text(json.dumps({**json.loads(texts.read_text("utf-8")), "values": {"pay": "2 euros"}}))
    ran = vqagen_(f"human serve {study} --port 0")

    assert ran.code == 3
    for name in ("institution", "contact", "ethics_reference", "duration"):
        assert f"{{{{{name}}}}} is not filled in" in ran.err
    assert "{{pay}}" not in ran.err
    assert not (study / ".lock").exists()


def test_ids_that_prolific_signs_need_its_keys_and_the_name_of_the_study(study: Path, vqagen_: Commands) -> None:
    """One without the other would look safe and be open."""
    serving_file = study / "serving.json"
    serving_file.write_text(json.dumps({**json.loads(serving_file.read_text()), "prolific_audience": "study.example"}))
    ran = vqagen_(f"human serve {study} --port 0")

    assert (
        ran.code,
        "prolific_audience, prolific_workspace and the file prolific_keys.json beside it need each" in ran.err,
    ) == (3, True)


def test_a_study_whose_files_or_images_were_changed_is_refused(study: Path, vqagen_: Commands) -> None:
    image = next((study / "images").iterdir())
    for file in (image, study / "items.jsonl"):
        file.write_bytes(file.read_bytes() + b"\n")
        ran = vqagen_(f"human serve {study} --port 0")
        assert (ran.code, f"{file.name}: changed since the study was made" in ran.err) == (3, True), ran.err


UNSAFE = [
    ("--host 0.0.0.0", "--host 0.0.0.0 can be reached by others"),
    ("--host 0.0.0.0 --public-url http://study.example", "has no https"),
    ("--public-url http://study.example", "has no https"),
    ("--public-url study.example", "must be an address such as https://study.example"),
    ("--public-url https://study.example/path?x=1", "must be host, port and path alone"),
    ("--public-url https://study.example/a//b", "must be host, port and path alone"),
    ("--public-url https://study.example/a/../b", "must be host, port and path alone"),
    ("--public-url https://me:pw@study.example", "must be host, port and path alone"),
    ("--public-url https://study.example:x", "must be an address such as"),
    ("--port 70000", "--port must be at most 65535"),
    ("--frame-ancestors *", "--frame-ancestors must be"),
    ("--host 203.0.113.7 --public-url https://study.example", "cannot listen on 203.0.113.7"),
]


def test_a_server_that_would_not_be_safe_does_not_start(study: Path, vqagen_: Commands) -> None:
    ran = {message: vqagen_(f"human serve {study} {options}") for options, message in UNSAFE}

    assert [(message, each) for message, each in ran.items() if each.code != 2 or message not in each.err] == []


def join(study: Path) -> None:
    """Let a rater join, as the server does."""
    person = Participant("id", "ann")
    rater = pseudonym(load_secret(study), person)
    desk = open_desk(study / ANSWERS, load_study(study).id)
    desk.claim(rater, *load_study(study).tasks, person="ann")
    desk.log.close()


def test_a_lost_secret_is_not_replaced_in_silence(study: Path, vqagen_: Commands) -> None:
    """A new one would refuse all links, sessions and codes of before, and nobody would know why."""
    join(study)
    (study / "secret").unlink()
    served, verified = vqagen_(f"human serve {study} --port 0"), vqagen_(f"human links {study} --verify AAAAAAAAAA")

    assert (served.code, verified.code) == (3, 3)
    assert "secret: the secret is missing: without it, links, sessions and codes of before are refused" in served.err
    assert "secret: the secret is missing: codes cannot be verified without it" in verified.err
    assert not (study / "secret").exists()


EMPTIED: list[Callable[[Path], object]] = [Path.unlink, lambda path: path.write_bytes(b"")]


@pytest.mark.parametrize("empty", EMPTIED, ids=["deleted", "emptied"])
def test_a_store_that_was_emptied_is_not_served_as_new(
    study: Path, vqagen_: Commands, empty: Callable[[Path], object]
) -> None:
    """Those who have personal links would be asked again, and nobody would know why."""
    (study / SERVED).touch()  # as the first server does
    join(study)
    for file in study.glob(f"{ANSWERS}-*"):
        file.unlink()
    empty(study / ANSWERS)

    for line in (f"serve {study} --port 0", f"status {study}", f"export {study} --out {study}-answers"):
        ran = vqagen_(f"human {line}")
        assert (ran.code, "lost" in ran.err, "restore a backup" in ran.err) == (3, True, True), (line, ran.err)


def test_an_empty_file_is_no_store(study: Path, vqagen_: Commands) -> None:
    (study / ANSWERS).touch()
    ran = vqagen_(f"human serve {study} --port 0")

    assert (ran.code, "answers.sqlite is empty: its answers were lost" in ran.err) == (3, True)


@pytest.mark.slow
def test_a_full_disk_costs_no_acknowledged_answer(study: Path) -> None:
    """While no file can grow, answers are refused; afterwards they are stored, without a restart."""
    token = sign_link(Link(load_study(study).id), load_secret(study))
    with serving(study, "--client-rate 0") as (process, url):
        wire = Wire(int(url.rpartition(":")[2]))
        who = {"token": token, "participant": participant("ann")}
        consent = {**who, "consent_version": load_study(study).texts.version, "agreed": True}
        made = json.loads(wire.post("consent", consent).body)
        first, bearer = made["trial"], made["session"]
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        refused = [wire.put_answer(first, bearer).status for _ in range(3)]
        refused.append(wire.send(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n").status)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        stored = [wire.put_answer(first, bearer).status for _ in range(2)]
        wire.close()
        process.terminate()
        ran = finish(process)

    assert (refused, stored) == ([503] * 4, [201, 200])
    assert "answers cannot be stored" in ran.err


def test_a_line_of_the_log_is_repeated_after_a_while_and_has_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(process.time, "monotonic", lambda: now[0])
    is_new = process.throttle()
    records = [logging.LogRecord("x", 40, "", 0, "%s", (name,), None) for name in ("a", "a", "b")]
    records[0].exc_info = (ValueError, ValueError("secret"), None)

    assert [is_new(each) for each in records] == [True, False, True]
    now[0] += process.SILENCE
    assert is_new(records[1])
    assert records[0].exc_info is None


@pytest.mark.slow
def test_a_server_waits_for_a_store_that_is_not_there_yet(study: Path, tmp_path: Path) -> None:
    """As after a start of the whole machine, when Redis comes later."""
    require_redis()
    (tmp_path / "redis").mkdir()
    redis = RedisServer(tmp_path / "redis")
    redis.kill()
    process = start(f"human serve {study} --port 0 --store {redis.url}")
    assert process.stderr is not None
    waiting = process.stderr.readline().decode()
    time.sleep(2 * RETRY_EVERY)
    redis.start()
    serving = process.stderr.readline().decode()
    process.terminate()
    ran = finish(process)
    redis.kill()

    assert "waiting for the store; Ctrl-C stops: cannot open redis://127.0.0.1" in waiting
    assert "serving" in serving
    assert ran == (0, b"", "vqagen: stopped; all acknowledged answers are stored\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("proxies", "statuses"), [("127.0.0.1", {200}), ("203.0.113.1", {200, 429})], ids=["a proxy", "no proxy"]
)
def test_only_proxies_that_are_named_say_where_a_request_comes_from(
    proxies: str, statuses: set[int], study: Path
) -> None:
    """Limits count by network; a client must not choose its own."""
    with serving(study, f"--client-rate 1 --forwarded-allow-ips {proxies}") as (_, url):
        wire = Wire(int(url.rpartition(":")[2]))
        requests = [request_bytes("GET", "/s/x", {"X-Forwarded-For": f"198.51.{part}.7"}, b"") for part in range(12)]
        found = {wire.send(request).status for request in requests}
        wire.close()

    assert {200 if status == 403 else status for status in found} == statuses


# Kills ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
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
