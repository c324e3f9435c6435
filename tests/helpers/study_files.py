"""Small inputs of rater studies, and studies made of them."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vqagen.human.settings import PlanSettings
from vqagen.human.study.making import make_caption_tasks
from vqagen.human.study.study import Study, load_study

THINGS = ("cat", "boat", "lamp", "tree", "clock", "bridge", "kettle", "horse", "tower", "guitar", "wheel")
PLACES = ("a yard", "the sea", "some grass", "old stones", "a desk", "deep snow", "the rain")


def picture(number: int, size: tuple[int, int] = (8, 6)) -> bytes:
    """Return a PNG of one color, another one for each number."""
    width, height = size
    row = b"\0" + bytes((number % 256, number // 256 % 256, 90)) * width
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(row * height)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks
    )


def caption(image: int, version: int) -> str:
    """Return a sentence about the image of a number."""
    thing, place = THINGS[image % len(THINGS)], PLACES[image % len(PLACES)]
    return f"Version {version}: {image} times a {thing} near {place}."


def write_caption_files(folder: Path, images: int = 12, systems: Sequence[str] = ("ours",)) -> dict[str, Path]:
    """Write a folder of pictures, human captions and a file of captions for each system; return the systems' files."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "images").mkdir(exist_ok=True)
    names = [f"im{number:02}.png" for number in range(images)]
    for number, name in enumerate(names):
        (folder / "images" / name).write_bytes(picture(number))
    write_json(
        folder / "human.json",
        {name: [caption(number, version) for version in range(3)] for number, name in enumerate(names)},
    )
    files = {system: folder / f"{system}.json" for system in systems if system != "human"}
    files |= {system: folder / "system.json" for system in systems if system == "human"}
    for place, system in enumerate(systems):
        texts = {name: f"{caption(number, 100 + place)} ({system})" for number, name in enumerate(names)}
        write_json(files[system], texts)
    return files


def write_json(path: Path, document: Any) -> None:
    """Write a JSON file."""
    path.write_text(json.dumps(document, ensure_ascii=False), "utf-8")


FILLED = {
    "institution": "the University of Nowhere",
    "contact": "study@nowhere.example",
    "ethics_reference": "2026-17",
    "pay": "2 euros",
    "duration": "5 minutes",
}


def fill_words(study: Study) -> Study:
    """Fill all placeholders of a study, as an operator does."""
    path = study.folder / "texts.json"
    write_json(path, {**json.loads(path.read_text("utf-8")), "values": FILLED})
    return load_study(study.folder)


def make_study(folder: Path, *, images: int = 12, systems: Sequence[str] = ("ours",), **settings: Any) -> Study:
    """Make a study of captions in `folder / "study"`, with filled texts, and return it."""
    files = write_caption_files(folder, images, systems)
    made = PlanSettings(**{"trials_per_task": 5, **settings})
    people = folder / "human.json"
    return fill_words(make_caption_tasks(folder / "study", people, files, folder / "images", made)[0])
