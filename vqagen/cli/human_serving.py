"""`vqagen human links`, `serve`, `status` and `store`: a study that is served, and its answers."""

from __future__ import annotations

import sys
import time

import click

from vqagen.cli.options import path, settings_options
from vqagen.cli.reports import ReportOutput, report_options
from vqagen.errors import counted
from vqagen.human.links.settings import LinkSettings
from vqagen.human.server.settings import ServeSettings
from vqagen.human.store.opening import DURABILITIES, STRICT

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
    from vqagen.human.store import care

    _check(action, ids, out)
    if out is not None:
        line = f"{counted(care.back_up_study(study, out, store, force=force), 'fact')} in {out}"
    else:
        done = care.forget(study, ids, store, durability=durability)
        line = f"{counted(done.raters, 'rater')} forgotten, {counted(done.facts, 'fact')} deleted\n"
        line += "delete the exports and backups that were made before, too"
    click.echo(line, err=True)


def _check(action: str, ids: tuple[str, ...], out: str | None) -> None:
    """Raise UsageError for what an action lacks, or would not use."""
    if (out is None) == (action == "backup"):
        raise click.UsageError("missing --out: the file for the backup" if out is None else f"{action} has no --out")
    if bool(ids) != (action == "forget"):
        raise click.UsageError(f"{action} takes no ID, found {ids[0]}" if ids else "missing ID: the people to forget")


@click.command("serve")
@study_argument
@settings_options(settings=ServeSettings)
def serve(study: str, settings: ServeSettings) -> None:
    """Serve a study to raters, until Ctrl-C or SIGTERM.

    An answer is acknowledged when it is on the disk. Raters come by the links of `vqagen human links`. For raters
    elsewhere, put a proxy with a certificate before it (Caddy, nginx), and name its address as --public-url.
    Texts in the study's texts.json must be filled in first.

    \b
    Example:
      vqagen human serve study
    """
    from vqagen.human.server.process import serve as serve_study

    def announce(url: str) -> None:
        click.echo(f"vqagen: serving {study} at {url}; Ctrl-C stops", err=True)

    serve_study(study, settings, announce)
    click.echo("vqagen: stopped; all acknowledged answers are stored", err=True)


@click.command("links")
@study_argument
@settings_options(settings=LinkSettings)
@click.option("--out", "-o", type=path, metavar="FOLDER", help="Folder for the files. [default: links in the study]")
@click.option(
    "--verify", "codes", multiple=True, metavar="CODE", help="Verify a completion code; - reads codes from stdin."
)
def links(study: str, settings: LinkSettings, out: str | None, codes: tuple[str, ...]) -> int:
    """Write signed links for raters, or verify the codes that they got.

    Files that an earlier call wrote to the same folder are replaced or deleted; others are never touched. To revoke a
    link, write it on a line of revoked.txt in the study.

    `--verify CODE` writes no links: it says which assignment a completion code was issued for, which a rater has
    entered elsewhere. No server and no answers are needed. The exit code is 1 if the study did not issue it.

    \b
    Example:
      vqagen human links study --public-url https://study.example
    """
    from vqagen.human.links.study_links import write_links

    if codes:
        return _verify(study, codes)
    number, files = write_links(study, settings, out)
    click.echo(
        f"{counted(number, 'link')} in {files[0]}" + (f" and {len(files) - 1} more" if len(files) > 1 else ""), err=True
    )
    return 0


def _verify(study: str, codes: tuple[str, ...]) -> int:
    """Print the assignment of each code; return 1 if one was not issued."""
    from vqagen.human.links.study_links import verify_codes

    given = [code for argument in codes for code in (sys.stdin.read().split() if argument == "-" else [argument])]
    verified = verify_codes(study, given)
    for code, assignment in verified.items():
        meaning = "not issued" if assignment is None else assignment or "the code of all who complete"
        click.echo(f"{code}\t{meaning}")
    return 1 if None in verified.values() else 0


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
        progress = study_status(study, store)
        if watch and output.is_printed and output.format == "text":
            click.clear()
        if watch and output.is_printed and output.format == "json":
            click.echo(orjson.dumps(progress.to_record()))  # one document a line
        else:
            output.put(progress)
        slots = progress.facts["slots"]
        if not watch or slots["complete"] == slots["planned"]:
            return
        output = output._replace(force=True)
        time.sleep(WATCH_EVERY)
