"""`vqagen human make-tasks`."""

from __future__ import annotations

import click

from vqagen.cli.options import path, settings_options
from vqagen.human.study.settings import PlanSettings


@click.command("make-tasks")
@click.option("--human", required=True, type=path, metavar="FILE", help="Human captions: image -> list of captions.")
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="NAME=FILE",
    help="Captions of a system: image -> caption; give one for each system.",
)
@click.option("--images", required=True, type=path, metavar="FOLDER", help="The folder of the images.")
@click.option("--texts", type=path, metavar="FILE", help="Words that raters see, in place of the English ones.")
@click.option("--out", "-o", required=True, type=path, metavar="FOLDER", help="Folder for the study.")
@settings_options(settings=PlanSettings)
@click.option("--force", is_flag=True, help="Replace a study that was not served yet; its edited texts stay.")
def make_tasks(
    human: str,
    systems: tuple[str, ...],
    images: str,
    texts: str | None,
    out: str,
    settings: PlanSettings,
    force: bool,
) -> None:
    """Plan a study: which trials stand in which task, in which order, on which side.

    \b
    Example:
      vqagen human make-tasks --human human.json --system ours=model.json --images images --out study
    """
    from vqagen.api import make_caption_tasks

    named = dict(_system(each) for each in systems)
    study, notes = make_caption_tasks(out, human, named, images, settings, texts=texts, force=force)
    for note in notes:
        click.echo(f"vqagen: {note}", err=True)
    click.echo(f"{len(study.tasks):,} tasks for {study.slots} raters each in {out}", err=True)


def _system(given: str) -> tuple[str, str]:
    name, separator, file = given.partition("=")
    if not (name and separator and file):
        raise click.UsageError(f"--system {given!r} is not of the form NAME=FILE")
    return name, file
