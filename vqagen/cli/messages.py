"""Messages and progress on standard error: a bar on a terminal, elsewhere a line now and then, as for a log."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, TextIO

import click

from vqagen.errors import InputWarning, unknown

if TYPE_CHECKING:
    from vqagen.run.runner import OnProgress, Progress
    from vqagen.tasks.contract import RunReport

RETIRED: Mapping[str, str] = {
    "vqagen dialog --semantics": "dialogs keep the strict rules; those made by looser rules are still verified",
    "vqagen dialog --target-distance": "references reach back as far as there is a choice; see docs/dialogs.md",
    "vqagen baseline --scenes": "`vqagen verify` runs programs on their scenes; no baseline does",
    "vqagen baseline --domain": "`vqagen verify --domain` runs programs of a domain; no baseline does",
    "vqagen audit --per-item": "`vqagen baseline` writes guesses; `evaluate --per-item` says which are right",
    "vqagen director generate --dry-run": "leave it out: what cannot be made is refused before anything is written;"
    " `vqagen stats` counts the trials of each cell",
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
        options = (
            option for option in context.command.params if isinstance(option, click.Option) and not option.hidden
        )
        return unknown("option", error.option_name, [option.opts[0] for option in options])
    message = " ".join(error.format_message().split())
    line = (message[:1].lower() + message[1:]).rstrip(".")
    is_clear = line.endswith("?") or line.startswith("invalid value")
    return line if is_clear or context is None else f"{line}; see {context.command_path} --help"


def print_listing(record: Any, lines: Iterable[str], as_json: bool) -> None:
    """Print a record as JSON on standard output, or its lines for people, without colors if NO_COLOR is set."""
    if as_json:
        click.echo(json.dumps(record, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(lines), color=False if os.environ.get("NO_COLOR") else None)


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


# Progress ------------------------------------------------------------------------------------------------------------

Clock = Callable[[], float]
OnDone = Callable[[int], None]
OnStep = Callable[[int, int], None]
LINE_EVERY = 30.0
"""Seconds between two lines of a log."""
COUNT_LINE = "{n_fmt} {unit}s, {rate_noinv_fmt}{postfix}"
RUN_LINE = "{n_fmt} of {total_fmt} {unit}s ({percentage:.0f}%), {rate_noinv_fmt}{postfix}, {remaining} left"


@contextmanager
def counting(unit: str, clock: Clock = time.monotonic) -> Iterator[OnDone]:
    """Yield the function to call with the number of things done since the last call; their total is unknown."""
    with _shown(clock) as show:
        yield _adder(show, unit)


@contextmanager
def reading_then(step: str, unit: str, clock: Clock = time.monotonic) -> Iterator[tuple[OnDone, OnStep]]:
    """Yield what `counting` yields, and the function to call then with the steps that are done, and with all steps."""
    with _shown(clock) as show:
        yield _adder(show, unit), lambda done, total: show(done, step, total)


def _adder(show: Callable[..., None], unit: str) -> OnDone:
    done = 0

    def add(number: int) -> None:
        nonlocal done
        done += number
        show(done, unit)

    return add


@contextmanager
def run_progress(clock: Clock = time.monotonic) -> Iterator[OnProgress]:
    """Yield the function to call with the progress of a run."""
    with _shown(clock) as show:
        start = clock()

        def show_run(progress: Progress) -> None:
            total, rate = progress.expected and max(progress.expected, progress.items), ""
            if progress.noun != progress.item:
                rate = f"{progress.new_records / max(clock() - start, 1e-9):,.0f} {progress.noun}s/s"
            show(progress.items, progress.item, total, progress.resumed_items, rate)  # rates are of this run

        yield show_run


@contextmanager
def _shown(clock: Clock) -> Iterator[Callable[..., None]]:
    """Yield the function to call with the number that is done, the unit, total, initial number and a second rate."""
    if sys.stderr is not None and sys.stderr.isatty():
        from tqdm import tqdm  # 70 ms to import, so only where something shows

        with tqdm(delay=0.2, miniters=1) as bar:  # none for what is done at once, or was done before

            def update(done: int, unit: str, total: int | None = None, initial: int = 0, rate: str = "") -> None:
                bar.unit, bar.total, bar.initial = unit, total, initial
                if done < bar.n:  # other things are counted from here on
                    bar.reset()
                bar.set_postfix_str(rate, refresh=False)
                bar.update(done - bar.n)

            yield update
            return
    start = last = clock()

    def log(done: int, unit: str, total: int | None = None, initial: int = 0, rate: str = "") -> None:
        nonlocal last
        if (now := clock()) - last >= LINE_EVERY:
            from tqdm import tqdm

            last = now
            limits: dict[str, Any] = {"bar_format": RUN_LINE if total else COUNT_LINE, "postfix": rate or None}
            line = tqdm.format_meter(done, total or 0, now - start, unit=unit, initial=initial, **limits)
            print_message(" ".join(line.split()))

    yield log


def run_summary(report: RunReport, out: str) -> str:
    """Return the result of a run in a few lines."""
    return f"{out} is complete: there is nothing to do" if report.was_complete else report.summary()


def print_faster_variant(kind: str, variant: str) -> None:
    """Say that a faster variant of the renderer is here, if pictures were rendered by the plain one."""
    from vqagen.pictures.variants import faster_variant  # few commands render
    from vqagen.tasks.rendering.settings import RENDERED

    if kind == RENDERED and (hint := faster_variant(variant)):
        click.echo(hint, err=True)
