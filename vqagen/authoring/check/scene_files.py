"""Checks scene files: every fault of every scene, names that are never read, and image names that repeat."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from vqagen.authoring.check.check_report import FileReport
from vqagen.authoring.check.scene_names import NamesSeen
from vqagen.errors import BadInput, Problem, UsageError, counted
from vqagen.json.parsing import read_text
from vqagen.json.text import locate
from vqagen.world.domain import Domain
from vqagen.world.image_names import PlacesOfNames, Repeats, image_name, repeats_message
from vqagen.world.loading import SceneSource, find_scenes
from vqagen.world.scene import compile_scene

_IN_PLUG_IN = re.compile(r"\S+:\d+:\d+: plug-in: ")
"""A place in a plug-in, as `plugin.guard` formats it."""
POINTED_INTO = 1 << 18
"""Bytes up to which line and column of faults in scenes are located; in a larger file that takes too long."""


def check_scenes(path: Path, domain: Domain, report: FileReport) -> SceneSource | None:
    """Add the errors and warnings of a scene file; return its scenes if there is no error."""
    try:
        source = find_scenes(path)
    except (BadInput, UsageError) as error:
        _note_unreadable(error, path, report)
        return None
    text = "" if source.layout in ("lines", "parquet") else _small_text(path)
    names, images, failures = NamesSeen(domain, str(path)), PlacesOfNames(), _PlugInFailures()
    try:
        for index, record, name in source.entries():
            names.add(record, index, name)
            images.add(image_name(record))
            for problem in _faults(record, domain, index, name):
                if not failures.has_taken(problem):
                    report.one_of_many(_pointed(problem, source, text))
        for problem in _repeated_images(images.repeats(), source):
            report.warn("repeated-image", _pointed(problem, source, text))
    except BadInput as error:
        for problem in error.problems:
            report.error(problem if problem.line else _pointed(problem, source, text))
    for problem in failures.problems():
        report.error(_pointed(problem, source, text))
    for warning in names.warnings():
        report.warn(warning.code, _pointed(Problem(warning.message, *warning.place), source, text))
    return None if report.errors else source


def _faults(record: dict[str, Any], domain: Domain, index: int, name: str) -> tuple[Problem, ...]:
    try:
        compile_scene(record, domain, index, name)
    except BadInput as error:
        return error.problems
    return ()


def _repeated_images(repeats: Repeats, source: SceneSource) -> Iterator[Problem]:
    """Yield one warning, at the second scene that has the first of the repeated names."""
    for _, second, *_ in repeats.first[:1]:
        place = next(name for _, _, name in source.entries(second, 1))
        yield Problem(repeats_message(repeats, source), place, f"scenes[{second}].image_filename")


class _PlugInFailures:
    """The failures of plug-ins, counted by line of the plug-in: every object of every scene may cause the same one."""

    def __init__(self) -> None:
        self.first: dict[str, Problem] = {}
        self.times: dict[str, int] = {}

    def has_taken(self, problem: Problem) -> bool:
        """True if the problem is a plug-in's failure; it is then counted, for `problems`."""
        found = _IN_PLUG_IN.search(problem.message)
        if found is None:
            return False
        self.first.setdefault(found[0], problem)
        self.times[found[0]] = self.times.get(found[0], 0) + 1
        return True

    def problems(self) -> Iterator[Problem]:
        """Yield the first failure of each line, with the number of the others."""
        for line, problem in self.first.items():
            more = self.times[line] - 1
            remark = f"; it failed {counted(more, 'more time')}" if more else ""
            yield replace(problem, message=problem.message + remark)


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


def _note_unreadable(error: BadInput | UsageError, path: Path, report: FileReport) -> None:
    for problem in error.problems if isinstance(error, BadInput) else [Problem(str(error), str(path))]:
        report.error(problem)


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
    position = locate(text, place)
    return replace(problem, path=place, line=position.line, column=position.column)
