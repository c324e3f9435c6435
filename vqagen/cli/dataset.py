"""`vqagen dataset`: a picture dataset out of nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from vqagen.cli.messages import print_faster_variant, print_message, run_progress
from vqagen.cli.options import GroupedCommand, Option, domain_options, input_path, path, settings_options
from vqagen.dataset.settings import DatasetSettings
from vqagen.run.options import RunOptions

if TYPE_CHECKING:
    from vqagen.run.runner import OnProgress


@click.command("dataset", cls=GroupedCommand)
@click.argument("out", type=path, metavar="OUT")
@click.option(
    "--scenes",
    cls=Option,
    group="input",
    type=input_path,
    metavar="PATH",
    help="Scenes to picture and ask about, in place of sampled ones.",
)
@domain_options("domain", "metadata", "templates", "synonyms", "plugins")
@settings_options(settings=DatasetSettings, options=RunOptions)
def command(
    out: str, scenes: str | None, domain: dict[str, Any], settings: DatasetSettings, options: RunOptions
) -> None:
    """Make a dataset of pictures and questions in the folder OUT, from nothing or from scenes.

    Samples scenes, renders them, asks questions, gives them options, splits by scene, and writes Parquet files with
    pictures, which `datasets.load_dataset` opens, and a card with an audit and statistics. No split has a question's
    text or program, or nearly a scene, of another one.

    The same command again finishes what was interrupted. Rendered pictures need the extra `render`.

    \b
    Example:
      vqagen dataset clevr-small --count 12 --pictures drawn --questions 8
    """
    from vqagen.dataset.build import write_dataset
    from vqagen.language.domain_files import QUESTIONS, find_domain

    made = write_dataset(
        out, settings, find_domain(**domain, task=QUESTIONS), scenes=scenes, options=options, on_step=_step
    )
    click.echo(f"{out} is complete: there is nothing to do" if made.was_complete else made.summary(), err=True)
    print_faster_variant(settings.pictures, settings.variant)


@contextmanager
def _step(name: str) -> Iterator[OnProgress]:

    print_message(name)
    with run_progress() as on_progress:
        yield on_progress
