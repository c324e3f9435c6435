"""Small catalogues of items for tests."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

DOT: list[Any] = [{"ellipse": [0.5, 0.5, 0.4, 0.4]}]
BOX: list[Any] = [{"rect": [0.1, 0.1, 0.8, 0.8]}]
SMALL_CATALOGUE: dict[str, Any] = {
    "name": "small",
    "adjectives": [
        {"class": "quality", "values": {"hot": {"is_physics": True}, "sweet": {}}},
        {"class": "color", "values": {"red": {"paint": "#d62f2f"}, "blue": {"paint": "#2b62d9"}}},
    ],
    "nouns": {"fruit": {"singular": "piece of fruit", "plural": "pieces of fruit"}},
    "sizes": [0.4, 0.6, 1.0],
    "kinds": {
        "apple": {"nouns": ["fruit"], "properties": ["sweet"], "art": DOT},
        "lemon": {"nouns": ["fruit"], "properties": [], "unclear": ["sweet"], "art": DOT},
        "mug": {"nouns": ["container"], "properties": ["hot"], "art": BOX},
        "box": {"nouns": ["container"], "properties": [], "art": BOX},
    },
}


def small_catalogue(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the small catalogue with other values at dotted paths; None takes away what is there."""
    document = deepcopy(SMALL_CATALOGUE)
    for path, value in (changes or {}).items():
        *above, last = path.split(".")
        place: Any = document
        for step in above:
            place = place[int(step)] if isinstance(place, list) else place.setdefault(step, {})
        if value is None:
            del place[last]
        else:
            place[last] = value
    return document


def write_catalogue(path: Path, document: dict[str, Any]) -> Path:
    """Write a catalogue as the shipped one is laid out: one entry a line."""
    lines = []
    for key, value in document.items():
        if isinstance(value, dict):
            entries = ",\n".join(f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items())
            lines.append(f"  {json.dumps(key)}: {{\n{entries}\n  }}")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    return path
