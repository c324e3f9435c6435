"""Pictures of grids: where things lie, what each view shows, contrasts, and the same bytes for the same grid."""

from __future__ import annotations

import sys
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from browsers import needs_chromium, new_window
from grids import random_grid, shipped_looks
from PIL import Image, ImageFilter

from vqagen.errors import BadInput, UsageError
from vqagen.pictures.canvas import (
    BLOCKED,
    BOARD,
    CELL,
    DIRECTOR,
    FONT_SIZE,
    FRONT,
    HALOED,
    ITEM_BOTTOM,
    ITEM_SIDE,
    OPEN,
    PARTICIPANT,
    RIM,
    ROOM,
    SURFACES,
    GridStyle,
    figured_cells,
)
from vqagen.pictures.drawing import read_drawing
from vqagen.pictures.grid_picture import GridPainter, draw_empty, empty_cell, palette_for, standing
from vqagen.pictures.sprites import Look
from vqagen.tasks.director.pictures import TrialPictures
from vqagen.tasks.director.settings import DirectorSettings

SVG = "{http://www.w3.org/2000/svg}"
SIDES = range(2, 9)
STYLE = GridStyle(4, 4)


def decoded(png: bytes) -> np.ndarray:
    """The pixels of a PNG file, as another program reads them."""
    with Image.open(BytesIO(png)) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def part(pixels: np.ndarray, style: GridStyle, number: int) -> np.ndarray:
    """The pixels of a cell, numbered row by row as the participant sees them."""
    left, top = style.corner(number)
    return pixels[top : top + CELL, left : left + CELL]


def cell_of(look: Look | None, back: str) -> np.ndarray:
    """The pixels of a cell in true color."""
    cell = empty_cell(back).copy()
    if look:
        item, corner = standing(look, back in HALOED)
        cell.paste(item, corner, item)
    return np.asarray(cell).astype(int)


def hex_to_rgb(color: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(color[1:]))


# Places -------------------------------------------------------------------------------------------------------------


def test_a_grid_of_four_by_four_makes_a_picture_of_the_usual_size() -> None:
    assert STYLE.size == (800, 600)
    assert decoded(GridPainter(shipped_looks(), STYLE).png(*random_grid(0))).shape == (600, 800, 3)


def test_labels_cells_and_figure_are_inside_of_the_canvas() -> None:
    """For every grid; the reference's pictures lose labels from five rows on, and cells from six."""
    for width, height, has_figure in product(SIDES, SIDES, (False, True)):
        canvas = GridStyle(width, height, has_figure)
        right, bottom = canvas.size
        half = FONT_SIZE / 2
        labels = [(x - half, y - half, x + half, y + half) for _, x, y in canvas.labels()]
        cells = [(*at, at[0] + CELL, at[1] + CELL) for at in map(canvas.corner, range(width * height))]
        box = canvas.figure_square
        figure = [(box.left + 0.28 * box.width, box.top, box.left + 0.72 * box.width, box.bottom)] if box else []

        assert len(labels) == width + height
        assert len(figure) == has_figure
        for place in (*labels, *cells, *figure):
            assert place[0] >= 0 and place[1] >= 0 and place[2] <= right and place[3] <= bottom, (canvas, place)


def test_labels_stand_beside_their_cells() -> None:
    """Each row and column has ink in the margin next to the shelf, level with its middle and nowhere else.

    Nothing touches the border of the picture, so that no letter and no hand is cut off.
    """
    canvas = GridStyle(5, 3)
    dark = np.asarray(draw_empty(canvas)).max(axis=2) < 100
    shelf = canvas.shelf.grown(BOARD + RIM)
    above, beside = dark[: shelf.top].any(axis=0), dark[:, : shelf.left].any(axis=1)

    def inked(marks: np.ndarray, start: int, count: int) -> list[bool]:
        return [bool(marks[start + n * CELL + 40 : start + n * CELL + 80].any()) for n in range(count)]

    assert inked(above, canvas.shelf.left, 5) == [True] * 5
    assert inked(beside, canvas.shelf.top, 3) == [True] * 3
    assert not dark[:, shelf.right :].any()
    assert not dark[shelf.bottom :].any()
    picture = np.asarray(draw_empty(GridStyle(2, 2, figure=True)))
    border = np.concatenate((picture[0], picture[-1], picture[:, 0], picture[:, -1]))
    assert {tuple(color) for color in border.tolist()} == {hex_to_rgb(ROOM)}


@pytest.mark.slow
def test_an_item_stays_inside_of_the_boards_of_its_cell() -> None:
    """With its halo, for each kind at its largest."""
    largest = [look for name, look in shipped_looks().items() if name.startswith("red_") and name.endswith("_4")]
    for number, look in enumerate(largest):
        back = (OPEN, BLOCKED)[number % 2]
        changed = (cell_of(look, back) != cell_of(None, back)).any(axis=2)
        assert changed.any(), look.name
        changed[FRONT.top : FRONT.bottom, FRONT.left : FRONT.right] = False
        assert not changed.any(), look.name


def test_items_of_all_sizes_stand_on_the_floor() -> None:
    """In the middle, however large they are, and though their drawing does not fill its square."""
    low = read_drawing([{"rect": [0, 0.2, 0.5, 0.3]}])
    for scale in (0.42, 0.58, 0.78, 1.0):
        item = cell_of(Look("low", "", low, "#0000ff", scale=scale), OPEN)
        rows, columns = np.nonzero(np.abs(item - cell_of(None, OPEN)).sum(axis=2) > 60)
        assert abs(rows.max() + 1 - ITEM_BOTTOM) <= 1
        assert abs((columns.min() + columns.max() + 1) / 2 - 60) <= 1


# Views --------------------------------------------------------------------------------------------------------------


def test_the_director_sees_open_cells_mirrored_and_closed_backs() -> None:
    """An item in an open cell looks the same to both; a blocked cell shows him nothing; the labels are the same."""
    width, height = 3, 5
    style, view = GridStyle(width, height), GridStyle(width, height, view=DIRECTOR)
    painter = GridPainter(shipped_looks(), style)
    cells, blocked = random_grid(3, width, height)
    seen, from_behind = (
        decoded(painter.png(cells, blocked)),
        decoded(GridPainter(shipped_looks(), view).png(cells, blocked)),
    )
    closed = [part(from_behind, view, number) for number, hides in enumerate(blocked) if hides]

    assert 2 < sum(blocked) < width * height - 2
    for number, hides in enumerate(blocked):
        assert (part(seen, style, number) == part(from_behind, view, number)).all() == (not hides)
    assert all((each == closed[0]).all() for each in closed)
    assert view.corner(0)[0] == style.corner(width - 1)[0]
    labels, mirrored = ({text: at for text, *at in each.labels()} for each in (style, view))
    assert list(labels) == ["A", "B", "C", *"12345"]
    assert [mirrored[text] for text in "ABC12345"] == [labels[text] for text in "CBA12345"]


@pytest.mark.slow
def test_the_figure_stands_behind_the_shelf_and_shows_through_open_cells() -> None:
    """Blocked cells hide it, items and boards stand before it, and the director's own view has none."""
    (cells, blocked), style = random_grid(1), GridStyle(4, 4, figure=True)
    painter, figured = GridPainter(shipped_looks(), STYLE), figured_cells(style)
    alone = decoded(painter.png(cells, blocked))
    figure_painter = GridPainter(shipped_looks(), style, painter.sprites)
    behind = decoded(figure_painter.png(cells, blocked))
    bare, closed = ([None] * 16, [False] * 16), ([None] * 16, [True] * 16)
    own = [
        GridPainter(shipped_looks(), GridStyle(4, 4, figure, DIRECTOR)).png(cells, blocked) for figure in (False, True)
    ]

    assert own[0] == own[1]
    assert painter.png(*closed) == figure_painter.png(*closed)
    seen = (decoded(figure_painter.png(*bare)) != decoded(painter.png(*bare))).any(axis=2)
    assert 6 < len(figured) < 13
    for at in range(16):
        changed = (part(behind, style, at) != part(alone, style, at)).any(axis=2)
        if at not in figured or blocked[at]:
            assert not changed.any()
            continue
        assert changed.any() and part(seen, style, at).any()
        name = cells[at]
        if name is not None:
            look, closed_back = shipped_looks()[name], cell_of(None, BLOCKED)
            item = (cell_of(look, OPEN) != cell_of(None, OPEN)).any(axis=2)
            item &= (cell_of(look, BLOCKED) != closed_back).any(axis=2)
            assert (changed & item).sum() < 0.2 * item.sum(), "of an item, only the edge differs: it has a halo"
    assert sum(bool(cells[at]) and not blocked[at] for at in figured) > 1


# Colors and bytes ---------------------------------------------------------------------------------------------------


def test_all_surfaces_and_paints_keep_their_exact_color() -> None:
    """One palette serves all pictures of the catalogue; only blends at edges are approximated."""
    palette = palette_for(shipped_looks())
    assert palette is not None
    colors = (*SURFACES, *(look.paint for look in shipped_looks().values()))
    flat = np.array([[hex_to_rgb(color) for color in colors]], np.uint8)
    shown = Image.fromarray(flat).quantize(palette=palette, dither=Image.Dither.NONE).convert("RGB")

    assert np.array_equal(np.asarray(shown), flat)


@pytest.mark.slow
def test_the_same_grid_makes_the_same_bytes_whatever_was_drawn_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """One painter draws many pictures, and forgets old sprites when there are too many."""
    painter, grids = GridPainter(shipped_looks(), STYLE), [random_grid(seed) for seed in range(6)]
    forward = [painter.png(*grid) for grid in grids]
    monkeypatch.setattr("vqagen.pictures.grid_picture.MOST_SPRITES", 3)
    forgetful = GridPainter(shipped_looks(), STYLE)

    assert [forgetful.png(*grid) for grid in reversed(grids)] == forward[::-1]
    assert len(forgetful.sprites) == 3
    assert GridPainter(shipped_looks(), STYLE, painter.sprites).png(*grids[2]) == forward[2]
    assert max(map(len, forward)) <= 25_000


def test_a_missing_library_is_named_before_anything_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """SVG does not need it."""
    monkeypatch.setitem(sys.modules, "PIL.Image", None)

    with pytest.raises(UsageError, match=r"pip install 'vqagen\[draw\]'"):
        TrialPictures(shipped_looks(), DirectorSettings(count=1))
    TrialPictures(shipped_looks(), DirectorSettings(count=1, render=("svg",))).draw(0, *random_grid(0))


# Pictures of the user's own -----------------------------------------------------------------------------------------


def photo(path: Path, size: tuple[int, int] = (90, 30)) -> Look:
    Image.new("RGB", size, (12, 200, 77)).save(path)
    return Look("photo", "photo", picture=path)


def test_a_users_picture_keeps_its_colors_and_its_shape(tmp_path: Path) -> None:
    """A catalogue with such a picture is drawn in true color."""
    looks = {"photo": photo(tmp_path / "photo.png"), **shipped_looks()}
    pixels = decoded(GridPainter(looks, STYLE).png(["photo", *[None] * 15], [False] * 16))
    rows, columns = np.nonzero((part(pixels, STYLE, 0) == (12, 200, 77)).all(axis=2))

    wide, high = np.ptp(columns) + 1, np.ptp(rows) + 1
    assert wide == ITEM_SIDE
    assert abs(wide / high - 3) < 0.2
    assert abs(rows.max() + 1 - ITEM_BOTTOM) <= 1


def test_a_palette_picture_with_a_transparent_color_shows_what_is_behind(tmp_path: Path) -> None:
    """The reference's pictures show a chequerboard or a black square there."""
    picture = Image.new("P", (20, 20), 0)
    picture.putpalette([255, 0, 0, 0, 0, 255])
    picture.paste(1, (0, 0, 20, 10))
    picture.save(tmp_path / "half.png", transparency=1)
    looks = {"half": Look("half", "half", picture=tmp_path / "half.png")}
    cell = part(decoded(GridPainter(looks, STYLE).png(["half", *[None] * 15], [False] * 16)), STYLE, 0)

    assert (cell == (255, 0, 0)).all(axis=2).sum() > 1_000
    assert not (cell == (0, 0, 255)).all(axis=2).any()
    assert tuple(cell[30, 60]) == hex_to_rgb(ROOM)


def test_pictures_that_cannot_be_read_are_named_before_anything_is_drawn(tmp_path: Path) -> None:
    """All of them, in one message."""
    (tmp_path / "text.png").write_text("no picture")
    cut = photo(tmp_path / "cut.png", (400, 400)).picture
    assert cut is not None
    cut.write_bytes(cut.read_bytes()[:300])
    paths = [tmp_path / name for name in ("missing.png", "text.png", "cut.png")]

    with pytest.raises(BadInput) as raised:
        GridPainter({path.name: Look(path.name, "", picture=path) for path in paths}, STYLE)
    lines = str(raised.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [str(path) for path in paths]
    assert "no such file" in lines[0]


# SVG ----------------------------------------------------------------------------------------------------------------


def test_svg_places_cells_and_items_as_the_picture_does() -> None:
    """Each item is drawn once, and used in each of its cells; items on grey have a rim."""
    cells, blocked = random_grid(4)
    cells[:3] = ["red_apple_2"] * 3
    document = ElementTree.fromstring(GridPainter(shipped_looks(), STYLE).svg(cells, blocked))
    uses = [(use.get("href"), use.get("x"), use.get("y"), use.get("filter")) for use in document.iter(f"{SVG}use")]
    ids = [each.get("id") for each in document.iter() if each.get("id")]

    corners = [tuple(map(str, STYLE.corner(number))) for number in range(16)]
    backs = [(f"#{'blocked' if hides else 'open'}", *corners[at], None) for at, hides in enumerate(blocked)]
    assert [use for use in uses if not (use[0] or "").startswith("#item")] == backs
    names = list(dict.fromkeys(filter(None, cells)))
    assert [use for use in uses if (use[0] or "").startswith("#item")] == [
        (f"#item{names.index(name) + 1}", *corners[at], "url(#halo)" if blocked[at] else None)
        for at, name in enumerate(cells)
        if name
    ]
    assert len(ids) == len(set(ids)) and {use[0] for use in uses} <= {f"#{each}" for each in ids}
    assert [text.text for text in document.iter(f"{SVG}text")] == [*"ABCD", *"1234"]
    assert (document.get("width"), document.get("height")) == ("800", "600")


STYLES = [
    GridStyle(4, 4, figure=True),
    GridStyle(2, 2, figure=True, view=PARTICIPANT),
    GridStyle(8, 8, figure=True),
    GridStyle(4, 3, view=DIRECTOR),
]


@pytest.mark.slow
@needs_chromium
def test_svg_and_picture_of_a_grid_show_the_same(browser: Any) -> None:
    """Inside of the shelf, where no label stands; edges may be smoothed otherwise by a pixel."""
    painter = GridPainter(shipped_looks(), STYLES[0])
    for seed, style in enumerate(STYLES):
        grid, own = random_grid(seed, style.width, style.height), GridPainter(shipped_looks(), style, painter.sprites)
        width, height = style.size
        page = new_window(browser, viewport={"width": width, "height": height}).new_page()
        page.set_content(f'<body style="margin:0">{own.svg(*grid)}</body>')
        shown = page.screenshot()
        page.context.close()
        shelf = style.shelf
        inside = slice(shelf.top, shelf.bottom), slice(shelf.left, shelf.right)
        drawn, rendered = (_smoothed(decoded(png))[inside] for png in (own.png(*grid), shown))

        differs = np.abs(drawn - rendered).max(axis=2) > 40
        assert differs.mean() < 0.002, (style, differs.mean())


def _smoothed(pixels: np.ndarray) -> np.ndarray:
    """Return a picture whose edges of one pixel no longer count."""
    picture = Image.fromarray(pixels.astype(np.uint8)).filter(ImageFilter.GaussianBlur(2))
    return np.asarray(picture).astype(int)
