"""Checks dialog templates: their errors, and texts that cannot be told apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from vqagen.authoring.check.check_report import CheckReport
from vqagen.authoring.check.readings import plainly, readings, repeated, shared
from vqagen.errors import UsageError
from vqagen.language.loading import TemplateFile
from vqagen.language.synonyms import Synonyms
from vqagen.tasks.dialog.loading import (
    read_dialog_templates,
    shipped_dialog_templates,
    unsayable_directions,
)
from vqagen.tasks.dialog.scene import DialogVocabulary
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
    placed = sorted(read.used, key=lambda each: each.source in own)
    texts = [(each, i, _readings_of(text.written)) for each in placed for i, text in enumerate(each.template.texts)]
    found = [("same-text", *fault) for fault in shared((*text, text[0].template.id) for text in texts)]
    for each in placed:
        found += [("repeated-text", each, *fault) for fault in repeated([said for of, _, said in texts if of is each])]
        for i, text in enumerate(each.template.texts):
            if not _MARK.search(_ROLE.sub("", text.written).rstrip(" ]")):
                found.append(("no-final-mark", each, f"text[{i}]", f"text {i} does not end with a mark: . ? or !"))
    for code, each, place, message in found:
        if each.source in own:
            report.of(each.source).warn(code, each.problem(place, message))


def _readings_of(written: str) -> list[str]:
    """Return the readings of a text, for comparison: without marks, and with one name for slots of one kind."""
    found = readings(_CONDITION.sub("[", _ROLE.sub("", written)))
    return [plain for reading in found if (plain := plainly(_DESCRIPTION.sub("<D>", reading)))]
