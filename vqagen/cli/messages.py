"""Messages on standard error, beside the results of a command."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from typing import TextIO

import click

from vqagen.errors import InputWarning, unknown

RETIRED: Mapping[str, str] = {
    "vqagen dialog --semantics": "dialogs keep the strict rules; those made by looser rules are still verified",
    "vqagen dialog --target-distance": "references reach back as far as there is a choice; see docs/dialogs.md",
    "vqagen baseline --scenes": "`vqagen verify` runs programs on their scenes; no baseline does",
    "vqagen baseline --domain": "`vqagen verify --domain` runs programs of a domain; no baseline does",
    "vqagen audit --per-item": "`vqagen baseline` writes guesses; `evaluate --per-item` says which are right",
    "vqagen director items edit": "edit the file by hand; `vqagen director items check` and `preview` show the outcome",
    **dict.fromkeys(
        (f"vqagen human extend --{name}" for name in ("system", "items", "images")),
        "make another study of what is new by `vqagen human make-tasks`; `extend` adds raters",
    ),
    "vqagen human items --compare": "leave it out: items are answered; `vqagen human make-tasks` compares captions",
    "vqagen human items --system": "`vqagen human make-tasks --human FILE --system NAME=FILE` compares captions",
    "vqagen human score --check-rule": "checks fail in the middle of the scale or beyond; an export has every answer",
    "vqagen human score --fail-under": "compare `score` and `high` in the tables of `-o report.json` with your limits",
    "vqagen human status --watch": "`watch -n 5 vqagen human status STUDY` looks again and again",
    "vqagen human simulate": "`vqagen human make-tasks` prints the half-width of each interval to expect of a plan",
}
"""Command or option that version 2.0 removed -> what to do instead."""


def retired_message(context: click.Context, name: str) -> str:
    """Return what to do instead of a removed command or option; "" if there was none of this name."""
    whole = f"{context.command_path} {name}"
    return f"`{whole}` was removed in version 2.0: {RETIRED[whole]}" if whole in RETIRED else ""


def print_message(message: str, exit_code: int = 0) -> int:
    """Print a message, each line under the name of the program, and return the exit code, whether it is read or not."""
    with suppress(OSError):
        for line in message.splitlines():
            click.echo(line if line.startswith(" ") else f"vqagen: {line}", err=True)  # excerpts are indented
    return exit_code


def usage_message(error: click.ClickException) -> str:
    """Return a mistake in the command line as our own messages put it: in one line, which says what would be right."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, click.NoSuchOption) and context is not None:
        if gone := retired_message(context, error.option_name):
            return gone
        options = (each for each in context.command.params if isinstance(each, click.Option) and not each.hidden)
        return unknown("option", error.option_name, [each.opts[0] for each in options])
    message = " ".join(error.format_message().split())
    line = (message[:1].lower() + message[1:]).rstrip(".")
    is_clear = line.endswith("?") or line.startswith("invalid value")
    return line if is_clear or context is None else f"{line}; see {context.command_path} --help"


@contextmanager
def print_input_warnings() -> Iterator[None]:
    """Print each InputWarning once, whatever filters are set. Other warnings are shown as always."""
    known: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", InputWarning)
        usual = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not isinstance(message, InputWarning):
                usual(message, category, filename, lineno, file, line)
            elif (text := str(message)) not in known:
                known.add(text)
                _print_beside_bars(f"warning: {text}")

        warnings.showwarning = show
        yield


def _print_beside_bars(message: str) -> None:
    """Print a message while progress bars may be on the screen."""
    bars = sys.modules.get("tqdm")
    with bars.tqdm.external_write_mode(file=sys.stderr) if bars else nullcontext():
        print_message(message)
