"""The command line: one file for each command; COMMANDS lists them in the order of the help."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import FrameType

import click

from vqagen import __version__
from vqagen.errors import VqagenError

COMMANDS = {
    "generate": "vqagen.cli.generate",
    "verify": "vqagen.cli.verify",
    "scenes": "vqagen.cli.scenes",
}
"""Command name -> the module that holds it, as `command`. Modules import heavy things only inside it."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from vqagen.errors import unknown

            ctx.fail(unknown("command", args[0], list(COMMANDS)))
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="vqagen")
def cli() -> None:
    """Build, check and score visual-question benchmarks out of scene graphs.

    \b
    Example:
      vqagen scenes sample --count 20 -o scenes.json
      vqagen generate --scenes scenes.json --out questions.json
      vqagen verify questions.json --scenes scenes.json
    """


def main() -> None:
    """The program. When told to stop it clears up as after an error."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # under `nohup` the second is ignored, and stays so
            signal.signal(number, _stop)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a report may quote words that the terminal cannot show
    sys.exit(run())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command (default: the one that this process was started with), and give its exit code.

    A mistake of the user's ends in its message, not in a traceback.
    """
    try:
        code = cli.main(arguments, prog_name="vqagen", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _told("interrupted", 130)
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone: there is nobody to tell
        return 1
    except VqagenError as error:
        return _told(str(error), error.exit_code)
    except OSError as error:
        return _told(f"{error.strerror or error}: {error.filename or 'standard output'}", 3)
    return code if isinstance(code, int) else 0


def _told(message: str, exit_code: int) -> int:
    for line in message.splitlines():
        click.echo(f"vqagen: {line}", err=True)
    return exit_code


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit(_told(f"stopped by {signal.Signals(number).name}", 128 + number))
