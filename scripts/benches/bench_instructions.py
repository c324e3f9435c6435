"""Counts the instructions of a process, which stay the same however busy the machine is: a change of 3 % is seen."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from bench_costs import run_command

CACHEGRIND = "valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file={log}"
TOOLS = {"perf": "perf stat -x, -e instructions:u -o {log}", "valgrind": CACHEGRIND}
"""Tool -> the command before the one to count, whose count is written to a log. The first that works is taken."""
_COUNT = re.compile(r"^(\d+),.*\binstructions:u|\bI\s+refs:\s+([\d,]+)", re.MULTILINE)
"""A line of perf or of valgrind: `5631120345,,instructions:u,…` or `==7== I   refs:      5,631,120,345`."""


def counting_tool() -> str | None:
    """Return the first tool that counts here; None without any. The CPU of many virtual machines counts nothing."""
    return next((tool for tool in TOOLS if shutil.which(tool) and counted_by(tool, ["true"])), None)


def counted_by(tool: str, command: Sequence[str], variables: Mapping[str, str] | None = None) -> int | None:
    """Return the instructions of a command by itself, without those of processes it starts; None if none are counted.

    ClickException, with its exit code, if the command fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        run_command([*TOOLS[tool].format(log=log).split(), *command], **(variables or {}))
        return count_in(log.read_text())


def count_in(log: str) -> int | None:
    """Return the instructions that a log of a tool tells; None if it tells none.

    >>> count_in("==7== I   refs:      5,631,120"), count_in("<not supported>,,instructions:u,0,100.00,,")
    (5631120, None)
    """
    found = _COUNT.search(log)
    return int((found[1] or found[2]).replace(",", "")) if found else None


def print_instructions(name: str, commands: Mapping[int, Sequence[str]], variables: Mapping[str, str]) -> None:
    """Print the instructions of a command about each number of scenes, and of a scene beyond those of the fewest.

    Texts are hashed alike in all runs, and a first run compiles the modules.
    """
    tool = counting_tool()
    if tool is None:
        click.echo("no instructions counted: install valgrind, or use a machine whose CPU counts for perf")
        return
    fixed = {**variables, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": ""}
    least = min(commands)
    run_command(commands[least], **fixed)
    start = 0
    for scenes, command in sorted(commands.items()):
        number = counted_by(tool, command, fixed) or 0
        start = start or number
        each = f", {(number - start) / (scenes - least) / 1e6:8.2f} M for each further scene" if scenes > least else ""
        click.echo(f"{name[-27:]:28}{scenes:5,} scenes {number / 1e9:7.3f} G instructions ({tool}){each}")
