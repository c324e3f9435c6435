"""The images of a study: found in a folder, decoded once, and listed with their content hash."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

from msgspec import Struct

from vqagen.errors import BadInput, Problem
from vqagen.extras import needed
from vqagen.files.locations import files_in, require
from vqagen.files.output import linked

IMAGES_FOLDER = "images"
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "AVIF")
"""Pillow's names of the formats that every browser shows. In small letters they are those of media types too."""
_ORIENTATION, _TURNED = 0x0112, range(5, 9)
"""The tag by which a camera says how it was held, and its values for a quarter turn."""
_BROKEN = OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError
"""What Pillow's decoders raise."""


class StudyImage(Struct, frozen=True):
    """An image of a study. `file` is its place in the study's folder, named by its content."""

    id: str
    """Its name in the folder that it came from. Raters never see it."""
    sha256: str
    file: str
    mime: str
    width: int
    height: int


def find_images(folder: str) -> dict[str, None]:
    """Return the names of all files in a folder and its folders: their paths inside it. Hidden files are left out."""
    top = Path(require(Path(folder), "images"))
    return {path.relative_to(top).as_posix(): None for path in files_in(top)}


def read_images(folder: str, names: Iterable[str]) -> dict[str, StudyImage]:
    """Decode the images of these names in a folder. BadInput that names each which is broken or refused."""
    image_of = needed("PIL.Image", "human", "reading images")
    top = linked(Path(folder))
    ordered = sorted(names)
    with warnings.catch_warnings(), ThreadPoolExecutor(2) as pool:  # Pillow lets others run
        warnings.simplefilter("ignore")  # Pillow's: about what can be decoded nevertheless
        warnings.simplefilter("error", image_of.DecompressionBombWarning)
        results = list(pool.map(lambda name: _read(top, name), ordered))
    problems = [
        Problem(result, os.path.join(folder, name))
        for name, result in zip(ordered, results, strict=True)
        if isinstance(result, str)
    ]
    if problems:
        raise BadInput(problems)
    return {result.id: result for result in results if isinstance(result, StudyImage)}


def _read(top: Path, name: str) -> StudyImage | str:
    """Return an image, or what is wrong with it."""
    if top not in linked(top / name).parents:
        return "the image is a symbolic link to outside of the folder; put a copy in its place"
    image_of = needed("PIL.Image", "human", "reading images")
    try:
        content = (top / name).read_bytes()
        with image_of.open(BytesIO(content)) as image:
            image.verify()  # checksums; afterwards an image cannot be loaded
        with image_of.open(BytesIO(content)) as image:
            if image.format not in _FORMATS:
                return f"browsers do not show {image.format} images; convert the image to PNG"
            image.load()
            is_turned = image.getexif().get(_ORIENTATION) in _TURNED
            size = (image.height, image.width) if is_turned else (image.width, image.height)
            digest, kind = hashlib.sha256(content).hexdigest(), image.format.lower()
            return StudyImage(name, digest, f"{IMAGES_FOLDER}/{digest}.{kind}", f"image/{kind}", *size)
    except image_of.UnidentifiedImageError:
        return (
            "SVG is refused, since it may hold programs; convert the image to PNG"
            if b"<svg" in content[:1000].lower()
            else "this is no image that can be read"
        )
    except (image_of.DecompressionBombError, image_of.DecompressionBombWarning, *_BROKEN) as error:
        return f"the image cannot be used: {error}"
