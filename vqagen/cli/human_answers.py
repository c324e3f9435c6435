"""`vqagen human export`, `import` and `score`: what becomes of the answers of a study."""

from __future__ import annotations

import click

from vqagen.cli.human_serving import store_option, study_argument
from vqagen.cli.options import path, settings_options
from vqagen.cli.reports import ReportOutput, report_options
from vqagen.errors import counted
from vqagen.human.scores.settings import ScoreSettings


@click.command("export")
@study_argument
@store_option
@click.option("--out", "-o", type=path, required=True, metavar="FOLDER", help="The folder to write.")
@click.option("--include-ids", is_flag=True, help="Add people.csv: who the raters are on their platforms.")
@click.option("--events", is_flag=True, help="Add events.jsonl: everything that happened, in order.")
@click.option("--force", is_flag=True, help="Replace an export in that folder.")
def export(study: str, store: str | None, out: str, include_ids: bool, events: bool, force: bool) -> None:
    """Write the answers of a study as JSON Lines and CSV, with a data dictionary.

    It works beside a running server. Equal answers give equal bytes, whatever store they are in. Raters have
    pseudonyms; flags of doubtful answers stand in assignments.csv, and what raters wrote to you in comments.csv.
    `vqagen human score` reads the folder.

    \b
    Example:
      vqagen human export study --out answers
    """
    from vqagen.human.export.folder import export_study

    done = export_study(study, out, store, include_ids=include_ids, events=events, force=force)
    raters, assignments = counted(done.raters, "rater"), counted(done.assignments, "assignment")
    click.echo(f"{counted(done.answers, 'answer')} of {raters} in {assignments}", err=True)


_SHOWN = 5
_MEANINGS = {
    "ambiguous": "may be about another trial; kept as HUMANr does, unless --drop-ambiguous is given",
    "lost": "trials without an answer",
    "rejected": "no answers",
    "skipped": "not part of the study",
    "unnamed": "links without a worker id",
}


@click.command("import")
@click.argument("answers", type=path, metavar="REDIS.json|RESULTS.csv")
@click.option("--tasks", type=path, metavar="FILE", help="comparison_tasks.json or latest_run.json; not for a CSV.")
@click.option("--drop-ambiguous", is_flag=True, help="Leave out answers that may be about another trial.")
@click.option("--out", "-o", type=path, required=True, metavar="FOLDER", help="The folder to write.")
@click.option("--force", is_flag=True, help="Replace answers in that folder.")
def import_humanr(answers: str, tasks: str | None, drop_ambiguous: bool, out: str, force: bool) -> None:
    """Read the answers that HUMANr collected, so that `vqagen human score` scores them.

    REDIS.json is the content of HUMANr's Redis database ({link id: {field: value}}), which needs --tasks; RESULTS.csv
    holds its results. HUMANr keeps one answer for each image of a link: answers that were lost by that, or may be about
    another trial, are counted here and named in import.json, as is all that is no answer. Worker ids are replaced by
    numbers.

    \b
    Example:
      vqagen human import redis.json --tasks comparison_tasks.json --out answers
      vqagen human score answers --method humanr,cluster
    """
    from vqagen.human.export.humanr_answers import import_humanr

    rows, findings = import_humanr(answers, out, tasks, drop_ambiguous=drop_ambiguous, force=force)
    for kind, places in findings.items():
        if places:
            click.echo(f"vqagen: {len(places):,} {kind}: {_MEANINGS[kind]}", err=True)
            for place in places[:_SHOWN]:
                click.echo(f"  {place}", err=True)
            if len(places) > _SHOWN:
                click.echo(f"  and {len(places) - _SHOWN:,} more in {out}/import.json", err=True)
    click.echo(f"{counted(len(rows), 'answer')} in {out}", err=True)


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
    scores = score_study(source, settings, store=store or "")
    report = rater_report(scores, fail_under=fail_under)
    output.put(report)
    ctx.exit(1 if report.failures else 0)
