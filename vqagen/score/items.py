"""Reads whatever is asked and answered, in a file or in memory, as one table."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, FieldFault, Problem, UsageError, unknown
from vqagen.files.locations import Location, holds_columns, locate
from vqagen.files.records import RecordKind, RecordSource, first_keys, given_records
from vqagen.files.stream import members_of
from vqagen.files.tables import rows_of_table
from vqagen.files.visual7w import IMAGES, PAIRS, candidates_of
from vqagen.items.answers import TEXT
from vqagen.items.builder import SceneFields, TableBuilder, image_name
from vqagen.items.table import CHOICE, MODES, OPEN, Gold, Items, Options
from vqagen.language.domain_files import PathLike
from vqagen.language.question import QUESTIONS
from vqagen.score.answers.finders import LETTERS
from vqagen.tasks.record_files import (
    DIALOGS,
    KINDS,
    SAMPLES,
    TRIALS,
    find_any_records,
    require_records,
    task_of,
)
from vqagen.world.loading import SCENES, find_scenes

Source = PathLike | Mapping[str, Any] | Iterable[Mapping[str, Any]]
"""A file or folder; or in memory a document such as {"questions": [...]}, or records."""

# Other benchmarks -----------------------------------------------------------------------------------------------------
#
# Visual7W, telling and pointing: `dataset.json` with images that have `qa_pairs`, and perhaps `boxes`. A pair lists
# three wrong options; the right one, its answer, is put before them. Models saw them in an order that the file does not
# record, so no letter names an option.


def read_visual7w(table: TableBuilder) -> Items:
    """Return the pairs of a dataset. It is of pointing if the first answer is a number, which names a box."""
    rows, mode = table.rows("type", "split", "question_length"), ""
    for image in table.records():
        pairs: Any = image.get(PAIRS)
        split = image.get("split")
        if not table.check(pairs, list, PAIRS, "a list"):
            continue
        if not table.wants(image, *(pair.get("qa_id") for pair in pairs if isinstance(pair, Mapping))):
            continue
        name = str(image.get("image_id", image.get("filename", IMAGES.path(table.index))))
        for number, pair in enumerate(pairs):
            place = f"{PAIRS}[{number}]"
            if isinstance(pair, Mapping) and pair.get("answer") is None:
                table.gold(None, place)
            if _is_pair(pair, place, table) and table.check(split, str | int | float | None, "split", "a text"):
                mode = mode or (CHOICE if type(pair["answer"]) is int else OPEN)
                candidates, text = candidates_of(pair), str(pair.get("question", ""))
                options = Options(candidates, 0, has_letters=False) if len(candidates) > 1 else None
                table.add(pair["qa_id"], table.gold(Gold(TEXT, candidates[:1])), name, options=options)
                rows.add(pair.get("type"), split, text.count(" ") + 1)
                table.learn(text)
    return table.table(("type",), mode or OPEN)


def _is_pair(pair: Any, place: str, table: TableBuilder) -> bool:
    """Return true for a pair without faults."""
    return table.check(pair, Mapping, place, "an object") and all(
        [  # all are looked at
            table.check(pair.get("qa_id"), int | str, f"{place}.qa_id", "a number"),
            table.check(pair["answer"], int | str, f"{place}.answer", "a text or the number of a box"),
            table.check(pair.get("multiple_choices") or [], list, f"{place}.multiple_choices", "a list"),
            table.check(pair.get("type"), str | int | float | None, f"{place}.type", "a text"),
        ]
    )


ANNOTATIONS = RecordKind("annotations", own_keys=("multiple_choice_answer",))
_NO_VQA = (
    "annotations of VQAv2 are no longer read, since version 2.0: score them by VQA's own script; to audit them, write"
    " records with question_id, image_id, question and the most common answer"
)


# VLMEvalKit: a table of questions with options in the columns A, B, …, and pictures as base64. A picture of 64
# characters or fewer is the `index` of the row that has it.
_LONGEST_INDEX = 64


def _vlmevalkit_rows(path: Location) -> RecordSource:
    """Return the rows of a table as questions. BadInput for the first that cannot be read."""
    pictures, records = dict[str, str](), list[dict[str, Any]]()
    for row, line in rows_of_table(path, "tsv"):
        if isinstance(row, FieldFault):
            raise BadInput([Problem(str(row), str(path), "", line, 1)])
        given = row.get("image", "")
        is_index = len(given) <= _LONGEST_INDEX
        records.append(_vlmevalkit_question(row) | {"image": given if is_index else image_name(given)})
        if not is_index:
            pictures[row.get("index", "")] = records[-1]["image"]
    for record in records:
        record["image"] = pictures.get(record["image"], record["image"])
    return replace(given_records(records, QUESTIONS), path=path, files=[path])


def _vlmevalkit_question(row: Mapping[str, str]) -> dict[str, Any]:
    """Return a row as a question; cells that are empty are none."""
    options, answer = {letter: row[letter] for letter in LETTERS if row.get(letter)}, row.get("answer", "")
    cells = {
        "question_id": row.get("index"),
        "question_type": row.get("category"),
        **{key: row.get(key) for key in ("question", "split", "image_path")},
        "answer": options.get(answer, answer),
        "options": list(options.values()),
    }
    return {key: value for key, value in cells.items() if value}


# Files ----------------------------------------------------------------------------------------------------------------

VQAGEN, DIALOG, TRIAL, VISUAL7W = "vqagen", "dialogs", "trials", "visual7w"
_FORMATS = {
    QUESTIONS.key: VQAGEN,
    DIALOGS.key: DIALOG,
    TRIALS.key: TRIAL,
    SAMPLES.key: TRIAL,
    IMAGES.key: VISUAL7W,
}
"""Key of a document -> the format that it tells."""
_KINDS = {**KINDS, IMAGES.key: IMAGES, **dict.fromkeys((ANNOTATIONS.key, "task_type", "data_subtype"), ANNOTATIONS)}
"""A key that tells -> the kind of records, those of other benchmarks too."""


def read_items(
    source: Source,
    *,
    split: str = "",
    mode: str = "",
    scenes: Source | None = None,
    learning: bool = False,
    allow_unanswered: bool = False,
    on_read: Callable[[int], None] | None = None,
    image_key: str = "",
) -> Items:
    """Return the items of a file, of a folder, or of records in memory.

    Only items of the `split` are read, if there is one. `mode` is one of MODES, by default that of the file. With
    `scenes`, items get fields of their scenes; with `learning`, what predictors learn from. Questions and rounds
    without answers are an error unless `allow_unanswered`. `on_read` is called with the number of records read since,
    now and then. `image_key` is the key of a record's image, by default the first of IMAGE_KEYS that it has.

    UsageError where nothing lies, and for scenes or splits that the format has not; BadInput, with all faults, for
    records that cannot be read.
    """
    if mode and mode not in MODES:
        raise UsageError(unknown("mode", mode, MODES))
    records = find_items(source)
    name, format = str(records.path), _FORMATS[records.kind.key]
    read = read_visual7w if records.kind is IMAGES else task_of(records.kind).read_items
    facts = None
    if scenes is not None:
        if format not in (VQAGEN, DIALOG):
            raise UsageError(f"scenes are for questions and dialogs of vqagen; {name} is of format {format}")
        facts = SceneFields(find_scenes(scenes) if isinstance(scenes, str | Path) else given_records(scenes, SCENES))
    if split and format not in (VQAGEN, DIALOG, VISUAL7W):
        raise UsageError(f"no splits in format {format}: leave out {split!r}")
    table = TableBuilder(
        records,
        format,
        split=split,
        mode=mode,
        scenes=facts,
        learning=learning,
        allow_unanswered=allow_unanswered,
        on_read=on_read,
        image_key=image_key,
    )
    had_collection = gc.isenabled()
    gc.disable()  # records hold no cycles, and looking for some takes half as long as reading: `bench evaluate`
    try:
        return read(table)
    finally:
        if had_collection:
            gc.enable()


def find_items(source: Source) -> RecordSource:
    """Return the records of a file or folder, or in memory. UsageError where nothing lies."""
    if isinstance(source, str | Path) and (place := require_records(source)).name.endswith(".tsv"):
        return _vlmevalkit_rows(place)
    if listed := _questions_by_id(source):
        found = given_records(listed, QUESTIONS)
        return replace(found, path=locate(source)) if isinstance(source, str | Path) else found
    found = find_any_records(source, _KINDS)
    if found.kind is ANNOTATIONS:
        raise BadInput([Problem(_NO_VQA, str(found.path))])
    return found


def _questions_by_id(source: Source) -> list[dict[str, Any]]:
    """Return the questions of an object that has each under its id, as GQA's files; nothing for another source."""
    members: Iterable[tuple[str, Any]] = source.items() if isinstance(source, Mapping) else ()
    if isinstance(source, str | Path):
        path = require_records(source)
        is_other = path.is_dir() or holds_columns(path) or next(first_keys(path), None) in _KINDS
        members = () if is_other else members_of(path)
    found = []
    for id, asked in members:
        if not isinstance(asked, Mapping) or "question" not in asked:
            return []
        found.append({"image_filename": asked.get("imageId"), **asked, "question_id": id})
    return found
