"""docs/deploy: the programs that its files are for take them, and the commands in them serve and back up a study."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from configparser import ConfigParser, SectionProxy
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from urllib.request import urlopen

import pytest
import yaml
from commands import PROGRAM, ROOT, finish, start
from ports import free_port
from redis_servers import SAFE, redis_server
from study_files import make_study

from vqagen.human.server.process import GRACE

DEPLOY = ROOT / "docs/deploy"


def service(name: str) -> SectionProxy:
    """Return the keys of a service of systemd; one that stands twice is an error."""
    parser = ConfigParser(interpolation=None)
    parser.read_string((DEPLOY / f"{name}.service").read_text("utf-8"))
    return parser["Service"]


def compose() -> dict[str, dict]:
    """Return the services of compose.yaml, with the defaults of its variables; the one without is the host."""
    filled = re.sub(
        r"\$\{\w+:(?:-([^}]*)|\?[^}]*)\}",
        lambda found: found[1] or "study.example",
        (DEPLOY / "compose.yaml").read_text("utf-8"),
    )
    return yaml.safe_load(filled)["services"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a study and a folder for backups. Scripts find this vqagen."""
    make_study(tmp_path)
    (tmp_path / "backups").mkdir()
    monkeypatch.setenv("PATH", f"{DEPLOY}:{Path(sys.executable).parent}", prepend=":")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path


@contextmanager
def served(command: str, port: int, program: str = PROGRAM) -> Iterator[None]:
    """Run a command that serves a study, at another port, until the block ends; SIGTERM must end it with 0."""
    process = start(f"{command.partition('vqagen ')[2]} --port {port}", program)
    try:
        assert b"serving" in process.stderr.readline() and urlopen(f"http://127.0.0.1:{port}/readyz").status == 200
        yield
        process.terminate()
        assert finish(process).code == 0
    finally:
        process.kill()


def check_backup(command: str, folder: Path) -> None:
    """Run a backup beside 48 older ones, of which it deletes the oldest; what it writes opens as answers."""
    subprocess.run(
        f"touch $(seq -f {folder}/backups/answers-20260101T%.0fZ.sqlite 100001 100048) && {command}",
        shell=True,
        check=True,
    )
    names = sorted(file.name for file in (folder / "backups").iterdir())
    assert (len(names), names[0]) == (48, "answers-20260101T100002Z.sqlite")
    subprocess.run(["vqagen", "human", "status", "study", "--store", f"backups/{names[-1]}"], cwd=folder, check=True)


def test_what_has_begun_is_finished_when_a_server_is_stopped() -> None:
    unit, container = service("vqagen-study")["TimeoutStopSec"], compose()["server"]["stop_grace_period"]

    assert int(unit) > GRACE and int(container.removesuffix("s")) > GRACE


@pytest.mark.slow
@pytest.mark.skipif(not which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_takes_the_units_without_a_word_and_finds_the_services_confined(tmp_path: Path) -> None:
    for file in (*DEPLOY.glob("*.service"), *DEPLOY.glob("*.timer")):
        (tmp_path / file.name).write_text(re.sub(r"ExecStart=\S+", "ExecStart=/bin/true", file.read_text("utf-8")))

    assert subprocess.check_output(["systemd-analyze", "verify", *tmp_path.iterdir()], stderr=subprocess.STDOUT) == b""
    subprocess.run(  # tenths; a service that is not confined has 96
        ["systemd-analyze", "security", "--offline=yes", "--threshold=30", *tmp_path.glob("*.service")], check=True
    )


@pytest.mark.slow
def test_the_unit_serves_a_study_and_the_timer_backs_it_up(folder: Path) -> None:
    serve, backup = (
        service(name)["ExecStart"].replace("/var/lib/vqagen", str(folder)) for name in ("vqagen-study", "vqagen-backup")
    )
    with served(serve, free_port()):
        check_backup(backup.replace("/usr/local/bin", str(DEPLOY)), folder)


def test_only_the_proxy_can_be_reached_and_only_by_it_the_server() -> None:
    services = compose()
    assert [name for name, each in services.items() if "ports" in each] == ["caddy"]
    assert [name for name, each in services.items() if "front" in each["networks"]] == ["server", "caddy"]
    assert services["redis"]["networks"] == ["back"] and "back" not in services["caddy"]["networks"]
    assert {each["restart"] for each in services.values()} == {"unless-stopped"}


@pytest.mark.slow
def test_compose_serves_a_study_whose_answers_its_redis_keeps_durably(folder: Path) -> None:
    redis, server, backup = (compose()[name]["command"] for name in ("redis", "server", "backup"))
    settings = {name.removeprefix("--"): value for name, value in zip(redis[1::2], redis[2::2], strict=True)}
    assert settings.keys() >= SAFE.keys()  # or the Redis of the test would have settings that compose lacks
    with redis_server(folder / "redis", **settings) as store:
        serve, back_up = (
            command.replace(" /study", f" {folder}/study").replace("redis://redis:6379/0", store.url)
            for command in (server, re.search("vqagen-backup [^;]+", backup[2])[0])
        )
        with served(serve, free_port()):
            check_backup(back_up.replace(" /backups", f" {folder}/backups"), folder)


@pytest.mark.slow
@pytest.mark.skipif(not which("caddy"), reason="Caddy is not installed")
def test_caddy_leads_to_the_server(folder: Path) -> None:
    """With an address that needs no certificate."""
    port, public = free_port(), free_port()
    command = (
        f"HOME={folder} CADDY_ADMIN=off STUDY_HOST=http://127.0.0.1:{public} STUDY_SERVER=127.0.0.1:{port}"
        f" exec caddy run --config {DEPLOY}/Caddyfile"
    )
    with served(f"vqagen human serve {folder}/study", port), subprocess.Popen(command, shell=True, stderr=-1) as caddy:
        try:
            next(line for line in caddy.stderr if b"serving initial configuration" in line)
            assert urlopen(f"http://127.0.0.1:{public}/readyz").status == 200
        finally:
            caddy.kill()


@pytest.mark.slow
def test_the_image_has_all_that_serving_needs(folder: Path) -> None:
    """What Dockerfile.dockerignore lets in is installed, served and found healthy as the Dockerfile says."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8").replace("\\\n", "")
    steps = dict(line.split(" ", 1) for line in text.splitlines() if line and line[0] != "#")
    assert " ".join(steps) == "FROM COPY RUN ENV USER WORKDIR VOLUME EXPOSE STOPSIGNAL HEALTHCHECK CMD"
    assert (steps["FROM"], steps["USER"], steps["VOLUME"]) == ("python:3.12-slim", "study", "/study")

    allowed = " ".join(re.findall(r"^!(.+)$", (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8"), re.M))
    install = re.search(r"pip (install .+)", text)[1].replace("/src", str(folder))
    subprocess.run(
        f"cp -r --parents {allowed} {folder} && {sys.executable} -m pip {install}"
        f" --no-index --no-deps --no-build-isolation --target {folder}/installed",
        shell=True,
        check=True,
        cwd=ROOT,
    )

    port, serve = free_port(), " ".join(json.loads(steps["CMD"])).replace("/study", f"{folder}/study")
    with served(serve, port, f"import sys; sys.path.insert(0, '{folder}/installed'); {PROGRAM}"):
        subprocess.run(json.loads(steps["HEALTHCHECK"].partition(" CMD ")[2].replace(":8087", f":{port}")), check=True)
