"""Finds templates by the id, name or file that an author types."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vqagen.errors import UsageError, nearest
from vqagen.language.domain_files import SHIPPED_DOMAINS
from vqagen.language.template import Template


class FoundTemplates(NamedTuple):
    """The templates found; `is_file` is true for all templates of a file."""

    templates: tuple[Template, ...]
    is_file: bool = False


def find_templates(templates: Sequence[Template], wanted: str, folder: Path) -> FoundTemplates:
    """Return the template of an id, or of a unique name, or all templates of a file.

    `folder` is the folder of the templates; any part of its path may stand before the file. A position in the file,
    counted from 0, may replace the name. Raises UsageError with the nearest name, or with all templates of that name.
    """
    root = folder.resolve() if folder.is_dir() else folder.resolve().parent
    wanted = PurePosixPath(wanted).as_posix()
    for found in (
        FoundTemplates(tuple(each for each in templates if _is_id(root, each, wanted))),
        FoundTemplates(tuple(each for each in templates if _ends_in(root, each.file, wanted)), is_file=True),
        FoundTemplates(tuple(each for each in templates if each.name == wanted)),
    ):
        if len(found.templates) > 1 and not found.is_file:
            known = "\n".join(f"  {each.id}" for each in found.templates)
            raise UsageError(f"template {wanted!r} may be any of\n{known}")
        if found.templates:
            return found
    close = nearest(wanted, [name for each in templates for name in (each.id, each.file, each.name) if name])
    hint = f"did you mean {close!r}?" if close else "without one, all are listed"
    raise UsageError(f"unknown template {wanted!r}; {hint}")


def domain_of_id(wanted: str) -> str | None:
    """Return the shipped domain that an id such as `clevr/one_hop.json#count` begins with, if any."""
    first, _, rest = wanted.partition("/")
    return first if rest and first in SHIPPED_DOMAINS else None


def _is_id(root: Path, template: Template, wanted: str) -> bool:
    file, mark, name = wanted.rpartition("#")
    return bool(mark) and name in (template.name, str(template.index)) and _ends_in(root, template.file, file)


def _ends_in(root: Path, file: str, wanted: str) -> bool:
    """True if `wanted` is the path of `file` inside `root`, with any part of the root's own path before it."""
    return f"/{wanted}".endswith(f"/{file}") and f"/{root.as_posix()}/{file}".endswith(f"/{wanted}")
