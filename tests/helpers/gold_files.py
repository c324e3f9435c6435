"""Files of Visual7W for tests, with as many right answers as its published table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

SEED_TABLE: Mapping[str, tuple[int, int]] = {
    "what": (5053, 13296),
    "where": (456, 4590),
    "when": (667, 1262),
    "who": (1079, 2879),
    "why": (91, 1782),
    "how": (3037, 4211),
}
"""Type -> right answers and questions, as the README of Visual7W's toolkit says (open, top-100, telling, val)."""


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


def seed_predictions(pairs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return predictions of which as many are right as the seed's table says: the last of three candidates."""
    left = {kind: right for kind, (right, _) in SEED_TABLE.items()}
    made = []
    for pair in pairs:
        left[pair["type"]] -= 1
        best = pair["answer"].upper() if left[pair["type"]] >= 0 else "Wrong"
        made.append({"qa_id": pair["qa_id"], "candidates": [{"answer": text} for text in ("a", "b", best)]})
    return made
