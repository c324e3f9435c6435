"""`vqagen scenes`: scene files without a renderer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vqagen.cli.domain_options import domain_options
from vqagen.cli.group import Group
from vqagen.cli.run_options import run_options, shard_option
from vqagen.cli.values import integer, path

if TYPE_CHECKING:
    from vqagen.api import RunOptions


@click.group("scenes", cls=Group)
def command() -> None:
    """Make scene files.

    \b
    Example:
      vqagen scenes sample --count 20 -o scenes.json
    """


@command.command("sample")
@click.option("--count", type=integer(1), required=True, help="How many scenes.")
@click.option(
    "--out", "-o", required=True, type=path, metavar="FILE", help="Where the scenes go; - for standard output."
)
@click.option("--seed", type=integer(), default=0, show_default=True)
@click.option("--start-index", type=integer(0), default=0, show_default=True, help="Index of the first scene.")
@click.option("--split", default="sample", show_default=True, help="Written into each scene, and its image's name.")
@shard_option
@domain_options("domain", "metadata", "plugins")
@run_options
def sample(
    count: int,
    out: str,
    seed: int,
    start_index: int,
    split: str,
    shard: str | None,
    domain: str | None,
    metadata: str | None,
    plugins: tuple[str, ...],
    options: RunOptions,
) -> None:
    """Draw scenes at random by the rules in the domain's metadata.

    Scenes have everything a rendered CLEVR scene file has, but no picture: positions, pixel coordinates, relations.
    Scene i depends on the seed and i alone.

    \b
    Example:
      vqagen scenes sample --count 20 --seed 1 -o scenes.json
    """
    from vqagen.api import SamplingSettings, find_domain, write_scenes
    from vqagen.cli.progress import run_bar
    from vqagen.errors import counted

    settings = SamplingSettings(seed, start_index, count, split)
    files = find_domain(domain, metadata=metadata, plugins=plugins)
    with run_bar() as on_progress:
        came = write_scenes(out, settings, files, options=options, shard=shard, on_progress=on_progress)
    done = f"{out} is complete: there is nothing to do"
    click.echo(done if came.was_complete else counted(came.records, "scene"), err=True)
