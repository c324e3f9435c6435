"""Gold files for tests: made of items in memory, or written in the format of another benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from vqagen.score.answers.kinds import TEXT, text_of
from vqagen.score.gold.file import OPEN, GoldFile
from vqagen.score.gold.item import GoldItem

Prediction = dict[str, Any]

SEED_TABLE: Mapping[str, tuple[int, int]] = {
    "what": (5053, 13296),
    "where": (456, 4590),
    "when": (667, 1262),
    "who": (1079, 2879),
    "why": (91, 1782),
    "how": (3037, 4211),
}
"""Type -> right answers and questions, as the README of Visual7W's toolkit says (open, top-100, telling, val)."""


def gold_of(items: Iterable[GoldItem], mode: str = OPEN) -> GoldFile:
    """Return a gold file of items."""
    listed = list(items)
    return GoldFile("questions.json", "vqagen", lambda: listed, mode=mode)


def text_items(answers: Sequence[str], **columns: Sequence[Any]) -> list[GoldItem]:
    """Return an item for each answer, about an image of its own, with the values of the columns as fields."""
    fields = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return [
        GoldItem(str(number), TEXT, (answer,), str(number), fields[number] if fields else {})
        for number, answer in enumerate(answers)
    ]


def prediction(id: object, *candidates: str) -> Prediction:
    """Return a prediction in memory."""
    return {"id": id, "candidates": [*candidates]}


def predicted(**answers: str) -> list[Prediction]:
    """Return a prediction for each id, written behind an underscore: `predicted(_3="red")`."""
    return [prediction(id.removeprefix("_"), answer) for id, answer in answers.items()]


def oracle(items: Iterable[GoldItem]) -> list[Prediction]:
    """Return the right answer to each item."""
    return [prediction(item.id, text_of(item.answers[0])) for item in items]


def write_visual7w(path: Path, pairs: Sequence[Mapping[str, Any]], split: str = "val", **more: Any) -> Path:
    """Write a dataset of Visual7W, with ten pairs about each image."""
    images = [
        {"image_id": at, "filename": f"v7w_{at}.jpg", "split": split, "qa_pairs": list(pairs[at : at + 10])}
        for at in range(0, len(pairs), 10)
    ]
    path.write_bytes(orjson.dumps({"dataset": "visual7w-telling", "images": images, **more}))
    return path


def seed_pairs() -> list[dict[str, Any]]:
    """Return 28,020 pairs, of each type as many as the seed's validation set has."""
    types = [kind for kind, (_, total) in SEED_TABLE.items() for _ in range(total)]
    return [
        {
            "qa_id": at,
            "question": f"{kind} {at}?",
            "answer": f"Right {at}",
            "multiple_choices": list("abc"),
            "type": kind,
        }
        for at, kind in enumerate(types)
    ]


def seed_predictions(pairs: Sequence[Mapping[str, Any]]) -> list[Prediction]:
    """Return predictions of which as many are right as the seed's table says: the last of three candidates."""
    left = {kind: right for kind, (right, _) in SEED_TABLE.items()}
    made = []
    for pair in pairs:
        left[pair["type"]] -= 1
        best = pair["answer"].upper() if left[pair["type"]] >= 0 else "Wrong"
        made.append(prediction(pair["qa_id"], "a", "b", best))
    return made
