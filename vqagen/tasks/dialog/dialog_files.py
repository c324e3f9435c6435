"""Dialog files, read as records: dialogs, or images with a list of dialogs as in CLEVR-Dialog's own files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vqagen.files.kind import RecordKind
from vqagen.tasks.dialog.columns import dialog_of_row

DIALOGS = RecordKind("dialogs", own_keys=("dialog_index", "rounds", "caption"), restored=dialog_of_row)


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
