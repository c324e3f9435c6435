"""`vqagen director items edit`: a catalogue in a browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from vqagen.cli.options import catalogue_option, integer

LARGEST_PORT = 65535


@click.command("edit")
@catalogue_option
@click.option("--port", type=integer(0), default=0, show_default=True, help="Port of the page; 0 for any that is free.")
@click.option("--no-browser", is_flag=True, help="Print the address of the page, and open no browser.")
def edit(catalogue: str | None, port: int, no_browser: bool) -> None:
    """Edit a catalogue on a page in the browser, until Ctrl-C.

    The page shows entries, a form, a preview, a contact sheet, and mistakes while you type. Nothing is written before
    you save; the old file is then kept as FILE.bak. Only this machine can open the page, and only by the address that
    is printed, which holds a token. Over SSH, forward the port: ssh -L 8000:127.0.0.1:8000, with --port 8000.

    \b
    Example:
      vqagen director items copy items.json
      vqagen director items edit --catalogue items.json
    """
    from vqagen.authoring.items.catalogue_file import raise_read_only
    from vqagen.authoring.items.server import serve
    from vqagen.errors import UsageError

    if catalogue is None:
        raise_read_only()
    if port > LARGEST_PORT:
        raise UsageError(f"--port must be at most {LARGEST_PORT}, found {port}")

    def announce(url: str) -> None:
        click.echo(f"edit {catalogue} at {url}\nCtrl-C ends the editor", err=True)
        if not no_browser and _has_screen():
            import webbrowser

            webbrowser.open(url)

    kept = serve(Path(catalogue), port, announce)
    click.echo(f"changes that were not saved are kept in {kept}" if kept else "ended; all changes are saved", err=True)


def _has_screen() -> bool:
    """True if a browser can open a window. Elsewhere one that runs in the terminal could be opened."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
