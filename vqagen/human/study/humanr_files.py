"""HUMANr's inputs: human captions, one file of captions for each system, and a folder of images."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from vqagen.errors import BadInput, Fault, Problem, counted, describe
from vqagen.files.locations import locate as locate_file
from vqagen.files.packing import DAMAGE
from vqagen.files.reading import open_bytes
from vqagen.files.shipped import require
from vqagen.json.parsing import parse_json, read_text
from vqagen.json.text import locate

Texts = TypeVar("Texts")

_SHOWN = 3
"""Names in a message about many."""


@dataclass(frozen=True)
class Captions:
    """The captions of images that have all that a study needs, by the name of the image, in sorted order."""

    human: Mapping[str, Sequence[str]]
    systems: Mapping[str, Mapping[str, str]]
    """System -> image -> its caption."""
    left_out: tuple[str, ...] = ()
    """A sentence for each reason why images or captions are left out, with their number and first names."""


def read_captions(human: str, systems: Mapping[str, str], images: Sequence[str]) -> Captions:
    """Read the captions of images that stand in a folder and in every file. BadInput with all mistakes of all files."""
    problems: list[Problem] = []
    people = _read(human, "human captions", _human_faults, problems)
    models = {name: _read(file, f"captions of {name}", _system_faults, problems) for name, file in systems.items()}
    if problems:
        raise BadInput(problems)
    there = set(images)
    common = sorted(there.intersection(people, *models.values()))
    if not common:
        captions = {human: people, **{file: models[name] for name, file in systems.items()}}
        raise BadInput([Problem(_nothing_in_common(captions, images))])
    left_out = tuple(_left_out(people, models, there))
    return Captions(
        {name: list(dict.fromkeys(people[name])) for name in common},
        {system: {name: captions[name] for name in common} for system, captions in models.items()},
        left_out,
    )


def _read(file: str, what: str, faults: Callable[[Any], Iterator[Fault]], problems: list[Problem]) -> dict[str, Any]:
    """Return the document of a file, empty if something in it is wrong: that is added to `problems`."""
    path = require(locate_file(file), what)
    try:
        with open_bytes(path) as opened:
            content = opened.read()
        document = orjson.loads(content)  # 0.2 s for 50,000 captions; hand-written JSON takes five times that
        if _repeats_keys(content):
            document = parse_json(read_text(path), file)  # warns of the captions that are lost
    except (orjson.JSONDecodeError, *DAMAGE):
        try:
            document = parse_json(read_text(path), file)
        except BadInput as error:
            problems += error.problems
            return {}
    found = list(faults(document))
    if found:
        text = read_text(path)
        problems += [Problem(message, file, place, *locate(text, place)) for place, message in found]
        return {}
    return dict(document)


def _repeats_keys(content: bytes) -> bool:
    """True if an object in JSON text has a key twice."""
    is_repeating = False

    def note(pairs: list[tuple[str, Any]]) -> None:
        nonlocal is_repeating
        is_repeating |= len(dict(pairs)) < len(pairs)

    json.loads(content, object_pairs_hook=note)
    return is_repeating


def _human_faults(document: object) -> Iterator[Fault]:
    """Yield what is wrong with image -> list of captions."""
    if not isinstance(document, dict):
        yield "", f"expected an object from image names to lists of captions, found {describe(document)}"
        return
    for image, captions in document.items():
        if not isinstance(captions, list):
            yield image, f"expected a list of captions, found {describe(captions)}"
        elif not captions:
            yield image, "expected at least one caption, found none; leave the image out if it has none"
        else:
            for place, caption in enumerate(captions):
                yield from _caption_faults(f"{image}[{place}]", caption)


def _system_faults(document: object) -> Iterator[Fault]:
    """Yield what is wrong with image -> caption."""
    if not isinstance(document, dict):
        yield "", f"expected an object from image names to captions, found {describe(document)}"
        return
    for image, caption in document.items():
        yield from _caption_faults(image, caption)


def _caption_faults(place: str, caption: object) -> Iterator[Fault]:
    if not isinstance(caption, str) or not caption.strip():
        yield place, f"expected a caption, found {describe(caption)}"


def _nothing_in_common(captions: Mapping[str, Iterable[str]], images: Sequence[str]) -> str:
    """Return the message that no image has all captions, with a name from each file and from the folder."""
    first = {file: next(iter(names), None) for file, names in captions.items()} | {
        "the folder": next(iter(images), None)
    }
    shown = ", ".join(f"{place} has {'none' if name is None else repr(name)}" for place, name in first.items())
    return f"no image stands in the folder and in all files of captions: {shown}"


def _left_out(people: Mapping[str, Any], models: Mapping[str, Mapping[str, Any]], there: set[str]) -> Iterator[str]:
    """Yield a sentence for each reason why something is left out."""
    for reason, names in _missing(people, models, there):
        if names:
            shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
            yield f"left out: {counted(len(names), 'image')} {reason}: {shown}"


def _missing(
    people: Mapping[str, Any], models: Mapping[str, Mapping[str, Any]], there: set[str]
) -> Iterator[tuple[str, list[str]]]:
    captioned = set(people).union(*models.values())
    yield "captioned but not in the folder", sorted(captioned - there)
    yield "in the folder without human captions", sorted(there - set(people))
    for system, captions in models.items():
        yield f"in the folder without a caption of {system}", sorted(there - set(captions))
