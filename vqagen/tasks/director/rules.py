"""The rules of instructions, whose point of view they take, and which cell of a grid beats which under a rule.

Rules are in the participant's frame. The director stands opposite, so his left and right are the other way round: in a
row A1 B1 C1, "leftmost" picks A1, and the director asks for it as "the rightmost … from my point of view".
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from vqagen.pictures.canvas import cell_label
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


Cells = tuple[int, ...]
"""Cells by number, row by row from the top left one."""
FIRST = frozenset({"topmost", "leftmost"})
"""The spatial rules under which the first line of cells is the best."""
STEPS = {"left_of": (-1, 0), "right_of": (1, 0), "above": (0, -1), "below": (0, 1)}
"""Relation -> the step from the reference object, in columns and rows."""


@cache
def labels(width: int, height: int) -> tuple[str, ...]:
    """Return the label of each cell."""
    return tuple(cell_label(x, y) for y in range(height) for x in range(width))


@cache
def line_ranks(width: int, height: int, rule: str) -> tuple[int, ...]:
    """Return the line of each cell under a spatial rule, counted from the best one.

    >>> line_ranks(2, 2, "rightmost")
    (1, 0, 1, 0)
    """
    is_vertical = rule in RULES[VERTICAL]
    last = (height if is_vertical else width) - 1
    lines = [cell // width if is_vertical else cell % width for cell in range(width * height)]
    return tuple(lines if rule in FIRST else (last - line for line in lines))


@cache
def rays(width: int, height: int, relation: str) -> tuple[Cells, ...]:
    """Return for each cell the cells in the direction of a relation, the nearest first."""
    step_x, step_y = STEPS[relation]
    of_cells = []
    for cell in range(width * height):
        x, y, ray = cell % width + step_x, cell // width + step_y, []
        while 0 <= x < width and 0 <= y < height:
            ray.append(y * width + x)
            x, y = x + step_x, y + step_y
        of_cells.append(tuple(ray))
    return tuple(of_cells)
