"""`vqagen human serve` and `links`."""

from __future__ import annotations

import sys

import click

from vqagen.cli.human_answers import study_argument
from vqagen.cli.options import path, settings_options
from vqagen.errors import counted
from vqagen.human.settings import LinkSettings, ServeSettings


@click.command("serve")
@study_argument
@settings_options(settings=ServeSettings)
def serve(study: str, settings: ServeSettings) -> None:
    """Serve a study to raters, until Ctrl-C or SIGTERM.

    An answer is acknowledged when it is on the disk. Raters come by the links of `vqagen human links`. For raters
    elsewhere, put a proxy with a certificate before it (Caddy, nginx), and name its address as --public-url.
    Texts in the study's texts.json must be filled in first.

    \b
    Example:
      vqagen human serve study
    """
    from vqagen.human.server.process import serve as serve_study

    def announce(url: str) -> None:
        click.echo(f"vqagen: serving {study} at {url}; Ctrl-C stops", err=True)

    serve_study(study, settings, announce)
    click.echo("vqagen: stopped; all acknowledged answers are stored", err=True)


@click.command("links")
@study_argument
@settings_options(settings=LinkSettings)
@click.option("--out", "-o", type=path, metavar="FOLDER", help="Folder for the files. [default: links in the study]")
@click.option(
    "--verify", "codes", multiple=True, metavar="CODE", help="Verify a completion code; - reads codes from stdin."
)
def links(study: str, settings: LinkSettings, out: str | None, codes: tuple[str, ...]) -> int:
    """Write signed links for raters, or verify the codes that they got.

    Files that an earlier call wrote to the same folder are replaced or deleted; others are never touched. To revoke a
    link, write it on a line of revoked.txt in the study.

    `--verify CODE` writes no links: it says which assignment a completion code was issued for, which a rater has
    entered elsewhere. No server and no answers are needed. The exit code is 1 if the study did not issue it.

    \b
    Example:
      vqagen human links study --public-url https://study.example
    """
    from vqagen.human.links import write_links

    if codes:
        return _verify(study, codes)
    number, files = write_links(study, settings, out)
    click.echo(
        f"{counted(number, 'link')} in {files[0]}" + (f" and {len(files) - 1} more" if len(files) > 1 else ""), err=True
    )
    return 0


def _verify(study: str, codes: tuple[str, ...]) -> int:
    """Print the assignment of each code; return 1 if one was not issued."""
    from vqagen.human.links import verify_codes

    given = [code for argument in codes for code in (sys.stdin.read().split() if argument == "-" else [argument])]
    verified = verify_codes(study, given)
    for code, assignment in verified.items():
        meaning = "not issued" if assignment is None else assignment or "the code of all who complete"
        click.echo(f"{code}\t{meaning}")
    return 1 if None in verified.values() else 0
