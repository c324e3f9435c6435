"""`vqagen human status`: how far a study is."""

from __future__ import annotations

import click

from vqagen.cli.human_store import store_option, study_argument
from vqagen.cli.reports import ReportOutput, report_options


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
