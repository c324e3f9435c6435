"""Tools that show the picture of a trial again: a part of it, or turned."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from inspect_ai.agent import AgentSubmit, as_solver, react
from inspect_ai.model import ContentImage
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolError, think, tool

if TYPE_CHECKING:
    from PIL.Image import Image

LARGEST_SIDE = 2048
"""Pixels: no tool makes a larger picture."""


@tool
def crop(picture: str) -> Tool:
    """Show an enlarged part of the picture. `picture` is a data: URI, as of all tools."""

    async def execute(left: float, top: float, right: float, bottom: float) -> ContentImage:
        """Show a part of the original picture, enlarged. Positions are percentages of its width and height.

        Args:
            left: The left edge of the part, from 0 to 100.
            top: The upper edge of the part, from 0 to 100.
            right: The right edge of the part, from 0 to 100.
            bottom: The lower edge of the part, from 0 to 100.
        """
        return _shown(_enlarged_part(_opened(picture), left, top, right, bottom))

    return execute


@tool
def rotate(picture: str) -> Tool:
    """Show the picture turned."""

    async def execute(degrees: int) -> ContentImage:
        """Show the original picture turned clockwise.

        Args:
            degrees: The angle, such as 90 or 180.
        """
        return _shown(_opened(picture).rotate(-degrees, expand=True, fillcolor="white"))

    return execute


TOOLS: Mapping[str, Callable[[str], Tool]] = {"crop": crop, "rotate": rotate}
"""Name -> the tool for a picture."""


@solver
def generate_with_tools(tools: Sequence[str] = tuple(TOOLS)) -> Solver:
    """Give the model tools for the picture of the sample, and generate until no tool is called."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.tools = _tools_of(state, tools)
        return await generate(state)

    return solve


@solver
def reason_and_act(tools: Sequence[str] = ()) -> Solver:
    """Let an agent think, use tools and submit a cell."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        agent = react(prompt=None, tools=[think(), *_tools_of(state, tools)], submit=AgentSubmit(answer_only=True))
        return await as_solver(agent)(state, generate)

    return solve


def _tools_of(state: TaskState, names: Sequence[str]) -> list[Tool]:
    return [TOOLS[name](_picture_of(state)) for name in names]


def _picture_of(state: TaskState) -> str:
    """Return the data: URI of the first picture of a sample. The dataset holds it, and Inspect has read its file."""
    parts = (part for message in state.messages if isinstance(message.content, list) for part in message.content)
    return next(part.image for part in parts if isinstance(part, ContentImage))


def _opened(picture: str) -> Image:
    from PIL import Image

    return Image.open(BytesIO(base64.b64decode(picture.partition(",")[2]))).convert("RGB")


def _enlarged_part(image: Image, left: float, top: float, right: float, bottom: float) -> Image:
    if not (0 <= left < right <= 100 and 0 <= top < bottom <= 100):
        raise ToolError("expected percentages with left < right and top < bottom, each from 0 to 100")
    edges = (image.width * left, image.height * top, image.width * right, image.height * bottom)
    part = image.crop([round(edge / 100) for edge in edges])  # type: ignore[arg-type]
    if not part.width or not part.height:
        raise ToolError("the part is smaller than one pixel")
    scale = min(2 * max(image.size), LARGEST_SIDE) / max(part.size)
    return part.resize((max(1, round(part.width * scale)), max(1, round(part.height * scale))))


def _shown(image: Image) -> ContentImage:
    file = BytesIO()
    image.save(file, "PNG")
    return ContentImage(image=png_uri(file.getvalue()))


def png_uri(png: bytes) -> str:
    """Return the data: URI of a PNG."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
