"""`vqagen human demo`: a whole study with simulated raters."""

from __future__ import annotations

import click

from vqagen.cli.options import integer, path


@click.command("demo")
@click.option("--out", "-o", type=path, default="demo", show_default=True, metavar="FOLDER", help="A new folder.")
@click.option(
    "--via",
    type=click.Choice(["auto", "browser", "http"]),
    default="auto",
    show_default=True,
    help="auto: raters use Chromium if there is one, else HTTP.",
)
@click.option("--seed", type=integer(), default=0, show_default=True, help="Random seed.")
@click.pass_context
def demo(ctx: click.Context, out: str, via: str, seed: int) -> None:
    """Show a whole study: pictures, captions, plan, server, raters, scores.

    Scenes are sampled and drawn. Captions of two systems are compared with reference captions; one system makes
    mistakes, each proven by a program. Three simulated raters answer in a real browser. The scores are printed, and
    all files are kept.

    \b
    Example:
      vqagen human demo --out demo
    """
    from vqagen.calls.human_demo import demonstrate, places
    from vqagen.cli.messages import print_message
    from vqagen.judge.report.writers import WRITERS

    done = demonstrate(out, "" if via == "auto" else via, seed=seed, say=print_message)
    click.echo(WRITERS["text"](done.report), nl=False)
    for line in (*done.faults, *places(out)):
        click.echo(line, err=True)
    ctx.exit(1 if done.faults else 0)
