"""SVG of grids in a real browser: it shows the same pixels as the picture, the director's figure and halos too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from browsers import needs_chromium, new_window
from grids import random_grid, shipped_looks
from PIL import Image, ImageFilter
from test_grid_pictures import decoded

from vqagen.pictures.canvas import DIRECTOR, PARTICIPANT, GridStyle
from vqagen.pictures.grid_picture import GridPainter

pytestmark = needs_chromium
STYLES = [
    GridStyle(4, 4, figure=True),
    GridStyle(2, 2, figure=True, view=PARTICIPANT),
    GridStyle(8, 8, figure=True),
    GridStyle(4, 3, view=DIRECTOR),
]


@pytest.mark.slow
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
