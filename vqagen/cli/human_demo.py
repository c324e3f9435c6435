"""`vqagen human demo`: a whole study with simulated raters."""

from __future__ import annotations

import click

from vqagen.cli.options import integer, path


@click.command("demo")
@click.option("--out", "-o", type=path, default="demo", show_default=True, metavar="FOLDER", help="A new folder.")
@click.option("--seed", type=integer(), default=0, show_default=True, help="Random seed.")
def demo(out: str, seed: int) -> None:
    """Show a whole study: pictures, captions, plan, server, raters, scores.

    Scenes are sampled and drawn. Captions of two systems are compared with reference captions; one system makes
    mistakes, each proven by a program. Three simulated raters answer a real server. The scores are printed, and all
    files are kept.

    \b
    Example:
      vqagen human demo --out demo
    """
    from vqagen.calls.human_demo import demonstrate, places
    from vqagen.cli.messages import print_message

    click.echo(demonstrate(out, seed=seed, say=print_message).text(), nl=False)
    for line in places(out):
        click.echo(line, err=True)
