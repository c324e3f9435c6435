"""`vqagen convert`: an output in another format."""

from __future__ import annotations

import click

from vqagen.cli.messages import counting
from vqagen.cli.options import input_path, output_options
from vqagen.errors import counted
from vqagen.tasks import TASKS


@click.command("convert")
@click.argument("file", type=input_path)
@output_options(*TASKS, records="converted records")
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
def command(file: str, out: str, layout: str | None, force: bool) -> None:
    """Write an output of vqagen in another format.

    FILE is an output of `vqagen generate`, `vqagen dialog`, `vqagen director generate` or `vqagen scenes sample`, or a
    shard. The result has the bytes that its run writes in that format, so it merges, resumes and verifies like any
    other. An output that was changed after it was made is refused. Files of other tools are made by `vqagen export`.

    \b
    Example:
      vqagen convert questions.json --out questions.parquet
    """
    from vqagen.run.merge import convert

    with counting("record") as on_converted:
        result = convert(file, out, format=layout, force=force, on_converted=on_converted)
    click.echo(counted(result.records, result.noun), err=True)
