"""`vqagen human status`: how far a study is."""

from __future__ import annotations

import json
import time

import click

from vqagen.cli.human_store import store_option, study_argument

WATCH_EVERY = 5
"""Seconds between two looks."""


@click.command("status")
@study_argument
@store_option
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, with all tasks and leases; with --watch, a line each."
)
@click.option("--watch", is_flag=True, help=f"Look again every {WATCH_EVERY} seconds until all slots are complete.")
def status(study: str, store: str | None, as_json: bool, watch: bool) -> None:
    """Show how far a study is: slots, answers for each system, open leases, flags, remaining time.

    It works beside a running server, and changes nothing.

    \b
    Example:
      vqagen human status study
    """
    from vqagen.calls.human_answers import study_status
    from vqagen.human.status import format_status

    while True:
        found = study_status(study, store)
        if as_json:
            click.echo(json.dumps(found.to_record(), indent=None if watch else 2))
        else:
            if watch:
                click.clear()
            click.echo(format_status(found))
        if not watch or found.slots.complete == found.slots.planned:
            return
        time.sleep(WATCH_EVERY)
