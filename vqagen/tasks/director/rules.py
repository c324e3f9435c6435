"""The rules of instructions, the two types of trials, and whose point of view an instruction takes.

Rules are in the participant's frame. The director stands opposite, so his left and right are the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping

from vqagen.tasks.director.settings import ALWAYS, NEVER

CONTROL, TEST = TYPES = "control", "test"
DIRECTOR, PARTICIPANT = FRAMES = "director", "participant"
NONE, SIZE, VERTICAL, HORIZONTAL, RELATION = "none", "size", "vertical", "horizontal", "relation"
SMALLEST, LARGEST = "smallest", "largest"
RULES: Mapping[str, tuple[str, ...]] = {
    NONE: (NONE,),
    SIZE: (SMALLEST, LARGEST),
    VERTICAL: ("topmost", "bottommost"),
    HORIZONTAL: ("leftmost", "rightmost"),
    RELATION: ("left_of", "right_of", "above", "below"),
}
"""Rule class -> its rules."""
CLASS_OF: Mapping[str, str] = {rule: rule_class for rule_class, rules in RULES.items() for rule in rules}
"""Rule -> its class."""
MIRRORED: Mapping[str, str] = {
    "leftmost": "rightmost",
    "rightmost": "leftmost",
    "left_of": "right_of",
    "right_of": "left_of",
}
"""Rule -> the rule that the director says for it. All other rules are the same from both sides."""


def says_frame(suffix: str, rule_class: str) -> bool:
    """True if texts about the rules of a class say whose point of view is taken, with a setting `suffix`."""
    return suffix == ALWAYS or (suffix != NEVER and rule_class in (HORIZONTAL, RELATION))
