"""Three objects of two attributes: small enough to find by hand all that can be said and asked.

From left to right: red cube (0), red ball (1), blue cube (2). The eight descriptions, with the number of objects that
fit: any 3, red 2, blue 1, cube 2, ball 1, red cube 1, red ball 1, blue cube 1; a blue ball is absent.
"""

from __future__ import annotations

from typing import Any

DOMAIN: dict[str, Any] = {
    "types": {
        "Object": None,
        "ObjectSet": None,
        "Integer": None,
        "Bool": None,
        "Color": ["red", "blue"],
        "Shape": {"values": ["cube", "ball"], "null": "thing"},
        "Relation": ["left", "right"],
    }
}
SCENE: dict[str, Any] = {
    "image_filename": "three_000007.png",
    "image_index": 7,
    "split": "test",
    "objects": [
        {"color": "red", "shape": "cube"},
        {"color": "red", "shape": "ball"},
        {"color": "blue", "shape": "cube"},
    ],
    "relationships": {"left": [[], [0], [0, 1]], "right": [[1, 2], [2], []]},
}
