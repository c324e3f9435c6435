"""`vqagen dialog`: multi-round dialogs about scenes."""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli.messages import run_progress, run_summary
from vqagen.cli.options import (
    GroupedCommand,
    domain_options,
    output_options,
    scenes_option,
    settings_options,
    shard_option,
)
from vqagen.run.options import RunOptions
from vqagen.tasks.dialog.settings import DialogSettings


@click.command("dialog", cls=GroupedCommand)
@scenes_option
@output_options("dialogs")
@domain_options("domain", "metadata", "templates", "synonyms", "plugins")
@settings_options(settings=DialogSettings, options=RunOptions)
@shard_option
@click.pass_context
def command(
    ctx: click.Context,
    scenes: str,
    out: str,
    layout: str | None,
    domain: dict[str, Any],
    shard: str | None,
    settings: DialogSettings,
    options: RunOptions,
) -> None:
    """Make dialogs about scenes: a caption and rounds of questions and answers.

    Every question can be answered from the scene and the history, and none asks what is known already. Each round has
    its program, its referents and its antecedents. The exit code is 1 if a scene has fewer dialogs than asked for.

    \b
    Example:
      vqagen dialog --scenes scenes.json --out dialogs.json --seed 7
    """
    from vqagen.language.domain_files import DIALOGS, find_domain
    from vqagen.run.making import write_dialogs

    with run_progress() as on_progress:
        made = write_dialogs(
            scenes,
            out,
            find_domain(**domain, task=DIALOGS),
            settings,
            format=layout,
            options=options,
            shard=shard,
            on_progress=on_progress,
        )
    click.echo(run_summary(made, out), err=True)
    ctx.exit(0 if made.is_complete else 1)
