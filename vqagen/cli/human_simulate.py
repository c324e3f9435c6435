"""`vqagen human simulate`: the power of a planned study."""

from __future__ import annotations

import click

from vqagen.cli.options import integer, path, settings_options
from vqagen.cli.reports import ReportOutput, report_options
from vqagen.human.simulation.settings import RaterSettings


@click.command("simulate")
@click.argument("study", type=path, metavar="STUDY")
@click.option("--raters", required=True, type=integer(1), metavar="N", help="Number of raters.")
@settings_options(settings=RaterSettings)
@report_options("study")
def simulate(study: str, raters: int, settings: RaterSettings, output: ReportOutput) -> None:
    """Print the power of a planned study before money is spent, by simulated raters.

    Each rater has opinions of the systems (--rater-sd), each text is better or worse than its system (--image-sd), and
    each answer has noise. The study is repeated 100 times. The tables say how wide the intervals will be, and how often
    they will show that a system differs from the reference, or from another system, if its true score is --effect.

    \b
    Example:
      vqagen human simulate study --raters 12 --effect ours=-0.2
    """
    from vqagen.cli.progress import counting
    from vqagen.human.simulation.power import simulate_study

    with counting("repetition") as done:
        report = simulate_study(study, raters, settings, on_done=done)
    output.put(report)
