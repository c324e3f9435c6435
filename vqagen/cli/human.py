"""`vqagen human`: studies in which people compare two texts about an image."""

from __future__ import annotations

import click

from vqagen.cli import LazyGroup

SUBCOMMANDS = {
    "demo": "vqagen.cli.human_making:demo",
    "items": "vqagen.cli.human_making:items",
    "make-tasks": "vqagen.cli.human_making:make_tasks",
    "extend": "vqagen.cli.human_making:extend",
    "check": "vqagen.cli.human_making:check",
    "links": "vqagen.cli.human_serving:links",
    "serve": "vqagen.cli.human_serving:serve",
    "status": "vqagen.cli.human_answers:status",
    "export": "vqagen.cli.human_answers:export",
    "import": "vqagen.cli.human_answers:import_humanr",
    "store": "vqagen.cli.human_answers:store",
    "score": "vqagen.cli.human_answers:score",
}
"""Name -> the module and the command in it."""


@click.group("human", cls=LazyGroup, places=SUBCOMMANDS)
def command() -> None:
    """Have people judge texts about images, or answer the questions that models answer.

    Raters compare two texts on a scale, rate one, or answer questions, dialogs and director trials. A study is a
    folder: it is planned, served as a web page, exported and scored.

    \b
    Example:
      vqagen human make-tasks --human human.json --system ours=model.json --images images --out study
    """
