"""Checks scene files: every fault of every scene, names that are never read, and image names that repeat."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from vqagen.authoring.check.check_report import FileReport
from vqagen.errors import BadInput, Problem, UsageError, nearest
from vqagen.files.parsing import locate_path, read_text
from vqagen.plugin import PlugInError
from vqagen.world.domain import Domain
from vqagen.world.loading import PlacesOfNames, SceneSource, find_scenes, image_name, repeats_message
from vqagen.world.sampling_rules import WRITTEN_KEYS
from vqagen.world.scene import compile_scene

UNKNOWN_RELATION, UNUSED_ATTRIBUTE = "unknown-relation", "unused-attribute"
ENOUGH_OBJECTS = 20
"""Objects after which an attribute that none of them has is warned of."""
SHOWN = 5
"""Relations named in one warning."""
_NOT_MISSPELT = (*WRITTEN_KEYS, "id", "comment")
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
            place = next(name for _, _, name in source.entries(second, 1))
            problem = Problem(repeats_message(repeats, source), place, f"scenes[{second}].image_filename")
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
    place = problem.path
    if source.layout == "list":
        place = place.removeprefix("scenes")
    if source.layout == "files":
        place = place.removeprefix("scenes[0]").removeprefix(".")
    position = locate_path(text, place)
    return replace(problem, path=place, line=position.line, column=position.column)


# Names that are never read, such as a relation or the key of an optional attribute that is misspelt -------------------


class NamesSeen:
    """The relations and the objects' keys in all scenes of a file."""

    def __init__(self, domain: Domain, source: str) -> None:
        self.source = source
        self.optional = {
            attribute.key: attribute.name
            for attribute in domain.attributes
            if attribute.optional and attribute.compute is None
        }
        self.opened = frozenset(
            key.rsplit(".", depth)[0] for key in self.optional for depth in range(1, key.count(".") + 1)
        )
        """Keys of objects that hold other keys, as "text" does for "text.body"."""
        self.objects = 0
        self.relations = _Names([*domain.relations, "comment"])
        self.keys = _Names([each.key for each in domain.attributes] + [*self.opened, *_NOT_MISSPELT])
        self.wanted = domain.relations

    def add(self, record: Mapping[str, Any], index: int, source: str) -> None:
        """Add a scene, with or without faults."""
        self.relations.add(_relation_paths(record.get("relationships")), source, f"scenes[{index}].relationships")
        things = record.get("objects")
        if self.optional and isinstance(things, list):
            for i, thing in enumerate(things):
                if isinstance(thing, Mapping):
                    self.objects += 1
                    self.keys.add(_key_paths(thing, self.opened), source, f"scenes[{index}].objects[{i}]")

    def warnings(self) -> Iterator[tuple[str, Problem]]:
        """Yield the warnings, with their codes, after all scenes were added."""
        misspelt = self.relations.misspelt(self.wanted)
        for other, name in misspelt.items():
            message = f"unknown relation {other!r}, which is never read; did you mean {name!r}?"
            yield UNKNOWN_RELATION, Problem(message, *self.relations.strange[other])
        rest = [name for name in self.relations.strange if name not in misspelt]
        if rest:
            shown = ", ".join(map(repr, rest[:SHOWN])) + (", …" if len(rest) > SHOWN else "")
            message = f"unknown relation{'' if len(rest) == 1 else 's'} {shown}, which the domain does not have"
            yield UNKNOWN_RELATION, Problem(message, *self.relations.strange[rest[0]])
        misspelt = self.keys.misspelt(self.optional)
        for other, key in misspelt.items():
            message = f"{other!r} is never read, and this object has no {key!r}; did you mean {key!r}?"
            yield UNUSED_ATTRIBUTE, Problem(message, *self.keys.strange[other])
        for key, name in self.optional.items() if self.objects >= ENOUGH_OBJECTS else ():
            if key not in self.keys.found and key not in misspelt.values():
                message = f"none of the {self.objects:,} objects has {key!r}, the key of attribute {name}"
                yield UNUSED_ATTRIBUTE, Problem(message, self.source)


class _Names:
    """The known names that were found, the first source and path of each strange one, and the known names beside it."""

    def __init__(self, known: Sequence[str]) -> None:
        self.known = frozenset(known)
        self.found: set[str] = set()
        self.strange: dict[str, tuple[str, str]] = {}
        self.beside: dict[str, set[str]] = {}

    def add(self, paths: Iterator[tuple[str, str]], source: str, inside: str) -> None:
        """Add the names of one object or scene, with their paths inside of it."""
        places = dict(paths)
        here = places.keys() & self.known
        self.found |= here
        for name, path in places.items():
            if name not in self.known:
                self.strange.setdefault(name, (source, inside + path))
                self.beside.setdefault(name, set()).update(here)

    def misspelt(self, wanted: Iterable[str]) -> dict[str, str]:
        """Return strange name -> the wanted name that it may misspell, which no object or scene has beside it."""
        wanted = tuple(wanted)
        close = {
            name: nearest(name, [each for each in wanted if each not in self.beside[name]]) for name in self.strange
        }
        return {name: each for name, each in close.items() if each}


def _relation_paths(given: object) -> Iterator[tuple[str, str]]:
    """Yield (relation, path) from relationships of either form."""
    if isinstance(given, Mapping):
        yield from ((str(name), f".{name}") for name in given)
    elif isinstance(given, list):
        for i, entry in enumerate(given):
            if isinstance(entry, Mapping) and isinstance(entry.get("type"), str):
                yield entry["type"], f"[{i}].type"


def _key_paths(thing: Mapping[str, Any], opened: frozenset[str], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield (key, path) of an object; a key inside another key is joined to it by a dot."""
    for name, value in thing.items():
        key = f"{above}{name}"
        yield key, f".{key}"
        if key in opened and isinstance(value, Mapping):
            yield from _key_paths(value, opened, f"{key}.")
