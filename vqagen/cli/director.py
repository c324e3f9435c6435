"""`vqagen director`: perspective-taking trials on a grid, their catalogue of items, and lists for participants."""

from __future__ import annotations

import click

from vqagen.cli import CommandGroup
from vqagen.cli.check import report_lines
from vqagen.cli.messages import print_listing, run_progress, run_summary
from vqagen.cli.options import (
    GroupedCommand,
    Option,
    catalogue_option,
    integer,
    output_options,
    path,
    settings_options,
    shard_option,
)
from vqagen.errors import counted
from vqagen.run.options import RunOptions
from vqagen.tasks.director.settings import DirectorSettings


@click.group("director", cls=CommandGroup)
def command() -> None:
    """Make perspective-taking trials on a grid.

    A participant sees a shelf of items. A director stands behind it and does not see into every cell. In test trials,
    that matters for what an instruction such as "the topmost red book" means; in control trials it does not.

    \b
    Example:
      vqagen director generate --count 12 --render svg --out trials
    """


@command.command("generate", cls=GroupedCommand)
@catalogue_option
@click.option(
    "--templates",
    cls=Option,
    group="input",
    type=path,
    metavar="PATH",
    help="Instructions, in place of the shipped ones.",
)
@output_options("trials")
@settings_options(settings=DirectorSettings, options=RunOptions)
@shard_option
def generate(
    out: str,
    layout: str | None,
    catalogue: str | None,
    templates: str | None,
    settings: DirectorSettings,
    shard: str | None,
    options: RunOptions,
) -> None:
    """Make trials: a folder with their records and pictures.

    By default each trial has one right answer, every word of its instruction is needed, and in test trials one blocked
    item tells the director's view from the participant's. The question is chosen last, so that neither the grid nor the
    words alone tell the answer. The same seed gives the same bytes.

    \b
    Example:
      vqagen director generate --count 12 --seed 3 --render svg --out trials
    """
    from vqagen.run.making import write_trials

    with run_progress() as on_progress:
        report = write_trials(
            out,
            settings,
            catalogue=catalogue,
            templates=templates,
            format=layout,
            options=options,
            shard=shard,
            on_progress=on_progress,
        )
    click.echo(run_summary(report, out), err=True)


@command.group("items", cls=CommandGroup)
def items() -> None:
    """Copy, check and draw a catalogue of items.

    Entries are kinds, which are drawn in every color and size; items with pictures of their own; adjectives; and nouns.
    The shipped catalogue can be read; a copy of it is edited by hand.

    \b
    Example:
      vqagen director items copy items.json
      vqagen director items check --catalogue items.json
    """


@items.command("copy")
@click.argument("target", type=path, metavar="FILE")
@click.option("--catalogue", type=path, metavar="FILE", help="Catalogue to copy, in place of the shipped one.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def copy(target: str, catalogue: str | None, force: bool) -> None:
    """Write a copy of a catalogue, to be changed.

    \b
    Example:
      vqagen director items copy items.json
    """
    from vqagen.authoring.item_catalogue import copy_catalogue

    click.echo(f"wrote {copy_catalogue(target, catalogue, force)}", err=True)


@items.command("check")
@catalogue_option
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_context
def check(ctx: click.Context, catalogue: str | None, strict: bool, as_json: bool) -> None:
    """Report every mistake in a catalogue, and what is probably unintended.

    Errors make other commands fail: unknown or contradictory words, names that clash, drawings with mistakes, missing
    or unreadable pictures. Warnings are accepted: adjectives that are true of all items or of none. The exit code is 1
    if there is an error.

    \b
    Example:
      vqagen director items check
    """
    from vqagen.authoring.item_catalogue import check_catalogue

    report = check_catalogue(catalogue)
    print_listing(report.to_record(), report_lines(report), as_json)
    ctx.exit(1 if report.errors or (strict and report.warnings) else 0)


@items.command("preview")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--out", "-o", required=True, type=path, metavar="FILE", help="Picture: an .svg file; - for standard output."
)
@catalogue_option
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def preview(names: tuple[str, ...], out: str, catalogue: str | None, force: bool) -> None:
    """Draw items as a contact sheet, or one item alone.

    Without NAMEs the sheet shows each kind once, and each own item. A kind is shown in every color and size. The name
    of one item, such as red_apple_3, draws this item alone, on a transparent background.

    \b
    Example:
      vqagen director items preview -o items.svg
    """
    from vqagen.authoring.item_catalogue import sheet_svg
    from vqagen.files.output import atomic_output, check_ending, check_output
    from vqagen.tasks.director.catalogue import load_catalogue_file

    check_ending(out, (".svg",), "pictures of items")
    check_output(out, force, [catalogue])
    made = sheet_svg(load_catalogue_file(catalogue), names)
    with atomic_output(out) as file:
        file.write(made.encode())


@command.command("export")
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
      vqagen director generate --count 480 --render svg --out trials
      vqagen director export trials --lists 2 --per-list 12 --out lists.csv
    """
    from vqagen.tasks.director.participant_lists import export_trials

    done = export_trials(trials, out, lists=lists, per_list=per_list, seed=seed, force=force)
    click.echo(f"{counted(len(done), 'list')}, {counted(sum(map(len, done)), 'trial')} in all", err=True)
