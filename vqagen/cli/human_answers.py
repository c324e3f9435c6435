"""`vqagen human store`, `status`, `export`, `import` and `score`: what is done with answers."""

from __future__ import annotations

import click

from vqagen.cli.options import path, settings_options
from vqagen.cli.reports import ReportOutput, report_options
from vqagen.human.settings import DURABILITIES, STRICT, ScoreSettings

study_argument = click.argument("study", type=path)
store_option = click.option(
    "--store",
    type=path,
    metavar="PLACE",
    help="Answers: sqlite:PATH or redis://HOST/DB. [default: as serving.json says]",
)


@click.command("store")
@click.argument("action", type=click.Choice(["backup", "forget"]))
@study_argument
@click.argument("ids", nargs=-1, metavar="[ID…]")
@store_option
@click.option(
    "--redis-durability",
    "durability",
    type=click.Choice(DURABILITIES),
    default=STRICT,
    show_default=True,
    help="Refuse a Redis server that could lose acknowledged answers, or accept it.",
)
@click.option("--out", "-o", type=path, metavar="FILE", help="The SQLite file that backup writes.")
@click.option("--force", is_flag=True, help="Replace a backup that exists.")
def store(
    action: str, study: str, ids: tuple[str, ...], store: str | None, durability: str, out: str | None, force: bool
) -> None:
    """Back up the answers of a study, or delete people.

    backup copies all answers into a new SQLite file, beside a running server too. To use the copy, stop the server and
    put the file in the place of answers.sqlite in the study.

    forget deletes everything about people: ids, assignments, answers and events. An ID is that of a platform (also as
    prolific/ID) or a rater's pseudonym. Nothing is left in the files of the store; exports and backups that were made
    before keep what they have. The slots are free again. Stop the server first.

    \b
    Example:
      vqagen human store backup study --out backup.sqlite
      vqagen human store forget study 5f3c2a9be1
    """
    from vqagen.errors import counted
    from vqagen.human.store import care

    _check(action, ids, out)
    if out is not None:
        line = f"{counted(care.back_up_study(study, out, store, force=force), 'fact')} in {out}"
    else:
        raters, facts = care.forget(study, ids, store, durability=durability)
        line = f"{counted(raters, 'rater')} forgotten, {counted(facts, 'fact')} deleted\n"
        line += "delete the exports and backups that were made before, too"
    click.echo(line, err=True)


def _check(action: str, ids: tuple[str, ...], out: str | None) -> None:
    """Raise UsageError for what an action lacks, or would not use."""
    if (out is None) == (action == "backup"):
        raise click.UsageError("missing --out: the file for the backup" if out is None else f"{action} has no --out")
    if bool(ids) != (action == "forget"):
        raise click.UsageError(f"{action} takes no ID, found {ids[0]}" if ids else "missing ID: the people to forget")


@click.command("status")
@study_argument
@store_option
@report_options("study")
def status(study: str, store: str | None, output: ReportOutput) -> None:
    """Show how far a study is: slots, answers about each system, raters at work, flags, comments, remaining time.

    It works beside a running server, and changes nothing.

    \b
    Example:
      vqagen human status study -o progress.html
    """
    from vqagen.human.status import study_status

    output.put(study_status(study, store))


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
    from vqagen.errors import counted
    from vqagen.human.export import export_study

    numbers = export_study(study, out, store, include_ids=include_ids, events=events, force=force)
    answers, assignments, raters = map(counted, numbers, ("answer", "assignment", "rater"))
    click.echo(f"{answers} of {raters} in {assignments}", err=True)


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
    from vqagen.errors import counted
    from vqagen.human.humanr_import import import_humanr

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
