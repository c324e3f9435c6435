"""`vqagen director export`: lists of trials for participants."""

from __future__ import annotations

import click

from vqagen.cli.options import integer, path
from vqagen.exchange.participant_files import FORMS


@click.command("export")
@click.argument("trials", type=path)
@click.option("--to", type=click.Choice(FORMS), required=True, help="A table, or timelines for jsPsych.")
@click.option("--out", "-o", type=path, required=True, metavar="FILE", help="The file to write; - is standard output.")
@click.option("--lists", type=integer(1), required=True, metavar="N", help="How many lists: one for a participant.")
@click.option("--per-list", type=integer(1), required=True, metavar="M", help="Trials in a list.")
@click.option("--seed", type=integer(), default=0, show_default=True, help="Chooses the trials and their order.")
@click.option("--allow-pairs", is_flag=True, help="Let a list have both trials of a pair, which --paired made.")
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
def export(
    trials: str, to: str, out: str, lists: int, per_list: int, seed: int, allow_pairs: bool, force: bool
) -> None:
    """Write lists of trials for participants.

    TRIALS is a folder of `vqagen director generate`. Each list has the same number of trials of every cell of the
    design (type, rule class, frame, physics), in an order of chance, and no trial is in two lists. The names of
    pictures are relative to TRIALS, so a file for jsPsych works in that folder.

    \b
    Example:
      vqagen director generate --count 120 --render svg --out trials
      vqagen director export trials --to csv --lists 2 --per-list 20 --out lists.csv
    """
    from vqagen.calls.director_trials import export_trials
    from vqagen.errors import counted

    done = export_trials(
        trials, out, to=to, lists=lists, per_list=per_list, seed=seed, allow_pairs=allow_pairs, force=force
    )
    click.echo(f"{counted(done.lists, 'list')}, {counted(done.trials, 'trial')} in all", err=True)
