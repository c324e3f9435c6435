"""The rules of trials, and the words for them."""

from __future__ import annotations

from collections.abc import Mapping

NONE, SIZE, VERTICAL, HORIZONTAL, RELATION = "none", "size", "vertical", "horizontal", "relation"
CLASS_OF: Mapping[str, str] = {
    "none": NONE,
    "smallest": SIZE,
    "largest": SIZE,
    "topmost": VERTICAL,
    "bottommost": VERTICAL,
    "leftmost": HORIZONTAL,
    "rightmost": HORIZONTAL,
    "left_of": RELATION,
    "right_of": RELATION,
    "above": RELATION,
    "below": RELATION,
}
"""Rule -> its class."""
MIRRORED: Mapping[str, str] = {
    "leftmost": "rightmost",
    "rightmost": "leftmost",
    "left_of": "right_of",
    "right_of": "left_of",
}
"""Rule -> the rule that says the same from the other side of the grid; other rules say the same from both."""
CONTROL, TEST = TYPES = "control", "test"
CONTESTED = "your-view test"
"""Tests whose words take the participant's point of view, in reports."""
DIRECTOR, PARTICIPANT = FRAMES = "director", "participant"
