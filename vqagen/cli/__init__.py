"""The command line: one file for each command; SECTIONS lists them in the order of the help."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from types import FrameType
from typing import Any

import click

from vqagen import __version__
from vqagen.cli.messages import print_input_warnings, print_message, retired_message, usage_message
from vqagen.errors import UsageError, VqagenError, is_out_of_memory, unknown

SECTIONS = {
    "Make": ("scenes", "generate", "dialog", "director"),
    "Datasets": ("dataset", "choices", "export", "show"),
    "Check": ("verify", "stats", "audit", "baseline"),
    "Score": ("evaluate", "compare"),
    "Studies": ("human",),
    "Own domains": ("init", "check", "explain"),
    "Files": ("merge", "convert"),
}
"""Section of the help -> its commands."""
COMMANDS = {name: f"vqagen.cli.{name}" for names in SECTIONS.values() for name in names}
"""Command name -> the module that holds it, as `command`. Modules import heavy things only inside it."""


BROKEN_PIPE = 128 + signal.SIGPIPE
"""The exit code if the reader of a pipe has closed it, as of any program."""


COLLECTED_AFTER = (50_000, 20, 50)
"""Objects, and rounds, after which Python looks for cycles. By its own measure, 700 objects, that takes three tenths of
a run of 50 scenes: almost all that loading makes is kept."""


def is_compiled() -> bool:
    """True if this is the compiled build, in which inner modules such as `bits` are libraries in C."""
    spec = find_spec("vqagen.bits")
    return spec is not None and not str(spec.origin).endswith(".py")


class CommandGroup(click.Group):
    """Commands by name, in the order in which they are declared."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            if gone := retired_message(ctx, args[0]):
                raise UsageError(gone)
            ctx.fail(unknown("command", args[0], known))
        return super().resolve_command(ctx, args)


class LazyGroup(CommandGroup):
    """Commands whose modules are imported when they are needed. `places` are name -> `module:name`, or `module`.

    `sections` are those of the help -> names of their commands; without any, all are in one.
    """

    def __init__(
        self, *args: Any, places: Mapping[str, str], sections: Mapping[str, Sequence[str]] | None = None, **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.places = places
        self.sections = sections or {"Commands": tuple(places)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the help."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        if cmd_name not in self.places:
            return None
        module, _, name = self.places[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name or "command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections of commands, all with their texts in one column."""
        width = max(map(len, self.places))
        room = formatter.width - width - 6
        for title, names in self.sections.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), command.get_short_help_str(room)) for name, command in commands if command]
                )


@click.group(
    cls=LazyGroup,
    places=COMMANDS,
    sections=SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(f"{__version__}{' (compiled)' if is_compiled() else ''}", prog_name="vqagen")
def cli() -> None:
    """Build, check and score visual-question benchmarks out of scene graphs.

    \b
    Example:
      vqagen scenes sample --count 20 -o scenes.json
      vqagen generate --scenes scenes.json --out questions.json
      vqagen verify questions.json --scenes scenes.json
    """


def main() -> None:
    """Run the program. A signal that ends it leaves the files as an error does."""
    gc.set_threshold(*COLLECTED_AFTER)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # under `nohup` the second is ignored, and stays so
            signal.signal(number, _stop)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a report may quote words that the terminal cannot show
    code = run()
    gc.freeze()  # at exit Python looks for cycles among all that there is, which takes 0.05 s after 1,000 scenes
    lost = _flush()
    sys.exit(code or lost)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command (default: the command line of this process), and return its exit code.

    A mistake of the user ends in a message without a traceback. If the reader of a pipe has closed it, the command
    ends quietly.
    """
    with print_input_warnings():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = cli.main(arguments, prog_name="vqagen", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except SystemExit as stop:  # as click ends for a closed pipe, with 1, and when a shell has asked for completions
        return BROKEN_PIPE if stop.code else 0
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        return print_message(usage_message(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt) as stop:
        return print_message(_with_notes("interrupted", stop.__cause__ or stop), 130)
    except _Stopped as stop:
        return print_message(_with_notes(f"stopped by {stop.signal.name}", stop), 128 + stop.signal)
    except VqagenError as error:
        return print_message(_with_notes(str(error), error), error.exit_code)
    except (MemoryError, ImportError, RuntimeError, OSError, SystemError) as error:
        if is_out_of_memory(error):
            return print_message(_with_notes("out of memory", error), 3)
        from vqagen.extras import EXTRA_OF, to_install

        if isinstance(error, ModuleNotFoundError) and (extra := EXTRA_OF.get(error.name or "")):
            return print_message(f"this needs {error.name}; install it: {to_install(extra)}", 2)
        if not isinstance(error, OSError):
            raise
        message = f"{error.strerror or error}: {error.filename or 'standard output'}"
        return print_message(_with_notes(message, error), 3)
    return code if isinstance(code, int) else 0


def _with_notes(message: str, error: BaseException) -> str:
    """Return a message with the notes of its error, such as the place where the results of a run are kept."""
    return "\n".join([message, *(f"  {note}" for note in getattr(error, "__notes__", []))])


def _flush() -> int:
    """Return 0 if standard output takes all that was printed, or else the exit code. The rest is dropped then: Python
    would try again at exit, and end with another code."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE if isinstance(error, BrokenPipeError) else 3
    return 0


class _Stopped(BaseException):
    """A signal asked the process to end."""

    def __init__(self, number: int) -> None:
        self.signal = signal.Signals(number)


def _stop(number: int, frame: FrameType | None) -> None:
    raise _Stopped(number)
