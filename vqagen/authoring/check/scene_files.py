"""Scene files: every fault of every scene."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from vqagen.authoring.check.report import FileReport
from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files import read_text
from vqagen.jsontext import locate
from vqagen.world.domain import Domain
from vqagen.world.loading import SceneSource, find_scenes
from vqagen.world.scene import compile_scene

POINTED_INTO = 1 << 18
"""Bytes up to which the places of mistakes in scenes are looked up; in a larger file that takes too long."""


def check_scenes(path: Path, domain: Domain, report: FileReport) -> SceneSource | None:
    """Note what is wrong with the scenes of a file; the source if nothing is."""
    try:
        source = find_scenes(path)
    except (BadInput, UsageError) as error:
        _note_unreadable(error, path, report)
        return None
    text = _small_text(path) if source.layout != "lines" else ""
    entries = source.entries()
    while True:
        try:
            entry = next(entries, None)
        except BadInput as error:
            for problem in error.problems:
                report.error(problem if problem.line else _pointed(problem, source, text))
            break
        if entry is None:
            break
        index, record, name = entry
        try:
            compile_scene(record, domain, index, name)
        except BadInput as error:
            for problem in error.problems:
                report.one_of_many(_pointed(problem, source, text))
    return None if report.errors else source


def _small_text(path: Path) -> str:
    """The text that places are looked up in; "" where that cannot be done."""
    if path.suffix == ".gz" or path.stat().st_size > POINTED_INTO:
        return ""
    try:
        text = read_text(path)
        json.loads(text)
    except (BadInput, ValueError, RecursionError):  # told where it is read
        return ""
    return text


def _note_unreadable(error: BadInput | UsageError, path: Path, report: FileReport) -> None:
    for problem in error.problems if isinstance(error, BadInput) else [Problem(str(error), str(path))]:
        report.error(problem)


def _pointed(problem: Problem, source: SceneSource, text: str) -> Problem:
    """With line and column: in JSON Lines the line is known, elsewhere the path leads there."""
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
