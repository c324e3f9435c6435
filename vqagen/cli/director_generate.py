"""`vqagen director generate` and `design`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from vqagen.cli.options import catalogue_option, output_options, path, settings_options, shard_option
from vqagen.run.options import RunOptions
from vqagen.tasks.director.settings import DirectorSettings

if TYPE_CHECKING:
    from vqagen.tasks.director.maker import CellFeasibility

templates_option = click.option(
    "--templates", type=path, metavar="PATH", help="Instructions, in place of the shipped ones."
)


@click.command("generate")
@output_options("trials")
@catalogue_option
@templates_option
@shard_option
@settings_options(settings=DirectorSettings, options=RunOptions)
def generate(
    out: str,
    layout: str | None,
    catalogue: str | None,
    templates: str | None,
    settings: DirectorSettings,
    shard: str | None,
    options: RunOptions,
) -> None:
    """Make trials: a folder with their records and pictures.

    By default each trial has one right answer, every word of its instruction is needed, and in test trials one blocked
    item tells the director's view from the participant's. Shares are exact. The same seed gives the same bytes.

    \b
    Example:
      vqagen director generate --count 12 --seed 3 --render svg --out trials
    """
    from vqagen.calls.director_trials import write_trials
    from vqagen.cli.progress import run_progress, run_summary

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


@click.command("design")
@catalogue_option
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@settings_options(settings=DirectorSettings)
@click.pass_context
def design(ctx: click.Context, catalogue: str | None, as_json: bool, settings: DirectorSettings) -> None:
    """Show the cells of the design: how many trials are made of each, out of how many questions.

    Takes the options of `generate`, and writes nothing. The exit code is 1 if nothing can be made for a cell.

    \b
    Example:
      vqagen director design --count 2000 --width 3 --height 3
    """
    from vqagen.calls.director_trials import trial_design

    rows = trial_design(settings, catalogue=catalogue)
    if as_json:
        import json

        click.echo(json.dumps([_row(*each) for each in rows], indent=2))
    else:
        for line in _table(rows):
            click.echo(line)
    ctx.exit(1 if any(each.faults for each, _ in rows) else 0)


def _row(found: CellFeasibility, trials: int) -> dict[str, Any]:
    faults = list(found.faults)
    return {**found.cell._asdict(), "trials": trials, "questions": found.questions, "faults": faults}


def _table(rows: list[tuple[CellFeasibility, int]]) -> Iterator[str]:
    yield f"{'type':8} {'rule':11} {'frame':12} {'physics':8} {'trials':>9} {'questions':>10}"
    for (cell, questions, faults), trials in rows:
        kind = "test" if cell.is_test else "control"
        named = f"{kind:8} {cell.rule:11} {cell.frame or '-':12} {'yes' if cell.is_physics else 'no':8} {trials:9,}"
        yield f"{named} {questions:10,}" + "".join(f"  {each}" for each in faults)
