"""`vqagen human score`: scores of a study."""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli.options import path, settings_options
from vqagen.cli.reports import ReportOutput, report_options
from vqagen.human.scores.settings import ScoreSettings


@click.command("score")
@click.argument("source", type=path, metavar="STUDY|EXPORT|answers.jsonl")
@settings_options(settings=ScoreSettings)
@click.option("--store", default="", metavar="URL", help="Where a study's answers are. [default: in its folder]")
@click.option("--fail-under", multiple=True, metavar="GROUP=SCORE,…", help="Exit with 1 below these scores.")
@click.option(
    "--bound",
    type=click.Choice(["lower", "mean", "upper"]),
    default="upper",
    show_default=True,
    help="What --fail-under compares: the mean or a bound of its interval.",
)
@report_options("source")
@click.option("--plots", type=path, metavar="FOLDER", help="Also draw scores and answers as PNG; needs vqagen[plots].")
@click.pass_context
def score(ctx: click.Context, /, source: str, settings: ScoreSettings, output: ReportOutput, **options: Any) -> None:
    """Score the answers of raters.

    SOURCE is a study, which may be served meanwhile, the folder of an export, or its answers.jsonl.

    A score is the mean of answers, from -1 (the reference is clearly better) over 0 (both are equal) to 1 (the system
    is clearly better). Its interval takes into account that answers of one rater, and about one image, are alike.
    Raters and assignments are flagged that fail checks, answer fast, always the same or always on one side. --exclude
    says whose answers are left out, and the report how many these are.

    --fail-under takes systems (A=-0.2) and, of the fields of --by, all groups (template=-0.3) or one
    (template:one_hop=-0.3). template=-0.3/0 is missed if a mean lies below -0.3 and its upper bound below 0.

    \b
    Example:
      vqagen human score answers --method humanr,cluster
    """
    from vqagen.calls.human_scoring import check_plots, rater_report, score_study, write_score_plots
    from vqagen.human.scores.gates import read_thresholds

    read_thresholds(options["fail_under"])
    if options["plots"]:
        check_plots(options["plots"], settings, force=output.force)
    found = score_study(source, settings, store=options["store"])
    is_whole = output.format in ("json", "csv")
    report = rater_report(found, fail_under=options["fail_under"], bound=options["bound"], is_whole=is_whole)
    if options["plots"]:
        write_score_plots(found, options["plots"], force=output.force)
    output.put(report)
    ctx.exit(1 if report.failures else 0)
