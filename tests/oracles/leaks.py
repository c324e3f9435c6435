"""An independent check of what splits have in common: of the rows alone, scene against scene, in plain Python."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations
from typing import Any

VALUES = ("color", "material", "shape", "size")


def leaks(rows: Iterable[Mapping[str, Any]], near: float = 0.5) -> Iterator[str]:
    """Yield everything that two splits have in common: a text, a program, a picture, a scene nearly the same."""
    owner: dict[tuple[str, Any], str] = {}
    scenes: dict[int, tuple[str, list[dict[str, Any]]]] = {}
    for row in rows:
        keys = {
            "text": row["question"],
            "program": json.dumps(json.loads(row["program"]), sort_keys=True),
            "picture": row["image"]["bytes"],
            "image_id": row["image_id"],
        }
        for kind, key in keys.items():
            if owner.setdefault((kind, key), row["split"]) != row["split"]:
                yield f"{kind} in {owner[kind, key]} and {row['split']}: {str(key)[:60]}"
        if row["image_id"] not in scenes:
            scenes[row["image_id"]] = row["split"], json.loads(row["scene"])["objects"]
    listed = list(scenes.items())
    for number, (one, (split, objects)) in enumerate(listed):
        for other, (other_split, others) in listed[:number]:
            if split != other_split and nearly_same(objects, others, near):
                yield f"scenes {other} and {one} are nearly the same, in {other_split} and {split}"


def nearly_same(one: list[dict[str, Any]], other: list[dict[str, Any]], near: float) -> bool:
    """True if some order of the other's objects has, at each place, the same values near the same point."""
    looks = [sorted(tuple(each[key] for key in VALUES) for each in objects) for objects in (one, other)]
    if looks[0] != looks[1]:
        return False
    return any(all(_alike(a, b, near) for a, b in zip(one, order, strict=True)) for order in permutations(other))


def _alike(one: dict[str, Any], other: dict[str, Any], near: float) -> bool:
    apart = [abs(a - b) for a, b in zip(one["3d_coords"], other["3d_coords"], strict=True)]
    return all(one[key] == other[key] for key in VALUES) and max(apart) < near
