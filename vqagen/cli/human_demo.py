"""`vqagen human demo`: a whole study with simulated raters."""

from __future__ import annotations

import click

from vqagen.cli.options import integer, path


@click.command("demo")
@click.option("--out", "-o", type=path, default="demo", show_default=True, metavar="FOLDER", help="A new folder.")
@click.option("--seed", type=integer(), default=0, show_default=True, help="Random seed.")
def demo(out: str, seed: int) -> None:
    """Show a whole study: pictures, items, plan, raters, scores, and a page to try.

    Scenes are sampled and drawn. Captions of two systems, one of which describes another picture, are compared with
    reference captions and rated. Questions, a dialog and director trials are answered. Simulated raters take part; the
    scores are printed, all files are kept, and one place is left for you.

    \b
    Example:
      vqagen human demo --out demo
    """
    from vqagen.cli.messages import print_message
    from vqagen.human.demo import demonstrate, places

    click.echo(demonstrate(out, seed=seed, say=print_message).text(), nl=False)
    for line in places(out):
        click.echo(line, err=True)
