"""Checks dialog templates: their errors, labels without texts, and texts that cannot be told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from vqagen.authoring.check.check_report import CheckReport
from vqagen.authoring.check.readings import plainly, readings
from vqagen.errors import Fault, Problem, UsageError
from vqagen.language.loading import TemplateFile
from vqagen.language.synonyms import Synonyms
from vqagen.tasks.dialog.loading import (
    PlacedDialogTemplate,
    label_rules,
    read_dialog_templates,
    shipped_dialog_templates,
    unsayable_directions,
)
from vqagen.tasks.dialog.scene import DialogVocabulary
from vqagen.tasks.dialog.template import ANY_EXTREME, DialogTemplate
from vqagen.world.domain import Domain

_MARK = re.compile(r"[.?!]\Z")
_ROLE = re.compile(r"\{\w*\||\}")
_CONDITION = re.compile(r"\[\w+\|")
_DESCRIPTION = re.compile(r"<(?:D2|V)>")


class _Doubt(NamedTuple):
    """A warning about a template."""

    code: str
    placed: PlacedDialogTemplate
    place: str
    message: str


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
    shipped_first = sorted(read.used, key=lambda each: each.source in own)
    doubts = [*_own_doubts(read.used), *_same_texts(shipped_first), *_unreached(read.used, vocabulary)]
    for doubt in doubts:
        if doubt.placed.source in own:
            report.of(doubt.placed.source).warn(doubt.code, doubt.placed.problem(doubt.place, doubt.message))
    if not read.problems:
        _warn_missing(read.used, vocabulary, paths[0], report)


def _own_doubts(placed: Sequence[PlacedDialogTemplate]) -> Iterator[_Doubt]:
    """Yield what is doubtful in each template by itself."""
    for each in placed:
        for code, (place, message) in _faults_of_texts(each.template):
            yield _Doubt(code, each, place, message)


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


def _same_texts(placed: Sequence[PlacedDialogTemplate]) -> Iterator[_Doubt]:
    """Yield texts that another label or form has too, so that nobody can tell what is asked."""
    first: dict[str, PlacedDialogTemplate] = {}
    for each in placed:
        for i, text in enumerate(each.template.texts):
            found = _readings_of(text.written)
            others = [first[reading] for reading in found if reading in first and first[reading] is not each]
            if others:
                message = f"text {i} can read as one of {others[0].template.id} does, so it may ask either"
                yield _Doubt("same-text", each, f"text[{i}]", message)
            for reading in found:
                first.setdefault(reading, each)


def _unreached(placed: Sequence[PlacedDialogTemplate], vocabulary: DialogVocabulary) -> Iterator[_Doubt]:
    """Yield a template for every direction if each direction has one of its own."""
    labels = {each.template.label for each in placed}
    if all(f"extreme-{relation}" in labels for relation in vocabulary.relations):
        for each in placed:
            if each.template.label == ANY_EXTREME:
                yield _Doubt("unreached-template", each, "label", "every direction has a template of its own")


def _warn_missing(
    placed: Sequence[PlacedDialogTemplate], vocabulary: DialogVocabulary, path: Path, report: CheckReport
) -> None:
    """Warn of labels and forms without a template: dialogs cannot use them."""
    found = {(each.template.label, each.template.form) for each in placed}
    extremes = {f"extreme-{relation}" for relation in vocabulary.relations}
    for label, rule in label_rules(vocabulary.relations).items():
        for form in rule.forms:
            is_said = (label, form) in found or (label in extremes and (ANY_EXTREME, form) in found)
            if not is_said and not (label == ANY_EXTREME and extremes <= {label for label, _ in found}):
                name = f"{label} ({form})" if form else label
                report.of(path).warn("missing-template", Problem(f"no template says {name}", str(path)))
