"""`vqagen stats`: what a file of questions, dialogs or trials asks and answers, and what can be guessed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from vqagen.cli.options import path

if TYPE_CHECKING:
    from vqagen.judge.director.statistics import TrialStatistics
    from vqagen.judge.stats.dialog_statistics import DialogStatistics
    from vqagen.judge.stats.question_statistics import QuestionStatistics


@click.command("stats")
@click.argument("file", type=path)
@click.option(
    "--against", type=path, metavar="FILE", help="Test guesses on this file of the same kind, of other scenes."
)
@click.option("--plots", type=path, metavar="PAGE.html", help="Write a page with figures and all families (questions).")
@click.option("--force", is_flag=True, help="Replace the page if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print the statistics as JSON.")
def command(file: str, against: str | None, plots: str | None, force: bool, as_json: bool) -> None:
    """Show what a file asks and answers, and what can be guessed without the pictures.

    Prints questions, texts, words, programs, pairs, and how evenly answers are used, for each question type. Then
    predictors that never see a picture guess the answers: the majority answer of the family, a bag of words, and
    boosted trees over the words said of each object. They learn from some images and are tested on others, or with
    --against on another file. Reads both dialects, as a JSON document, JSON Lines or Parquet, also from other
    generators.

    Of dialogs, prints the shares of labels, types and captions, coreference distances, lengths, different questions
    and kept quotas, beside those of CLEVR-Dialog. Reads files of `vqagen dialog` and of CLEVR-Dialog's shape.

    Of trials, prints the design, the accuracy of policies that miss a view, left and right, or words, how often each
    cell is the answer, and what differs between control and test trials. Reads folders of `vqagen director` and
    datasets of the reference's shape.

    \b
    Example:
      vqagen stats questions.json
    """
    from vqagen.calls.statistics import stats, write_stats_page
    from vqagen.cli.progress import counting
    from vqagen.files.locations import locate
    from vqagen.judge.file_kinds import kind_of_file
    from vqagen.judge.stats.question_statistics import QuestionStatistics

    kind = kind_of_file(locate(file))
    if plots is not None and kind.key != "questions":
        raise click.UsageError(f"--plots draws questions, and {file} holds {kind.key}; --json has all their figures")
    if plots is not None:
        from vqagen.draw.statistics_page import check_page

        check_page(plots, force, [file, against])
    with counting(kind.noun) as on_read:
        statistics = stats(file, against=against, on_read=on_read)
    if plots is not None and isinstance(statistics, QuestionStatistics):
        write_stats_page(statistics, plots, force=force)
    if as_json:
        import json

        click.echo(json.dumps(statistics.to_record(), indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(_report(statistics)))


def _report(statistics: QuestionStatistics | DialogStatistics | TrialStatistics) -> Iterator[str]:
    from vqagen.judge.director.statistics import TrialStatistics
    from vqagen.judge.director.statistics_report import trial_report_lines
    from vqagen.judge.stats.dialog_report import dialog_report_lines
    from vqagen.judge.stats.dialog_statistics import DialogStatistics
    from vqagen.judge.stats.statistics_report import report_lines

    if isinstance(statistics, TrialStatistics):
        return trial_report_lines(statistics)
    return dialog_report_lines(statistics) if isinstance(statistics, DialogStatistics) else report_lines(statistics)
