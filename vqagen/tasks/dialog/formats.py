"""The formats of dialog outputs: records as they are, and the shapes of other tools (`shapes`)."""

from __future__ import annotations

from vqagen.records.formats import JSON, JSON_LINES, PARQUET, Format
from vqagen.records.layouts import List
from vqagen.tasks.dialog.shapes.clevr_dialog import ClevrDialog, Light
from vqagen.tasks.dialog.shapes.coref_clusters import CorefClusters
from vqagen.tasks.dialog.shapes.documents import DialogDocument, QuestionDocument
from vqagen.tasks.dialog.shapes.visdial import VisDial

CLEVR_DIALOG = Format("clevr-dialog", (), List, holds_info=False, shape=ClevrDialog)
LIGHT = Format("light", (), List, holds_info=False, shape=Light)
VISDIAL = Format("visdial", (), QuestionDocument, holds_info=False, shape=VisDial, is_gathered=True)
COREF_CLUSTERS = Format("coref-clusters", (), DialogDocument, holds_info=False, shape=CorefClusters, is_gathered=True)
DIALOG_FORMATS = (JSON, JSON_LINES, PARQUET, CLEVR_DIALOG, LIGHT, VISDIAL, COREF_CLUSTERS)
