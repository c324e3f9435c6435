"""`vqagen director report`: how models answered trials, read from the logs of Inspect AI."""

from __future__ import annotations

import click

from vqagen.cli.options import path


@click.command("report")
@click.argument("logs", nargs=-1, required=True, type=path, metavar="LOG...")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON, with 95 % intervals.")
def report(logs: tuple[str, ...], as_json: bool) -> None:
    """Show how models answered director trials, from logs of Inspect AI.

    Reads logs (.eval, .json) of the tasks vqagen/director and vqagen/director_no_director, and folders of them. Prints
    for each evaluation the tables of the published task: accuracy where the director sees the same answer or another
    one, has the same left and right or not, and both at once; the kinds of answers; and the accuracy by rule, words and
    physics. If a log of the story without a director is given, by the same model about the same trials, the gap between
    the two stories is shown too.

    \b
    Example:
      vqagen director report logs
    """
    from vqagen.inspect_tasks.report import report_evaluations

    evaluations = report_evaluations(*logs)
    if as_json:
        import json

        click.echo(json.dumps(evaluations.to_record(), indent=2, ensure_ascii=False))
    else:
        for line in evaluations.lines():
            click.echo(line)
