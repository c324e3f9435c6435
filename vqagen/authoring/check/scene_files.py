"""Checks scene files: every fault of every scene, names that are never read, and image names that repeat."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from vqagen.authoring.check.check_report import FileReport
from vqagen.errors import BadInput, Problem, UsageError, unknown
from vqagen.files.parsing import locate_path, read_text
from vqagen.plugin import PlugInError
from vqagen.world.domain import Domain
from vqagen.world.loading import PlacesOfNames, SceneSource, find_scenes, image_name, repeats_message
from vqagen.world.scene import compile_scene

ENOUGH_OBJECTS = 20
"""Objects after which an attribute that none of them has is warned of."""
POINTED_INTO = 1 << 18
"""Bytes up to which line and column of faults in scenes are located; in a larger file that takes too long."""


def check_scenes(path: Path, domain: Domain, report: FileReport) -> SceneSource | None:
    """Add the errors and warnings of a scene file; return its scenes if there is no error.

    Raises PlugInError if a plug-in fails.
    """
    try:
        source = find_scenes(path)
    except (BadInput, UsageError) as error:
        for problem in error.problems if isinstance(error, BadInput) else [Problem(str(error), str(path))]:
            report.error(problem)
        return None
    text = "" if source.layout in ("lines", "parquet") else _small_text(path)
    names, images = NamesSeen(domain, str(path)), PlacesOfNames()
    try:
        for index, record, name in source.entries():
            names.add(record, index, name)
            images.add(image_name(record))
            for problem in _faults(record, domain, index, name):
                report.one_of_many(_pointed(problem, source, text))
        if repeats := images.repeats():
            second = repeats[0][1]
            where = next(name for _, _, name in source.entries(second, 1))
            problem = Problem(repeats_message(repeats, source), where, f"scenes[{second}].image_filename")
            report.warn("repeated-image", _pointed(problem, source, text))
    except PlugInError:
        raise
    except BadInput as error:
        for problem in error.problems:
            report.error(problem if problem.line else _pointed(problem, source, text))
    for code, problem in names.warnings():
        report.warn(code, _pointed(problem, source, text))
    return None if report.errors else source


def _faults(record: dict[str, Any], domain: Domain, index: int, name: str) -> tuple[Problem, ...]:
    try:
        compile_scene(record, domain, index, name)
    except PlugInError:
        raise
    except BadInput as error:
        return error.problems
    return ()


def _small_text(path: Path) -> str:
    """Return the text in which places are located; "" if the file is large, packed or no JSON."""
    if path.suffix == ".gz" or path.stat().st_size > POINTED_INTO:
        return ""
    try:
        text = read_text(path)
        json.loads(text)
    except (BadInput, ValueError, RecursionError):  # reported where it is read
        return ""
    return text


def _pointed(problem: Problem, source: SceneSource, text: str) -> Problem:
    """Return the problem with line and column: in JSON Lines by its line, elsewhere by its JSON path."""
    path = str(source.path)
    if source.layout == "lines":
        line = problem.source.removeprefix(f"{path}:")
        return replace(problem, source=path, line=int(line), column=1) if line.isdigit() else problem
    if not text or problem.source != path:
        return problem
    path_inside = problem.path
    if source.layout == "list":
        path_inside = path_inside.removeprefix("scenes")
    if source.layout == "files":
        path_inside = path_inside.removeprefix("scenes[0]").removeprefix(".")
    position = locate_path(text, path_inside)
    return replace(problem, path=path_inside, line=position.line, column=position.column)


# Names that are never read, such as a relation or the key of an optional attribute that is misspelt -------------------


class NamesSeen:
    """The relations of a file's scenes that the domain does not have, and the optional keys that no object has."""

    def __init__(self, domain: Domain, source: str) -> None:
        self.domain, self.source = domain, source
        self.strange: dict[str, tuple[str, str]] = {}
        """Unknown relation -> the source and the path where it first stands."""
        self.unused = {each.key: each.name for each in domain.attributes if each.optional and each.compute is None}
        self.objects = 0

    def add(self, record: Mapping[str, Any], index: int, source: str) -> None:
        """Add a scene, with or without faults."""
        for relation, path in _relation_paths(record.get("relationships")):
            if relation not in (*self.domain.relations, "comment"):
                self.strange.setdefault(relation, (source, f"scenes[{index}].relationships{path}"))
        things = record.get("objects")
        for thing in things if isinstance(things, list) else ():
            self.objects += 1
            self.unused = {key: name for key, name in self.unused.items() if not _has(thing, key)}

    def warnings(self) -> Iterator[tuple[str, Problem]]:
        """Yield the warnings, with their codes, after all scenes were added."""
        for relation, place in self.strange.items():
            message = f"{unknown('relation', relation, list(self.domain.relations))} (it is never read)"
            yield "unknown-relation", Problem(message, *place)
        for key, name in self.unused.items() if self.objects >= ENOUGH_OBJECTS else ():
            message = f"none of the {self.objects:,} objects has {key!r}, the key of attribute {name}"
            yield "unused-attribute", Problem(message, self.source)


def _has(thing: object, key: str) -> bool:
    """True if an object has a key, or the key of a key that a dot leads to: "tag.label" of {"tag": {"label": …}}."""
    if not isinstance(thing, Mapping) or key in thing:
        return isinstance(thing, Mapping)
    first, _, rest = key.partition(".")
    return bool(rest) and _has(thing.get(first), rest)


def _relation_paths(given: object) -> Iterator[tuple[str, str]]:
    """Yield (relation, path) from relationships of either form."""
    if isinstance(given, Mapping):
        yield from ((str(name), f".{name}") for name in given)
    elif isinstance(given, list):
        for i, entry in enumerate(given):
            if isinstance(entry, Mapping) and isinstance(entry.get("type"), str):
                yield entry["type"], f"[{i}].type"
