"""The canvas of a grid: where cells, walls, labels and the director lie, for any number of cells, and their colors.

A shelf of cells is seen from slightly above. The director stands behind it and looks at the participant; open cells
show the part of him that is behind them. Pictures, SVG and texts take all places from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from vqagen.pictures.drawing import Drawing, box_of, read_drawing

PARTICIPANT, DIRECTOR = GRID_VIEWS = "participant", "director"
CELL = 120
"""Side of a cell in pixels."""


def cell_label(column: int, row: int) -> str:
    """Return the label of a cell, in records, pictures and texts alike; the participant's top left cell is A1.

    >>> cell_label(2, 1)
    'C2'
    """
    return f"{chr(ord('A') + column)}{row + 1}"


class Rectangle(NamedTuple):
    """A rectangle of pixels."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    def grown(self, by: int) -> Rectangle:
        """Return the rectangle with each side moved outwards."""
        return Rectangle(self.left - by, self.top - by, self.right + by, self.bottom + by)

    @property
    def corners(self) -> tuple[tuple[int, int], ...]:
        """The four corners, clockwise from the top left."""
        return (self.left, self.top), (self.right, self.top), (self.right, self.bottom), (self.left, self.bottom)


FRONT = Rectangle(4, 4, CELL - 4, CELL - 4)
"""The opening of a cell within the front edges of the boards."""
RIM = 2
"""The width of the dark line around the opening."""
BACK = Rectangle(10, 7, CELL - 10, CELL - 16)
"""The back of a cell, which is a wall if the cell is blocked."""
ITEM_SIDE = 84
"""The side of the square that the largest item fills."""
ITEM_BOTTOM = 112
"""The height at which items stand on the floor, with room for a halo below."""
HALO_WIDTH = 2
"""The width of the light rim around items before a grey wall."""
BESIDE, ABOVE = 160, 60
"""The room beside the shelf, and above and below it."""
BOARD = 4
"""The width of the boards around the shelf, besides the edges of its cells."""
FIGURE_ROWS = 4
"""The height of the director's figure in cells, as far as the shelf has so many."""
FONT_SIZE = 32
"""The height of a line of a label's text."""
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


@dataclass(frozen=True)
class GridStyle:
    """A grid's size and how it is shown, with the places of everything in its picture.

    The director stands opposite: his view is mirrored, and blocked cells are closed towards him. Cells are numbered row
    by row as the participant sees them.
    """

    width: int
    height: int
    figure: bool = False
    """True if the director is drawn behind the shelf. He is not in his own view."""
    view: str = PARTICIPANT

    def __post_init__(self) -> None:
        assert self.view in GRID_VIEWS, self.view

    @property
    def is_mirrored(self) -> bool:
        """True for the director's view."""
        return self.view == DIRECTOR

    @property
    def column_labels(self) -> tuple[str, ...]:
        """The participant's letters in the order in which the columns are shown."""
        letters = tuple(cell_label(column, 0)[0] for column in range(self.width))
        return letters[::-1] if self.is_mirrored else letters

    @property
    def row_labels(self) -> tuple[str, ...]:
        """The rows' numbers from the top."""
        return tuple(str(row + 1) for row in range(self.height))

    @property
    def size(self) -> tuple[int, int]:
        """The picture's width and height."""
        return self.width * CELL + 2 * BESIDE, self.height * CELL + 2 * ABOVE

    @property
    def shelf(self) -> Rectangle:
        """The cells and the boards around them."""
        return Rectangle(BESIDE, ABOVE, BESIDE + self.width * CELL, ABOVE + self.height * CELL)

    def corner(self, number: int) -> tuple[int, int]:
        """Return the top left corner of a cell."""
        row, column = divmod(number, self.width)
        shown = self.width - 1 - column if self.is_mirrored else column
        return BESIDE + shown * CELL, ABOVE + row * CELL

    def back(self, number: int) -> Rectangle:
        """Return the back of a cell."""
        left, top = self.corner(number)
        return Rectangle(left + BACK.left, top + BACK.top, left + BACK.right, top + BACK.bottom)

    def labels(self) -> Iterator[tuple[str, float, float]]:
        """Yield (text, x, y) of the letters above the columns and the numbers left of the rows; a place is a middle."""
        gap = BOARD + FONT_SIZE * 0.62
        for column, text in enumerate(self.column_labels):
            yield text, BESIDE + (column + 0.5) * CELL, ABOVE - gap
        for row, text in enumerate(self.row_labels):
            yield text, BESIDE - gap, ABOVE + (row + 0.5) * CELL

    @property
    def figure_square(self) -> Rectangle | None:
        """The square of the director's figure, who stands behind the shelf, right of its middle; None without one."""
        if not self.figure or self.is_mirrored:
            return None
        middle, side = BESIDE + (self.width // 2) * CELL + CELL // 2, CELL * min(self.height, FIGURE_ROWS)
        bottom = self.shelf.bottom
        return Rectangle(middle - side // 2, bottom - side, middle + side - side // 2, bottom)


# Cells ---------------------------------------------------------------------------------------------------------------

OPEN, FIGURE, BLOCKED, CLOSED = BACKS = "open", "figure", "blocked", "closed"
"""The back of a cell, as one of the two sees it. figure: open, and the director stands behind it. blocked: the
participant looks into the cell, and sees that it is closed behind. closed: the director looks onto the back, and does
not see into the cell."""
HALOED = frozenset({BLOCKED, FIGURE})
"""Backs before which items have a halo."""
Surface = tuple[Sequence[tuple[int, int]], str]
"""The corners of a convex polygon, clockwise, and its color."""


def shown_cells(
    style: GridStyle, cells: Sequence[str | None], blocked: Sequence[bool]
) -> Iterator[tuple[str | None, str]]:
    """Yield the item and the back that each cell of a grid shows in the view of a style, in the participant's order."""
    figured = figured_cells(style)
    for number, (name, is_blocked) in enumerate(zip(cells, blocked, strict=True)):
        if is_blocked:
            yield (None, CLOSED) if style.is_mirrored else (name, BLOCKED)
        else:
            yield name, FIGURE if number in figured else OPEN


def cell_surfaces(back: str) -> Iterator[Surface]:
    """Yield the surfaces of a cell whose top left corner is at (0, 0), from the farthest to the nearest."""
    yield Rectangle(0, 0, CELL, CELL).corners, EDGE
    yield FRONT.grown(RIM).corners, OUTLINE
    if back == CLOSED:
        yield FRONT.corners, WALL_EDGE
        yield FRONT.grown(-2 * RIM).corners, WALL
        return
    outer, inner = FRONT.corners, BACK.corners
    for at, color in enumerate((CEILING, SIDE, FLOOR, SIDE)):
        after = (at + 1) % 4
        yield (outer[at], outer[after], inner[after], inner[at]), color
    if back == BLOCKED:
        yield BACK.corners, WALL_EDGE
        yield BACK.grown(-RIM).corners, WALL
    else:
        yield BACK.corners, ROOM


def boards(style: GridStyle) -> tuple[tuple[Rectangle, str], ...]:
    """Return the boards around the shelf, which the cells cover but for their outer edge."""
    board = style.shelf.grown(BOARD)
    return (board.grown(RIM), OUTLINE), (board, EDGE)


# The director --------------------------------------------------------------------------------------------------------

GRAZE = 4
"""Pixels of the border of a part that count for nothing."""
TROUSERS, SHOES, SKIN, SLEEVES, JUMPER, HAIR = "#5d7b99", "#3f6183", "#b7c7d5", "#6f8dab", "#8da5bd", "#274b71"
"""Their light shades are shown: a pale person in the colors of the room, whom nobody takes for a colored item.

In colors of his own, his head in one cell and his jumper in another looked like items at 420 pixels.
"""

LAYERS: tuple[tuple[str, list[dict[str, object]]], ...] = (
    (TROUSERS, [{"rect": [0.385, 0.55, 0.11, 0.42]}, {"rect": [0.505, 0.55, 0.11, 0.42]}]),
    (SHOES, [{"ellipse": [0.425, 0.965, 0.075, 0.03]}, {"ellipse": [0.575, 0.965, 0.075, 0.03]}]),
    (SKIN, [{"ellipse": [0.325, 0.575, 0.036, 0.042]}, {"ellipse": [0.675, 0.575, 0.036, 0.042]}]),
    (
        SLEEVES,
        [
            {"line": [[0.385, 0.325], [0.328, 0.54]], "width": 0.075},
            {"line": [[0.615, 0.325], [0.672, 0.54]], "width": 0.075},
        ],
    ),
    (JUMPER, [{"rect": [0.365, 0.275, 0.27, 0.325], "round": 0.07}]),
    (
        SKIN,
        [
            {"rect": [0.456, 0.2, 0.088, 0.1], "round": 0.03},
            {"ellipse": [0.406, 0.145, 0.02, 0.028]},
            {"ellipse": [0.594, 0.145, 0.02, 0.028]},
            {"ellipse": [0.5, 0.14, 0.094, 0.112]},
        ],
    ),
    (
        HAIR,
        [
            {"ellipse": [0.464, 0.14, 0.011, 0.015]},
            {"ellipse": [0.536, 0.14, 0.011, 0.015]},
            {"arc": [0.5, 0.18, 0.036, 0.024], "start": 20, "end": 160, "width": 0.011},
            {
                "curve": [
                    *([0.398, 0.13], [0.398, 0.13], [0.41, 0.055], [0.5, 0.016], [0.59, 0.055], [0.602, 0.13]),
                    *([0.602, 0.13], [0.565, 0.08], [0.5, 0.088], [0.435, 0.08]),
                ]
            },
        ],
    ),
)
"""Paint and shapes of each part, from the back to the front."""


@cache
def director_figure() -> tuple[tuple[Drawing, str], ...]:
    """Return the drawings of the director from the front, from head to foot, each with its paint."""
    return tuple((read_drawing([{**shape, "fill": "light"} for shape in shapes]), paint) for paint, shapes in LAYERS)


@cache
def figured_cells(style: GridStyle) -> frozenset[int]:
    """Return the cells behind whose backs a part of the director stands, and not just a tip of a shoe."""
    square, cells = style.figure_square, set()
    boxes = [box_of(read_drawing([shape])) for _, shapes in LAYERS for shape in shapes] if square else []
    for box in boxes:
        assert square is not None
        left, top, right, bottom = (round(share * square.width) for share in box)
        part = Rectangle(square.left + left, square.top + top, square.left + right, square.top + bottom).grown(-GRAZE)
        for number in range(style.width * style.height):
            back = style.back(number)
            is_beside = back.right <= part.left or part.right <= back.left
            if not (is_beside or back.bottom <= part.top or part.bottom <= back.top):
                cells.add(number)
    return frozenset(cells)
