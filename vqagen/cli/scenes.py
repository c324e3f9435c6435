"""`vqagen scenes`: scene files without a renderer."""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli.group import Group
from vqagen.cli.options import domain_options, output_options, settings_options, shard_option
from vqagen.run.options import RunOptions
from vqagen.tasks.sampling.settings import SamplingSettings


@click.group("scenes", cls=Group)
def command() -> None:
    """Make scene files.

    \b
    Example:
      vqagen scenes sample --count 20 -o scenes.json
    """


@command.command("sample")
@output_options("scenes")
@domain_options("domain", "metadata", "plugins")
@shard_option
@settings_options(settings=SamplingSettings, options=RunOptions)
def sample(
    out: str,
    layout: str | None,
    settings: SamplingSettings,
    domain: dict[str, Any],
    shard: str | None,
    options: RunOptions,
) -> None:
    """Draw scenes at random by the rules in the domain's metadata.

    Scenes have everything a rendered CLEVR scene file has, but no picture: positions, pixel coordinates, relations.
    Scene i depends on the seed and i alone.

    \b
    Example:
      vqagen scenes sample --count 20 --seed 1 -o scenes.json
    """
    from vqagen.api import find_domain, write_scenes
    from vqagen.cli.progress import run_progress, run_summary

    with run_progress() as on_progress:
        report = write_scenes(
            out,
            settings,
            find_domain(**domain),
            format=layout,
            options=options,
            shard=shard,
            on_progress=on_progress,
        )
    click.echo(run_summary(report, out), err=True)
