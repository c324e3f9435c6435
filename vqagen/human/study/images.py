"""The images of a study: found in a folder, decoded once, and listed with their content hash."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, Problem
from vqagen.extras import needed
from vqagen.files.output import linked
from vqagen.files.reading import files_in
from vqagen.files.shipped import require

IMAGES_FOLDER = "images"
_MIME = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp", "AVIF": "image/avif"}
"""Pillow's name of a format that every browser shows -> its media type."""
_SUFFIX = {"PNG": "png", "JPEG": "jpg", "GIF": "gif", "WEBP": "webp", "AVIF": "avif"}
_ORIENTATION, _TURNED = 0x0112, range(5, 9)
"""The tag by which a camera says how it was held, and its values for a quarter turn."""
_SVG_SIGN = b"<svg"
_READ_AT_ONCE = 2
"""Threads that decode: Pillow lets others run meanwhile."""


@dataclass(frozen=True, slots=True)
class StudyImage:
    """An image of a study. `file` is its place in the study's folder, named by its content."""

    id: str
    """Its name in the folder that it came from. Raters never see it."""
    sha256: str
    file: str
    mime: str
    width: int
    height: int

    def to_record(self) -> dict[str, Any]:
        """Return the image as `images.json` has it."""
        return asdict(self)


def find_images(folder: str) -> dict[str, Path]:
    """Return all files in a folder and its folders, by their path inside it. Hidden files are left out."""
    top = Path(require(Path(folder), "images"))
    if not top.is_dir():
        raise BadInput([Problem("expected a folder of images, found a file", folder)])
    return {path.relative_to(top).as_posix(): path for path in files_in(top)}


def read_images(folder: str, names: Iterable[str]) -> dict[str, StudyImage]:
    """Decode the images of these names in a folder. BadInput that names each which is broken or refused."""
    needed("PIL.Image", "human", "reading images")
    top = linked(Path(folder))
    ordered = sorted(names)
    with warnings.catch_warnings(), ThreadPoolExecutor(_READ_AT_ONCE) as pool:
        warnings.simplefilter("ignore")  # Pillow's: `_decoded` refuses what they are about, or decodes it
        found = list(pool.map(lambda name: _read(top, folder, name), ordered))
    problems = [each for each in found if isinstance(each, Problem)]
    if problems:
        raise BadInput(problems)
    return {each.id: each for each in found if isinstance(each, StudyImage)}


def _read(top: Path, folder: str, name: str) -> StudyImage | Problem:
    path = top / name
    place = os.path.join(folder, name)
    if top not in linked(path).parents:
        return Problem("the image is a symbolic link to outside of the folder; put a copy in its place", place)
    try:
        content = path.read_bytes()
    except OSError as error:
        return Problem(f"cannot read the image: {error.strerror}", place)
    fault, form, size = decoded(content)
    if fault:
        return Problem(fault, place)
    digest = hashlib.sha256(content).hexdigest()
    return StudyImage(name, digest, f"{IMAGES_FOLDER}/{digest}.{_SUFFIX[form]}", _MIME[form], *size)


def decoded(content: bytes) -> tuple[str, str, tuple[int, int]]:
    """Decode an image: (what is wrong or "", Pillow's name of its format, width and height as browsers show it)."""
    image_of = needed("PIL.Image", "human", "reading images")
    nothing = (0, 0)
    try:
        with image_of.open(BytesIO(content)) as image:
            image.verify()  # checksums; afterwards an image cannot be loaded
        with image_of.open(BytesIO(content)) as image:
            form = str(image.format)
            if form not in _MIME:
                return f"browsers do not show {form} images; convert the image to PNG", form, nothing
            if image.width * image.height > image_of.MAX_IMAGE_PIXELS:
                return f"the image is too large: {image.width:,} × {image.height:,} pixels", form, nothing
            image.load()
            is_turned = image.getexif().get(_ORIENTATION) in _TURNED
            return "", form, (image.height, image.width) if is_turned else (image.width, image.height)
    except image_of.UnidentifiedImageError:
        if _SVG_SIGN in content[:1000].lower():
            return "SVG is refused, since it may hold programs; convert the image to PNG", "", nothing
        return "this is no image that can be read", "", nothing
    except image_of.DecompressionBombError:
        return "the image is too large", "", nothing
    except (OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError) as error:
        return f"the image is broken: {error}", "", nothing  # Pillow's decoders raise all of these


def image_of_record(record: Mapping[str, Any]) -> StudyImage:
    """Return the image of an entry of `images.json`."""
    return StudyImage(**record)


def same_picture(images: Mapping[str, StudyImage]) -> Iterator[tuple[str, ...]]:
    """Yield the ids of images that have the same content."""
    by_content: dict[str, list[str]] = {}
    for name, image in images.items():
        by_content.setdefault(image.sha256, []).append(name)
    yield from (tuple(names) for names in by_content.values() if len(names) > 1)
