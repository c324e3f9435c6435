"""`vqagen scenes`: scene files without a renderer."""

from __future__ import annotations

import click

from vqagen.cli.domain_options import domain_options
from vqagen.cli.group import Group
from vqagen.cli.values import integer, path


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
@domain_options("domain", "metadata", "plugins")
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
def sample(
    count: int,
    out: str,
    seed: int,
    start_index: int,
    split: str,
    domain: str | None,
    metadata: str | None,
    plugins: tuple[str, ...],
    force: bool,
) -> None:
    """Draw scenes at random by the rules in the domain's metadata.

    Scenes have everything a rendered CLEVR scene file has, but no picture: positions, pixel coordinates, relations.
    Scene i depends on the seed and i alone.

    \b
    Example:
      vqagen scenes sample --count 20 --seed 1 -o scenes.json
    """
    from vqagen.api import find_domain, sample_scenes, scene_info
    from vqagen.cli.progress import with_bar
    from vqagen.errors import counted
    from vqagen.run.output import check_record_file, layout_of, record_file

    layout = layout_of(out)
    files = find_domain(domain, metadata=metadata, plugins=plugins)
    check_record_file(out, layout, force, files.inputs)
    records = sample_scenes(
        count, seed=seed, start=start_index, split=split, domain=domain, metadata=metadata, plugins=plugins
    )
    info = scene_info(seed=seed, start=start_index, split=split, domain=domain, metadata=metadata, plugins=plugins)
    with record_file(out, layout, info, key="scenes") as writer:
        for record in with_bar(records, count, "scene"):
            writer.write([record])
    click.echo(counted(count, "scene"), err=True)
