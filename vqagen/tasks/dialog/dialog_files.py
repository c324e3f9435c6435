"""Dialog files, read as records: dialogs, or images with a list of dialogs as in CLEVR-Dialog's own files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import Location
from vqagen.files.reading import files_below
from vqagen.language.question_files import QUESTIONS
from vqagen.records.discovery import first_keys
from vqagen.records.kind import RecordKind
from vqagen.records.names import IN_FOLDERS
from vqagen.tasks.dialog.columns import dialog_of_row

DIALOGS = RecordKind("dialogs", own_keys=("dialog_index", "rounds", "caption"), restored=dialog_of_row)


def holds_dialogs(path: Location) -> bool:
    """Return whether a file or folder holds dialogs, by its first telling key; False if nothing is there.

    BadInput for text that is not JSON, and for documents of VisDial's kind, which lack what reading dialogs needs.
    """
    if path.is_dir():
        named = (file for file in files_below(path) if file.name.endswith(IN_FOLDERS))
        path = next(named, path)
    if not path.is_file():
        return False
    dialogs, questions = {DIALOGS.key, *DIALOGS.own_keys}, {QUESTIONS.key, *QUESTIONS.own_keys}
    before: list[str] = []
    for key in first_keys(path):
        if key in dialogs | questions:
            return key in dialogs
        before.append(key)
        if before == ["version", "data"]:
            message = (
                "VisDial's documents and coreference clusters cannot be read; give the dialogs they were made from"
            )
            raise BadInput([Problem(message, str(path))])
    return False


def caption_label(dialog: Mapping[str, Any]) -> str | None:
    """Return the label of the caption of a dialog in CLEVR-Dialog's shape; None if the file does not say it."""
    match dialog:
        case {"template": str(label)} | {"template_info": [{"label": str(label)}, *_]}:
            return label
    return None


def dependences(dialog: Mapping[str, Any]) -> tuple[object, ...]:
    """Return, of each round of a dialog in CLEVR-Dialog's shape, the round that it depends on.

    That number is -1 for the caption and 0 for the first round. Without a graph, the result is empty.
    """
    match dialog:
        case {"graph": {"history": [_, *items]}}:
            return tuple(each.get("dependence") if isinstance(each, Mapping) else None for each in items)
    return ()
