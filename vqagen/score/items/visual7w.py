"""Visual7W's datasets, telling and pointing: `dataset.json` with images that have `qa_pairs`, and perhaps `boxes`.

A pair lists three wrong options; the right one, its answer, is put before them. Models saw them in an order that the
file does not record, so no letter names an option.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vqagen.errors import Fault, describe
from vqagen.records.source import RecordSource
from vqagen.records.visual7w import IMAGES, PAIRS, candidates_of
from vqagen.score.answers.kinds import TEXT
from vqagen.score.items.builder import TableBuilder
from vqagen.score.items.table import CHOICE, OPEN, Gold, Items, Options

GROUPS = ("type",)


def read_visual7w(source: RecordSource, table: TableBuilder) -> Items:
    """Return the pairs of a dataset. It is of pointing if the first answer is a number, which names a box."""
    rows = table.rows("type", "split", "question_length")
    is_pointing = False
    for index, image in table.records_of(source):
        if not table.wants(image):
            continue
        path, pairs = IMAGES.path(index), image.get(PAIRS)
        if not isinstance(pairs, list):
            table.faults.add([(PAIRS, f"expected a list, found {describe(pairs)}")], path)
            continue
        name = str(image.get("image_id", image.get("filename", path)))
        for number, pair in enumerate(pairs):
            place = f"{path}.{PAIRS}[{number}]"
            if isinstance(pair, Mapping) and pair.get("answer") is None:
                table.require_unanswered(place)
            faults = list(_faults(pair, image))
            if faults:
                table.faults.add(faults, place)
                continue
            is_pointing = is_pointing or (not len(table) and type(pair["answer"]) is int)
            options, text = candidates_of(pair), str(pair.get("question", ""))
            table.add(image, index, pair["qa_id"], table.gold(Gold(TEXT, (options[0],))), name)
            table.add_choice(Options(options, 0, has_letters=False) if len(options) > 1 else None)
            rows.add((pair.get("type"), image.get("split"), text.count(" ") + 1))
            if table.is_learning:
                table.add_learning(text)
    return table.table(GROUPS, CHOICE if is_pointing else OPEN)


def _faults(pair: object, image: Mapping[str, Any]) -> Iterator[Fault]:
    if not isinstance(pair, Mapping):
        yield "", f"expected an object, found {describe(pair)}"
        return
    if not isinstance(pair.get("qa_id"), int | str):
        yield "qa_id", f"expected a number, found {describe(pair.get('qa_id'))}"
    if not isinstance(pair["answer"], int | str):
        yield "answer", f"expected a text or the number of a box, found {describe(pair['answer'])}"
    if not isinstance(pair.get("multiple_choices") or [], list):
        yield "multiple_choices", f"expected a list, found {describe(pair['multiple_choices'])}"
    for key, value in (("type", pair.get("type")), ("split", image.get("split"))):
        if isinstance(value, list | dict):
            yield key, f"expected a text, found {describe(value)}"
