"""`vqagen scenes`: scene files without a renderer."""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli.group import Group, GroupedCommand
from vqagen.cli.options import domain_options, input_path, integer, output_options, path, settings_options, shard_option
from vqagen.errors import counted
from vqagen.run.options import RunOptions
from vqagen.tasks.sampling.settings import SamplingSettings


@click.group("scenes", cls=Group)
def command() -> None:
    """Make scene files, and plain pictures of them.

    \b
    Example:
      vqagen scenes sample --count 20 -o scenes.json
    """


@command.command("sample", cls=GroupedCommand)
@domain_options("domain", "metadata", "plugins")
@output_options("scenes")
@settings_options(settings=SamplingSettings, options=RunOptions)
@shard_option
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
    from vqagen.cli.progress import run_progress, run_summary
    from vqagen.language.domain_files import find_domain
    from vqagen.run.making import write_scenes

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


@command.command("draw")
@click.argument("scenes", type=input_path)
@click.option("-o", "--out", type=path, required=True, metavar="FOLDER", help="Folder for the pictures.")
@domain_options("domain", "metadata", "plugins")
@click.option("--count", type=integer(0), default=0, show_default=True, help="How many scenes; 0 for all.")
@click.option("--force", is_flag=True, help="Draw pictures again that exist.")
def draw(scenes: str, out: str, domain: dict[str, Any], count: int, force: bool) -> None:
    """Draw plain pictures of scenes, without a renderer.

    A picture shows what the scene file says: solids of the right size, shape, color and place, seen by the scene's
    camera; metal and glass shine. Pictures have the names of the scene file. Those that exist are kept, so that an
    interrupted run can be started again.

    \b
    Example:
      vqagen scenes sample --count 3 --seed 1 -o scenes.json
      vqagen scenes draw scenes.json -o images
    """
    from vqagen.cli.progress import counting
    from vqagen.language.domain_files import find_domain
    from vqagen.pictures.scene_pictures import draw_scenes

    with counting("picture") as on_picture:
        drawn = draw_scenes(
            scenes,
            out,
            find_domain(**domain),
            count=count,
            force=force,
            on_picture=on_picture,
        )
    kept = f"; {counted(drawn.kept, 'picture')} existed and stayed" if drawn.kept else ""
    click.echo(f"{counted(drawn.made, 'picture')} -> {out}{kept}", err=True)
