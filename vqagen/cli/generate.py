"""`vqagen generate`: questions, programs and answers about scenes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from vqagen.cli.aliases import ReferenceCommand
from vqagen.cli.domain_options import domain_options
from vqagen.cli.run_options import run_options, shard_option
from vqagen.cli.values import integer, path

if TYPE_CHECKING:
    from vqagen.api import RunOptions


@click.command("generate", cls=ReferenceCommand)
@click.option(
    "--scenes", required=True, type=path, metavar="PATH", help="Scene document, JSON Lines file, or folder of scenes."
)
@click.option(
    "--out", "-o", required=True, type=path, metavar="FILE", help="Where the questions go; - for standard output."
)
@domain_options("domain", "metadata", "templates", "synonyms", "plugins")
@click.option(
    "--format", "layout", type=click.Choice(["json", "jsonl", "parquet"]), help="[default: by the name of --out]"
)
@click.option(
    "--dialect",
    type=click.Choice(["generator", "release"]),
    default="generator",
    show_default=True,
    help="release: nodes have `function`, answers are text, families are counted over all files.",
)
@click.option("--trace", is_flag=True, help="Add every step's output to each question, and where it mentions objects.")
@click.option(
    "--template-extra", is_flag=True, help="Add what templates hold beyond the known keys to their questions."
)
@click.option("--hide-answers", is_flag=True, help="Leave out answers and programs, as for a test set.")
@click.option("--seed", type=integer(), default=0, show_default=True)
@click.option(
    "--start-index", type=integer(), default=0, show_default=True, help="First scene, by its place in the input."
)
@click.option("--count", type=integer(), default=0, show_default=True, help="How many scenes; 0 for all.")
@shard_option
@click.option("--templates-per-image", type=integer(), default=10, show_default=True)
@click.option(
    "--questions-per-image",
    type=integer(),
    default=0,
    show_default=True,
    help="As many questions about each scene, in place of --templates-per-image.",
)
@click.option(
    "--instances-per-template",
    type=integer(),
    default=1,
    show_default=True,
    help="Questions of one template; 0 for all that the balance of answers and the budget let in.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="FAMILY|TYPE",
    help="Only these: a template's id, name or file, or a question type such as count; may be given several times.",
)
@click.option(
    "--max-per-template",
    type=integer(),
    default=0,
    show_default=True,
    help="Most questions of one template in the whole output, the first ones; 0 for no limit.",
)
@click.option(
    "--dedupe",
    type=click.Choice(["none", "image", "all"]),
    is_flag=False,
    flag_value="all",
    default="none",
    show_default=True,
    help="No text twice about one scene, or in the whole output (also if no value is given).",
)
@click.option(
    "--disjoint-from",
    type=path,
    multiple=True,
    metavar="FILE",
    help="Ask nothing that has its text or its program in common with these questions; may be given several times.",
)
@click.option(
    "--reset-counts-every",
    type=integer(),
    default=250,
    show_default=True,
    help="Scenes in one answer-balance window, by absolute index; 0 for one window.",
)
@click.option(
    "--shuffle-templates/--no-shuffle-templates",
    default=None,
    help="Try equally used templates in random order or in file order. [default: random; file with --compat clevr]",
)
@click.option(
    "--degeneracy",
    type=click.Choice(["none", "clevr", "all"]),
    help="Refuse questions in which a relation is idle. [default: all; clevr with --compat clevr]",
)
@click.option(
    "--redundancy",
    type=click.Choice(["keep", "reduce"]),
    default="keep",
    show_default=True,
    help="reduce: drop words that a reference to one object does not need.",
)
@click.option(
    "--compat",
    type=click.Choice(["none", "clevr"]),
    default="none",
    show_default=True,
    help="clevr: sample exactly as the CLEVR question generator does.",
)
@click.option(
    "--search-budget",
    type=integer(),
    default=20_000,
    show_default=True,
    help="Options tried before a template gives up on a scene.",
)
@run_options
@click.option("--report", type=path, metavar="FILE", help="Write what was made and what fell short, as JSON.")
def command(
    scenes: str,
    out: str,
    domain: str | None,
    metadata: str | None,
    templates: str | None,
    synonyms: str | None,
    plugins: tuple[str, ...],
    layout: str | None,
    dialect: str,
    trace: bool,
    template_extra: bool,
    hide_answers: bool,
    shard: str | None,
    disjoint_from: tuple[str, ...],
    degeneracy: str | None,
    options: RunOptions,
    report: str | None,
    **settings: Any,
) -> None:
    """Make questions, programs and answers about scenes.

    Templates are filled by depth-first search; each question's program is run on its scene graph, and gives its answer.
    The same seed gives the same bytes, with any number of workers, and shards laid end to end equal one run.

    \b
    Example:
      vqagen generate --scenes scenes.json --out questions.json --seed 7
    """
    from vqagen.api import RecordForm, find_domain, make_settings, write_questions
    from vqagen.cli.progress import run_bar
    from vqagen.cli.summary import summary

    chosen = make_settings(degeneracy=degeneracy or "", **settings)
    files = find_domain(domain, metadata=metadata, templates=templates, synonyms=synonyms, plugins=plugins)
    form = RecordForm(dialect, trace, template_extra, hide_answers)
    with run_bar("question") as on_progress:
        made = write_questions(
            scenes,
            out,
            files,
            chosen,
            form,
            layout=layout,
            options=options,
            shard=shard,
            disjoint_from=disjoint_from,
            report_to=report,
            on_progress=on_progress,
        )
    click.echo(summary(made, out), err=True)
