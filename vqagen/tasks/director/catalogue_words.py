"""The words of a catalogue's document: names of its entries, and how they are spoken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ITEM = "item"
"""The noun of every item."""
COLOR = "color"
"""The class of adjectives that drawn items are painted in."""
COMMENT = "comment"


def named(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return named entries without a comment among them."""
    return {name: entry for name, entry in entries.items() if name != COMMENT}


def name_drawn_item(color: str, kind: str, size: int) -> str:
    """Return the name of the item that is drawn for a kind in a color and size level, such as `red_apple_3`."""
    return f"{color}_{kind}_{size}"


def spell_out(name: str) -> str:
    """Return the words of a name.

    >>> spell_out("ice_lolly")
    'ice lolly'
    """
    return name.replace("_", " ")


def spoken_singular(document: Mapping[str, Any], noun: str) -> str:
    """Return a noun as it is spoken, such as `pair of scissors`."""
    forms: Mapping[str, str] = document.get("nouns", {}).get(noun, {})
    return forms.get("singular", spell_out(noun))


def spoken_plural(document: Mapping[str, Any], noun: str) -> str:
    """Return the plural of a noun as it is spoken."""
    forms: Mapping[str, str] = document.get("nouns", {}).get(noun, {})
    return forms.get("plural", f"{spoken_singular(document, noun)}s")
