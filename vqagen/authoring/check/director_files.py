"""Checks the files of the director task: catalogues of items, and instructions. They belong to no domain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from vqagen.authoring.check.check_report import CheckReport
from vqagen.authoring.check.recognition import DIRECTOR, DIRECTOR_TEMPLATES, TRIALS, CheckedFile
from vqagen.authoring.items.checking import add_catalogue_findings
from vqagen.language.loading import TemplateFile
from vqagen.tasks.director.instructions import read_instructions


def check_director_files(items: Sequence[CheckedFile], report: CheckReport) -> None:
    """Add the findings of catalogues and of instructions. The instructions of one folder are used together."""
    for item in items:
        if item.kind == TRIALS:
            report.of(item.path).not_checked.append("trials: see `vqagen verify`")
        elif item.kind == DIRECTOR and not report.of(item.path).errors:
            add_catalogue_findings(item.path, report)
    instructions = sorted((item for item in items if item.kind == DIRECTOR_TEMPLATES), key=lambda item: item.folders[0])
    for _, together in groupby(instructions, key=lambda item: item.folders[0]):
        paths = [item.path for item in together]
        with report.listening(paths[0], "not-json"):
            read = read_instructions([TemplateFile(path, path.name) for path in paths])
        report.add_errors(paths[0], read.problems)
