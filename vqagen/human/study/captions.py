"""Files of captions: those by people, image -> list of captions, and those of a system, image -> caption."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from vqagen.errors import BadInput, Fault, Problem, counted
from vqagen.files.locations import locate
from vqagen.files.shipped import require
from vqagen.human.study.documents import read_document
from vqagen.json.schema import shape_faults
from vqagen.json.text import show_path

SCHEMA_NAME = "human-captions"
PEOPLE, OF_SYSTEM = "people", "system"
"""Whose captions a file has. These are the names in the schema."""
_SHOWN = 3
"""Names in a message about many."""


def read_captions(files: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the content of each file; `files` says whose captions it has. BadInput with the mistakes of all files."""
    problems: list[Problem] = []
    documents = {}
    for file, kind in files.items():
        try:
            documents[file] = read_document(require(locate(file), "captions"), partial(_faults, kind=kind))
        except BadInput as error:
            problems += error.problems
    if problems:
        raise BadInput(problems)
    return documents


def _faults(document: object, kind: str) -> Iterator[Fault]:
    return ((show_path(fault.place), fault.message) for fault in shape_faults(document, SCHEMA_NAME, kind))


def common_images(listed: Mapping[str, Mapping[str, object]]) -> tuple[list[str], list[str]]:
    """Return the images that every place has, in sorted order, and a sentence for each place that lacks images.

    `listed` has the images of each place by its name. BadInput if there is no such image.
    """
    everything = set[str]().union(*listed.values())
    common = sorted(everything.intersection(*listed.values()))
    if not common:
        shown = ", ".join(f"{place} has {next(map(repr, names), 'none')}" for place, names in listed.items())
        raise BadInput([Problem(f"no image has captions in all files: {shown}")])
    return common, list(_left_out(everything, listed))


def _left_out(everything: set[str], listed: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    for place, names in listed.items():
        missing = sorted(everything.difference(names))
        if missing:
            shown = ", ".join(missing[:_SHOWN]) + (", …" if len(missing) > _SHOWN else "")
            yield f"left out: {counted(len(missing), 'image')} that {place} lacks: {shown}"
