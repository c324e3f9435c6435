"""`vqagen verify`: runs every program again and compares the answers."""

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

    Each program is run again on its scene. A question whose answer differs, or whose scene or program is wrong, is
    reported; a problem that many questions have is one line. Reads both dialects, as a JSON document, JSON Lines or
    Parquet, also from other generators. The exit code is 1 if any question is wrong.

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
