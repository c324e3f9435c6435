"""`vqagen show`: a page that shows what a file holds."""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli.messages import counting
from vqagen.cli.options import GroupedCommand, Option, domain_options, input_path, out_option, path
from vqagen.errors import counted


@click.command("show", cls=GroupedCommand)
@click.argument("file", type=path)
@click.option(
    "--scenes",
    cls=Option,
    group="input",
    type=input_path,
    metavar="PATH",
    help="The scenes of questions or dialogs. [default: those beside the pictures]",
)
@click.option(
    "--images",
    cls=Option,
    group="input",
    type=path,
    metavar="FOLDER",
    help="The pictures, or a folder that `vqagen scenes render` or `draw` wrote. [default: beside the scenes or FILE]",
)
@domain_options("domain", "metadata", "plugins")
@out_option("FOLDER", "Folder for the page; a name that ends in .html: one file with all in it.")
@click.option("--force", cls=Option, group="output", is_flag=True, help="Replace a page in that folder.")
def command(file: str, scenes: str | None, images: str | None, domain: dict[str, Any], out: str, force: bool) -> None:
    """Write a page that shows questions, dialogs, trials or a dataset.

    FILE is a file of questions or dialogs, a folder of director trials, or the folder of a dataset. Open index.html in
    the page's folder: it needs no server and no network, and can be moved with its folder. Each question stands beside
    its picture, whose boxes are lit by the steps of its program; the words of a dialog that mean one thing have one
    color. The page filters by family, answer and length.

    \b
    Example:
      vqagen scenes draw scenes.json -o pictures
      vqagen show questions.json --images pictures -o page
    """
    from vqagen.language.domain_files import find_domain
    from vqagen.show.showing import is_page, show_file

    files = find_domain(**domain) if any(domain.values()) else None
    with counting("entry") as on_shown:
        done = show_file(file, out, images=images, scenes=scenes, files=files, force=force, on_shown=on_shown)
    shown = f"{counted(done.entries, done.kind.removesuffix('s'))} with {counted(done.pictures, 'picture')}"
    click.echo(f"{shown}: open {out if is_page(out) else f'{out}/index.html'}", err=True)
