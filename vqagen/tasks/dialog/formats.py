"""The formats of dialog outputs: records as they are, and the shapes of other tools (`shapes`)."""

from __future__ import annotations

from vqagen.files.formats import JSON, JSON_LINES, PARQUET, Format
from vqagen.files.layouts import List
from vqagen.tasks.dialog.shapes.clevr_dialog import ClevrDialog
from vqagen.tasks.dialog.shapes.visdial import VisDial, VisDialDocument

CLEVR_DIALOG = Format("clevr-dialog", (), List, holds_info=False, shape=ClevrDialog)
VISDIAL = Format("visdial", (), VisDialDocument, holds_info=False, shape=VisDial, is_gathered=True)
DIALOG_FORMATS = (JSON, JSON_LINES, PARQUET, CLEVR_DIALOG, VISDIAL)
