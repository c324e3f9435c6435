"""Pictures that records name: looked for inside their folder alone, and recognised by their content.

A file of questions may come from anybody, and what it names is copied into pages and exports.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from vqagen.errors import BadInput, Problem, as_written
from vqagen.files.output import linked

IMAGES = "images"
"""The folder in which pictures may lie, inside the one that is named."""
SVG = "svg+xml"
_BEGINNINGS = {
    "png": rb"\x89PNG\r\n\x1a\n",
    "jpeg": rb"\xff\xd8\xff",
    "gif": rb"GIF8[79]a",
    "webp": rb"RIFF.{4}WEBP",
    "avif": rb".{4}ftypavi[fs]",
    "bmp": rb"BM.{4}\0{4}",
    "tiff": rb"II\*\0|MM\0\*",
    SVG: rb"\s*(?:<\?xml[^>]*>\s*)?<svg[\s>]",
}
_KINDS = re.compile(b"|".join(b"(%b)" % beginning for beginning in _BEGINNINGS.values()), re.DOTALL)
_HEAD = 256


def picture_kind(content: bytes, is_svg_shown: bool = False) -> str:
    """Return the subtype of a picture's media type by its first bytes, such as "png"; "" if it is no picture."""
    found = _KINDS.match(content[:_HEAD])
    kind = [*_BEGINNINGS][found.lastindex - 1] if found and found.lastindex else ""
    return "" if kind == SVG and not is_svg_shown else kind


def picture_at(
    source: object, path: str, name: object, folders: Iterable[Path], is_svg_shown: bool = False
) -> Path | None:
    """Return the picture that a record names: from the first folder that has it, or from `images` there.

    None if the record names none, or no folder has it. BadInput at the JSON path of the name in its source, for a name
    that leads out of its folder, if only by a symbolic link, and for a file that is no picture.
    """
    if not name:
        return None
    if not isinstance(name, str):
        why = f"expected the name of a picture, found {as_written(name)}"
    elif Path(name).is_absolute() or ".." in Path(name).parts:
        why = f"{name!r} is not inside the folder of the pictures; name a file in it"
    else:
        inside = ((folder, file) for folder in folders for file in (folder / name, folder / IMAGES / name))
        found = next(((folder, file) for folder, file in inside if os.path.isfile(file)), None)
        if found is None:
            return None
        folder, file = found
        if linked(folder) not in linked(file).parents:
            why = f"{file} is behind a symbolic link to outside of {folder}; put a copy there, or name its folder"
        elif picture_kind(file.read_bytes(), is_svg_shown):
            return file
        else:
            why = f"{file} is no picture: its content is of another kind"
    raise BadInput([Problem(why, str(source), path)])
