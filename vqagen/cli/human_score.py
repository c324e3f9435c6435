"""`vqagen human score`: scores of a study."""

from __future__ import annotations

import click

from vqagen.cli.human_store import store_option
from vqagen.cli.options import path, settings_options
from vqagen.cli.reports import ReportOutput, report_options
from vqagen.human.settings import ScoreSettings


@click.command("score")
@click.argument("source", type=path, metavar="STUDY|EXPORT|answers.jsonl")
@settings_options(settings=ScoreSettings)
@store_option
@report_options("source")
def score(
    source: str,
    settings: ScoreSettings,
    store: str | None,
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

    \b
    Example:
      vqagen human score answers --method humanr,cluster
    """
    from vqagen.human.scores.report import score_study

    output.put(score_study(source, settings, store=store or "").report())
