"""`vqagen evaluate`: scores a model's answers."""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli.options import cluster_option, integer, missing_option, path
from vqagen.cli.reports import ReportOutput, report_options


@click.command("evaluate")
@click.argument("questions", type=path)
@click.argument("predictions", type=path)
@click.option("--format", "format", metavar="NAME", help="Format of the predictions. [default: by their content]")
@click.option("--mode", type=click.Choice(["open", "mc", "pointing", "rank"]), help="[default: by the questions]")
@click.option("--top-k", default="", metavar="K,…", help="Right if one of the first K candidates is. [default: 1]")
@click.option(
    "--normalise",
    type=click.Choice(["typed", "exact", "visual7w", "vqa-official", "vqa-always", "gqa"]),
    help="How answers are compared. [default: typed]",
)
@click.option("--profile", type=click.Choice(["visual7w"]), help="Compare and print as this toolkit does.")
@click.option("--split", default="", metavar="NAME", help="Only questions of this split.")
@click.option("--group-by", default="", metavar="FIELD,…", help="Fields, or crosses such as category*depth.")
@click.option("--scenes", type=path, metavar="PATH", help="Scenes: fields to group by; plausible answers.")
@click.option("--consistency", is_flag=True, help="Derive from programs which answers follow from others.")
@click.option("--choices", type=path, metavar="FILE", help="GQA's valid and plausible answers.")
@click.option("--attentions", type=path, metavar="FILE", help="GQA's attention maps; --scenes are its scene graphs.")
@click.option("--domain", type=path, metavar="NAME|FOLDER", help="The domain whose words are answers.")
@click.option(
    "--ci",
    type=click.Choice(["wilson", "cluster", "bootstrap"]),
    default="wilson",
    show_default=True,
    help="How 95 % intervals are computed.",
)
@cluster_option
@missing_option
@click.option("--strict", is_flag=True, help="Exit with 1 if a prediction is missing, duplicate, unknown or no option.")
@click.option("--baseline", type=path, metavar="FILE", help="Predictions whose accuracy is the floor.")
@click.option("--fail-under", multiple=True, metavar="GROUP=SHARE,…", help="Exit with 1 below these accuracies.")
@click.option("--seed", type=integer(), default=0, show_default=True, help="Of --ci bootstrap.")
@report_options("questions", "predictions", "baseline", "scenes", "choices", "attentions")
@click.option("--per-item", type=path, metavar="FILE.jsonl", help="Write the result of each question.")
@click.pass_context
def command(ctx: click.Context, /, questions: str, predictions: str, output: ReportOutput, **options: Any) -> None:
    """Score the answers of a model to questions, dialogs or trials.

    QUESTIONS is a file that vqagen wrote, a CLEVR release, or a file of Visual7W, VQAv2, GQA or VisDial. PREDICTIONS is
    a file of many formats: own JSON Lines ({"question_index": 17, "answer": "yes"}), Visual7W, VQAv2, GQA, VisDial,
    lines of text, CSV or TSV, or a log of Inspect AI.

    The first lines say how many questions were answered, and how answers are compared: by their kind ("two" is 2,
    "metallic" is metal), unless --normalise says otherwise. Questions without prediction count as wrong. Each row has
    the accuracy with its 95 % interval, the floor that guesses without the picture reach, and the skill: the share of
    what lies above the floor.

    \b
    Example:
      vqagen evaluate questions.json predictions.jsonl
    """
    from vqagen.calls.evaluation import evaluate, score_report, split_numbers, toolkit_text, write_item_scores

    _check(questions, predictions, output, options)
    found = evaluate(
        questions,
        predictions,
        mode=options["mode"] or "",
        top_k=split_numbers(options["top_k"], "--top-k"),
        normalise=_preset(options["normalise"], options["profile"]),
        **{name: options[name] for name in _OF_EVALUATION},
        scenes=None if options["attentions"] else options["scenes"],
    )
    report = score_report(
        found,
        group_by=[field.strip() for field in options["group_by"].split(",") if field.strip()],
        **{name: options[name] for name in _OF_REPORT},
        predictions=predictions,
        baseline=options["baseline"] or "",
    )
    is_toolkit = options["profile"] is not None and output.format == "text"
    if options["per_item"]:
        write_item_scores(found, options["per_item"], force=output.force)
    output.put(report, toolkit_text(report, found) if is_toolkit else "")
    ctx.exit(1 if report.failures else 0)


_OF_EVALUATION = ("format", "split", "domain", "ci", "cluster", "missing", "seed", "baseline")
_OF_REPORT = ("fail_under", "strict", "consistency", "scenes", "choices", "attentions")


def _check(questions: str, predictions: str, output: ReportOutput, options: dict[str, Any]) -> None:
    """Find out before work begins what is wrong with --per-item and thresholds."""
    from vqagen.files.output import check_ending, check_output
    from vqagen.judge.scoring.gates import read_thresholds

    per_item = options["per_item"]
    if per_item == output.out:
        raise click.UsageError(f"--per-item and --out are both {per_item}; name two files")
    if per_item:
        inputs = [questions, predictions, *(options[name] for name in ("baseline", "scenes", "choices", "attentions"))]
        check_ending(per_item, [".jsonl"], "results of items")
        check_output(per_item, output.force, inputs)
    read_thresholds(options["fail_under"])


def _preset(normalise: str | None, profile: str | None) -> str:
    """Return the name of the preset of two options."""
    if normalise and profile and normalise != profile:
        raise click.UsageError(f"--normalise {normalise} contradicts --profile {profile}; leave one out")
    return normalise or profile or "typed"
