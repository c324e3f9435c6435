"""Items as lines of JSON, and their ids."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from vqagen.human.study.item import ITEM_SCHEMA, Candidate, Gold, Item, Scale

_DIGITS = 16
"""Hexadecimal digits of an item's id."""


def item_record(item: Item) -> dict[str, Any]:
    """Return an item as a line of `items.jsonl` has it."""
    scale = item.scale
    return {
        "schema": ITEM_SCHEMA,
        "item_id": item.id,
        "kind": item.kind,
        "use": item.use,
        "dimension": item.dimension,
        "prompt": item.prompt,
        "left_anchor": scale.left,
        "mid_anchor": scale.middle,
        "right_anchor": scale.right,
        "scale": {"min": scale.least, "max": scale.largest, "mid": _whole(scale.center)},
        "context": {"image": {"id": item.image}} if item.image else {},
        "candidates": [_candidate_record(each) for each in item.candidates],
        "gold": _gold_record(item.gold),
        "strata": dict(item.strata),
        "weight": _whole(item.weight),
    }


def _candidate_record(candidate: Candidate) -> dict[str, Any]:
    return {
        "id": candidate.id,
        "text": candidate.text,
        "source": candidate.source,
        "role": candidate.role,
        "meta": dict(candidate.meta),
    }


def _gold_record(gold: Gold | None) -> dict[str, Any] | None:
    if gold is None:
        return None
    given = {"better": gold.better, "value": gold.value, "reason": gold.reason}
    return {key: value for key, value in given.items() if value not in (None, "")}


def _whole(number: float) -> float:
    """Return a number without fraction as an int, which JSON writes shorter."""
    return int(number) if float(number).is_integer() else number


def item_of_record(record: Mapping[str, Any]) -> Item:
    """Return the item of a line that `item_record` made."""
    scale, image = record["scale"], record["context"].get("image")
    gold = record["gold"]
    return Item(
        id=record["item_id"],
        kind=record["kind"],
        use=record["use"],
        dimension=record["dimension"],
        prompt=record["prompt"],
        scale=Scale(scale["min"], scale["max"], record["left_anchor"], record["mid_anchor"], record["right_anchor"]),
        image=image["id"] if image else "",
        candidates=tuple(Candidate(**each) for each in record["candidates"]),
        gold=Gold(**gold) if gold else None,
        strata=record["strata"],
        weight=float(record["weight"]),
    )


def identified(item: Item, image_hash: str) -> Item:
    """Return the item with its id: the hash of what a rater sees, of its sources and of its gold answer.

    `image_hash` is that of the image's content. Strata, weight and meta do not count: they may differ between versions
    of the program that made the same item.
    """
    scale = item.scale
    content = [
        [item.kind, item.use, item.dimension, item.prompt, image_hash],
        [scale.least, scale.largest, scale.left, scale.middle, scale.right],
        [[each.text, each.source, each.role] for each in item.candidates],
        None if item.gold is None else [_better_place(item), item.gold.value],
    ]
    return replace(item, id=hashlib.sha256(orjson.dumps(content)).hexdigest()[:_DIGITS])


def _better_place(item: Item) -> int | None:
    """Return the place of the better text among the candidates."""
    ids = [each.id for each in item.candidates]
    return ids.index(item.gold.better) if item.gold and item.gold.better in ids else None
