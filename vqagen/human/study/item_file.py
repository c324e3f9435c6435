"""Items from a file that people or programs write: `items.jsonl`, one item a line, with every mistake located."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from vqagen.errors import BadInput, Fault, Problem, counted, describe, unknown
from vqagen.files.locations import Location
from vqagen.files.packing import DAMAGE
from vqagen.files.reading import open_bytes
from vqagen.human.study.item import (
    CHECK,
    COMPARE,
    FIT,
    INSTRUCTED,
    PRACTICE,
    RATE,
    REAL,
    REFERENCE,
    SYSTEM,
    Candidate,
    Gold,
    Item,
    Scale,
)
from vqagen.human.study.item_shape import item_faults
from vqagen.human.study.texts import Texts
from vqagen.json.parsing import parse_json
from vqagen.json.text import locate

MOST_VALUES = 15
"""Values of a scale that fit beside each other on the page."""
_MOST_SHOWN = 50
"""Mistakes that are shown; the others are counted."""
_RANGE = {COMPARE: (1, 9), RATE: (1, 7)}
_WORDS = {COMPARE: "item", RATE: "rate"}
"""Kind -> what the keys of its default words begin with."""


@dataclass(frozen=True, slots=True)
class FiledItem:
    """An item of a file, without id, and its line."""

    item: Item
    line: int
    sha256: str
    """The hash that the file gives of the image; "" for none."""


def read_item_file(path: Location, texts: Texts, images: Collection[str]) -> list[FiledItem]:
    """Read the items of a file. BadInput with the mistakes of all lines. `images` are the names in the folder."""
    problems: list[Problem] = []
    found: list[FiledItem] = []
    for number, line in _lines(path):
        record, faults = _record(line, str(path), number, problems)
        if record is None:
            continue
        faults = faults or list(_faults(record, images))
        if faults:
            text = line.decode()
            problems += [_problem(fault, str(path), number, text) for fault in faults]
        else:
            found.append(FiledItem(_item(record, texts), number, _given_hash(record)))
    if not found and not problems:
        problems.append(Problem("no items: the file is empty", str(path)))
    raise_first(problems)
    return found


def raise_first(problems: list[Problem]) -> None:
    """Raise BadInput with the first problems and the number of the others, if there are any."""
    if len(problems) > _MOST_SHOWN:
        more = Problem(f"… and {counted(len(problems) - _MOST_SHOWN, 'further mistake')}", problems[0].source)
        raise BadInput([*problems[:_MOST_SHOWN], more])
    if problems:
        raise BadInput(problems)


def _lines(path: Location) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are not blank, with their numbers."""
    with open_bytes(path) as file:
        try:
            for number, line in enumerate(file, 1):
                text = line.strip().removeprefix(b"\xef\xbb\xbf")
                if text:
                    yield number, text
        except DAMAGE as error:
            raise BadInput([Problem(f"damaged or cut off: {error}", str(path))]) from None


def _record(
    line: bytes, source: str, number: int, problems: list[Problem]
) -> tuple[dict[str, Any] | None, list[Fault]]:
    """Return the object of a line and what is wrong with its shape; None for text that is no JSON."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            record = parse_json(line.decode(), source)
        except UnicodeDecodeError:
            problems.append(Problem("not UTF-8 text", source, "", number, 1))
            return None, []
        except BadInput as error:
            problems += [Problem(each.message, source, "", number, each.column) for each in error.problems]
            return None, []
    if not isinstance(record, dict):
        return {}, [("", f"expected an object, found {describe(record)}")]
    return record, item_faults(record)


def _problem(fault: Fault, source: str, number: int, text: str) -> Problem:
    path, message = fault
    return Problem(message, source, path, number, locate(text, path).column)


# Meaning -------------------------------------------------------------------------------------------------------------


def _use(record: Mapping[str, Any]) -> str:
    gold = record.get("gold") or {}
    default = CHECK if "better" in gold else INSTRUCTED if "value" in gold else REAL
    return str(record.get("use", default))


def _faults(record: Mapping[str, Any], images: Collection[str]) -> Iterator[Fault]:
    """Yield what is wrong with an item whose shape is right."""
    kind, use = record.get("kind", COMPARE), _use(record)
    candidates = record["candidates"]
    for key in ("dimension", "prompt"):
        if not record.get(key, "x").strip():
            yield key, "expected some text, found only space"
    for place, candidate in enumerate(candidates):
        if not candidate["text"].strip():
            yield f"candidates[{place}].text", "expected some text, found only space"
    wanted = 2 if kind == COMPARE else 1
    if len(candidates) != wanted:
        yield "candidates", f"expected {counted(wanted, 'text')} to {kind}, found {len(candidates)}"
    elif kind == COMPARE:
        yield from _pair_faults(candidates, use)
    yield from _gold_faults(record, kind, use)
    yield from _scale_faults(record, kind)
    name = _image(record)
    if name and name not in images:
        yield "context.image", unknown("image", name, list(images))
    if not name and use == CHECK:
        yield "context", "an attention check needs an image, which its wrong text is not about"


def _pair_faults(candidates: list[dict[str, Any]], use: str) -> Iterator[Fault]:
    first, second = candidates
    if first.get("id", "1") == second.get("id", "2"):
        yield "candidates[1].id", f"both texts have the id {first.get('id', '1')!r}; give each its own"
    if use in (CHECK, PRACTICE) and _words(first) == _words(second):
        yield "candidates[1].text", "both texts are the same, and only one of them can be right"
    if use == REAL and (first["source"], first["role"]) == (second["source"], second["role"]):
        yield "candidates[1].source", f"both texts are of the source {first['source']!r}; name two sources"
    if use != REAL:
        for place, candidate in enumerate(candidates):
            if candidate["role"] == SYSTEM:
                yield f"candidates[{place}].role", f"expected 'reference' where use is {use!r}, found 'system'"


def _words(candidate: Mapping[str, Any]) -> list[str]:
    words: list[str] = candidate["text"].casefold().split()
    return words


def _gold_faults(record: Mapping[str, Any], kind: str, use: str) -> Iterator[Fault]:
    gold = record.get("gold") or {}
    ids = [each.get("id", str(number)) for number, each in enumerate(record["candidates"], 1)]
    if use in (CHECK, PRACTICE):
        if kind != COMPARE:
            yield "kind", f"expected 'compare' where use is {use!r}: one of two texts is right; found {kind!r}"
        if "better" not in gold:
            yield "gold", f"missing key 'better' where use is {use!r}: the id of the right text"
    elif use == INSTRUCTED and "value" not in gold:
        yield "gold", "missing key 'value' where use is 'instructed': the value that the trial asks for"
    elif use == REAL and gold:
        yield "gold", "expected null where use is 'real': a scored item has no known answer"
    if "better" in gold and gold["better"] not in ids:
        yield "gold.better", unknown("candidate", gold["better"], ids)
    scale = _scale_range(record, kind)
    if "value" in gold and not scale[0] <= gold["value"] <= scale[1]:
        yield "gold.value", f"expected a value from {scale[0]} to {scale[1]}, found {gold['value']}"


def _scale_faults(record: Mapping[str, Any], kind: str) -> Iterator[Fault]:
    least, largest = _scale_range(record, kind)
    if not 0 < largest - least < MOST_VALUES:
        yield "scale", f"expected 2 to {MOST_VALUES} values, found min {least} and max {largest}"
    middle = record.get("scale", {}).get("mid")
    if middle is not None and middle * 2 != least + largest:
        yield "scale.mid", f"expected {(least + largest) / 2:g}, the middle of {least} and {largest}, found {middle}"


def _scale_range(record: Mapping[str, Any], kind: str) -> tuple[int, int]:
    scale = record.get("scale")
    return (scale["min"], scale["max"]) if scale else _RANGE[kind]


# Items -------------------------------------------------------------------------------------------------------------


def _image(record: Mapping[str, Any]) -> str:
    """Return the name of an item's image; "" for none."""
    image = record.get("context", {}).get("image")
    if isinstance(image, Mapping):
        return str(image.get("id") or image.get("path"))
    return image or ""


def _given_hash(record: Mapping[str, Any]) -> str:
    image = record.get("context", {}).get("image")
    return str(image.get("sha256", "")) if isinstance(image, Mapping) else ""


def _item(record: Mapping[str, Any], texts: Texts) -> Item:
    kind, use, gold = record.get("kind", COMPARE), _use(record), record.get("gold")
    words = _WORDS[kind]
    scale = Scale(
        *_scale_range(record, kind),
        record.get("left_anchor", texts[f"{words}_left"]),
        record.get("mid_anchor", texts[f"{words}_middle"]),
        record.get("right_anchor", texts[f"{words}_right"]),
    )
    return Item(
        id="",
        kind=kind,
        use=use,
        dimension=record.get("dimension", FIT),
        prompt=record.get("prompt", texts[f"{words}_prompt"]),
        scale=scale,
        image=_image(record),
        candidates=_ordered(record["candidates"], gold or {}, use),
        gold=Gold(**gold) if gold else None,
        strata=record.get("strata", {}),
        weight=float(record.get("weight", 1)),
    )


def _ordered(records: list[dict[str, Any]], gold: Mapping[str, Any], use: str) -> tuple[Candidate, ...]:
    """Return the texts in their order: the reference or the right one first, else by source."""
    made = [
        Candidate(each.get("id", str(number)), each["text"], each["source"], each["role"], each.get("meta", {}))
        for number, each in enumerate(records, 1)
    ]
    if use == INSTRUCTED:
        return tuple(made)
    return tuple(sorted(made, key=lambda each: (each.id != gold.get("better"), each.role != REFERENCE, each.source)))
