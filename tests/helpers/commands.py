"""Running commands in tests: inside this process, which is quick, or as a process of their own."""

from __future__ import annotations

import contextlib
import inspect
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from waiting import PATIENCE

from vqagen.cli import cli, run

ROOT = Path(__file__).parents[2]
PROGRAM = "from vqagen.cli import main; main()"


class Ran(NamedTuple):
    """What a command came to."""

    code: int
    out: bytes
    err: str


class Commands:
    """Runs command lines in this process."""

    def __init__(self, capture: pytest.CaptureFixture[bytes]) -> None:
        self._capture = capture

    def __call__(self, line: str) -> Ran:
        """Run a line, written as in a shell and without `vqagen`; a traceback is a failed test."""
        self._capture.readouterr()
        code = run(shlex.split(line))
        out, err = self._capture.readouterr()
        return Ran(code, out, err.decode())

    def done(self, line: str) -> Ran:
        """Run a line that must end in 0."""
        ran = self(line)
        assert ran.code == 0, ran.err
        return ran

    def given(self, *lines: str) -> None:
        """Have the files that lines leave in an empty folder; each list of lines is run once, whoever wants its files.

        >>> vqagen_.given("scenes sample --count 3 -o scenes.json", "generate --scenes scenes.json -o questions.json")
        """
        if lines not in _LEFT:
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                if lines[1:]:
                    self.given(*lines[:-1])
                self.done(lines[-1])
                _LEFT[lines] = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
        for path, content in _LEFT[lines].items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


_LEFT: dict[tuple[str, ...], dict[Path, bytes]] = {}
"""Lines -> the files that they leave."""


def start(line: str, program: str = PROGRAM, **options: Any) -> subprocess.Popen[bytes]:
    """Start a line as a process of its own, whose two streams are pipes unless `options` say otherwise."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-c", program, *shlex.split(line)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, **(pipes | options))


def finish(process: subprocess.Popen[bytes]) -> Ran:
    """Wait for a process."""
    out, err = process.communicate(timeout=PATIENCE)
    return Ran(process.returncode, out, (err or b"").decode())


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with its whole name, the program and its groups included."""
    return _below("vqagen", cli)


def _below(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from _below(f"{name} {child}", found)


def example_lines(command: click.Command) -> list[str]:
    """The command lines of the example that a help text ends with."""
    _, _, example = inspect.cleandoc(command.help or "").partition("\b\nExample:\n")
    return [line.strip() for line in example.splitlines() if line.strip()]
