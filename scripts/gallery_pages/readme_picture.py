"""Compose the picture of the README: a scene with its question and program, and beside it a director trial."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont


class Panel(NamedTuple):
    """One half of the picture."""

    heading: str
    picture: Image.Image
    steps: list[tuple[str, str]]
    """What each step does, and what it finds."""
    answer: str


WIDTH, HEIGHT, MARGIN, GAP, TOP = 1800, 740, 40, 70, 136
LEFT_PICTURE, RIGHT_PICTURE = (690, 460), (613, 460)
PAPER, INK, FAINT, ANSWER, LINE = "#ffffff", "#1f2328", "#59636e", "#1a7f37", "#d1d9e0"
CORNER, BORDER, FINER = 24, 2, 4
"""Radius of the corners and width of the border, in pixels, and how much finer corners are drawn before they shrink."""
QUALITY = 88


def compose(left: Panel, right: Panel, path: Path) -> None:
    """Write the picture; its corners are round, so that it stands on white and on dark."""
    made = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    pen, second = ImageDraw.Draw(made), WIDTH - MARGIN - RIGHT_PICTURE[0]
    draw_panel(made, pen, left, MARGIN, LEFT_PICTURE, second - GAP - MARGIN)
    draw_panel(made, pen, right, second, RIGHT_PICTURE, RIGHT_PICTURE[0])
    pen.line([(second - GAP // 2, MARGIN), (second - GAP // 2, HEIGHT - MARGIN)], LINE, BORDER)
    with_corners(made).save(path, quality=QUALITY, method=6)


def draw_panel(
    made: Image.Image, pen: ImageDraw.ImageDraw, panel: Panel, x: int, size: tuple[int, int], width: int
) -> None:
    """Draw a heading, below it a picture with steps at its right, and below these the answer."""
    write_lines(pen, (x, MARGIN - 6), panel.heading, 34, INK, width)
    made.paste(panel.picture.resize(size, Image.Resampling.LANCZOS), (x, TOP))
    y = TOP - 2
    for place, (call, found) in enumerate(panel.steps):
        at = x + size[0] + 24
        pen.text((at, y), str(place), FAINT, font(22))
        pen.text((at + 28, y), call, INK, font(24))
        y = write_lines(pen, (at + 28, y + 29), found, 20, FAINT, width - size[0] - 52) + 10
    write_lines(pen, (x, TOP + size[1] + 18), panel.answer, 30, ANSWER, width)


def write_lines(pen: ImageDraw.ImageDraw, at: tuple[int, int], text: str, size: int, color: str, width: int) -> int:
    """Write a text in lines of at most `width` pixels; return where the next line would be."""
    x, y = at
    for line in lines_of(text, size, width):
        pen.text((x, y), line, color, font(size))
        y += round(size * 1.25)
    return y


def lines_of(text: str, size: int, width: int) -> Iterator[str]:
    """Yield the lines of a text."""
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and font(size).getlength(longer) > width:
            yield line
            longer = word
        line = longer
    yield line


def font(size: int) -> ImageFont.FreeTypeFont:
    """Return the font that Pillow brings, which is the same everywhere."""
    found = ImageFont.load_default(size)
    assert isinstance(found, ImageFont.FreeTypeFont)
    return found


def with_corners(made: Image.Image) -> Image.Image:
    """Return a picture with a border and round corners, beyond which nothing is."""
    fine = Image.new("L", (WIDTH * FINER, HEIGHT * FINER))
    box = (0, 0, WIDTH * FINER - 1, HEIGHT * FINER - 1)
    ImageDraw.Draw(fine).rounded_rectangle(box, CORNER * FINER, fill=255)
    ImageDraw.Draw(made).rounded_rectangle((0, 0, WIDTH - 1, HEIGHT - 1), CORNER, outline=LINE, width=BORDER)
    made.putalpha(fine.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS))
    return made
