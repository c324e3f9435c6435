"""`vqagen verify`: does every written answer follow from its program?"""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli.options import domain_options, path


@click.command("verify")
@click.argument("questions", type=path)
@click.option("--scenes", required=True, type=path, metavar="PATH", help="The scenes the questions are about.")
@domain_options("domain", "metadata", "plugins")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    questions: str,
    scenes: str,
    domain: dict[str, Any],
    as_json: bool,
) -> None:
    """Check that every answer follows from its program.

    Each program is run again on its scene, and each answer that does not follow is reported. Reads both dialects, as a
    JSON document or JSON Lines, so it also checks files made by other generators. The exit code is 1 if anything is
    wrong.

    \b
    Example:
      vqagen verify questions.json --scenes scenes.json
    """
    from vqagen.api import verify
    from vqagen.cli.progress import counting

    with counting("question") as on_checked:
        report = verify(questions, scenes, on_checked=on_checked, **domain)
    if as_json:
        import json

        click.echo(json.dumps(report.to_record(), indent=2))
    else:
        for line in report.lines():
            click.echo(line)
    ctx.exit(0 if report.is_clean else 1)
