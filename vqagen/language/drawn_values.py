"""Values that a template leaves to be drawn: a node without its side input, and the word of the text that says it.

CLEVR-Math writes `{"type": "choose", "inputs": [1]}` and "Subtract X <S>s". In canonical form the number is a slot like
any other, `"side_inputs": ["<X>"]` and "Subtract <X> <S>s", so that it is drawn, said and recorded as others are.
"""

from __future__ import annotations

import re

from vqagen.language.catalogue import Catalogue
from vqagen.language.registry import Function
from vqagen.plugin import Record


def with_drawn_values(record: Record, catalogue: Catalogue) -> Record:
    """Return the canonical record with a slot for each value that it leaves to be drawn.

    Nodes that leave a value to be drawn share one slot, as the text has one word for them.
    """
    for node in record["nodes"]:
        function = catalogue.get(node["type"])
        if function is not None and _leaves_value(node, function) and not _has_slot(record, f"<{function.drawn}>"):
            record = _with_slot(record, function, catalogue)
    return record


def _leaves_value(node: Record, function: Function) -> bool:
    return bool(function.drawn) and not node["side_inputs"]


def _has_slot(record: Record, slot: str) -> bool:
    declared = [param["name"] for param in record.get("params", ())]
    return slot in declared or any(slot in node["side_inputs"] for node in record["nodes"])


def _with_slot(record: Record, function: Function, catalogue: Catalogue) -> Record:
    slot, word = f"<{function.drawn}>", re.compile(rf"(?<![<\w]){re.escape(function.drawn)}(?![>\w])")

    def filled(node: Record) -> Record:
        is_same = catalogue.get(node["type"]) == function
        return {**node, "side_inputs": [slot]} if is_same and _leaves_value(node, function) else node

    made = {
        **record,
        "text": [word.sub(slot, text) for text in record["text"]],
        "nodes": [filled(node) for node in record["nodes"]],
    }
    if "params" in record:
        made["params"] = [*record["params"], {"type": function.values[0], "name": slot}]
    return made
