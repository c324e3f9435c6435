"""Groups of commands that name the nearest when asked for one they do not have, whatever the version of click."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from vqagen.errors import unknown


class Group(click.Group):
    """Commands by name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            ctx.fail(unknown("command", args[0], known))
        return super().resolve_command(ctx, args)


class LazyGroup(Group):
    """Commands whose modules are imported when they are needed. `places` are name -> `module:command`."""

    def __init__(self, *args: Any, places: Mapping[str, str], **more: Any) -> None:
        super().__init__(*args, **more)
        self.places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the help."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        if cmd_name not in self.places:
            return None
        module, _, name = self.places[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command
