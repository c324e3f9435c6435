"""A template's slots: what types they have, and which nodes fill them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vqagen.language.catalogue import Catalogue

SLOT_PATTERN = re.compile(r"<[^<>()\s]+>")


def is_slot(text: str) -> bool:
    """True if a side input is a slot (`<C>`), and no literal value (`red`)."""
    return SLOT_PATTERN.fullmatch(text) is not None


class Slots:
    """The slots of one template in canonical form; types may be ones that the domain does not have."""

    def __init__(self, record: Mapping[str, Any], params: list[dict[str, str]], catalogue: Catalogue) -> None:
        self.is_declared = "params" in record
        """True if the template says itself what slots it has."""
        self.types: dict[str, str] = {param["name"]: param["type"] for param in params}
        self.filled: set[str] = set()
        self.openable: set[str] = set()
        """Slots that may be left open: those of attributes in a description."""
        for node in record["nodes"]:
            self.filled.update(node["side_inputs"])
            if (
                node["type"] in catalogue.composites or node["type"] not in catalogue
            ):  # of a node misspelt enough is told
                relation_type = catalogue.domain.relation_type
                self.openable.update(each for each in node["side_inputs"] if self.types.get(each) != relation_type)

    def fault(self, slot: str) -> str | None:
        """Return why a slot cannot be used; None if it can. All slots are named: they are few."""
        if slot in self.types:
            return None if slot in self.filled else f"no node fills slot {slot}"
        known = ", ".join(self.types) or "none"
        if self.is_declared:
            return f"slot {slot} is not declared; params declare {known}"
        return f"no node fills slot {slot}; nodes fill {known}"
