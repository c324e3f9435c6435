"""The canvas of a grid: where its cells, walls, labels and figure lie, in pixels, for any number and size of cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

PARTICIPANT, DIRECTOR = GRID_VIEWS = "participant", "director"
LEAST_CELL, LARGEST_CELL = 24, 1000


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
    cell: int = 120
    """Side of a cell in pixels, at least 24."""
    figure: bool = False
    """True if the director is drawn beside the shelf. He is not in his own view."""
    view: str = PARTICIPANT

    def __post_init__(self) -> None:
        assert self.view in GRID_VIEWS, self.view
        assert self.cell >= LEAST_CELL, self.cell

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

    @property
    def corners(self) -> tuple[tuple[int, int], ...]:
        """The four corners, clockwise from the top left."""
        return (self.left, self.top), (self.right, self.top), (self.right, self.bottom), (self.left, self.bottom)


@dataclass(frozen=True)
class CellPlan:
    """The parts of one cell, which is seen from slightly above: a front edge, side walls, a floor and a back."""

    cell: int

    @property
    def front(self) -> PixelBox:
        """The opening within the front edges of the boards."""
        edge = max(1, round(self.cell * 0.035))
        return PixelBox(edge, edge, self.cell - edge, self.cell - edge)

    @property
    def outline(self) -> int:
        """The width of the dark line around the opening."""
        return 1 if self.cell < 80 else 2

    @property
    def back(self) -> PixelBox:
        """The back of the cell, which is a wall if the cell is blocked."""
        front, wall, ceiling = self.front, max(1, round(self.cell * 0.05)), max(1, round(self.cell * 0.025))
        floor = max(2, round(self.cell * 0.1))
        return PixelBox(front.left + wall, front.top + ceiling, front.right - wall, front.bottom - floor)

    @property
    def item_side(self) -> int:
        """The side of the square that the largest item fills."""
        return self.cell * 7 // 10

    @property
    def item_bottom(self) -> int:
        """The height at which items stand on the floor, with room for a halo below."""
        return min(round((self.back.bottom + 2 * self.front.bottom) / 3), self.front.bottom - self.halo - 1)

    @property
    def halo(self) -> int:
        """The width of the light rim around items before a grey wall."""
        return max(1, min(2, round(self.cell / 80)))


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
    def plan(self) -> CellPlan:
        """The parts of each cell."""
        return CellPlan(self.style.cell)

    @property
    def margins(self) -> tuple[int, int]:
        """The room beside the shelf, and above and below it."""
        cell = self.style.cell
        return max(round(cell * 4 / 3), 32), max(round(cell / 2), 18)

    @property
    def size(self) -> tuple[int, int]:
        """The picture's width and height."""
        (beside, above), style = self.margins, self.style
        return style.width * style.cell + 2 * beside, style.height * style.cell + 2 * above

    @property
    def shelf(self) -> PixelBox:
        """The cells and the boards around them."""
        (beside, above), (width, height) = self.margins, self.size
        return PixelBox(beside, above, width - beside, height - above)

    def corner(self, number: int) -> tuple[int, int]:
        """Return the top left corner of a cell, numbered row by row as the participant sees them."""
        column, row = self.style.place(number)
        return self.shelf.left + column * self.style.cell, self.shelf.top + row * self.style.cell

    @property
    def board(self) -> int:
        """The width of the boards around the shelf, besides the edges of its cells."""
        return max(1, round(self.style.cell * 0.03))

    @property
    def font_size(self) -> int:
        """The height of a line of a label's text."""
        return min(max(11, round(self.style.cell * 0.27)), 64)

    def labels(self) -> Iterator[GridLabel]:
        """Yield the letters above the columns and the numbers left of the rows, close to the shelf."""
        cell, shelf = self.style.cell, self.shelf
        gap = self.board + self.font_size * 0.62
        for column, text in enumerate(self.style.column_labels):
            yield GridLabel(text, shelf.left + (column + 0.5) * cell, shelf.top - gap)
        for row, text in enumerate(self.style.row_labels):
            yield GridLabel(text, shelf.left - gap, shelf.top + (row + 0.5) * cell)

    @property
    def figure(self) -> PixelBox | None:
        """The square of the director's figure, whose middle shows right of the shelf; None without one."""
        if not self.style.figure or self.style.is_mirrored:
            return None
        shelf = self.shelf
        side = min(shelf.height, round(self.style.cell * 2.9))
        left = round(shelf.right + self.board - side * 0.335)
        return PixelBox(left, shelf.bottom + self.board - side, left + side, shelf.bottom + self.board)
