"""Items that people or programs write: `items.jsonl`, one item a line, with every mistake located."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec
import orjson

from vqagen.errors import BadInput, Fault, Problem, counted, describe, unknown
from vqagen.files.locations import Location
from vqagen.human.study.documents import raise_located
from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import (
    AFTER,
    ANSWER,
    BEFORE,
    CHECK,
    COMPARE,
    INSTRUCTED,
    ITEM_SCHEMA,
    PRACTICE,
    RATE,
    REAL,
    REFERENCE,
    SYSTEM,
    CellForm,
    ChoiceForm,
    Item,
    NumberForm,
    answer_fault,
    identified,
)
from vqagen.human.study.texts import Texts
from vqagen.json.parsing import parse_json, read_text
from vqagen.json.schema import schema_faults, shape_faults
from vqagen.json.text import show_path

SCHEMA_NAME = "human-items"
MOST_VALUES = 15
"""Values of a scale that fit beside each other on the page."""
_MOST_SHOWN = 50
"""Mistakes that are shown; the others are counted."""
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
_FORMS = {"options": "options", "number": "number", "text": "words", "cell": "cell"}
"""Type of a form -> its definition in the schema."""
_OLD_KEYS = {"item_id", "context", "left_anchor", "mid_anchor", "right_anchor"}
_OLD = (
    f"expected {ITEM_SCHEMA!r}, found an item of version 1: `context.image` is now `image`, `item_id` is `id`, and"
    " `scale` has `least`, `largest` and the words `left`, `middle`, `right`; make the items again"
)


def read_item_file(path: Location, texts: Texts, images: Collection[str]) -> dict[int, Item]:
    """Read the items of a file, by line. BadInput with the mistakes of all lines.

    `images` are the names of images that there are. Items have the words of the study where they have none, and no id.
    """
    problems: list[Problem] = []
    found: dict[int, Item] = {}
    for number, line in enumerate(read_text(path).split("\n"), 1):
        try:
            if line.strip():
                found[number] = _item(line, texts, images)
        except BadInput as error:
            problems += [replace(each, source=str(path), line=number, excerpt="") for each in error.problems]
    if not found and not problems:
        problems.append(Problem("no items: the file is empty", str(path)))
    raise_first([each for each in problems if each.message == _OLD][:1] or problems)
    return found


def raise_first(problems: list[Problem]) -> None:
    """Raise BadInput with the first problems and the number of the others, if there are any."""
    if len(problems) > _MOST_SHOWN:
        more = Problem(f"… and {counted(len(problems) - _MOST_SHOWN, 'further mistake')}", problems[0].source)
        problems = [*problems[:_MOST_SHOWN], more]
    if problems:
        raise BadInput(problems)


def _item(line: str, texts: Texts, images: Collection[str]) -> Item:
    """Return the item of a line. BadInput with all that is wrong with its shape or, if that is right, its meaning."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        record = parse_json(line, "")
    if not isinstance(record, dict):
        raise_located([("", f"expected an object, found {describe(record)}")], line)
    if not _OLD_KEYS.isdisjoint(record) or record.get("schema") == "vqagen.human.item/1":
        raise_located([("", _OLD)], line)
    try:
        item = msgspec.convert(_completed(record), Item)
    except msgspec.ValidationError:
        raise_located(_shape_faults(record), line)
        raise
    raise_located(_meaning_faults(item, images), line)
    return _in_order(texts.worded(item))


def _completed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without notes for people, whose use follows from its gold answer if it is not given."""
    gold = record.get("gold")
    keys = gold if isinstance(gold, dict) else {}
    use = CHECK if "better" in keys else INSTRUCTED if "value" in keys else REAL
    return {"use": use, **{key: value for key, value in record.items() if key not in ("comment", "$schema")}}


def _shape_faults(record: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what the schema says, which decides 200 times more slowly than `Item`, and tells all mistakes."""
    yield from schema_faults(record, SCHEMA_NAME)
    form = record.get("form")
    definition = _FORMS.get(str(form.get("type"))) if isinstance(form, dict) else None
    if definition:
        for fault in shape_faults(form, SCHEMA_NAME, definition):
            yield show_path(("form", *fault.place)), fault.message


def _in_order(item: Item) -> Item:
    """Return an item whose texts have ids, the reference or the right one first, the others by source."""
    better = item.gold.better if item.gold else None
    named = _named(item)
    if item.use != INSTRUCTED:
        named.sort(key=lambda each: (each.id != better, each.role != REFERENCE, each.source))
    return msgspec.structs.replace(item, candidates=tuple(named), id="")


def _named(item: Item) -> list[Any]:
    numbered = enumerate(item.candidates, 1)
    return [msgspec.structs.replace(each, id=each.id or str(number)) for number, each in numbered]


# Meaning -------------------------------------------------------------------------------------------------------------


def _meaning_faults(item: Item, images: Collection[str]) -> Iterator[Fault]:
    """Yield what is wrong with an item whose shape is right."""
    if len(item.candidates) != _TEXTS[item.kind]:
        yield (
            "candidates",
            f"expected {counted(_TEXTS[item.kind], 'text')} to {item.kind}, found {len(item.candidates)}",
        )
    elif item.kind == COMPARE:
        yield from _pair_faults(item)
    if item.use != REAL:
        for place, each in enumerate(item.candidates):
            if each.role == SYSTEM:
                yield f"candidates[{place}].role", f"expected 'reference' where use is {item.use!r}, found 'system'"
        if item.series:
            yield "series", f"expected none where use is {item.use!r}: only scored items make a series"
    yield from _gold_faults(item)
    yield from _answer_faults(item) if item.kind == ANSWER else _scale_faults(item)
    if item.image and item.image not in images:
        yield "image", unknown("image", item.image, list(images))
    if item.image and item.use in (BEFORE, AFTER):
        yield "image", f"expected none where use is {item.use!r}: the question is about the rater"
    if not item.image and item.use == CHECK and item.kind == COMPARE:
        yield "image", "an attention check needs an image, which its wrong text is not about"


def _pair_faults(item: Item) -> Iterator[Fault]:
    first, second = _named(item)
    if first.id == second.id:
        yield "candidates[1].id", f"both texts have the id {first.id!r}; give each its own"
    if item.use in (CHECK, PRACTICE) and first.text.casefold().split() == second.text.casefold().split():
        yield "candidates[1].text", "both texts are the same, and only one of them can be right"
    if item.use == REAL and (first.source, first.role) == (second.source, second.role):
        yield "candidates[1].source", f"both texts are of the source {first.source!r}; name two sources"


def _gold_faults(item: Item) -> Iterator[Fault]:
    gold, where = item.gold, f"where use is {item.use!r} and kind is {item.kind!r}"
    wanted = _GOLD.get((item.use, item.kind))
    if wanted is None:
        kinds = [kind for use, kind in _GOLD if use == item.use]
        yield "kind", f"expected {' or '.join(map(repr, kinds))} where use is {item.use!r}, found {item.kind!r}"
        return
    given = {key: getattr(gold, key) for key in ("better", "value", "answer") if getattr(gold, key, None) is not None}
    if wanted and wanted not in given and (item.use != REAL or gold):
        yield "gold", f"missing key {wanted!r} {where}"
    for key in given:
        if key != wanted:
            yield f"gold.{key}", f"expected {wanted or 'no known answer'} {where}"
    ids = [each.id for each in _named(item)]
    if wanted == "better" and given.get(wanted) not in (None, *ids):
        yield "gold.better", unknown("candidate", given["better"], ids)
    elif wanted in given and wanted != "better" and (fault := answer_fault(item, _as_answered(item, given[wanted]))):
        yield f"gold.{wanted}", fault


def _as_answered(item: Item, answer: Any) -> int | str:
    """Return a gold answer as a rater gives it: to a number form a number."""
    is_number = isinstance(item.form, NumberForm) and str(answer).removeprefix("-").isdecimal()
    return int(answer) if is_number else answer


def _scale_faults(item: Item) -> Iterator[Fault]:
    if item.form is not None:
        yield "form", f"expected none where kind is {item.kind!r}: it has a scale"
    if item.scale is not None and not 0 < item.scale.largest - item.scale.least < MOST_VALUES:
        found = f"least {item.scale.least} and largest {item.scale.largest}"
        yield "scale", f"expected 2 to {MOST_VALUES} values, found {found}"


def _answer_faults(item: Item) -> Iterator[Fault]:
    form = item.form
    if not item.prompt.strip():
        yield "prompt", "expected the question, found none"
    if item.scale is not None:
        yield "scale", "expected none where kind is 'answer': it has a form"
    match form:
        case None:
            yield "form", "missing: how the question is answered (type options, number, text or cell)"
        case ChoiceForm():
            for option, number in Counter(form.options).items():
                if number > 1:
                    yield "form.options", f"{option!r} is listed twice"
        case NumberForm() if form.least >= form.largest:
            yield "form.largest", f"expected more than {form.least}, found {form.largest}"
        case CellForm():
            left, top, width, height = form.area
            if len(form.cells) != form.rows * form.columns:
                wanted = f"{form.rows} rows of {form.columns}"
                yield "form.cells", f"expected {form.rows * form.columns} answers, {wanted}, found {len(form.cells)}"
            if not any(form.cells):
                yield "form.cells", "expected a cell that can be chosen, found none"
            if min(width, height) <= 0 or left + width > 1 or top + height > 1:
                yield "form.area", "expected a part of the picture: left, top, width, height as shares of it"
            if not item.image:
                yield "image", "missing: the picture of the grid"


# All items together ---------------------------------------------------------------------------------------------------


def identified_items(filed: Mapping[int, Item], images: Mapping[str, StudyImage], source: str) -> list[Item]:
    """Return the items of a file with their ids. BadInput for those that do not go together."""
    items = {line: identified(each, images[each.image].sha256 if each.image else "") for line, each in filed.items()}
    people = {
        (item.image, each.text)
        for item in items.values()
        if item.use == REAL and item.image
        for each in item.candidates
        if each.role == REFERENCE
    }
    seen: dict[object, int] = {}
    problems: list[Problem] = []
    for line, item in items.items():
        faults: list[Fault] = []
        if (before := seen.setdefault(item.id, line)) != line:
            faults.append(("", f"the same item as in line {before}; leave one out"))
        elif item.series:
            if (before := seen.setdefault((item.series, item.place), line)) != line:
                faults.append(("place", f"line {before} has place {item.place} of series {item.series!r} already"))
            if items[before := seen.setdefault(("series", item.series), line)].image != item.image:
                faults.append(("image", f"another image than in line {before}; a series is about one image"))
        if item.use in (CHECK, PRACTICE) and item.kind == COMPARE and (item.image, item.candidates[1].text) in people:
            message = "its wrong text stands in a scored item as one by people about the same image; name another text"
            faults.append(("candidates", message))
        problems += [Problem(message, source, path, line, 1) for path, message in faults]
    raise_first(problems)
    return list(items.values())
