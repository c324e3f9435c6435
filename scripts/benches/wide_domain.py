"""A made-up domain of 11 attributes and 154 question families, to measure what many attributes cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TYPES = ["Aspect", "Build", "Colour", "Drape", "Edge", "Finish", "Grain", "Hue", "Imprint", "Joint", "Kind"]
VALUES_EACH = 6
RELATIONS = ["left", "right", "behind", "front"]

Node = dict[str, Any]


def make_wide_domain(folder: Path) -> Path:
    """Write a domain folder and return it; its scenes are sampled from its metadata like any other's."""
    (folder / "templates").mkdir(parents=True)
    types = {name: [f"{name.lower()}{number}" for number in range(VALUES_EACH)] for name in TYPES}
    metadata = {"dataset": "wide", "types": {**types, "Relation": RELATIONS}, "sampling": {"objects": [6, 10]}}
    (folder / "metadata.json").write_text(json.dumps(metadata))
    (folder / "templates" / "wide.json").write_text(json.dumps({"templates": list(_families())}))
    return folder


def _families() -> list[dict[str, Any]]:
    """Fourteen shapes, each a meta-template over all attributes; every description may say all eleven."""
    return [_family(name, text, nodes) for name, (text, nodes) in _shapes().items()]


def _shapes() -> dict[str, tuple[str, list[Node]]]:
    one, two, three = (_described(number) for number in ("", "2", "3"))
    hop = [_node("scene"), _node("filter_unique", 0, *_slots(""))]
    far = [*hop, _node("relate_filter_unique", 1, "<R>", *_slots("2"))]
    alike = [*hop, _node("same_{attribute}", 1)]
    query = "query_{attribute}"
    first, second = [_node("filter_unique", 0, *_slots(number)) for number in ("", "2")]
    pair = [_node("scene"), first, second, _node(query, 1), _node(query, 2)]
    return {
        "query": (f"What {{attribute}} is the {one}?", [*hop, _node(query, 1)]),
        "hop": (f"What {{attribute}} is the {two} <R> the {one}?", [*far, _node(query, 2)]),
        "hops": (
            f"What {{attribute}} is the {three} <R2> the {two} <R> the {one}?",
            [*far, _node("relate_filter_unique", 2, "<R2>", *_slots("3")), _node(query, 3)],
        ),
        "same_count": (
            f"How many {two} have the {{attribute}} of the {one}?",
            [*alike, _node("filter_count", 2, *_slots("2"))],
        ),
        "same_exist": (
            f"Has any {two} the {{attribute}} of the {one}?",
            [*alike, _node("filter_exist", 2, *_slots("2"))],
        ),
        "same_query": (
            f"What {{attribute}} is the {two} that is like the {one}?",
            [*alike, _node("filter_unique", 2, *_slots("2")), _node(query, 3)],
        ),
        "equal": (
            f"Have the {one} and the {two} the same {{attribute}}?",
            [*pair, {"type": "equal_{attribute}", "inputs": [3, 4]}],
        ),
        "count": (
            f"How many {one} are there by {{attribute}}?",
            [_node("scene"), _node("filter_count", 0, *_slots(""))],
        ),
        "exist": (f"Is there a {one} by {{attribute}}?", [_node("scene"), _node("filter_exist", 0, *_slots(""))]),
        "hop_count": (
            f"How many {two} are <R> the {one} by {{attribute}}?",
            [*hop, _node("relate_filter_count", 1, "<R>", *_slots("2"))],
        ),
        "hop_exist": (
            f"Is any {two} <R> the {one} by {{attribute}}?",
            [*hop, _node("relate_filter_exist", 1, "<R>", *_slots("2"))],
        ),
        "kinds": (
            f"How many kinds of {{attribute}} have the {one}?",
            [_node("scene"), _node("filter", 0, *_slots("")), _node("count_different_{attribute}", 1)],
        ),
        "more": (
            f"Are there more {one} than {two} by {{attribute}}?",
            [
                _node("scene"),
                *(_node("filter_count", 0, *_slots(number)) for number in ("", "2")),
                {"type": "greater_than", "inputs": [1, 2]},
            ],
        ),
        "either": (
            f"How many things are {one} or {two} by {{attribute}}?",
            [
                _node("scene"),
                *(_node("filter", 0, *_slots(number)) for number in ("", "2")),
                {"type": "union", "inputs": [1, 2]},
                _node("count", 3),
            ],
        ),
    }


def _family(name: str, text: str, nodes: list[Node]) -> dict[str, Any]:
    sides = [side for node in nodes for side in node.get("side_inputs", [])]
    params = [{"name": side, "type": _type_of(side)} for side in dict.fromkeys(sides)]
    return {
        "name": f"{name}_{{attribute}}",
        "for": {"attribute": "*"},
        "text": [text],
        "params": params,
        "nodes": nodes,
    }


def _type_of(slot: str) -> str:
    name = slot.strip("<>").rstrip("23")
    return "Relation" if name == "R" else name


def _slots(number: str) -> list[str]:
    return [f"<{name}{number}>" for name in TYPES]


def _described(number: str) -> str:
    return " ".join(_slots(number)) + " thing"


def _node(name: str, *arguments: Any) -> Node:
    """A node of one input (a number, if any comes first) and side inputs."""
    inputs = [argument for argument in arguments if isinstance(argument, int)]
    sides = [argument for argument in arguments if isinstance(argument, str)]
    return {"type": name, "inputs": inputs, **({"side_inputs": sides} if sides else {})}
