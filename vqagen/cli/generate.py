"""`vqagen generate`: questions, programs and answers about scenes."""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli.aliases import ReferenceCommand
from vqagen.cli.domain_options import domain_options
from vqagen.cli.values import integer, path


@click.command("generate", cls=ReferenceCommand)
@click.option(
    "--scenes", required=True, type=path, metavar="PATH", help="Scene document, JSON Lines file, or folder of scenes."
)
@click.option(
    "--out", "-o", required=True, type=path, metavar="FILE", help="Where the questions go; - for standard output."
)
@domain_options("domain", "metadata", "templates", "synonyms", "plugins")
@click.option("--format", "layout", type=click.Choice(["json", "jsonl"]), help="[default: by the name of --out]")
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
@click.option("--seed", type=integer(), default=0, show_default=True)
@click.option(
    "--start-index", type=integer(), default=0, show_default=True, help="First scene, by its place in the input."
)
@click.option("--count", type=integer(), default=0, show_default=True, help="How many scenes; 0 for all.")
@click.option("--templates-per-image", type=integer(), default=10, show_default=True)
@click.option(
    "--instances-per-template",
    type=integer(),
    default=1,
    show_default=True,
    help="Questions of one template; 0 for all that the balance of answers and the budget let in.",
)
@click.option(
    "--reset-counts-every",
    type=integer(),
    default=250,
    show_default=True,
    help="Scenes in one answer-balance window, by absolute index; 0 for one window.",
)
@click.option("--shuffle-templates", is_flag=True, help="Break ties between equally used templates at random.")
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
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
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
    degeneracy: str | None,
    force: bool,
    **settings: Any,
) -> None:
    """Make questions, programs and answers about scenes.

    Templates are filled by depth-first search; each question's program is run on its scene graph, and gives its answer.
    The same seed gives the same bytes, and shards laid end to end equal one run.

    \b
    Example:
      vqagen generate --scenes scenes.json --out questions.json --seed 7
    """
    from vqagen.api import Generation, find_domain, find_scenes, load_materials, make_settings
    from vqagen.cli.progress import with_bar
    from vqagen.cli.summary import summary
    from vqagen.exchange.clevr import record_writer
    from vqagen.run.output import check_record_file, layout_of, record_file

    chosen = make_settings(degeneracy=degeneracy or "", **settings)
    layout = layout or layout_of(out)
    files = find_domain(domain, metadata=metadata, templates=templates, synonyms=synonyms, plugins=plugins)
    check_record_file(out, layout, force, (scenes, *files.inputs))
    run = Generation(find_scenes(scenes), load_materials(files), chosen, marks=trace)
    to_record = record_writer(dialect, trace, template_extra)
    info = run.info() | {"dialect": dialect}
    made = 0
    with record_file(out, layout, info) as writer:
        for _, questions in with_bar(run.by_scene(), chosen.count or None, "scene", run.tally.questions.total):
            writer.write(to_record(question, made + i) for i, question in enumerate(questions))
            made += len(questions)
    click.echo(summary(run.tally, chosen), err=True)
