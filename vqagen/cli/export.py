"""`vqagen export`: a dataset as trainers and evaluators read it, and records as the loaders of other tools do."""

from __future__ import annotations

import click

from vqagen.cli.messages import counting
from vqagen.cli.options import GroupedCommand, Option, out_option, path
from vqagen.errors import UsageError, counted
from vqagen.export import FILES, TARGETS


@click.command("export", cls=GroupedCommand)
@click.argument("source", type=path)
@click.option(
    "--to",
    cls=Option,
    group="output",
    required=True,
    type=click.Choice([*TARGETS, *FILES]),
    help="The format of the output.",
)
@out_option("PLACE", f"The folder to write; a .json file for {', '.join(FILES)}.")
@click.option(
    "--images",
    cls=Option,
    group="input",
    type=path,
    metavar="FOLDER",
    help="Pictures of a file of questions or dialogs. [default: beside the file, or in images there]",
)
@click.option("--split", cls=Option, group="input", metavar="NAME", help="Only this split.")
@click.option(
    "--mode",
    cls=Option,
    group="choice",
    type=click.Choice(["open", "mc"]),
    default="open",
    show_default=True,
    help="Ask for an answer, or list the options and ask for a letter.",
)
@click.option(
    "--prompt",
    cls=Option,
    group="choice",
    type=click.Choice(["format", "plain"]),
    help="trl, easyr1, verl, llava: end questions with the form of reply that the reward `format` wants, or leave it"
    " out, as for supervised training. [default: format]",
)
@click.option(
    "--without-pictures",
    cls=Option,
    group="choice",
    is_flag=True,
    help="Leave out the pictures, as for a blind baseline.",
)
@click.option(
    "--name",
    cls=Option,
    group="output",
    default="vqagen",
    show_default=True,
    metavar="NAME",
    help="How the target calls the data or its tasks.",
)
@click.option("--force", cls=Option, group="output", is_flag=True, help="Replace an export that is there.")
def command(
    source: str,
    to: str,
    out: str,
    images: str | None,
    split: str | None,
    mode: str,
    prompt: str | None,
    without_pictures: bool,
    name: str,
    force: bool,
) -> None:
    """Write a dataset in the format of a trainer, an evaluator or another tool.

    SOURCE is the folder of a dataset, a file of questions or dialogs with a folder of pictures, or a folder of director
    trials. Splits are kept, and pictures are stored once. What a format cannot hold or would score wrongly is refused
    with the reason. README.md in the output says how it is loaded.

    The one file that the original loader opens is written for questions (visual7w), dialogs (clevr-dialog, visdial) and
    trials (reference). It needs no pictures: SOURCE is a file of `vqagen generate` or `vqagen dialog`, or the folder of
    `vqagen director generate`.

    \b
    Example:
      vqagen director generate --count 20 --render png --out trials
      vqagen export trials --to trl -o trials-trl
      vqagen export questions.json --to visual7w -o visual7w.json
    """
    from vqagen.export.exporting import export_dataset, export_file

    if to in FILES:
        if images or split or prompt or without_pictures or mode != "open" or name != "vqagen":
            raise UsageError(f"{to} is one file of all records: give SOURCE, --out and --force alone")
        with counting("record") as on_exported:
            kind, number = export_file(source, out, to, force, on_exported)
        click.echo(counted(number, kind.removesuffix("s")), err=True)
        return
    with counting("example") as on_exported:
        done = export_dataset(
            source,
            out,
            to,
            images=images,
            split=split,
            mode=mode,
            prompt=prompt,
            without_pictures=without_pictures,
            name=name,
            force=force,
            on_exported=on_exported,
        )
    splits = ", ".join(f"{split} {number:,}" for split, number in done.splits.items())
    click.echo(f"{counted(sum(done.splits.values()), done.kind.removesuffix('s'))}: {splits}", err=True)
