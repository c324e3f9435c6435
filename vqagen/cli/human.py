"""`vqagen human`: studies in which people compare two texts about an image."""

from __future__ import annotations

import click

from vqagen.cli.group import LazyGroup

SUBCOMMANDS = {
    "demo": "vqagen.cli.human_demo:demo",
    "items": "vqagen.cli.human_items:items",
    "make-tasks": "vqagen.cli.human_making:make_tasks",
    "check": "vqagen.cli.human_making:check",
    "links": "vqagen.cli.human_serving:links",
    "serve": "vqagen.cli.human_serving:serve",
    "verify-code": "vqagen.cli.human_serving:verify_code",
    "status": "vqagen.cli.human_status:status",
    "export": "vqagen.cli.human_export:export",
    "forget": "vqagen.cli.human_stores:forget",
    "reclaim": "vqagen.cli.human_stores:reclaim",
    "backup": "vqagen.cli.human_stores:backup",
    "copy-store": "vqagen.cli.human_stores:copy_store",
    "score": "vqagen.cli.human_score:score",
    "import-humanr": "vqagen.cli.human_import:import_humanr",
    "simulate": "vqagen.cli.human_simulate:simulate",
}
"""Name -> the module and the command in it."""


@click.group("human", cls=LazyGroup, places=SUBCOMMANDS)
def command() -> None:
    """Have people compare two texts about an image.

    Raters see an image with two captions, questions or answers, and say on a scale from 1 to 9 which fits better.
    A study is a folder: it is planned, served as a web page, exported and scored.

    \b
    Example:
      vqagen human make-tasks --human human.json --system ours=model.json --images images --out study
    """
