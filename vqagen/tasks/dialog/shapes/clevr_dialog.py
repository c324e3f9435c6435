"""CLEVR-Dialog's own shape: one entry for each image, with its dialogs.

    {"split", "image_index", "image_filename", "dialogs": [
        {"caption", "template", "dialog": [{"question", "answer", "template"}, …],
         "template_info": [of the caption, and of each round], "graph": {…}}, …]}

An answer is a whole number if the question counts, and else a text. `graph` is described in `graph`. Two things differ
from the reference's files: a dialog says the `template` of its caption, and an item of the history keeps what its round
told when later rounds tell more of the same objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from vqagen.files.layouts import Record
from vqagen.files.shape import Entry, Shape, image_number
from vqagen.tasks.dialog.shapes.graph import graph_of, typed_answer

INPUTS = {
    "attribute": {"type": "Attribute", "name": "<A>"},
    "relation": {"type": "Relation", "name": "<R>"},
    "descriptor": {"type": "Description", "name": "<D>"},
    "value": {"type": "Value", "name": "<V>"},
    "values": {"type": "Description", "name": "<D>"},
    "subject_value": {"type": "Description", "name": "<D>"},
    "anchor_value": {"type": "Description", "name": "<D2>"},
    "count": {"type": "Number", "name": "<K>"},
}
"""Argument of a program -> the slot that says it."""


class ClevrDialog(Shape):
    """The dialogs of an image with their templates and graphs."""

    key = "images"

    def entries(self, records: Iterable[Record]) -> Iterator[Entry]:
        """Yield the entry of each image."""
        for _, about_image in groupby(records, key=lambda record: record["scene_index"]):
            first, *rest = about_image
            yield {
                "split": first.get("split"),
                "image_index": image_number(first),
                "image_filename": first.get("image_filename"),
                "dialogs": [_dialog(each) for each in (first, *rest)],
            }

    def records_in(self, entry: Entry) -> int:
        """Return how many dialogs an image has."""
        return len(entry["dialogs"])


def _dialog(record: Record) -> dict[str, Any]:
    caption, rounds = record["caption"], record["rounds"]
    said = [("caption", caption), *((each["family"], each) for each in rounds)]
    return {
        "caption": caption["text"],
        "template": caption["label"],
        "dialog": [
            {"question": each["question"], "answer": typed_answer(each), "template": each["label"]} for each in rounds
        ],
        "template_info": [_template(family, each) for family, each in said],
        "graph": graph_of(record),
    }


def _template(family: str, each: Record) -> dict[str, Any]:
    """Return the template of a caption or round, without its texts.

    The place of the text that was used is the `index`. `references` has a list for each text up to that one, which says
    where it mentions objects; the other lists are empty.
    """
    said = [{"role": mention["role"], "span": mention["span"]} for mention in each["mentions"]]
    variant = each["variant"]
    return {
        "name": each["label"],
        "type": family,
        "label": each["label"],
        "inputs": [INPUTS[name] for name in each["program"]["args"] if name in INPUTS],
        "constraints": [],
        "references": [*([] for _ in range(variant)), said],
        "index": variant,
    }
