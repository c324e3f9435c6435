"""The data files that vqagen ships: templates, metadata and synonyms."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from vqagen.errors import UsageError
from vqagen.files.locations import Location

Place = TypeVar("Place", bound=Location)


_PACKAGE = Path(__file__).resolve().parents[1]


def shipped(name: str) -> Path:
    """Where a shipped data file or folder lies: inside the installed package, or at the top of a source checkout."""
    installed = _PACKAGE / "shipped" / name
    return installed if installed.exists() else _PACKAGE.parent / name


def require(path: Place, what: str) -> Place:
    """`path`, if something is there; otherwise a UsageError that names what was looked for."""
    if not path.exists():
        raise UsageError(f"{what} not found: {path}")
    return path
