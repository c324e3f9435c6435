"""A group of commands that names the nearest when asked for one it does not have, whatever the version of click."""

from __future__ import annotations

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
