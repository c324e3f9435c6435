"""The oracle of trials: who means which cells, and what a trial must say, by plain loops over coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Cell = tuple[int, int]
"""(column, row), from the top left in the participant's view."""
Record = Mapping[str, Any]
PHYSICS = frozenset({"hot", "cold", "sharp", "stackable"})
STEPS = {"right_of": (1, 0), "left_of": (-1, 0), "above": (0, -1), "below": (0, 1)}


def cell_named(label: str) -> Cell:
    """Return the cell of a label such as C2."""
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(label[0]), int(label[1:]) - 1


def label_of(cell: Cell) -> str:
    """Return the label of a cell."""
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[cell[0]] + str(cell[1] + 1)


def row_by_row(cells: Iterable[Cell]) -> list[str]:
    """Return labels in reading order."""
    return [label_of(cell) for cell in sorted(cells, key=lambda cell: (cell[1], cell[0]))]


def item_words(catalogue: Record, name: str) -> set[str]:
    """Return all nouns and adjectives that are true of a drawn item such as red_ice_cream_2."""
    color, _, rest = name.partition("_")
    kind = rest.rpartition("_")[0]
    entry = catalogue["kinds"][kind]
    return {color, kind, "item", *entry.get("nouns", ()), *entry.get("properties", ())}


def size_of(name: str) -> int:
    """Return the size level of a drawn item."""
    return int(name.rpartition("_")[2])


def placed(record: Record) -> dict[Cell, str]:
    """Return the items of a grid by their cells."""
    width = record["width"]
    return {(i % width, i // width): name for i, name in enumerate(record["cells"]) if name is not None}


def answers(catalogue: Record, items: Mapping[Cell, str], criteria: Iterable[str], rule: str) -> list[Cell]:
    """Return the cells that a description and a rule pick among the items that somebody sees."""
    wanted = set(criteria)
    found = [cell for cell, name in items.items() if wanted <= item_words(catalogue, name)]
    if rule in STEPS:
        return nearest(items, found, STEPS[rule])
    if rule == "none" or not found:
        return found
    keys = {
        "smallest": lambda cell: size_of(items[cell]),
        "largest": lambda cell: -size_of(items[cell]),
        "topmost": lambda cell: cell[1],
        "bottommost": lambda cell: -cell[1],
        "leftmost": lambda cell: cell[0],
        "rightmost": lambda cell: -cell[0],
    }
    best = min(map(keys[rule], found))
    return [cell for cell in found if keys[rule](cell) == best]


def nearest(items: Mapping[Cell, str], origins: Sequence[Cell], step: Cell) -> list[Cell]:
    """Return the first item on the way from the only origin; no item if there is not exactly one origin."""
    if len(origins) != 1:
        return []
    x, y = origins[0]
    for _ in range(100):
        x, y = x + step[0], y + step[1]
        if (x, y) in items:
            return [(x, y)]
    return []


def both_answers(catalogue: Record, record: Record) -> tuple[list[str], list[str]]:
    """Return the labels of the participant's and the director's answers of a trial."""
    items, criteria = placed(record), [record["noun"], *record["adjectives"]]
    blocked = set(map(cell_named, record["blocked"]))
    seen = {cell: name for cell, name in items.items() if cell not in blocked}
    own = answers(catalogue, items, criteria, record["rule"])
    gold = answers(catalogue, seen, criteria, record["rule"])
    return row_by_row(own), row_by_row(gold)


# Texts ----------------------------------------------------------------------------------------------------------------

MIRRORED = {"leftmost": "rightmost", "rightmost": "leftmost", "left_of": "right_of", "right_of": "left_of"}


def wordings(instructions: Record, catalogue: Record, record: Record) -> dict[str, tuple[str, str]]:
    """Return all texts of a question: text -> (its template, the text without a director)."""
    rule, frame = record["rule"], record["frame"]
    spoken = rule if frame == "participant" else MIRRORED.get(rule, rule)
    order = [name for each in catalogue["adjectives"] for name in each["values"]]
    noun = catalogue.get("nouns", {}).get(record["noun"], {}).get("singular", record["noun"])
    described = " ".join([*sorted(record["adjectives"], key=order.index), noun]).replace("_", " ")
    found = {}
    for template in instructions["templates"]:
        for sentence in [template["text"]] if isinstance(template["text"], str) else template["text"]:
            for way, twin_way in zip(instructions["targets"][spoken], instructions["targets"][rule], strict=True):
                for words in instructions["frames"][frame] if frame else [""]:
                    text, twin = (
                        said(sentence, target.replace("<D>", described), each)
                        for target, each in ((way, words), (twin_way, ""))
                    )
                    found[text] = f"instructions.json#{template['name']}", twin
    return found


def said(sentence: str, target: str, frame: str) -> str:
    """Return a sentence with its target and the words of a frame, which are left out if there are none."""
    for slot, wanted in (("<F>, ", f"{frame}, "), (" <F>", f" {frame}")):
        sentence = sentence.replace(slot, wanted if frame else "")
    text = sentence.replace("<T>", target)
    return text[0].upper() + text[1:]


# The judge ------------------------------------------------------------------------------------------------------------


def is_right(instructions: Record, catalogue: Record, record: Record) -> bool:
    """Return whether a well-formed trial keeps all rules about a single one: its text, fields, answers and words."""
    items, rule, noun, adjectives = placed(record), record["rule"], record["noun"], record["adjectives"]
    blocked, words = set(map(cell_named, record["blocked"])), [noun, *adjectives]
    seen = {cell: name for cell, name in items.items() if cell not in blocked}
    own, gold = (answers(catalogue, each, words, rule) for each in (items, seen))
    fitting = answers(catalogue, items, words, "none")
    is_relation, is_test = rule in STEPS, record["trial_type"] == "test"
    related = on_the_way(items, fitting, STEPS[rule]) if is_relation else fitting
    written = wordings(instructions, catalogue, record).get(record["instruction"])
    without = [answers(catalogue, seen, [each for each in words if each != word], rule) for word in adjectives]
    other = answers(catalogue, seen, words, MIRRORED.get(rule, rule))
    wanted = {
        "participant_answers": row_by_row(own),
        "no_director": {"instruction": written and written[1], "answers": row_by_row(own)},
        "template": written and written[0],
        "is_physics": not PHYSICS.isdisjoint(adjectives),
        "is_contested": is_test and record["frame"] == "participant",
        "counts": {
            "items": len(items),
            "blocked": len(blocked),
            "related_visible": sum(cell not in blocked for cell in related),
            "related_blocked": sum(cell in blocked for cell in related),
        },
    }
    return (
        all(record.get(key, value) == value for key, value in wanted.items())
        and row_by_row(gold) == [record["answer"]]
        and (own != gold) == is_test
        and (not is_test or rule == "none" or (len(own) == 1 and own != gold))
        and (is_relation or rule == "none" or sum(cell in seen for cell in fitting) > 1)
        and gold not in without
        and (rule not in ("leftmost", "rightmost") or not set(other) & set(gold))
        and (not is_relation or (len(fitting) == 1 and fitting[0] in seen))
    )


def on_the_way(items: Mapping[Cell, str], origins: Sequence[Cell], step: Cell) -> list[Cell]:
    """Return all items in a direction from the only origin."""
    if len(origins) != 1:
        return []
    (x, y), found = origins[0], []
    for _ in range(100):
        x, y = x + step[0], y + step[1]
        found += [(x, y)] if (x, y) in items else []
    return found
