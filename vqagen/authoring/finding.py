"""Which templates are meant by what an author types: an id, a name, or a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vqagen.errors import UsageError, nearest
from vqagen.language.shipped_domains import SHIPPED_DOMAINS
from vqagen.language.template import Template


class FoundTemplates(NamedTuple):
    """The templates that were meant; `is_file` where they are all of a file."""

    templates: tuple[Template, ...]
    is_file: bool = False


def find_templates(templates: Sequence[Template], wanted: str, folder: Path) -> FoundTemplates:
    """The template of an id, or of a name that only one has, or all templates of a file.

    `folder` is where the templates lie; any part of its path may stand before the file. A place in the file, counted
    from 0, may stand for the name. UsageError with what comes nearest, or with all that a name may mean.
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
    """The shipped domain that an id such as `clevr/one_hop.json#count` begins with, if any."""
    first, _, rest = wanted.partition("/")
    return first if rest and first in SHIPPED_DOMAINS else None


def _is_id(root: Path, template: Template, wanted: str) -> bool:
    file, mark, name = wanted.rpartition("#")
    return bool(mark) and name in (template.name, str(template.index)) and _ends_in(root, template.file, file)


def _ends_in(root: Path, file: str, wanted: str) -> bool:
    """Whether a path inside `root`, with as much of that before it as was written, is what is wanted."""
    return f"/{wanted}".endswith(f"/{file}") and f"/{root.as_posix()}/{file}".endswith(f"/{wanted}")
