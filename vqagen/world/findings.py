"""Collect what is wrong or doubtful in a document while it is read, so that all of it is reported at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from vqagen.errors import BadInput, Problem, nearest, unknown, warn
from vqagen.files.diagnosis import Path
from vqagen.files.parsing import locate_path, show_path
from vqagen.files.schema import ShapeFault, shape_faults


def problem_in(source: str, path: str, message: str, text: str = "") -> Problem:
    """Return a problem at a JSON path of a document, with line and column if the document's `text` is given."""
    if not text:
        return Problem(message, source, path)
    return Problem(message, source, path, *locate_path(text, path))


class Findings:
    """Faults and doubts about the document `source`."""

    def __init__(self, source: str, text: str = "") -> None:
        self.source, self.text = source, text
        self.problems: list[Problem] = []
        self.doubts: list[Problem] = []

    def fault(self, path: str, message: str) -> None:
        """Note a fault."""
        self.problems.append(problem_in(self.source, path, message, self.text))

    def faults(self, faults: Iterable[ShapeFault]) -> None:
        """Note faults of form."""
        for fault in faults:
            self.fault(show_path(fault.place), fault.message)

    def doubt(self, path: str, message: str) -> None:
        """Note something that is accepted but probably unintended."""
        self.doubts.append(problem_in(self.source, path, message, self.text))

    def settle(self) -> None:
        """Warn of every doubt. Raises BadInput with every fault, if there is one."""
        for doubt in self.doubts:
            warn(doubt)
        if self.problems:
            raise BadInput(self.problems)

    def strange_keys(self, keys: Iterable[str], known: Sequence[str], path: str, only_close: bool = False) -> None:
        """Doubt keys that are not known; with `only_close` those that are nearly a known one."""
        for key in keys:
            if key not in known and not (only_close and nearest(key, known) is None):
                self.doubt(f"{path}.{key}".removeprefix("."), f"{unknown('key', key, known)} (it has no effect)")


# Documents of wrong form ----------------------------------------------------------------------------------------------


def malformed(document: object, schema: str, definition: str = "", depth: int = 1) -> dict[Path, list[ShapeFault]]:
    """Return the faults of form of a document by the part that has them: the first `depth` steps of their places.

    A part that is commented out may be of any form.
    """
    by_part: dict[Path, list[ShapeFault]] = {}
    try:
        for fault in shape_faults(document, schema, definition):
            if "comment" not in fault.place:
                by_part.setdefault(fault.place[:depth], []).append(fault)
    except RecursionError:
        by_part[()] = [ShapeFault((), "nested too deeply", False)]
    return by_part


def without(document: Any, parts: Collection[Path]) -> Any:
    """Return a document without these parts of it. In a list {} is left of a part: others keep their numbers."""
    if not parts:
        return document
    if () in parts:
        return {}
    inside = {key: {part[1:] for part in parts if part[0] == key} for key, *_ in parts}
    if isinstance(document, list):
        return [without(member, inside.get(i, ())) for i, member in enumerate(document)]
    return {key: without(value, inside.get(key, ())) for key, value in document.items() if (key,) not in parts}


def content_of(document: object) -> dict[str, Any]:
    """Return an object without its comment, where that is no content; {} for anything else."""
    entries = document.items() if isinstance(document, Mapping) else ()
    return {key: value for key, value in entries if key not in ("comment", "$schema")}
