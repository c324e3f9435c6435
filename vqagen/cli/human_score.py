"""`vqagen human score`: scores of a study."""

from __future__ import annotations

import click

from vqagen.cli.human_store import store_option
from vqagen.cli.options import path, settings_options
from vqagen.cli.reports import ReportOutput, report_options
from vqagen.human.scores.settings import ScoreSettings


@click.command("score")
@click.argument("source", type=path, metavar="STUDY|EXPORT|answers.jsonl")
@settings_options(settings=ScoreSettings)
@store_option
@click.option(
    "--fail-under", multiple=True, metavar="GROUP=SCORE,…", help="Exit with 1 if upper bounds lie below these scores."
)
@report_options("source")
@click.pass_context
def score(
    ctx: click.Context,
    source: str,
    settings: ScoreSettings,
    store: str | None,
    fail_under: tuple[str, ...],
    output: ReportOutput,
) -> None:
    """Score the answers of raters.

    STUDY may be served meanwhile; EXPORT is the folder of `vqagen human export`, and answers.jsonl is its file.

    A score is the mean of answers, from -1 (the reference is clearly better) over 0 (both are equal) to 1 (the system
    is clearly better). Its interval takes into account that answers of one rater, and about one image, are alike;
    strengths by Bradley and Terry (bt) and HUMANr's own figures (humanr) are other methods. Answers to questions are
    counted, and ambiguous questions are listed.

    Raters and assignments are flagged that fail checks, answer fast, always the same or always on one side. --exclude
    says whose answers are left out, and the report how many these are.

    --fail-under takes systems (A=-0.2) and, of the fields of --by, all groups (template=-0.3) or one
    (template:one_hop=-0.3). template=-0.3/0 is missed if a mean lies below -0.3 and its upper bound below 0.

    \b
    Example:
      vqagen human score answers --method humanr,cluster
    """
    from vqagen.human.scores.report import rater_report, read_thresholds
    from vqagen.human.scores.study_scores import score_study

    read_thresholds(fail_under)
    found = score_study(source, settings, store=store or "")
    report = rater_report(found, fail_under=fail_under)
    output.put(report)
    ctx.exit(1 if report.failures else 0)
