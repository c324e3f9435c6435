"""The command line: one file for each command; COMMANDS lists them in the order of the help."""

from __future__ import annotations

import sys
from importlib import import_module

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
    """Run a command. A mistake of the user's ends in its message and exit code, not in a traceback."""
    try:
        code = cli.main(prog_name="vqagen", standalone_mode=False)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.Abort:
        code = _interrupted()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except KeyboardInterrupt:
        code = _interrupted()
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone: there is nobody to tell
        code = 1
    except VqagenError as error:
        click.echo(f"vqagen: {error}", err=True)
        code = error.exit_code
    except OSError as error:
        click.echo(f"vqagen: {error.strerror or error}: {error.filename or 'output'}", err=True)
        code = 3
    sys.exit(code if isinstance(code, int) else 0)


def _interrupted() -> int:
    click.echo("vqagen: interrupted", err=True)
    return 130
