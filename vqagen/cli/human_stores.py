"""`vqagen human forget`, `reclaim`, `backup` and `copy-store`."""

from __future__ import annotations

import click

from vqagen.cli.options import path
from vqagen.errors import counted
from vqagen.human.store.opening import DURABILITIES, STRICT

study_argument = click.argument("study", type=path)
store_option = click.option(
    "--store",
    type=path,
    metavar="PLACE",
    help="Answers: sqlite:PATH or redis://HOST/DB. [default: as serving.json says]",
)
durability_option = click.option(
    "--redis-durability",
    "durability",
    type=click.Choice(DURABILITIES),
    default=STRICT,
    show_default=True,
    help="Refuse a Redis server that could lose acknowledged answers, or accept it.",
)


@click.command("forget")
@study_argument
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@store_option
@durability_option
def forget(study: str, ids: tuple[str, ...], store: str | None, durability: str) -> None:
    """Delete everything about people: ids, assignments, answers and events.

    An ID is that of a platform (also as prolific/ID) or a rater's pseudonym. Stop the server first. Nothing is left in
    the files of the store; exports and backups that were made before keep what they have. The slots are free again.

    \b
    Example:
      vqagen human forget study 5f3c2a9be1
    """
    from vqagen.calls.human_answers import forget as forget_people

    done = forget_people(study, ids, store, durability=durability)
    click.echo(f"{counted(done.raters, 'rater')} forgotten, {counted(done.rows, 'row')} deleted", err=True)
    click.echo("delete the exports and backups that were made before, too", err=True)


@click.command("reclaim")
@study_argument
@store_option
@durability_option
def reclaim(study: str, store: str | None, durability: str) -> None:
    """Free the slots whose leases have run out.

    The server does so by itself; this is for a study that is not served. Answers stay, as partial ones.

    \b
    Example:
      vqagen human reclaim study
    """
    from vqagen.calls.human_answers import reclaim as reclaim_slots

    click.echo(f"{counted(reclaim_slots(study, store, durability=durability), 'slot')} freed", err=True)


@click.command("backup")
@study_argument
@store_option
@click.option("--out", "-o", type=path, required=True, metavar="FILE", help="The SQLite file to write.")
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
def backup(study: str, store: str | None, out: str, force: bool) -> None:
    """Copy all answers into a new SQLite file, beside a running server too.

    To use the copy, stop the server and put the file in the place of answers.sqlite in the study.

    \b
    Example:
      vqagen human backup study --out backup.sqlite
    """
    from vqagen.calls.human_answers import back_up_study

    click.echo(f"{counted(back_up_study(study, out, store, force=force), 'row')} in {out}", err=True)


@click.command("copy-store")
@click.argument("source", type=path)
@click.argument("target", type=path)
@click.option("--study", type=path, metavar="FOLDER", help="The study, if neither place is its folder.")
@durability_option
def copy_store(source: str, target: str, study: str | None, durability: str) -> None:
    """Copy all answers of a study from one store into another.

    SOURCE and TARGET are study folders, SQLite files or addresses such as redis://:PASSWORD@HOST:PORT/DB. TARGET must
    be empty. Stop the server first; afterwards name TARGET as `store` in the study's serving.json.

    \b
    Example:
      vqagen human copy-store study copy.sqlite
    """
    from vqagen.calls.human_answers import copy_store as copy

    click.echo(f"{counted(copy(source, target, study, durability=durability), 'row')} copied", err=True)
