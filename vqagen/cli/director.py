"""`vqagen director`: perspective-taking trials on a grid."""

from __future__ import annotations

from importlib import import_module

import click

from vqagen.cli.group import Group

SUBCOMMANDS = {
    "generate": "vqagen.cli.director_generate:generate",
    "design": "vqagen.cli.director_generate:design",
}
"""Name -> the module and the command in it."""


class _Subcommands(Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUBCOMMANDS:
            return None
        module, _, name = SUBCOMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group("director", cls=_Subcommands)
def command() -> None:
    """Make perspective-taking trials on a grid.

    A participant sees a shelf of items. A director stands behind it and does not see into every cell. In test trials,
    that matters for what an instruction such as "the topmost red book" means; in control trials it does not.

    \b
    Example:
      vqagen director generate --count 12 --render svg --out trials
    """
