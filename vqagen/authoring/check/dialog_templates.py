"""Checks dialog templates: their errors, and texts that cannot be told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from vqagen.authoring.check.check_report import CheckReport
from vqagen.authoring.check.readings import plainly, readings
from vqagen.errors import Fault, UsageError
from vqagen.language.loading import TemplateFile
from vqagen.language.synonyms import Synonyms
from vqagen.tasks.dialog.loading import (
    PlacedDialogTemplate,
    read_dialog_templates,
    shipped_dialog_templates,
    unsayable_directions,
)
from vqagen.tasks.dialog.scene import DialogVocabulary
from vqagen.tasks.dialog.template import DialogTemplate
from vqagen.world.domain import Domain

_MARK = re.compile(r"[.?!]\Z")
_ROLE = re.compile(r"\{\w*\||\}")
_CONDITION = re.compile(r"\[\w+\|")
_DESCRIPTION = re.compile(r"<(?:D2|V)>")


def check_dialog_templates(
    paths: Sequence[Path], domain: Domain, synonyms: Synonyms | None, report: CheckReport
) -> None:
    """Add the errors and warnings of a domain's files of dialog templates.

    The shipped templates of other labels are used with these; their own faults are no faults of these files.
    """
    if not paths:
        return
    try:
        vocabulary = DialogVocabulary.of(domain)
    except UsageError as error:
        for path in paths:
            report.of(path).not_checked.append(str(error))
        return
    own = {str(path) for path in paths}
    known = {path.resolve() for path in paths}
    shipped = [file for file in shipped_dialog_templates() if file.path.resolve() not in known]
    with report.listening(paths[0], "not-json"):
        read = read_dialog_templates([*(TemplateFile(path, path.name) for path in paths), *shipped], vocabulary)
    problems = [*read.problems, *(unsayable_directions(read.used, vocabulary, synonyms) if synonyms else ())]
    report.add_errors(paths[0], (problem for problem in problems if problem.source in own))
    for each in read.used:
        for code, (place, message) in _faults_of_texts(each.template) if each.source in own else ():
            report.of(each.source).warn(code, each.problem(place, message))
    for each, place, message in _same_texts(sorted(read.used, key=lambda each: each.source in own)):
        if each.source in own:
            report.of(each.source).warn("same-text", each.problem(place, message))


def _faults_of_texts(template: DialogTemplate) -> Iterator[tuple[str, Fault]]:
    first: dict[str, int] = {}
    for i, text in enumerate(template.texts):
        if not _MARK.search(_ROLE.sub("", text.written).rstrip(" ]")):
            yield "no-final-mark", (f"text[{i}]", f"text {i} does not end with a mark: . ? or !")
        for reading in _readings_of(text.written):
            other = first.setdefault(reading, i)
            if other != i:
                yield "repeated-text", (f"text[{i}]", f"text {i} can read as text {other} does")
                break


def _readings_of(written: str) -> list[str]:
    """Return the readings of a text, for comparison: without marks, and with one name for slots of one kind."""
    found = readings(_CONDITION.sub("[", _ROLE.sub("", written)))
    return [plain for reading in found if (plain := plainly(_DESCRIPTION.sub("<D>", reading)))]


def _same_texts(placed: Sequence[PlacedDialogTemplate]) -> Iterator[tuple[PlacedDialogTemplate, str, str]]:
    """Yield texts that another label or form has too, so that nobody can tell what is asked."""
    first: dict[str, PlacedDialogTemplate] = {}
    for each in placed:
        for i, text in enumerate(each.template.texts):
            found = _readings_of(text.written)
            others = [first[reading] for reading in found if reading in first and first[reading] is not each]
            if others:
                message = f"text {i} can read as one of {others[0].template.id} does, so it may ask either"
                yield each, f"text[{i}]", message
            for reading in found:
                first.setdefault(reading, each)
