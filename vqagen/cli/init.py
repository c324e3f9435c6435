"""`vqagen init`: a domain to start from."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from vqagen.cli.options import path
from vqagen.language.domain_files import SHIPPED_DOMAINS


@click.command("init")
@click.argument("domain", type=path)
@click.option(
    "--from", "copied", type=click.Choice(list(SHIPPED_DOMAINS)), help="Start from a copy of this shipped domain."
)
def command(domain: str, copied: str | None) -> None:
    """Write a small domain that works, as a start for your own.

    DOMAIN is a new folder, and its last part is the name of the domain. The command writes metadata.json (attributes,
    values, relations, how scenes are sampled), synonyms.json (ways to say a value), templates/first.json (three kinds
    of questions) and the JSON Schemas with which an editor completes and checks these files. Comments say what each
    part is for. With --from, they are copies of a shipped domain's files, with all of its templates. Nothing is
    overwritten. The next commands to run are printed.

    \b
    Example:
      vqagen init farm
    """
    from vqagen.authoring.scaffold import write_starter

    folder = Path(domain)
    for file in write_starter(folder, copied or ""):
        click.echo(f"wrote {file}", err=True)
    click.echo("next:", err=True)
    for line in _next_commands(folder, "" if copied else " first.json#query_color"):
        click.echo(f"  {line}", err=True)


def _next_commands(folder: Path, explained: str) -> Iterator[str]:
    """Yield the commands from a check of the domain to verified questions about its scenes."""
    from vqagen.language.domain_files import is_written_as_path

    path, scenes, questions = (shlex.quote(str(folder / name)) for name in ("", "scenes.json", "questions.json"))
    domain = path if is_written_as_path(str(folder)) else f"./{path}"
    yield f"vqagen check {path}"
    yield f"vqagen explain --domain {domain}{explained}"
    yield f"vqagen scenes sample --domain {domain} --count 20 -o {scenes}"
    yield f"vqagen generate --domain {domain} --scenes {scenes} --templates-per-image 3 --out {questions}"
    yield f"vqagen verify --domain {domain} {questions} --scenes {scenes}"
