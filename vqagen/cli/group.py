"""Groups of commands that name the nearest when asked for one they do not have, and commands with groups of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from vqagen.cli.messages import retired_message
from vqagen.errors import UsageError, unknown


class Option(click.Option):
    """An option that belongs to a group in the help."""

    def __init__(self, *args: Any, group: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.group = group


LAST_GROUPS = ("running", "compatibility", "other")
"""Groups that come last; the others stand in the order of the first option of each."""


class GroupedCommand(click.Command):
    """A command whose help shows its options by their groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group."""
        rows: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            row = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if row is not None:
                rows.setdefault(getattr(param, "group", "") or "other", []).append(row)
        for group in sorted(rows, key=lambda each: LAST_GROUPS.index(each) if each in LAST_GROUPS else -1):
            with formatter.section(group.capitalize()):
                formatter.write_dl(rows[group])


class Group(click.Group):
    """Commands by name."""

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


class LazyGroup(Group):
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
