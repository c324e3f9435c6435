"""`vqagen human status`: how far a study is."""

from __future__ import annotations

import time

import click

from vqagen.cli.human_store import store_option, study_argument
from vqagen.cli.reports import ReportOutput, report_options

WATCH_EVERY = 5
"""Seconds between two looks."""


@click.command("status")
@study_argument
@store_option
@click.option("--watch", is_flag=True, help=f"Look again every {WATCH_EVERY} seconds until all slots are complete.")
@report_options("study")
def status(study: str, store: str | None, watch: bool, output: ReportOutput) -> None:
    """Show how far a study is: slots, answers about each system, raters at work, flags, comments, remaining time.

    It works beside a running server, and changes nothing. --watch writes a page again and again.

    \b
    Example:
      vqagen human status study -o progress.html
    """
    import orjson

    from vqagen.human.status import study_status

    while True:
        found = study_status(study, store)
        if watch and output.is_printed and output.format == "text":
            click.clear()
        if watch and output.is_printed and output.format == "json":
            click.echo(orjson.dumps(found.to_record()))  # one document a line
        else:
            output.put(found)
        slots = found.facts["slots"]
        if not watch or slots["complete"] == slots["planned"]:
            return
        output = output._replace(force=True)
        time.sleep(WATCH_EVERY)
