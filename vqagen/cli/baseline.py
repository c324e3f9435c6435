"""`vqagen baseline`: answers without a model, from uniform guesses to what is learned."""

from __future__ import annotations

import click

from vqagen.cli.messages import counting, print_listing
from vqagen.cli.options import image_key_option, input_path, path, settings_options
from vqagen.cli.reports import checked_output
from vqagen.errors import UsageError
from vqagen.shortcuts.settings import BaselineSettings


@click.command("baseline")
@click.argument("name")
@click.option("--questions", required=True, type=input_path, metavar="FILE", help="The questions to answer.")
@click.option(
    "--train",
    type=path,
    metavar="FILE",
    help="Questions to learn from. [default: those of --questions about other images]",
)
@click.option("--out", "-o", type=path, metavar="FILE", help="File for the predictions; of `all`, for the table.")
@click.option("--mode", default="", metavar="open|mc", help="How the questions are answered. [default: as their file]")
@click.option("--split", default="", metavar="NAME", help="Answer the questions of this split alone.")
@click.option("--train-split", default="", metavar="NAME", help="Learn from the questions of this split alone.")
@image_key_option
@settings_options(settings=BaselineSettings)
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON, with types and families.")
def command(
    name: str,
    questions: str,
    train: str | None,
    out: str | None,
    mode: str,
    split: str,
    train_split: str,
    image_key: str,
    settings: BaselineSettings,
    force: bool,
    as_json: bool,
) -> None:
    """Answer questions by a baseline, and write the answers as a prediction file.

    NAME is one of the following, or `all` for a table of all that the files allow.

    \b
    without pictures    uniform, majority (of the type), majority-all, majority-family
    learned             words, order (of images and questions), history (of a dialog), tree (of a program's phrases),
                        others (answers to other questions about the image)
    multiple choice     random-option, position, most-frequent-option, choices-only, question-and-choices
    trials              cell

    Of equally frequent answers, the one that occurs first in the questions to learn from is taken. Beside the accuracy
    of answers that are drawn at random, their expected accuracy is printed. Without --train, questions about other
    images of the same file are learned from, in five parts, or in whole windows of balance.

    \b
    Example:
      vqagen baseline majority --questions questions.json -o predictions.jsonl
      vqagen baseline all --questions questions.json
    """
    from vqagen.shortcuts.baseline import BaselineFiles, baseline, baseline_ladder

    files = BaselineFiles(questions, train, mode, split, train_split, image_key)
    if name == "all":
        output = checked_output(out or "-", as_json, force, [file for file in (questions, train) if file])
        with counting("baseline") as on_done:
            ladder = baseline_ladder(files, settings, on_done)
        output.put(ladder.report())
        return
    if out is None:
        raise UsageError("the file for the predictions is missing: give --out")
    result = baseline(name, files, out, settings, force=force)
    if as_json and out != "-":
        print_listing(result.to_record(), (), as_json)
    else:
        click.echo("\n".join(filter(None, (f"{result!r}; predictions in {out}", result.notes))), err=True)
