"""The two views of a trial's grid as scenes: objects are cells, and the director sees some of them, from behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from vqagen.bits import Objects, indexes, is_single, only, union_of
from vqagen.score.director.trial import Trial
from vqagen.score.director.vocabulary import Item
from vqagen.world.scene import Scene

WORD, LEVEL = "word", "level"
"""Attributes of a grid's scene: the nouns and adjectives that are true of an item, and its size level."""
BEATEN_BY: Mapping[str, str] = {"topmost": "above", "bottommost": "below", "leftmost": "left", "rightmost": "right"}
"""Rule -> the relation in which no other fitting item stands to the one that the rule picks."""
RAYS: Mapping[str, tuple[str, str, str]] = {
    "left_of": ("left", "row", "right"),
    "right_of": ("right", "row", "left"),
    "above": ("above", "column", "below"),
    "below": ("below", "column", "above"),
}
"""Rule -> (relation of the ray's cells to its origin, line that it runs along, relation of nearer cells to others)."""


class Views(NamedTuple):
    """The grid of a trial as the two see it."""

    participant: Scene
    """All items."""
    director: Scene
    """The items in open cells, with the director's own left and right."""

    @property
    def unmirrored(self) -> Scene:
        """The items that the director sees, with the participant's left and right."""
        return self.participant.seen(self.director.everything)


def views_of(trial: Trial, items: Mapping[str, Item]) -> Views:
    """Return the views of a trial whose cells name `items`. Of words, they have those of its description."""
    words: dict[str, Objects] = dict.fromkeys(sorted(trial.criteria), 0)
    levels: dict[str, Objects] = {}
    occupied, bit = 0, 1
    for name in trial.cells:
        if name is not None:
            item = items[name]
            occupied |= bit
            level = str(item.size)
            levels[level] = levels.get(level, 0) | bit
            for word in words:
                if word in item.true:
                    words[word] |= bit
        bit <<= 1
    tables = grid_tables(trial.width, trial.height)
    having = {WORD: words, LEVEL: levels}
    grid = Scene(trial.index, {}, len(trial.cells), occupied, occupied, having, {}, tables)
    mirrored = {"left": tables["right"], "right": tables["left"]}
    return Views(grid, grid.seen(occupied & ~trial.blocked, mirrored))


@cache
def grid_tables(width: int, height: int) -> Mapping[str, Sequence[Objects]]:
    """Return the relations of a grid's cells: relation -> cell -> the cells that stand in the relation to it."""
    places = [(cell % width, cell // width) for cell in range(width * height)]

    def table(stands: Callable[[int, int, int, int], bool]) -> list[Objects]:
        return [
            union_of(cell for cell, (x, y) in enumerate(places) if stands(x, y, of_x, of_y)) for of_x, of_y in places
        ]

    return {
        "left": table(lambda x, _, of_x, __: x < of_x),
        "right": table(lambda x, _, of_x, __: x > of_x),
        "above": table(lambda _, y, __, of_y: y < of_y),
        "below": table(lambda _, y, __, of_y: y > of_y),
        "row": table(lambda x, y, of_x, of_y: y == of_y and x != of_x),
        "column": table(lambda x, y, of_x, of_y: x == of_x and y != of_y),
    }


def fitting(view: Scene, criteria: frozenset[str]) -> Objects:
    """Return the items of a view of which all words are true."""
    words, found = view.having[WORD], view.everything
    for word in criteria:
        found &= words.get(word, 0)
    return found


def answers(view: Scene, criteria: frozenset[str], rule: str) -> Objects:
    """Return the cells that an instruction picks in a view, whose left and right the rule speaks of."""
    found = fitting(view, criteria)
    if rule in BEATEN_BY:
        return _unbeaten(found, view.related[BEATEN_BY[rule]])
    if rule in RAYS:
        return _nearest(found, view, rule)
    if rule in ("smallest", "largest"):
        levels = {float(level): having & found for level, having in view.having[LEVEL].items() if having & found}
        extreme = min if rule == "smallest" else max
        return levels[extreme(levels)] if levels else 0
    return found


def ray(origin: int, view: Scene, rule: str) -> Objects:
    """Return the items that stand beyond a cell in the direction of a relation."""
    direction, line, _ = RAYS[rule]
    return view.everything & view.related[direction][origin] & view.related[line][origin]


def _nearest(origins: Objects, view: Scene, rule: str) -> Objects:
    """Return the item nearest to the only origin; no item if the origin is not single."""
    if not is_single(origins):
        return 0
    return _unbeaten(ray(only(origins), view, rule), view.related[RAYS[rule][2]])


def _unbeaten(items: Objects, better: Sequence[Objects]) -> Objects:
    """Return the items to which no other one stands in the relation `better`."""
    return union_of(item for item in indexes(items) if not better[item] & items)
