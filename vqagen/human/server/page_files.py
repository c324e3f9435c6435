"""The files of the page, read once: a shell, and scripts and styles under a name that changes with their content."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

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


class PageFile(NamedTuple):
    """A file and its media type."""

    mime: str
    content: bytes


class PageFiles:
    """All files of the page. Of a request, only names are looked up here: no path is ever built from it."""

    def __init__(self, folder: Path = PAGE) -> None:
        try:
            contents = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
            shell = contents[SHELL]
        except (OSError, KeyError):
            raise UsageError(f"the page is not complete: {folder / SHELL} is missing; install vqagen again") from None
        digest = hashlib.sha256()
        for name, content in contents.items():
            digest.update(f"{name} {len(content)}\n".encode() + content)
        self.hash = digest.hexdigest()[:16]
        self.shell = shell.replace(_PLACE_OF_HASH, f"/static/{self.hash}/".encode())
        self._files = {
            name: PageFile(TYPES[Path(name).suffix], content)
            for name, content in contents.items()
            if Path(name).suffix in TYPES
        }

    def file(self, hash: str, name: str) -> PageFile | None:
        """Return a file of this version of the page."""
        return self._files.get(name) if hash == self.hash else None
