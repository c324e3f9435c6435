"""The layout of Visual7W's datasets: the names that their reader and their writer share.

    {"dataset": "visual7w-telling", "images": [
        {"image_id", "filename", "split", "qa_pairs": [
            {"qa_id", "question", "answer", "multiple_choices": [wrong, wrong, wrong], "type"}, …]}, …],
     "boxes": [{"box_id", "name", "x", "y", "width", "height"}, …]}

Only datasets for pointing have `boxes`; their answers and options are ids of boxes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vqagen.files.records import RecordKind

PAIRS = "qa_pairs"
IMAGES = RecordKind("images", own_keys=(PAIRS,))
TELLING = "visual7w-telling"
"""The `dataset` of questions that are answered by texts."""
SPLITS = ("train", "val", "test")
"""All splits that the toolkit scores."""
DEFAULT_SPLIT = "val"
"""The split that the toolkit scores by default."""
QUESTION_TYPES = ("what", "who", "when", "how", "where", "why", "which")
"""The question words, in the order in which the toolkit lists their accuracies; `which` is that of pointing."""


def candidates_of(pair: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the options of a pair, which lists the wrong ones only: the right one first, as the toolkit has them."""
    return (str(pair["answer"]), *map(str, pair.get("multiple_choices") or ()))
