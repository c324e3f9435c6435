"""`vqagen human simulate`: rehearses a study with simulated raters."""

from __future__ import annotations

import click

from vqagen.cli.options import integer, path, settings_options
from vqagen.human.simulation.raters import RaterSettings

_VIA = ("data",)


@click.command("simulate")
@click.argument("study", type=path, metavar="STUDY")
@click.option("--raters", required=True, type=integer(1), metavar="N", help="Number of raters.")
@settings_options(settings=RaterSettings)
@click.option("--via", type=click.Choice(_VIA), default="data", show_default=True, help="data: no server is needed.")
@click.option(
    "--replications",
    type=integer(1),
    default=100,
    show_default=True,
    metavar="N",
    help="Repetitions of the study that power is estimated by.",
)
@click.option("--out", "-o", type=path, metavar="FOLDER", help="Also write the answers of one repetition.")
@click.option("--force", is_flag=True, help="Replace answers that exist.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def simulate(
    study: str,
    raters: int,
    settings: RaterSettings,
    via: str,
    replications: int,
    out: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Rehearse a study with simulated raters, and print its power before money is spent.

    Each rater has opinions of the systems (--rater-sd), each text is better or worse than its system (--image-sd), and
    each answer has noise. The tables say how wide the intervals will be, and how often they will show that a system
    differs from the reference, or from another system, if its true score is --effect.

    \b
    Example:
      vqagen human simulate study --raters 12 --effect ours=-0.2 --out answers
      vqagen human score answers
    """
    from vqagen.api import simulate_study, write_simulated_answers
    from vqagen.cli.progress import counting
    from vqagen.human_scoring import answers_file
    from vqagen.judge.report.writers import WRITERS

    if out is not None:
        answers_file(out, force)
    with counting("repetition") as done:
        report = simulate_study(study, raters, settings, replications=replications, on_done=done)
    click.echo(WRITERS["json" if as_json else "text"](report), nl=False)
    if out is not None:
        count = write_simulated_answers(study, raters, out, settings, force=force)
        click.echo(f"{count:,} answers in {out}", err=True)
