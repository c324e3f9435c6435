"""The formats of question outputs: records as they are, and the shapes of other tools (`shapes`)."""

from __future__ import annotations

from vqagen.files.formats import JSON, JSON_LINES, PARQUET, Format
from vqagen.tasks.questions.shapes.visual7w import Visual7W, Visual7WDocument

VISUAL7W = Format(
    "visual7w", (), Visual7WDocument, holds_info=False, shape=Visual7W, is_gathered=True, is_surveyed=True
)
QUESTION_FORMATS = (JSON, JSON_LINES, PARQUET, VISUAL7W)
