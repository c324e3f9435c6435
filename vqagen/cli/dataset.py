"""`vqagen dataset`: from nothing to a dataset of questions with pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from vqagen.cli.group import GroupedCommand, Option
from vqagen.cli.options import domain_options, path, settings_options
from vqagen.dataset.settings import DatasetSettings
from vqagen.run.options import RunOptions

if TYPE_CHECKING:
    from vqagen.run.runner import OnProgress


@click.command("dataset", cls=GroupedCommand)
@click.argument("out", type=path)
@click.option(
    "--scenes",
    cls=Option,
    group="input",
    type=path,
    metavar="PATH",
    help="Scenes to ask about, in CLEVR's format, in place of sampled ones.",
)
@domain_options("domain", "metadata", "templates", "synonyms", "plugins")
@settings_options(settings=DatasetSettings, options=RunOptions)
def command(
    out: str, scenes: str | None, domain: dict[str, Any], settings: DatasetSettings, options: RunOptions
) -> None:
    """Make a dataset: pictures, questions with options, splits, Parquet files, and a card with an audit.

    OUT is a new folder, which `datasets.load_dataset` opens. Scenes are sampled, or read by --scenes; pictures are
    rendered (pip install 'vqagen[render]') or drawn. No scene, or one nearly the same, no text and no program is in two
    splits; --hold-out keeps families, long programs or pairs of values for the test split alone. Left out are questions
    about objects that can hardly be seen, and those for which no options are found.

    Every step goes on where it was interrupted, by --resume.

    \b
    Example:
      vqagen dataset clevr-like --count 20 --pictures drawn
    """
    from vqagen.dataset.build import write_dataset

    report = write_dataset(out, settings, scenes=scenes, options=options, on_step=_step, **domain)
    click.echo(f"{out} is complete: there is nothing to do" if report.was_complete else report.summary(), err=True)


@contextmanager
def _step(name: str) -> Iterator[OnProgress]:
    from vqagen.cli.messages import print_message
    from vqagen.cli.progress import run_progress

    print_message(name)
    with run_progress() as on_progress:
        yield on_progress
