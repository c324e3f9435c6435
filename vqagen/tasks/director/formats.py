"""The formats of trials: records as they are, and the JSON of the first director-task generator (`shapes`)."""

from __future__ import annotations

from vqagen.files.formats import JSON, JSON_LINES, Format
from vqagen.tasks.director.shapes.reference import Reference, SampleDocument

REFERENCE = Format("reference", (), SampleDocument, holds_info=False, shape=Reference, is_gathered=True)
DIRECTOR_FORMATS = (JSON_LINES, JSON, REFERENCE)
