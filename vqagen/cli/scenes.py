"""`vqagen scenes`: scene files without a renderer."""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli import CommandGroup
from vqagen.cli.messages import print_faster_variant, run_progress, run_summary
from vqagen.cli.options import (
    GroupedCommand,
    domain_options,
    input_path,
    out_option,
    output_options,
    settings_options,
    shard_option,
)
from vqagen.run.options import RunOptions
from vqagen.tasks.rendering.settings import DRAWN, DrawingSettings, PictureSettings, RenderingSettings
from vqagen.tasks.sampling.settings import SamplingSettings


@click.group("scenes", cls=CommandGroup)
def command() -> None:
    """Make scene files, and pictures of them.

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


_pictures_option = out_option("FOLDER", "Folder for the pictures and the scenes with their masks.")


@command.command("render", cls=GroupedCommand)
@click.argument("scenes", type=input_path)
@domain_options("domain", "metadata", "plugins")
@_pictures_option
@settings_options(settings=RenderingSettings, options=RunOptions)
@shard_option
def render(scenes: str, settings: RenderingSettings, **given: Any) -> None:
    """Render pictures of scenes: soft shadows, metal that mirrors, and a mask of every object.

    Any scene file in CLEVR's format will do, the released ones too: objects are where their pixel coordinates say.
    The folder gets the pictures, and the scenes with camera, lamps, boxes, masks, visible pixels and depths.

    \b
    Example:
      vqagen scenes sample --count 2 --seed 1 -o scenes.json
      vqagen scenes render scenes.json -o pictures
    """
    _write(scenes, PictureSettings(**settings.to_record()), **given)


@command.command("draw", cls=GroupedCommand)
@click.argument("scenes", type=input_path)
@domain_options("domain", "metadata", "plugins")
@_pictures_option
@settings_options(settings=DrawingSettings, options=RunOptions)
@shard_option
def draw(scenes: str, settings: DrawingSettings, **given: Any) -> None:
    """Draw plain pictures of scenes, without a renderer: 20 and more a second.

    Everything else is as with `vqagen scenes render`: places, shapes, colors, boxes and masks.

    \b
    Example:
      vqagen scenes sample --count 3 --seed 1 -o scenes.json
      vqagen scenes draw scenes.json -o pictures
    """
    _write(scenes, PictureSettings(kind=DRAWN, **settings.to_record()), **given)


def _write(
    scenes: str, settings: PictureSettings, out: str, domain: dict[str, Any], shard: str | None, options: RunOptions
) -> None:
    from vqagen.language.domain_files import find_domain
    from vqagen.run.making import write_pictures

    with run_progress() as on_progress:
        report = write_pictures(
            scenes, out, find_domain(**domain), settings, options=options, shard=shard, on_progress=on_progress
        )
    made = run_summary(report, out)
    click.echo(made if report.was_complete else f"{made} -> {out}", err=True)
    print_faster_variant(settings.kind, settings.variant)
