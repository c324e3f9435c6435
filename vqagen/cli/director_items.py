"""`vqagen director items`: the catalogue of the director task. One file reads it, one changes it."""

from __future__ import annotations

import click

from vqagen.cli.group import LazyGroup

SUBCOMMANDS = {
    "list": "vqagen.cli.items_reading:list_command",
    "show": "vqagen.cli.items_reading:show",
    "stats": "vqagen.cli.items_reading:stats",
    "check": "vqagen.cli.items_reading:check",
    "preview": "vqagen.cli.items_reading:preview",
    "copy": "vqagen.cli.items_changing:copy",
    "add": "vqagen.cli.items_changing:add",
    "set": "vqagen.cli.items_changing:set_command",
    "rename": "vqagen.cli.items_changing:rename",
    "remove": "vqagen.cli.items_changing:remove",
    "edit": "vqagen.cli.items_editor:edit",
}
"""Name -> the module and the command in it."""


@click.group("items", cls=LazyGroup, places=SUBCOMMANDS)
def items() -> None:
    """Show, change and check a catalogue of items.

    Entries are kinds, which are drawn in every color and size; items with pictures of their own; adjectives; and nouns.
    The shipped catalogue can be read; a copy of it can be changed.

    \b
    Example:
      vqagen director items copy items.json
      vqagen director items set lamp --is hot --catalogue items.json
      vqagen director items check --catalogue items.json
    """
