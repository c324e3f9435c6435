"""The canvas of a grid: where its cells, walls, labels and figure lie, in pixels, for any number and size of cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

PARTICIPANT, DIRECTOR = GRID_VIEWS = "participant", "director"
CELL = 120
"""Side of a cell in pixels."""


def column_label(column: int) -> str:
    """Return the letter of a column, the participant's left one being A."""
    return chr(ord("A") + column)


def row_label(row: int) -> str:
    """Return the number of a row, the top one being 1."""
    return str(row + 1)


def cell_label(column: int, row: int) -> str:
    """Return the label of a cell, in records, pictures and texts alike.

    >>> cell_label(2, 1)
    'C2'
    """
    return column_label(column) + row_label(row)


@dataclass(frozen=True)
class GridStyle:
    """A grid's size and how it is shown.

    The director stands opposite: his view is mirrored, and blocked cells are closed towards him.
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

    def place(self, number: int) -> tuple[int, int]:
        """Return the column and row in which a cell, numbered row by row as the participant sees them, is shown."""
        row, column = divmod(number, self.width)
        return (self.width - 1 - column if self.is_mirrored else column), row

    @property
    def column_labels(self) -> tuple[str, ...]:
        """The participant's letters in the order in which the columns are shown."""
        letters = tuple(map(column_label, range(self.width)))
        return letters[::-1] if self.is_mirrored else letters

    @property
    def row_labels(self) -> tuple[str, ...]:
        """The rows' numbers from the top."""
        return tuple(map(row_label, range(self.height)))


@dataclass(frozen=True)
class PixelBox:
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

    def grown(self, by: int) -> PixelBox:
        """Return the rectangle with each side moved outwards."""
        return PixelBox(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def inside(self, side: int) -> PixelBox:
        """Return the part inside of the square from (0, 0) whose sides are so long."""
        return PixelBox(max(self.left, 0), max(self.top, 0), min(self.right, side), min(self.bottom, side))

    def meets(self, other: PixelBox) -> bool:
        """True if the rectangles have pixels in common."""
        is_beside = other.right <= self.left or self.right <= other.left
        return not (is_beside or other.bottom <= self.top or self.bottom <= other.top)

    @property
    def sides(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom."""
        return self.left, self.top, self.right, self.bottom

    @property
    def corners(self) -> tuple[tuple[int, int], ...]:
        """The four corners, clockwise from the top left."""
        return (self.left, self.top), (self.right, self.top), (self.right, self.bottom), (self.left, self.bottom)


FRONT = PixelBox(4, 4, CELL - 4, CELL - 4)
"""The opening of a cell within the front edges of the boards; cells are seen from slightly above."""
RIM = 2
"""The width of the dark line around the opening."""
BACK = PixelBox(10, 7, CELL - 10, CELL - 16)
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


@dataclass(frozen=True)
class GridLabel:
    """A text and the middle of the place where it stands."""

    text: str
    x: float
    y: float


@dataclass(frozen=True)
class Canvas:
    """The places of everything in a picture of a grid."""

    style: GridStyle

    @property
    def size(self) -> tuple[int, int]:
        """The picture's width and height."""
        return self.style.width * CELL + 2 * BESIDE, self.style.height * CELL + 2 * ABOVE

    @property
    def shelf(self) -> PixelBox:
        """The cells and the boards around them."""
        width, height = self.size
        return PixelBox(BESIDE, ABOVE, width - BESIDE, height - ABOVE)

    def corner(self, number: int) -> tuple[int, int]:
        """Return the top left corner of a cell, numbered row by row as the participant sees them."""
        column, row = self.style.place(number)
        return self.shelf.left + column * CELL, self.shelf.top + row * CELL

    def labels(self) -> Iterator[GridLabel]:
        """Yield the letters above the columns and the numbers left of the rows, close to the shelf."""
        shelf, gap = self.shelf, BOARD + FONT_SIZE * 0.62
        for column, text in enumerate(self.style.column_labels):
            yield GridLabel(text, shelf.left + (column + 0.5) * CELL, shelf.top - gap)
        for row, text in enumerate(self.style.row_labels):
            yield GridLabel(text, shelf.left - gap, shelf.top + (row + 0.5) * CELL)

    @property
    def figure(self) -> PixelBox | None:
        """The square of the director's figure, who stands behind the shelf, right of its middle; None without one."""
        if not self.style.figure or self.style.is_mirrored:
            return None
        shelf = self.shelf
        middle = shelf.left + (self.style.width // 2) * CELL + CELL // 2
        side = CELL * min(self.style.height, FIGURE_ROWS)
        return PixelBox(middle - side // 2, shelf.bottom - side, middle + side - side // 2, shelf.bottom)

    def back(self, number: int) -> PixelBox:
        """Return the back of a cell."""
        left, top = self.corner(number)
        return PixelBox(left + BACK.left, top + BACK.top, left + BACK.right, top + BACK.bottom)
