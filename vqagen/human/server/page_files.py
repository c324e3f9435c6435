"""The files of the page, read once: a shell, and scripts and styles under a name that changes with their content."""

from __future__ import annotations

import hashlib
from pathlib import Path

from vqagen.errors import UsageError

PAGE = Path(__file__).parents[1] / "page"
SHELL = "shell.html"
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
_PLACE_OF_HASH = b"/static/@/"


class PageFiles:
    """All files of the page. Of a request, only names are looked up here: no path is ever built from it."""

    def __init__(self, folder: Path = PAGE) -> None:
        contents = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
        if SHELL not in contents:
            raise UsageError(f"the page is not complete: {folder / SHELL} is missing; install vqagen again")
        self.hash = hashlib.sha256(repr(contents).encode()).hexdigest()[:16]
        self.shell = contents[SHELL].replace(_PLACE_OF_HASH, f"/static/{self.hash}/".encode())
        self.static = {
            (self.hash, name): (content, TYPES[Path(name).suffix])
            for name, content in contents.items()
            if Path(name).suffix in TYPES
        }
        """(hash, name) -> content and media type."""
