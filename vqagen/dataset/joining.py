"""The files of a dataset: the questions and dialogs of all splits, and the rows of each split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson

from vqagen.dataset.folder import Counts, DatasetFolder
from vqagen.dataset.rows import (
    DIALOG_FEATURES,
    FEATURES,
    OUTPUT_TYPES,
    SPLITS,
    TEST,
    Feature,
    Row,
    SceneMasks,
    dialog_row,
    picture_columns,
    question_row,
    with_picture,
    write_rows,
)
from vqagen.dataset.settings import DatasetSettings
from vqagen.errors import UsageError
from vqagen.files.formats import JSON_LINES, Arrangement, record_file
from vqagen.files.info import without_run
from vqagen.files.records import RecordKind, open_records
from vqagen.language.domain_files import LoadedDomain
from vqagen.language.question import MARKS, QUESTIONS as QUESTION_FILE, picture_name
from vqagen.pictures.marks import marked
from vqagen.pictures.png import png_file
from vqagen.run.runner import OnProgress, Progress
from vqagen.tasks.record_files import DIALOGS as DIALOG_FILE
from vqagen.world.loading import find_scenes

PICTURES_PER_FILE = 1000
"""Pictures in a Parquet file: some 150 MB of rendered ones."""
KINDS: Mapping[str, tuple[RecordKind, str, Mapping[str, Feature]]] = {
    "questions": (QUESTION_FILE, "data", FEATURES),
    "dialogs": (DIALOG_FILE, "dialogs", DIALOG_FEATURES),
}
"""Records -> their kind of file, the folder of their rows, and the columns of these."""


def kinds_of(settings: DatasetSettings) -> list[str]:
    """Return which of `KINDS` a dataset has."""
    return [*KINDS] if settings.dialogs else ["questions"]


def records_of(folder: DatasetFolder, settings: DatasetSettings, name: str, kind: str = "questions") -> Path:
    """Return the file of a split's records, as the steps before left them."""
    if kind == "dialogs":
        return folder.path("steps", name, "dialogs.jsonl")
    return folder.path("steps", name, "kept.jsonl" if settings.choices == "none" else "options.jsonl")


def join(folder: DatasetFolder, settings: DatasetSettings, splits: list[str], on_progress: OnProgress) -> Counts:
    """Write the questions, and dialogs, of all splits; their `scene_index` is that of pictures/scenes.json.

    Return how many each split has.
    """
    counts = dict[str, dict[str, int]]()
    places = orjson.loads(folder.path("steps", "places.json").read_bytes())
    for kind in kinds_of(settings):
        sources = {name: open_records(records_of(folder, settings, name, kind), KINDS[kind][0]) for name in splits}
        counts[kind] = {name: source.count() for name, source in sources.items()}
        info = _joined_info(sources[splits[0]].info, folder.recipe)
        records = {
            name: shown(source.records(), kind[:-1], counts[kind][name], on_progress)
            for name, source in sources.items()
        }
        out = str(folder.path(f"{kind}.jsonl"))
        with record_file(out, JSON_LINES, info, Arrangement(kind, "", "scene", 0)) as writer:
            writer.write(_renumbered(records, places, f"{kind[:-1]}_index"))
    return counts


def _renumbered(
    records: Mapping[str, Iterable[dict[str, Any]]], places: Mapping[str, list[int]], number_key: str
) -> Iterator[dict[str, Any]]:
    """Yield the records of all splits: numbers and blocks go on from split to split, and scenes are those of all."""
    number = block = 0
    for name, of_split in records.items():
        last = block
        for record in of_split:
            record |= {"scene_index": places[name][record["scene_index"]], number_key: number}
            if "block" in record:
                record["block"] += last
                block = max(block, record["block"] + 1)
            yield record
            number += 1


def write_split(
    folder: DatasetFolder, settings: DatasetSettings, loaded: LoadedDomain, name: str, on_progress: OnProgress
) -> Counts:
    """Write the rows of a split, in files of PICTURES_PER_FILE pictures."""
    scenes = folder.steps["splits"]["scenes"][name]
    number, counts = -(-scenes // PICTURES_PER_FILE), Counter({"pictures": scenes})
    for kind in kinds_of(settings):
        _, data, features = KINDS[kind]
        counts[kind] = 0
        rows = shown(
            _rows(folder, settings, loaded, name, kind), "row", folder.steps["joined"][kind][name], on_progress
        )
        for chunk, in_chunk in groupby(rows, key=lambda row: row.pop("place") // PICTURES_PER_FILE):
            path = folder.path(data, f"{name}-{chunk:05}-of-{number:05}.parquet")
            counts[kind] += write_rows(path, in_chunk, features)
    is_first = name == next(split for split in SPLITS if folder.steps["splits"]["scenes"][split])
    if not counts["questions"] and (is_first or (name == TEST and settings.hold_out != "none")):
        message = f"no question is left in the split {name}: make more pictures, or leave out or hold out less"
        raise UsageError(f"{folder.place}: {message}")
    return dict(counts)


def _rows(
    folder: DatasetFolder, settings: DatasetSettings, loaded: LoadedDomain, name: str, kind: str
) -> Iterator[Row]:
    """Yield the rows of a split, each with the `place` of its scene in the split."""
    places = orjson.loads(folder.path("steps", "places.json").read_bytes())[name]
    counts = folder.steps["joined"][kind]
    number = sum(counts.get(earlier, 0) for earlier in SPLITS[: SPLITS.index(name)])
    families = families_of(loaded)
    scenes = find_scenes(folder.path("steps", name, "scenes.json")).records()
    masks = SceneMasks(folder.path("pictures", "scenes.json"))
    records = open_records(records_of(folder, settings, name, kind), KINDS[kind][0]).records()
    for place, scene, about in by_scene(scenes, records):
        image = folder.path("pictures", "images", scene["image_filename"])
        plain, objects = image.read_bytes(), masks.at(places[place])
        columns = picture_columns(scene, places[place], plain, objects)
        for name, marks in {picture_name(each): each[MARKS] for each in about if each.get(MARKS)}.items():
            folder.path("pictures", name).write_bytes(png_file(marked(plain, objects, marks)))
        for record in about:
            record[f"{kind[:-1]}_index"] = number
            own = with_picture(columns, folder.path("pictures", picture_name(record))) if record.get(MARKS) else columns
            yield {**row_of(kind, record, own, loaded, families), "place": place}
            number += 1


Families = Mapping[tuple[str, int], str]
"""Template file, number in it -> id of a family."""


def families_of(loaded: LoadedDomain) -> Families:
    """Return the ids of all families."""
    return {(template.file, template.index): template.id for template in loaded.templates}


def row_of(kind: str, record: Mapping[str, Any], columns: Row, loaded: LoadedDomain, families: Families) -> Row:
    """Return the row of a record about the picture that has these columns."""
    if kind == "dialogs":
        return dialog_row(record, columns, record["dialog_index"])
    last = record["program"][-1]["type"]
    answer_type = "value" if record.get(MARKS) else OUTPUT_TYPES.get(loaded.catalogue[last].output, "value")
    family = families[record["template_filename"], record["question_family_index"]]
    return question_row(record, columns, record["question_index"], answer_type, family)


def _joined_info(info: Mapping[str, Any], recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return the info of a file of all splits: that of one, without what is true of its run alone."""
    joined = without_run(info)
    hashes = {key: value for key, value in joined["generator"].get("inputs", {}).items() if key != "scenes"}
    if hashes:
        joined["generator"]["inputs"] = hashes
    return {**joined, "dataset": recipe}


def by_scene(
    scenes: Iterable[dict[str, Any]], records: Iterable[dict[str, Any]]
) -> Iterator[tuple[int, dict[str, Any], list[dict[str, Any]]]]:
    """Yield place and record of each scene that is asked about, and the questions; these stand in the scenes' order."""
    numbered = iter(enumerate(scenes))
    for index, about in groupby(records, key=lambda record: record["scene_index"]):
        place, scene = next((place, scene) for place, scene in numbered if place == index)
        yield place, scene, list(about)


def shown(items: Iterable[Any], item: str, total: int | None, on_progress: OnProgress) -> Iterator[Any]:
    """Yield the items, and show how many there were."""
    progress = Progress(item, item, total)
    for one in items:
        yield one
        progress.items += 1
        on_progress(progress)
