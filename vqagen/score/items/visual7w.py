"""Visual7W's datasets, telling and pointing: `dataset.json` with images that have `qa_pairs`, and perhaps `boxes`.

A pair lists three wrong options; the right one, its answer, is put before them. Models saw them in an order that the
file does not record, so no letter names an option.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vqagen.files.visual7w import IMAGES, PAIRS, candidates_of
from vqagen.score.answers.kinds import TEXT
from vqagen.score.items.builder import TableBuilder
from vqagen.score.items.table import CHOICE, OPEN, Gold, Items, Options

GROUPS = ("type",)


def read_visual7w(table: TableBuilder) -> Items:
    """Return the pairs of a dataset. It is of pointing if the first answer is a number, which names a box."""
    rows, mode = table.rows("type", "split", "question_length"), ""
    for image in table.records():
        pairs: Any = image.get(PAIRS)
        split = image.get("split")
        if not table.wants(image) or not table.check(pairs, list, PAIRS, "a list"):
            continue
        name = str(image.get("image_id", image.get("filename", IMAGES.path(table.index))))
        for number, pair in enumerate(pairs):
            place = f"{PAIRS}[{number}]"
            if isinstance(pair, Mapping) and pair.get("answer") is None:
                table.gold(None, place)
            if _is_right(pair, place, table) and table.check(split, str | int | float | None, "split", "a text"):
                mode = mode or (CHOICE if type(pair["answer"]) is int else OPEN)
                candidates, text = candidates_of(pair), str(pair.get("question", ""))
                options = Options(candidates, 0, has_letters=False) if len(candidates) > 1 else None
                table.add(pair["qa_id"], table.gold(Gold(TEXT, candidates[:1])), name, options=options)
                rows.add(pair.get("type"), split, text.count(" ") + 1)
                table.learn(text)
    return table.table(GROUPS, mode or OPEN)


def _is_right(pair: Any, place: str, table: TableBuilder) -> bool:
    """Return true for a pair without faults."""
    return table.check(pair, Mapping, place, "an object") and all(
        [  # all are looked at
            table.check(pair.get("qa_id"), int | str, f"{place}.qa_id", "a number"),
            table.check(pair["answer"], int | str, f"{place}.answer", "a text or the number of a box"),
            table.check(pair.get("multiple_choices") or [], list, f"{place}.multiple_choices", "a list"),
            table.check(pair.get("type"), str | int | float | None, f"{place}.type", "a text"),
        ]
    )
