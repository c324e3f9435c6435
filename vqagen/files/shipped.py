"""The data files that vqagen ships: templates, metadata and synonyms."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from vqagen.errors import PlaceError
from vqagen.files.locations import Location

AnyLocation = TypeVar("AnyLocation", bound=Location)


_PACKAGE = Path(__file__).resolve().parents[1]


def shipped(name: str) -> Path:
    """The path of a shipped data file or folder: inside the installed package, or at the top of a source checkout."""
    installed = _PACKAGE / "shipped" / name
    return installed if installed.exists() else _PACKAGE.parent / name


def require(path: AnyLocation, what: str) -> AnyLocation:
    """Return `path` if it exists; otherwise raise a UsageError that names `what`."""
    if not path.exists():
        raise PlaceError(f"{what} not found: {path}")
    return path
