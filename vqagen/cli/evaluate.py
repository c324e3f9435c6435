"""`vqagen evaluate`: scores a model's answers."""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli.messages import counting
from vqagen.cli.options import coordinates_option, input_path, missing_option, path, prediction_key_option
from vqagen.cli.reports import ReportOutput, report_options
from vqagen.errors import UsageError


@click.command("evaluate")
@click.argument("questions", type=input_path)
@click.argument("predictions", type=input_path)
@click.option("--mode", type=click.Choice(["open", "mc"]), help="Answered freely, or by options. [default: as asked]")
@click.option("--top-k", default="", metavar="K,…", help="Right if one of the first K candidates is. [default: 1]")
@click.option("--normalise", metavar="typed|exact|visual7w", help="How answers are compared. [default: typed]")
@click.option("--profile", type=click.Choice(["visual7w"]), help="Compare and print as this toolkit does.")
@click.option("--split", default="", metavar="NAME", help="Only questions of this split.")
@click.option("--group-by", default="", metavar="FIELD,…", help="Fields, or crosses such as category*depth.")
@click.option(
    "--scenes", type=input_path, metavar="PATH", help="Scenes, whose sizes and values are fields to group by."
)
@click.option(
    "--cluster",
    default="",
    metavar="FIELD",
    help="Items of equal values go together in intervals, or none. [image; none with --profile]",
)
@coordinates_option
@prediction_key_option
@missing_option
@click.option("--strict", is_flag=True, help="Exit with 1 if a prediction is missing, duplicate, unknown or no option.")
@click.option("--fail-under", multiple=True, metavar="GROUP=SHARE,…", help="Exit with 1 below these accuracies.")
@report_options("questions", "predictions", "scenes")
@click.option("--per-item", type=path, metavar="FILE.jsonl", help="Write the result of each question.")
@click.pass_context
def command(ctx: click.Context, /, questions: str, predictions: str, output: ReportOutput, **options: Any) -> None:
    """Score the answers of a model to questions, dialogs or trials.

    QUESTIONS is a file that vqagen wrote, a CLEVR release, or a file of Visual7W. PREDICTIONS is a file
    of many formats: own JSON Lines ({"question_index": 17, "answer": "yes"}), JSON of id -> answer, Visual7W, VQAv2,
    GQA, LLaVA, lmms-eval, VLMEvalKit, OpenAI's batches, lines of text, CSV or TSV, or a log of Inspect AI.

    The first lines say how many questions were answered, and how answers are compared: by their kind ("two" is 2,
    "metallic" is metal), unless --normalise says otherwise. Questions without prediction count as wrong. Each row has
    the accuracy with its 95 % interval, which allows for questions that share an image; the floor that guesses without
    the picture reach; and the skill: the share of what lies above the floor. What fits a screen is printed; --all
    prints the rest, and a file of --out holds all.

    \b
    Example:
      vqagen evaluate questions.json predictions.jsonl
    """
    per_item = options["per_item"]
    _check(output, per_item, [questions, predictions, options["scenes"]], options["fail_under"])
    cluster = options["cluster"] or ("none" if options["profile"] else "image")
    fields = [field.strip() for field in options["group_by"].split(",") if field.strip()]
    with counting("record") as on_read:
        from vqagen.score.evaluate import evaluate, toolkit_lines, write_item_scores

        evaluation = evaluate(
            questions,
            predictions,
            mode=options["mode"] or "",
            top_k=_ranks(options["top_k"]),
            normalise=_preset(options["normalise"], options["profile"]),
            cluster="" if cluster == "none" else cluster,
            coordinates=options["coordinates"] or "",
            on_read=on_read,
            **{name: options[name] for name in ("split", "scenes", "missing", "prediction_key")},
        )
        report = evaluation.report(fields, fail_under=options["fail_under"], strict=options["strict"])
    printed = ""
    if options["profile"] is not None:
        printed = "\n".join([*report.head, "", *toolkit_lines(evaluation), *report.failures]) + "\n"
    if per_item:
        write_item_scores(evaluation, per_item, force=output.force)
    output.put(report, printed)
    ctx.exit(1 if report.failures else 0)


def _check(output: ReportOutput, per_item: str | None, inputs: list[str | None], thresholds: tuple[str, ...]) -> None:
    """Find out before work begins what is wrong with --per-item and thresholds."""
    from vqagen.files.output import check_ending, check_output
    from vqagen.score.evaluation import read_thresholds

    if per_item == output.out:
        raise UsageError(f"--per-item and --out are both {per_item}; name two files")
    if per_item:
        check_ending(per_item, [".jsonl"], "results of items")
        check_output(per_item, output.force, inputs)
    read_thresholds(thresholds)


def _ranks(text: str) -> tuple[int, ...]:
    """Return the ranks in a text such as `1,5,100`. UsageError for other texts.

    >>> _ranks("1,5")
    (1, 5)
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if any(not part.isdecimal() or not 0 < int(part) < 1 << 31 for part in parts):
        raise UsageError(f"--top-k {text!r} is no list of numbers from 1: write 1 or 1,5,100")
    return tuple(dict.fromkeys(map(int, parts)))


def _preset(normalise: str | None, profile: str | None) -> str:
    """Return the name of the preset of two options."""
    if normalise and profile and normalise != profile:
        raise UsageError(f"--normalise {normalise} contradicts --profile {profile}; leave one out")
    return normalise or profile or "typed"
