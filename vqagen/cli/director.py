"""`vqagen director`: perspective-taking trials on a grid."""

from __future__ import annotations

import click

from vqagen.cli.group import LazyGroup

SUBCOMMANDS = {
    "generate": "vqagen.cli.director_generate:generate",
    "items": "vqagen.cli.director_items:items",
    "export": "vqagen.cli.director_export:export",
}
"""Name -> the module and the command in it."""


@click.group("director", cls=LazyGroup, places=SUBCOMMANDS)
def command() -> None:
    """Make perspective-taking trials on a grid.

    A participant sees a shelf of items. A director stands behind it and does not see into every cell. In test trials,
    that matters for what an instruction such as "the topmost red book" means; in control trials it does not.

    \b
    Example:
      vqagen director generate --count 12 --render svg --out trials
    """
