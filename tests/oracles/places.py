"""Where the answers of programs are, and which of them letters mark, by coordinates and masks alone.

Relations follow from `3d_coords` and `directions`, boxes from the pixels of masks; nothing is imported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

NEAR = 0.2
"""Objects are in no relation if they are no farther apart along its direction."""


def objects_of(program: Sequence[Mapping[str, Any]], scene: Mapping[str, Any]) -> list[int]:
    """Return the objects that a program ends in."""
    things, results = scene["objects"], list[set[int]]()
    for node in program:
        name, value = node.get("type") or node["function"], (node["value_inputs"] or [""])[0]
        inputs = [results[i] for i in node["inputs"]]
        kind, _, attribute = name.partition("_")
        if name == "scene":
            found = set(range(len(things)))
        elif name in ("unique", "point"):
            (found,) = [inputs[0]] if len(inputs[0]) == 1 else []
        elif name == "mark":
            found = inputs[0]
        elif name in ("union", "intersect"):
            found = inputs[0] | inputs[1] if name == "union" else inputs[0] & inputs[1]
        elif name == "relate":
            found = {i for i in range(len(things)) if _stands(scene, value, i, *inputs[0])}
        elif kind == "filter":
            found = {i for i in inputs[0] if things[i][attribute] == value}
        else:
            assert kind == "same", name
            (own,) = inputs[0]
            found = {i for i in range(len(things)) if i != own and things[i][attribute] == things[own][attribute]}
        results.append(found)
    return sorted(results[-1])


def _stands(scene: Mapping[str, Any], relation: str, i: int, anchor: int) -> bool:
    here, there = (scene["objects"][each]["3d_coords"] for each in (anchor, i))
    direction = scene["directions"][relation]
    return i != anchor and sum((b - a) * d for a, b, d in zip(here, there, direction, strict=True)) > NEAR


def box_of(mask: Mapping[str, Any]) -> list[int]:
    """Return left, top, right and bottom of the pixels of a mask, whose runs go down its columns; [] of none."""
    height, _ = mask["size"]
    at, is_in, pixels = 0, False, list[tuple[int, int]]()
    for run in mask["counts"]:
        pixels += [divmod(pixel, height) for pixel in range(at, at + run)] if is_in else []
        at, is_in = at + run, not is_in
    if not pixels:
        return []
    columns, rows = zip(*pixels, strict=True)
    return [min(columns), min(rows), max(columns) + 1, max(rows) + 1]


def block_faults(records: Sequence[Mapping[str, Any]], scenes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Blocks whose marks are not exactly the answers of their questions, each once, by one letter each."""
    blocks: dict[tuple[int, int], list[Mapping[str, Any]]] = defaultdict(list)
    for record in records:
        blocks[record["block"], record.get("rotation", 0)].append(record)
    for name, members in blocks.items():
        marks, letters = members[0]["marks"], list("ABCD"[: len(members)])
        if len({each["scene_index"] for each in members}) > 1 or any(each["marks"] != marks for each in members):
            yield f"{name}: several pictures"
        right = [objects_of(each["program"], scenes[each["scene_index"]]) for each in members]
        if sorted(right) != [[number] for number in sorted(marks)]:
            yield f"{name}: {marks} are marked, and the answers are {right}"
        for each, objects in zip(members, right, strict=True):
            if [marks[each["choice"]]] != objects or each["answer"] != letters[each["choice"]]:
                yield f"{name}: {each['answer']} is not on {objects}"
        if any(each["choices"] != letters for each in members):
            yield f"{name}: other letters than {letters}"
