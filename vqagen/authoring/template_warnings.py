"""The warnings of `vqagen check` about single templates, with their places in the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from vqagen.authoring.check.check_report import CheckReport, CheckWarning, reading_order
from vqagen.authoring.check.template_files import read_template_file
from vqagen.authoring.check.template_rules import rule_faults
from vqagen.errors import Problem
from vqagen.language.loading import PlacedTemplate, find_template_files
from vqagen.language.template import Template

TemplateWarnings = Mapping[str, Sequence[CheckWarning]]
"""Template id -> its warnings, in reading order. Templates without warnings are left out."""


def warnings_of(templates: Sequence[Template], folder: Path) -> TemplateWarnings:
    """Return the warnings about templates that were loaded from `folder`, which may be a file."""
    found = {each.id: list(rule_faults(each)) for each in templates}
    placed = _placed([each for each in templates if found[each.id]], folder)
    warnings = {
        each.id: [CheckWarning(code, _problem(each, placed.get(each.id), *fault)) for code, fault in found[each.id]]
        for each in templates
        if found[each.id]
    }
    return {name: sorted(found, key=lambda warning: reading_order(warning.problem)) for name, found in warnings.items()}


def _placed(templates: Sequence[Template], folder: Path) -> dict[str, PlacedTemplate]:
    """Return template id -> its place; reads the files again."""
    wanted = {each.file: each.catalogue for each in templates}
    return {
        f"{file.name}#{each.template.name or each.template.index}": each
        for file in find_template_files(folder)
        if file.name in wanted
        for each in read_template_file(file.path, wanted[file.name], CheckReport())
    }


def _problem(template: Template, placed: PlacedTemplate | None, place: str, message: str) -> Problem:
    """Return the problem; without line and column if the file was saved since, without the template."""
    return placed.problem(place, message) if placed else Problem(message, template.file, place)
