"""The shelf of a grid picture: surfaces of its cells, seen from slightly above, and their colors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from vqagen.pictures.canvas import BACK, BOARD, CELL, FRONT, RIM, Canvas, GridStyle, PixelBox
from vqagen.pictures.figure import figured_cells

ROOM = "#e8eef3"
"""The room's wall, which shows through open cells."""
WALL = "#6e6e6e"
"""The back of a blocked cell."""
WALL_EDGE = "#4f4f4f"
HALO = "#f4f4f4"
"""The rim around items in front of a grey back, or of the director."""
EDGE = "#dcc8a6"
"""The front of the boards."""
SIDE, FLOOR, CEILING, OUTLINE = "#b59c76", "#cbb48e", "#a58d69", "#8d7550"
INK = "#26262b"
"""Labels."""
SURFACES = (ROOM, WALL, WALL_EDGE, HALO, EDGE, SIDE, FLOOR, CEILING, OUTLINE, INK)


class Back(Enum):
    """The back of a cell, as one of the two sees it."""

    OPEN = "open"
    FIGURE = "figure"
    """Open, and the director stands behind it."""
    BLOCKED = "blocked"
    """The participant looks into the cell, and sees that it is closed behind."""
    CLOSED = "closed"
    """The director looks onto the back, and does not see into the cell."""

    @property
    def is_open(self) -> bool:
        """True if both see into the cell."""
        return self in (Back.OPEN, Back.FIGURE)


Surface = tuple[tuple[tuple[int, int], ...], str]
"""The corners of a convex polygon, clockwise, and its color."""


def cell_surfaces(back: Back) -> Iterator[Surface]:
    """Yield the surfaces of a cell whose top left corner is at (0, 0), from the farthest to the nearest."""
    yield (PixelBox(0, 0, CELL, CELL).corners, EDGE)
    yield (FRONT.grown(RIM).corners, OUTLINE)
    if back is Back.CLOSED:
        yield (FRONT.corners, WALL_EDGE)
        yield (FRONT.grown(-2 * RIM).corners, WALL)
        return
    outer_corners, inner_corners = FRONT.corners, BACK.corners
    for at, color in enumerate((CEILING, SIDE, FLOOR, SIDE)):
        after = (at + 1) % 4
        yield (outer_corners[at], outer_corners[after], inner_corners[after], inner_corners[at]), color
    if back is Back.BLOCKED:
        yield (BACK.corners, WALL_EDGE)
        yield (BACK.grown(-RIM).corners, WALL)
    else:
        yield (BACK.corners, ROOM)


def boards(canvas: Canvas) -> Iterator[tuple[PixelBox, str]]:
    """Yield the boards around the shelf, which the cells cover but for their outer edge."""
    board = canvas.shelf.grown(BOARD)
    yield board.grown(RIM), OUTLINE
    yield board, EDGE


def shown_cells(
    style: GridStyle, cells: Sequence[str | None], blocked: Sequence[bool]
) -> Iterator[tuple[str | None, Back]]:
    """Yield the item and the back that each cell of a grid shows in the view of a style, in the participant's order."""
    figured, is_mirrored = figured_cells(Canvas(style)), style.is_mirrored
    for number, (name, closed) in enumerate(zip(cells, blocked, strict=True)):
        if closed:
            yield (None, Back.CLOSED) if is_mirrored else (name, Back.BLOCKED)
        else:
            yield name, Back.FIGURE if number in figured else Back.OPEN


HALOED = frozenset({Back.BLOCKED, Back.FIGURE})
"""Backs before which items have a halo."""
