"""`vqagen merge`: shards into the file of one run."""

from __future__ import annotations

import click

from vqagen.cli.messages import counting
from vqagen.cli.options import input_path, out_option
from vqagen.errors import counted


@click.command("merge")
@click.argument("shards", type=input_path, nargs=-1, required=True, metavar="SHARD...")
@out_option(
    "FILE", "File for the merged records, or folder for trials; a file's ending is its format. - for standard output."
)
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
def command(shards: tuple[str, ...], out: str, force: bool) -> None:
    """Join shards into the file that one run writes.

    Shards are outputs of `vqagen generate`, `vqagen dialog`, `vqagen director generate` or `vqagen scenes sample` with
    the same settings, made with --shard or with --start-index and --count. Their order does not matter. Shards of
    different runs, gaps and overlaps are refused. Scenes before the first shard or behind the last one, of which only
    --shard knows, are named. Questions and dialogs are numbered anew.

    \b
    Example:
      vqagen generate --scenes scenes.json --shard 1/2 --out shard-1.jsonl
      vqagen generate --scenes scenes.json --shard 2/2 --out shard-2.jsonl
      vqagen merge shard-1.jsonl shard-2.jsonl --out merged.json
    """
    from vqagen.run.merge import merge

    with counting("record") as on_merged:
        merged = merge(shards, out, force=force, on_merged=on_merged)
    missing = f"; in no shard: {merged.unmerged}" if merged.unmerged else ""
    click.echo(f"{counted(merged.records, merged.noun)} from {counted(merged.shards, 'shard')}{missing}", err=True)
