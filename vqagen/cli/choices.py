"""`vqagen choices`: answer options for questions."""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli.messages import counting
from vqagen.cli.options import (
    GroupedCommand,
    Option,
    domain_options,
    input_path,
    out_option,
    scenes_option,
    settings_options,
)
from vqagen.dataset.settings import ChoiceSettings


@click.command("choices", cls=GroupedCommand)
@click.argument("questions", type=input_path)
@scenes_option
@domain_options("domain", "metadata", "synonyms", "plugins")
@out_option("FILE", "File for the questions that have options, .json or .jsonl. - for standard output.")
@settings_options(settings=ChoiceSettings)
@click.option("--force", cls=Option, group="output", is_flag=True, help="Replace the output if it exists.")
def command(
    questions: str, scenes: str, domain: dict[str, Any], out: str, settings: ChoiceSettings, force: bool
) -> None:
    """Give questions options from which no rule that sees only the options can tell the right one.

    Questions are dealt into blocks of two to four with different answers, which are the options of all of them: each is
    right once. Wrong options are values of the scene's objects, or numbers up to that of the objects. The right option
    stands at each place once in a block. Each question gets `choices`, `choice` (the place of the right one, from 0)
    and `block`. Questions that fit into no block are left out, and counted.

    Questions for places get letters: `marks` has the objects that they are on in the picture. `vqagen dataset` draws
    them.

    With --hard, wrong options are what the program gives after one mistake, and `mistakes` says which: "left for
    right", "ignores the size".

    \b
    Example:
      vqagen choices questions.json --scenes scenes.json -o choices.json
    """
    from vqagen.dataset.choices import write_choices

    with counting("question") as on_read:
        report = write_choices(questions, scenes, out, settings, force=force, on_read=on_read, **domain)
    click.echo(report.summary(), err=True)
