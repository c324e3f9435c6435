"""Checks dialog templates: their errors, labels without texts, and texts that cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vqagen.authoring.check.check_report import CheckReport
from vqagen.errors import UsageError
from vqagen.language.loading import TemplateFile
from vqagen.language.synonyms import Synonyms
from vqagen.tasks.dialog.loading import read_dialog_templates
from vqagen.tasks.dialog.vocabulary import DialogVocabulary
from vqagen.world.domain import Domain


def check_dialog_templates(
    paths: Sequence[Path], domain: Domain, synonyms: Synonyms | None, report: CheckReport
) -> None:
    """Add the errors and warnings of a domain's files of dialog templates."""
    if not paths:
        return
    try:
        vocabulary = DialogVocabulary.of(domain)
    except UsageError as error:
        for path in paths:
            report.of(path).not_checked.append(str(error))
        return
    read = read_dialog_templates([TemplateFile(path, path.name) for path in paths], vocabulary)
    report.add_errors(paths[0], read.problems)
