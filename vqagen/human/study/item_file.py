"""Items that people or programs write: `items.jsonl`, one item a line, with every mistake located."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec
import orjson

from vqagen.errors import BadInput, Problem, counted, describe, unknown
from vqagen.files.locations import Location, locate
from vqagen.files.parsing import parse_json, raise_located, read_text
from vqagen.files.schema import schema_faults
from vqagen.human.study.images import StudyImage, find_images, read_images
from vqagen.human.study.item import (
    AFTER,
    ANSWER,
    BEFORE,
    CHECK,
    COMPARE,
    INSTRUCTED,
    PRACTICE,
    RATE,
    REAL,
    REFERENCE,
    SYSTEM,
    Candidate,
    CellForm,
    ChoiceForm,
    GoldValue,
    NumberForm,
    StudyItem,
    answer_fault,
    identified,
)
from vqagen.human.study.plan import Draft
from vqagen.human.study.texts import Texts
from vqagen.language.domain_files import PathLike

MOST_VALUES = 15
"""Values of a scale that fit beside each other on the page."""
_MOST_SHOWN = 50
"""Mistakes after which a file is not read further: each unknown image may take a look at ten thousand names."""
_TEXTS = {COMPARE: 2, RATE: 1, ANSWER: 0}
"""Kind -> how many texts it is about."""
_GOLD = {
    **{(use, COMPARE): "better" for use in (CHECK, PRACTICE)},
    **{(use, ANSWER): "answer" for use in (CHECK, PRACTICE, INSTRUCTED, REAL)},
    **{(INSTRUCTED, kind): "value" for kind in (COMPARE, RATE)},
    **{(REAL, kind): "" for kind in (COMPARE, RATE)},
    **{(use, ANSWER): "" for use in (BEFORE, AFTER)},
}
"""Use and kind that go together -> the key of `gold` that says what is right; "" for none."""
ItemRule = tuple[bool, str, str]
"""Whether it is broken, the JSON path of the mistake, and what is wrong."""


def item_draft(file: str, folder: PathLike | None, texts: Texts) -> Draft:
    """Return what a study of the items in a file, about images in a folder, is made of.

    BadInput with all mistakes of the inputs.
    """
    there = find_images(str(folder)) if folder is not None else {}
    filed = read_item_file(locate(file), texts, there)
    images = read_images(str(folder), {item.image for item in filed.values() if item.image} & there.keys())
    return Draft(_identified(filed, images, file), images, str(folder or ""), {"items": file})


def read_item_file(path: Location, texts: Texts, images: Collection[str]) -> dict[int, StudyItem]:
    """Read the items of a file, by line. BadInput with the mistakes of all lines.

    `images` are the names of images that there are. Items have the words of the study where they have none, and no id.
    """
    problems: list[Problem] = []
    items: dict[int, StudyItem] = {}
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if len(problems) > _MOST_SHOWN:
            break
        try:
            if line.strip():
                items[number] = _item(line, texts, images)
        except BadInput as error:
            problems += [replace(problem, source=str(path), line=number, excerpt="") for problem in error.problems]
    if not items and not problems:
        problems.append(Problem("no items: the file is empty", str(path)))
    _raise_first(problems)
    return items


def _raise_first(problems: list[Problem]) -> None:
    """Raise BadInput with the first problems, if there are any."""
    if problems:
        more = [Problem("… and further mistakes")] if len(problems) > _MOST_SHOWN else []
        raise BadInput([*problems[:_MOST_SHOWN], *more])


def _item(line: str, texts: Texts, images: Collection[str]) -> StudyItem:
    """Return the item of a line. BadInput with all that is wrong with its shape or, if that is right, its meaning."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        record = parse_json(line, "")
    if not isinstance(record, dict):
        raise_located([("", f"expected an object, found {describe(record)}")], line)
    gold = record.get("gold")
    keys = gold if isinstance(gold, dict) else {}
    use = CHECK if "better" in keys else INSTRUCTED if "value" in keys else REAL
    given = {"use": use, **{key: value for key, value in record.items() if key not in ("comment", "$schema")}}
    try:
        item = msgspec.convert(given, StudyItem)
    except msgspec.ValidationError:
        raise_located(schema_faults(record, "human-items"), line)
        raise
    numbered = [
        msgspec.structs.replace(candidate, id=candidate.id or str(number))
        for number, candidate in enumerate(item.candidates, 1)
    ]
    item = texts.worded(msgspec.structs.replace(item, id="", candidates=tuple(numbered)))
    broken = [(path, message) for is_broken, path, message in _rules(item) if is_broken]
    if item.image and item.image not in images:
        broken.append(("image", unknown("image", item.image, list(images))))
    raise_located(broken, line)
    better = item.gold.better if item.gold else None
    if item.use != INSTRUCTED:
        numbered.sort(key=lambda candidate: (candidate.id != better, candidate.role != REFERENCE, candidate.source))
    return msgspec.structs.replace(item, candidates=tuple(numbered))


# Meaning -------------------------------------------------------------------------------------------------------------


def _rules(item: StudyItem) -> Iterator[ItemRule]:
    """Yield the rules of an item whose shape is right, and whether it breaks them."""
    use, kind, form, scale, given = item.use, item.kind, item.form, item.scale, len(item.candidates)
    yield from (
        (given != _TEXTS[kind], "candidates", f"expected {counted(_TEXTS[kind], 'text')} to {kind}, found {given}"),
        (
            use != REAL and item.series != "",
            "series",
            f"expected none where use is {use!r}: only scored items make one",
        ),
        (
            use in (BEFORE, AFTER) and item.image != "",
            "image",
            f"expected none where use is {use!r}: it is about the rater",
        ),
        (kind != ANSWER and form is not None, "form", f"expected none where kind is {kind!r}: it has a scale"),
        (kind == ANSWER and form is None, "form", "missing: how to answer (type options, number, text or cell)"),
        (kind == ANSWER and scale is not None, "scale", "expected none where kind is 'answer': it has a form"),
        (kind == ANSWER and not item.prompt.strip(), "prompt", "expected the question, found none"),
    )
    for index, candidate in enumerate(item.candidates):
        is_wrong = use != REAL and candidate.role == SYSTEM
        yield is_wrong, f"candidates[{index}].role", f"expected 'reference' where use is {use!r}, found 'system'"
    yield from _gold_rules(item, item.gold or GoldValue(), [candidate.id for candidate in item.candidates])
    if kind == COMPARE and given == 2:
        yield from _pair_rules(item, *item.candidates)
    if kind != ANSWER and scale is not None:
        limits = f"expected 2 to {MOST_VALUES} values, found least {scale.least} and largest {scale.largest}"
        yield not 0 < scale.largest - scale.least < MOST_VALUES, "scale", limits
    yield from _form_rules(item)


def _pair_rules(item: StudyItem, first: Candidate, second: Candidate) -> tuple[ItemRule, ...]:
    are_one = (first.source, first.role) == (second.source, second.role)
    are_equal = first.text.casefold().split() == second.text.casefold().split()
    return (
        (first.id == second.id, "candidates[1].id", f"both texts have the id {first.id!r}; give each its own"),
        (
            item.use in (CHECK, PRACTICE) and are_equal,
            "candidates[1].text",
            "both texts are the same, and only one of them can be right",
        ),
        (
            item.use == REAL and are_one,
            "candidates[1].source",
            f"both texts are of the source {first.source!r}; name two sources",
        ),
        (item.use == CHECK and not item.image, "image", "a check needs an image, which its wrong text is not about"),
    )


def _gold_rules(item: StudyItem, gold: GoldValue, ids: Sequence[str]) -> Iterator[ItemRule]:
    where, kinds = f"where use is {item.use!r}", [kind for use, kind in _GOLD if use == item.use]
    wanted = _GOLD.get((item.use, item.kind))
    if wanted is None:
        yield True, "kind", f"expected {' or '.join(map(repr, kinds))} {where}, found {item.kind!r}"
        return
    given = {key: getattr(gold, key) for key in ("better", "value", "answer") if getattr(gold, key) is not None}
    is_needed = item.use != REAL or item.gold is not None
    yield is_needed and bool(wanted) and wanted not in given, "gold", f"missing key {wanted!r} {where}"
    for key, value in given.items():
        yield key != wanted, f"gold.{key}", f"expected {repr(wanted) if wanted else 'no known answer'} {where}"
        if key == wanted == "better":
            yield value not in ids, "gold.better", f"unknown candidate {value!r}; known: {', '.join(ids)}"
        elif key == wanted and (item.form or item.scale):
            is_number = isinstance(item.form, NumberForm) and value.removeprefix("-").isdecimal()
            fault = answer_fault(item, int(value) if is_number else value)
            yield fault != "", f"gold.{key}", fault


def _form_rules(item: StudyItem) -> Iterator[ItemRule]:
    form = item.form
    match form:
        case ChoiceForm():
            yield len(set(form.options)) < len(form.options), "form.options", "an answer is listed twice"
        case NumberForm():
            larger = f"expected more than {form.least}, found {form.largest}"
            yield form.least >= form.largest, "form.largest", larger
        case CellForm():
            (left, top, width, height), number = form.area, form.rows * form.columns
            is_inside = min(width, height) > 0 and left + width <= 1 and top + height <= 1
            wanted = f"expected {number} answers, {form.rows} rows of {form.columns}, found {len(form.cells)}"
            yield from (
                (len(form.cells) != number, "form.cells", wanted),
                (not any(form.cells), "form.cells", "expected a cell that can be chosen, found none"),
                (not is_inside, "form.area", "expected left, top, width and height of a part of the picture"),
                (not item.image, "image", "missing: the picture of the grid"),
            )


def _identified(filed: Mapping[int, StudyItem], images: Mapping[str, StudyImage], source: str) -> list[StudyItem]:
    """Return the items of a file with their ids. BadInput for those that do not go together."""
    items = {line: identified(item, images[item.image].sha256 if item.image else "") for line, item in filed.items()}
    people = {
        (item.image, candidate.text)
        for item in items.values()
        if item.use == REAL and item.image
        for candidate in item.candidates
        if candidate.role == REFERENCE
    }
    seen: dict[object, int] = {}
    problems: list[Problem] = []
    for line, item in items.items():
        same = seen.setdefault(item.id, line)
        same_place = seen.setdefault((item.unit, item.place), line)
        begun = seen.setdefault((item.unit,), line)
        rules: tuple[ItemRule, ...] = (
            (same != line, "", f"the same item as in line {same}; leave one out"),
            (same == line != same_place, "place", f"line {same_place} has place {item.place} of {item.unit} already"),
            (items[begun].image != item.image, "image", f"another image than in line {begun}; a series is about one"),
            (
                item.use in (CHECK, PRACTICE)
                and any((item.image, candidate.text) in people for candidate in item.candidates[1:]),
                "candidates",
                "its wrong text stands in a scored item as one by people about the same image; name another text",
            ),
        )
        problems += [Problem(message, source, path, line, 1) for is_broken, path, message in rules if is_broken]
    _raise_first(problems)
    return list(items.values())
