"""`vqagen generate`: questions, programs and answers about scenes."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from vqagen.cli.messages import run_progress, run_summary
from vqagen.cli.options import (
    GroupedCommand,
    Option,
    domain_options,
    output_options,
    path,
    scenes_option,
    settings_options,
    shard_option,
    spelled,
)
from vqagen.run.options import RunOptions
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm

REFERENCE_FLAGS = {
    "input-scene-file": "scenes",
    "metadata-file": "metadata",
    "template-dir": "templates",
    "synonyms-json": "synonyms",
    "output-questions-file": "out",
    "scene-start-idx": "start-index",
    "num-scenes": "count",
}
"""The reference's flag -> ours. Any flag may also be written with underscores in place of hyphens."""

IGNORED_FLAGS = ("--verbose", "--time-dfs", "--profile")
"""Flags of the reference that only print; they are accepted and do nothing."""


class ReferenceCommand(GroupedCommand):
    """A command that takes the reference's flags too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context_settings = {**self.context_settings, "token_normalize_func": partial(spelled, REFERENCE_FLAGS)}
        self.params += [click.Option([flag], is_flag=True, hidden=True, expose_value=False) for flag in IGNORED_FLAGS]


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
    from vqagen.language.domain_files import QUESTIONS, find_domain
    from vqagen.run.making import write_questions

    with run_progress() as on_progress:
        made_report = write_questions(
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
    click.echo(run_summary(made_report, out), err=True)
