"""`vqagen director export`: lists of trials for participants."""

from __future__ import annotations

import click

from vqagen.cli.options import integer, path


@click.command("export")
@click.argument("trials", type=path)
@click.option("--out", "-o", type=path, required=True, metavar="FILE", help="A .csv file; - for standard output.")
@click.option("--lists", type=integer(1), required=True, metavar="N", help="How many lists: one for a participant.")
@click.option("--per-list", type=integer(1), required=True, metavar="M", help="Trials in a list.")
@click.option("--seed", type=integer(), default=0, show_default=True, help="Chooses the trials and their order.")
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
def export(trials: str, out: str, lists: int, per_list: int, seed: int, force: bool) -> None:
    """Write lists of trials for participants, as one CSV table.

    TRIALS is a folder of `vqagen director generate`. Each list has the same number of trials of every cell of the
    design (type, rule class, frame, physics), in an order of chance. No trial is in two lists, and the two trials of a
    pair are in different ones. The names of pictures are relative to TRIALS.

    \b
    Example:
      vqagen director generate --count 120 --render svg --out trials
      vqagen director export trials --lists 2 --per-list 20 --out lists.csv
    """
    from vqagen.errors import counted
    from vqagen.tasks.director.participant_lists import export_trials

    done = export_trials(trials, out, lists=lists, per_list=per_list, seed=seed, force=force)
    click.echo(f"{counted(len(done), 'list')}, {counted(sum(map(len, done)), 'trial')} in all", err=True)
