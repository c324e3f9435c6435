"""Checks scene files: every fault of every scene, names that are never read, and image names that repeat."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from vqagen.authoring.check.check_report import FileReport
from vqagen.authoring.check.scene_names import NamesSeen
from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.parsing import read_text
from vqagen.files.text import locate
from vqagen.plugin import PlugInError
from vqagen.world.domain import Domain
from vqagen.world.loading import PlacesOfNames, SceneSource, find_scenes, image_name, repeats_message
from vqagen.world.scene import compile_scene

POINTED_INTO = 1 << 18
"""Bytes up to which line and column of faults in scenes are located; in a larger file that takes too long."""


def check_scenes(path: Path, domain: Domain, report: FileReport) -> SceneSource | None:
    """Add the errors and warnings of a scene file; return its scenes if there is no error.

    Raises PlugInError if a plug-in fails.
    """
    try:
        source = find_scenes(path)
    except (BadInput, UsageError) as error:
        _note_unreadable(error, path, report)
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
    for warning in names.warnings():
        report.warn(warning.code, _pointed(Problem(warning.message, *warning.place), source, text))
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
