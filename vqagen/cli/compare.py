"""`vqagen compare`: tests whether models that answered the same questions differ."""

from __future__ import annotations

import click

from vqagen.cli.options import coordinates_option, input_path, missing_option, prediction_key_option
from vqagen.cli.reports import ReportOutput, report_options


@click.command("compare")
@click.argument("questions", type=input_path)
@click.argument("predictions", nargs=-1, required=True, type=input_path, metavar="A B...")
@click.option("--group-by", metavar="FIELD,…", help="Fields, or crosses of fields. [default: those with few groups]")
@click.option("--mode", default="", metavar="open|mc", help="How the questions are answered. [default: as asked]")
@click.option("--split", default="", metavar="NAME", help="Compare the questions of this split alone.")
@click.option("--normalise", default="typed", show_default=True, metavar="NAME", help="How answers are compared.")
@coordinates_option
@prediction_key_option
@missing_option
@report_options("questions", "predictions")
def command(
    questions: str,
    predictions: tuple[str, ...],
    group_by: str | None,
    mode: str,
    split: str,
    normalise: str,
    missing: str,
    prediction_key: str,
    coordinates: str | None,
    output: ReportOutput,
) -> None:
    """Compare two or more models by their predictions for the same questions.

    Prints the accuracy of each model; for each pair the difference with its interval and p, which are robust to several
    questions about one image, the questions that only one of them got right, McNemar's exact test, and the difference
    that so many questions can detect; and the difference in each group. Where many p are printed, Holm's correction
    stands beside them.

    \b
    Example:
      vqagen baseline majority --questions questions.json -o a.jsonl
      vqagen baseline uniform --questions questions.json -o b.jsonl
      vqagen compare questions.json a.jsonl b.jsonl
    """
    from vqagen.score.compare import compare

    comparison = compare(
        questions,
        *predictions,
        split=split,
        mode=mode,
        group_by=[name.strip() for name in group_by.split(",")] if group_by else (),
        normalise=normalise,
        missing=missing,
        prediction_key=prediction_key,
        coordinates=coordinates or "",
    )
    output.put(comparison.report())
