"""`vqagen generate`: questions, programs and answers about scenes."""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli.aliases import ReferenceCommand
from vqagen.cli.group import Option
from vqagen.cli.options import (
    domain_options,
    output_options,
    path,
    scenes_option,
    settings_options,
    shard_option,
)
from vqagen.run.options import RunOptions
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm


@click.command("generate", cls=ReferenceCommand)
@scenes_option
@domain_options("domain", "metadata", "templates", "synonyms", "plugins")
@click.option(
    "--disjoint-from",
    cls=Option,
    group="input",
    type=path,
    multiple=True,
    metavar="FILE",
    help="Reject questions that share their text or program with this question file; may be given several times.",
)
@output_options("questions")
@click.option(
    "--report",
    cls=Option,
    group="output",
    type=path,
    metavar="FILE",
    help="Write a report as JSON: questions of each family, and why some fell short.",
)
@settings_options(form=RecordForm, settings=QuestionSettings, options=RunOptions)
@shard_option
def command(
    scenes: str,
    out: str,
    layout: str | None,
    domain: dict[str, Any],
    form: RecordForm,
    settings: QuestionSettings,
    disjoint_from: tuple[str, ...],
    shard: str | None,
    options: RunOptions,
    report: str | None,
) -> None:
    """Make questions, programs and answers about scenes.

    Templates are filled by depth-first search. The program of each question is run on the scene graph and gives the
    answer. The same seed gives the same bytes with any number of workers, and merged shards equal one run.

    \b
    Example:
      vqagen generate --scenes scenes.json --out questions.json --seed 7
    """
    from vqagen.cli.progress import run_progress, run_summary
    from vqagen.language.domain_files import QUESTIONS, find_domain
    from vqagen.run.making import write_questions

    with run_progress() as on_progress:
        made = write_questions(
            scenes,
            out,
            find_domain(**domain, task=QUESTIONS),
            settings,
            form,
            format=layout,
            options=options,
            shard=shard,
            disjoint_from=disjoint_from,
            report_to=report,
            on_progress=on_progress,
        )
    click.echo(run_summary(made, out), err=True)
