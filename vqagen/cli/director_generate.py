"""`vqagen director generate`."""

from __future__ import annotations

import click

from vqagen.cli.group import GroupedCommand, Option
from vqagen.cli.options import catalogue_option, output_options, path, settings_options, shard_option
from vqagen.run.options import RunOptions
from vqagen.tasks.director.settings import DirectorSettings

templates_option = click.option(
    "--templates",
    cls=Option,
    group="input",
    type=path,
    metavar="PATH",
    help="Instructions, in place of the shipped ones.",
)


@click.command("generate", cls=GroupedCommand)
@catalogue_option
@templates_option
@output_options("trials", is_required=False)
@settings_options(settings=DirectorSettings, options=RunOptions)
@shard_option
@click.option(
    "--dry-run",
    cls=Option,
    group="output",
    is_flag=True,
    help="Print the cells of the design, and write nothing; --out is not needed.",
)
@click.pass_context
def generate(
    ctx: click.Context,
    out: str | None,
    layout: str | None,
    catalogue: str | None,
    templates: str | None,
    settings: DirectorSettings,
    shard: str | None,
    options: RunOptions,
    dry_run: bool,
) -> None:
    """Make trials: a folder with their records and pictures.

    By default each trial has one right answer, every word of its instruction is needed, and in test trials one blocked
    item tells the director's view from the participant's. Shares are exact. The same seed gives the same bytes.

    --dry-run shows how many trials there will be of each cell of the design, of how many questions, and why nothing can
    be made for a cell; the exit code is then 1.

    \b
    Example:
      vqagen director generate --count 12 --seed 3 --render svg --out trials
    """
    from vqagen.cli.progress import run_progress, run_summary
    from vqagen.run.making import write_trials

    if dry_run:
        ctx.exit(1 if _print_design(settings, catalogue) else 0)
    if out is None:
        raise click.UsageError("Missing option '--out' / '-o'.")
    with run_progress() as on_progress:
        report = write_trials(
            out,
            settings,
            catalogue=catalogue,
            templates=templates,
            format=layout,
            options=options,
            shard=shard,
            on_progress=on_progress,
        )
    click.echo(run_summary(report, out), err=True)


def _print_design(settings: DirectorSettings, catalogue: str | None) -> bool:
    """Print the cells of the design: their trials, questions and, if nothing can be made for one, why; True if so."""
    from vqagen.run.making import trial_design

    click.echo(f"{'type':8} {'rule':11} {'frame':12} {'physics':8} {'trials':>9} {'questions':>10}")
    rows = trial_design(settings, catalogue=catalogue)
    for (cell, questions, faults), trials in rows:
        kind = "test" if cell.is_test else "control"
        named = f"{kind:8} {cell.rule:11} {cell.frame or '-':12} {'yes' if cell.is_physics else 'no':8} {trials:9,}"
        click.echo(f"{named} {questions:10,}" + "".join(f"  {each}" for each in faults))
    return any(each.faults for each, _ in rows)
