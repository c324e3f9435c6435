"""`vqagen human store`: the care of the answers of a study."""

from __future__ import annotations

import click

from vqagen.cli.options import path
from vqagen.human.settings import DURABILITIES, STRICT

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
