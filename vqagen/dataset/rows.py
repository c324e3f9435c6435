"""The rows of a dataset: a question or dialog with its picture, what each column means, and their Parquet files.

`datasets` of Hugging Face read these files. The rows about a picture stand side by side in one row group, whose
dictionary holds each picture once: ten questions about a picture take the space of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import orjson

from vqagen.dataset.folder import is_finished
from vqagen.errors import PlaceError, UsageError, unknown
from vqagen.files.output import atomic_output
from vqagen.files.parquet import open_columns, pyarrow
from vqagen.items.answers import ANSWER_TYPES, BOOL, INTEGER, PLACES
from vqagen.language.domain_files import PathLike
from vqagen.language.question import MARKS, SPOT_KEYS, prompt_of
from vqagen.language.template import PLACE, PLACES as PLACES_OF_SET
from vqagen.world.loading import find_scenes

Row = dict[str, Any]
Feature = Mapping[str, Any]
"""The type of a column as Hugging Face's `datasets` write it into JSON."""

_INTEGER: Feature = {"dtype": "int64", "_type": "Value"}
_TEXT: Feature = {"dtype": "string", "_type": "Value"}
_NUMBERS: Feature = {"feature": {"dtype": "int32", "_type": "Value"}, "_type": "Sequence"}
_PLACES: Feature = {"feature": _NUMBERS, "_type": "Sequence"}
_OBJECTS: Mapping[str, Feature] = {"scene": _TEXT, "points": _PLACES, "boxes": _PLACES, "masks": _TEXT}
"""Columns about the objects of a picture, which are the same in all its rows."""

FEATURES: Mapping[str, Any] = {
    "image": {"_type": "Image"},
    "image_id": _INTEGER,
    "question_id": _INTEGER,
    **dict.fromkeys(("problem", "solution", "question", "answer", "answer_type"), _TEXT),
    "choices": {"feature": _TEXT, "_type": "Sequence"},
    "choice": _INTEGER,
    "marks": _NUMBERS,
    "program": _TEXT,
    "trace": {"feature": _TEXT, "_type": "Sequence"},
    "mentions": [{"span": _NUMBERS, "objects": _NUMBERS}],
    **dict.fromkeys(("reasoning", "family"), _TEXT),
    **dict.fromkeys(SPOT_KEYS, _PLACES),
    **_OBJECTS,
}
"""Column of a question -> its type, in the order of the files."""
COLUMNS = tuple(FEATURES)
DIALOG_FEATURES: Mapping[str, Feature] = {
    "image": {"_type": "Image"},
    "image_id": _INTEGER,
    "dialog_id": _INTEGER,
    "caption": _TEXT,
    "questions": {"feature": _TEXT, "_type": "Sequence"},
    "answers": {"feature": _TEXT, "_type": "Sequence"},
    "dialog": _TEXT,
    **_OBJECTS,
}
"""Column of a dialog -> its type. `dialog` is the record that `vqagen dialog` writes, as JSON."""
MEANINGS: Mapping[str, str] = {
    "image": "the picture as PNG or JPEG, and its name",
    "image_id": "number of the picture, over all splits",
    "question_id": "number of the question, over all splits",
    "dialog_id": "number of the dialog, over all splits",
    "problem": "the question, under the name that trainers of reinforcement learning read",
    "solution": "`<answer> 3 </answer>`; of places, a point or boxes: `<answer> (212, 140) </answer>`",
    "question": "the question",
    "answer": "the answer as text",
    "answer_type": "`count`, `yes/no` or `value`; `cell` for trials",
    "choices": "options, in the order to show them in; empty if there are none",
    "choice": "place of the right option, from 0; -1 if there are none",
    "marks": "of each option, if options are letters on objects of the picture, the number of its object",
    "program": "JSON: the steps that give the answer on the scene",
    "trace": "JSON of what each step gives: objects by their numbers, or a value",
    "mentions": "where the question mentions objects: the characters from and up to, and the objects",
    "reasoning": "the steps as sentences; empty unless it was asked for",
    "family": "the template of the question",
    "scene": "JSON: objects, their values, places and relations, the camera and the lights",
    "answer_points": "of each object of an answer that is a place `[x, y]`, the pixel of its middle",
    "answer_boxes": "of each object of an answer that is a place its box",
    "points": "of each object `[x, y]`, the pixel of its middle",
    "boxes": "of each object `[left, top, right, bottom]` in pixels; `[]` if it cannot be seen",
    "masks": "JSON: of each object the pixels that show it, as run lengths of COCO: `size` and `counts`",
    "caption": "what is told before the first question",
    "questions": "the question of each round",
    "answers": "the answer of each round",
    "dialog": "JSON: the dialog with its programs and coreference",
}
"""Column -> its meaning, for people."""
SINCE_2: Row = {
    **{name: [] for name in ("marks", "trace", "mentions", *SPOT_KEYS, "points")},
    "reasoning": "",
    "masks": "[]",
}
"""Column that datasets of vqagen 1.0 lack -> what stands for it."""

TRAIN, VALIDATION, TEST = SPLITS = ("train", "validation", "test")
OUTPUT_TYPES = {
    "Bool": ANSWER_TYPES[BOOL],
    "Integer": ANSWER_TYPES[INTEGER],
    **dict.fromkeys((PLACE, PLACES_OF_SET), ANSWER_TYPES[PLACES]),
}
"""Type that a function answers with -> answer type; all others are values."""
READ_AT_ONCE = 32
"""Rows. A rendered picture has 0.2 MB, and each row brings its own copy."""
LEAST_ROWS = 100
"""Rows after which a row group ends with its picture. `datasets` writes pictures in groups of 100 rows too."""
LARGEST_DICTIONARY = 256 << 20
"""Bytes. By default a dictionary ends at 1 MB, which is six rendered pictures; all further rows repeat theirs."""


# Making ---------------------------------------------------------------------------------------------------------------


def picture_columns(scene: Mapping[str, Any], place: int, image: bytes, masks: Sequence[Any] = ()) -> Row:
    """Return the columns that all rows about a scene have in common; its place is its id if it has none itself.

    `masks` are those of its objects, as scenes of `vqagen scenes draw` have them.
    """
    image_index = scene.get("image_index")
    image_id = image_index if isinstance(image_index, int) else place
    name = Path(str(scene.get("image_filename") or f"{image_id}.png")).name
    shown = without_masks(scene)
    return {
        "image": {"bytes": image, "path": name},
        "image_id": image_id,
        "scene": orjson.dumps(shown).decode(),
        "points": [list(thing.get("pixel_coords") or ())[:2] for thing in shown["objects"]],
        "boxes": [thing.get("box") or [] for thing in shown["objects"]],
        "masks": orjson.dumps(masks).decode(),
    }


def without_masks(scene: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scene record whose objects have no masks, which are most of its bytes."""
    objects = [{key: value for key, value in thing.items() if key != "mask"} for thing in scene["objects"]]
    return {**scene, "objects": objects}


def with_picture(columns: Row, file: Path) -> Row:
    """Return the columns with another picture, such as one with marks; without content if there is no such file."""
    return {**columns, "image": {"bytes": file.read_bytes() if file.is_file() else b"", "path": file.name}}


class SceneMasks:
    """The masks of a file of pictured scenes, by the place of the scene: quick if places do not fall."""

    def __init__(self, path: Path) -> None:
        self._path, self._next = path, 0
        self._scenes: Iterator[Mapping[str, Any]] = iter(())
        self._last: list[Any] = []

    def at(self, place: int) -> list[Any]:
        """Return the mask of each object of a scene; None for one that has none, [] if the scene is missing."""
        if place != self._next - 1:
            if place < self._next or not self._next:
                self._scenes, self._next = find_scenes(self._path).records(), 0
            scene = next(islice(self._scenes, place - self._next, None), {"objects": ()})
            self._next, self._last = place + 1, [thing.get("mask") for thing in scene["objects"]]
        return self._last


def question_row(
    record: Mapping[str, Any], picture: Mapping[str, Any], number: int, answer_type: str, family: str
) -> Row:
    """Return the row of a question record, with or without options, about a picture."""
    steps = record.get("reasoning") or ""
    columns = {
        **picture,
        "question_id": number,
        "problem": prompt_of(record),
        "solution": f"<answer> {_told(record, answer_type)} </answer>",
        "question": record["question"],
        "answer": record["answer"],
        "answer_type": answer_type,
        "choices": record.get("choices", []),
        "choice": record.get("choice", -1),
        "marks": record.get(MARKS) or [],
        "program": orjson.dumps(record["program"]).decode(),
        "trace": [orjson.dumps(step).decode() for step in record.get("trace") or ()],
        "mentions": list(record.get("mentions") or ()),
        "reasoning": f"{steps} It has the letter {record['answer']}." if steps and record.get(MARKS) else steps,
        **{key: [list(place) for place in record.get(key) or ()] for key in SPOT_KEYS},
        "family": family,
    }
    return {name: columns[name] for name in COLUMNS}


def _told(record: Mapping[str, Any], answer_type: str) -> str:
    """Return an answer as a model is to tell it: one place as a point, all of a set as boxes, as far as they are known.

    Of `{"answer": "2", "answer_points": [[212, 140]], …}` that is "(212, 140)".
    """
    if answer_type != ANSWER_TYPES[PLACES]:
        return str(record["answer"])
    points, boxes = ([*(record.get(key) or ())] for key in SPOT_KEYS)
    last: Mapping[str, Any] = record["program"][-1] if record["program"] else {}
    is_point = last.get("type", last.get("function")) == "point"
    told = [f"({x}, {y})" for x, y in points] if points and (is_point or not boxes) else [str([*box]) for box in boxes]
    return ", ".join(told) or str(record["answer"])


def dialog_row(record: Mapping[str, Any], picture: Mapping[str, Any], number: int) -> Row:
    """Return the row of a dialog record about a picture."""
    rounds: Sequence[Mapping[str, Any]] = record["rounds"]
    columns = {
        **picture,
        "dialog_id": number,
        "caption": record["caption"]["text"],
        "questions": [asked["question"] for asked in rounds],
        "answers": [str(asked["answer"]) for asked in rounds],
        "dialog": orjson.dumps(record).decode(),
    }
    return {name: columns[name] for name in DIALOG_FEATURES}


# Writing -------------------------------------------------------------------------------------------------------------


def write_rows(path: PathLike, rows: Iterable[Mapping[str, Any]], features: Mapping[str, Feature] = FEATURES) -> int:
    """Write rows into a Parquet file, which gets its name when it is complete; return the number of rows.

    Rows about a picture must follow each other. Keys of a row that are no column, such as `split`, are left out. The
    rows of one group, about LEAST_ROWS, are in memory at once. The same rows give the same bytes. Raises VqagenError
    if the file cannot be written.
    """
    arrow, parquet = pyarrow(), pyarrow("pyarrow.parquet")
    schema, written = schema_of(features), 0
    with (
        atomic_output(str(path)) as file,
        parquet.ParquetWriter(
            file, schema, compression="zstd", dictionary_pagesize_limit=LARGEST_DICTIONARY, write_page_index=True
        ) as writer,
    ):
        for group in _groups(rows):
            columns = [arrow.array([row[name] for row in group], schema.field(name).type) for name in features]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema), row_group_size=len(group))
            written += len(group)
    return written


def schema_of(features: Mapping[str, Feature]) -> Any:
    """Return the `pyarrow.Schema` of columns; its metadata tells `datasets` which of them are pictures."""
    metadata = {"huggingface": orjson.dumps({"info": {"features": features}})}
    return pyarrow().schema([(name, arrow_type(each)) for name, each in features.items()], metadata)


def arrow_type(feature: Feature | list[Feature]) -> Any:
    """Return the `pyarrow` type of a column. A list has one feature, an object one for each of its keys.

    >>> str(arrow_type({"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"}))
    'list<element: string>'
    """
    arrow = pyarrow()
    if isinstance(feature, list):
        return arrow.list_(arrow.field("element", arrow_type(feature[0])))
    if "_type" not in feature:
        return arrow.struct([(name, arrow_type(each)) for name, each in feature.items()])
    if feature["_type"] == "Image":
        return arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])
    if feature["_type"] == "Sequence":
        return arrow.list_(arrow.field("element", arrow_type(feature["feature"])))
    return arrow.type_for_alias(feature["dtype"])


def _groups(rows: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the rows of each row group."""
    group: list[Mapping[str, Any]] = []
    for _, about in groupby(rows, key=lambda row: row["image_id"]):
        group += about
        if len(group) >= LEAST_ROWS:
            yield group
            group = []
    if group:
        yield group


# Reading --------------------------------------------------------------------------------------------------------------


def read_rows(folder: PathLike, split: str | None = None, data: str = "data") -> Iterator[Row]:
    """Yield the rows of a dataset's folder, split by split, each with its `split` besides the columns.

    An image is {"bytes", "path"}. A few rows are in memory at once. `data` is the folder of the rows: `data` holds
    questions, `dialogs` holds dialogs. Raises PlaceError for a folder without such rows, and UsageError for a split
    that is not there, and for a dataset that is not finished.
    """
    for name, path in row_files(folder, split, data):
        for row in rows_of_file(path):
            yield {**row, "split": name}


def rows_of_file(path: Path) -> Iterator[Row]:
    """Yield the rows of a Parquet file; a few are in memory at once."""
    with open_columns(path) as file:
        for batch in file.iter_batches(READ_AT_ONCE):
            yield from batch.to_pylist()


def data_folder(place: PathLike) -> Path | None:
    """Return the folder of rows at a place: the place, or the questions of a dataset; None if there are no rows."""
    return next((each for each in (Path(place, "data"), Path(place)) if any(each.glob("*-of-*.parquet"))), None)


def row_files(folder: PathLike, split: str | None = None, data: str = "data") -> list[tuple[str, Path]]:
    """Return split and place of each Parquet file of a dataset, in the order of their rows; raises as `read_rows`."""
    if not is_finished(Path(folder)):
        raise UsageError(f"the dataset {folder} is not finished: repeat the `vqagen dataset` command that began it")
    place = Path(folder, data)
    found = [(name, path) for name in SPLITS for path in sorted(place.glob(f"{name}-*-of-*.parquet"))]
    if not found:
        raise PlaceError(
            f"no dataset in {folder}: there is no {place}/train-00000-of-00001.parquet; see vqagen dataset"
        )
    there = list(dict.fromkeys(name for name, _ in found))
    if split is not None and split not in there:
        raise UsageError(f"{folder}: {unknown('split', split, there)}")
    return [(name, path) for name, path in found if split in (None, name)]
