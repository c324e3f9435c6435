"""`vqagen stats`: what a question file asks and answers, and what can be guessed without the pictures."""

from __future__ import annotations

import click

from vqagen.cli.options import path


@click.command("stats")
@click.argument("questions", type=path)
@click.option("--against", type=path, metavar="FILE", help="Test guesses on this question file, of other scenes.")
@click.option("--plots", type=path, metavar="PAGE.html", help="Write a page with figures and all families.")
@click.option("--force", is_flag=True, help="Replace the page if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print the statistics as JSON.")
def command(questions: str, against: str | None, plots: str | None, force: bool, as_json: bool) -> None:
    """Show what a question file asks and answers, and what can be guessed without the pictures.

    Prints questions, texts, words, programs, pairs, and how evenly answers are used, for each question type. Then
    predictors that never see a picture guess the answers: the majority answer of the family, a bag of words, and
    boosted trees over the words said of each object. They learn from some images and are tested on others, or with
    --against on another file. Reads both dialects, as a JSON document, JSON Lines or Parquet, also from other
    generators.

    \b
    Example:
      vqagen stats questions.json
    """
    from vqagen.api import stats, write_stats_page
    from vqagen.cli.progress import counting

    if plots is not None:
        from vqagen.draw.statistics_page import check_page

        check_page(plots, force, [questions, against])
    with counting("question") as on_read:
        statistics = stats(questions, against=against, on_read=on_read)
    if plots is not None:
        write_stats_page(statistics, plots, force=force)
    if as_json:
        import json

        click.echo(json.dumps(statistics.to_record(), indent=2, ensure_ascii=False))
    else:
        from vqagen.judge.stats.statistics_report import report_lines

        click.echo("\n".join(report_lines(statistics)))
