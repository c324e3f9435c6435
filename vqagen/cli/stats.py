"""`vqagen stats`: what a file of questions, dialogs or trials asks and answers, and what can be guessed."""

from __future__ import annotations

import click

from vqagen.cli.messages import reading_then
from vqagen.cli.options import image_key_option, input_path
from vqagen.cli.reports import ReportOutput, report_options


@click.command("stats")
@click.argument("file", type=input_path)
@click.option(
    "--against", type=input_path, metavar="FILE", help="Test guesses on this file of the same kind, of other scenes."
)
@image_key_option
@report_options("file", "against")
def command(file: str, against: str | None, image_key: str, output: ReportOutput) -> None:
    """Show what a file asks and answers, and what can be guessed without the pictures.

    Prints questions, texts, words, programs, pairs, and how evenly answers are used, for each question type. Then
    predictors that never see a picture guess the answers: by the majority of the family, the numbers of image and
    question, the words, what is said of each object, and the answers to other questions about the image. They learn
    from some images and are tested on others, or with --against on another file. Reads all dialects, as a JSON
    document, JSON Lines or Parquet, also from other generators and Visual7W.

    Of dialogs, prints the shares of labels, types and captions, coreference distances, lengths and different questions,
    beside those of CLEVR-Dialog. Reads files of `vqagen dialog` and of CLEVR-Dialog's shape.

    Of trials, prints the design and the accuracy of policies that miss a view, left and right, or words. Reads folders
    of `vqagen director` and datasets of the reference's shape.

    \b
    Example:
      vqagen stats questions.json
    """
    with reading_then("predictor", "record") as (on_read, on_guess):
        from vqagen.shortcuts.statistics import stats

        report = stats(file, against=against, on_read=on_read, on_guess=on_guess, image_key=image_key)
    output.put(report)
