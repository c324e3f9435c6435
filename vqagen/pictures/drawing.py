"""Drawings of items: a list of shapes in the unit square, as a catalogue has it in `art`, read and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vqagen.errors import BadInput, Fault, Problem, describe, unknown
from vqagen.pictures.outline import Box, Outline, Point
from vqagen.pictures.shapes import SHAPES, ShapeKind, is_number

BASE, DARK, LIGHT, INK, WHITE, GREY, WOOD, METAL = FILLS = (
    *("base", "dark", "light"),
    *("ink", "white", "grey", "wood", "metal"),
)
"""The paints of a shape: the color of the item, two shades of it, and five that are the same for every item."""
COLORED = (BASE, DARK, LIGHT)
COMMENT = "comment"
ANY_SHAPE = ("fill", "rotate", COMMENT)
"""The keys that every shape may have."""
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Shape:
    """One shape of a drawing."""

    outline: Outline
    fill: str
    """One of FILLS."""


@dataclass(frozen=True)
class Drawing:
    """A drawing of an item in the unit square, from the back to the front; the color is given when it is painted."""

    shapes: tuple[Shape, ...]


def read_drawing(art: object, source: str = "drawing") -> Drawing:
    """Return the drawing that a kind's `art` describes. Raise BadInput with every fault; `source` names the place."""
    faults = list(drawing_faults(art))
    if faults or not isinstance(art, list):
        raise BadInput([Problem(message, source, path) for path, message in faults])
    return Drawing(tuple(_read_shape(entry) for entry in art))


def drawing_faults(art: object) -> Iterator[Fault]:
    """Yield (JSON path inside of `art`, message) of each mistake."""
    if not isinstance(art, list) or not art:
        yield "", f"expected a list of shapes, found {describe(art)}"
        return
    for number, entry in enumerate(art):
        yield from ((f"[{number}]{path}", message) for path, message in _shape_faults(entry))
    fills = [entry.get("fill", BASE) for entry in art if isinstance(entry, Mapping)]
    if len(fills) == len(art) and all(each in FILLS and each not in COLORED for each in fills):
        yield "", "no shape shows the item's color; give one the fill 'base'"


def _shape_faults(entry: object) -> Iterator[Fault]:
    if not isinstance(entry, Mapping):
        yield "", f"expected an object with a shape, found {describe(entry)}"
        return
    names = [key for key in entry if key in SHAPES]
    if len(names) != 1:
        yield from _name_faults(entry, names)
        return
    kind = SHAPES[names[0]]
    faults = [*_key_faults(entry, kind), *_value_faults(entry, kind)]
    yield from faults or _outside(_outline(entry, kind))


def _name_faults(entry: Mapping[str, Any], names: Sequence[str]) -> Iterator[Fault]:
    """Yield the fault of an object that has no shape, or several."""
    if names:
        yield "", f"{len(names)} shapes in one object: {', '.join(names)}; write one object for each"
        return
    options = {*ANY_SHAPE, *(option for kind in SHAPES.values() for option in kind.options)}
    strange = [key for key in entry if key not in options]
    if not strange:
        yield "", f"missing shape; known: {', '.join(SHAPES)}"
    for key in strange:
        yield f".{key}", unknown("shape", key, tuple(SHAPES))


def _key_faults(entry: Mapping[str, Any], kind: ShapeKind) -> Iterator[Fault]:
    known = (kind.name, *kind.options, *ANY_SHAPE)
    for key in entry:
        if key not in known:
            yield f".{key}", unknown(f"option of {kind.name}", key, known[1:])
    for name, option in kind.options.items():
        if option.default is None and name not in entry:
            yield "", f"missing key {name!r} of {kind.name}: {option.expected}"


def _value_faults(entry: Mapping[str, Any], kind: ShapeKind) -> Iterator[Fault]:
    for name, value in entry.items():
        expected = kind.place if name == kind.name else kind.options.get(name)
        if expected is not None and not expected.is_right(value):
            yield f".{name}", f"expected {expected.expected}, found {describe(value)}"
    if entry.get("fill", BASE) not in FILLS:
        yield ".fill", unknown("fill", entry["fill"], FILLS)
    if not is_number(entry.get("rotate", 0), -720, 720):
        yield ".rotate", f"expected degrees from -720 to 720, found {describe(entry['rotate'])}"


def _outside(outline: Outline) -> Iterator[Fault]:
    """Yield the fault of a shape that leaves the unit square."""
    box = outline.box()
    over = {"left": -box.left, "top": -box.top, "right": box.right - 1, "bottom": box.bottom - 1}
    sides = [f"{side} by {much:.3g}" for side, much in over.items() if much > TOLERANCE]
    if sides:
        yield "", f"leaves the unit square at the {', '.join(sides)}; move it or make it smaller"


def _outline(entry: Mapping[str, Any], kind: ShapeKind) -> Outline:
    options = {name: entry.get(name, option.default) for name, option in kind.options.items()}
    outline = kind.make(entry[kind.name], **options)
    if not entry.get("rotate"):
        return outline
    around: Point = tuple(entry[kind.name][:2]) if kind.has_center else outline.box().middle
    return outline.turned(entry["rotate"], around)


def _read_shape(entry: Mapping[str, Any]) -> Shape:
    (kind,) = (SHAPES[key] for key in entry if key in SHAPES)
    return Shape(_outline(entry, kind), entry.get("fill", BASE))


def box_of(drawing: Drawing) -> Box:
    """Return the box around all shapes of a drawing."""
    boxes = [shape.outline.box() for shape in drawing.shapes]
    return Box(
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )
