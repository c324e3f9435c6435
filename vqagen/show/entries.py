"""The entries of a page: questions, dialogs and trials, each with its picture and with what its steps find there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from vqagen.dataset.rows import read_rows
from vqagen.errors import BadInput, Problem
from vqagen.files.pictures import picture_at, picture_kind
from vqagen.files.records import RecordSource
from vqagen.items.scene_lookup import QuestionFault, records_with_scenes
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.question import OPTION_KEYS, family_name, picture_name, release_answer
from vqagen.language.template import PLACE, PLACES
from vqagen.plugin import Undefined
from vqagen.tasks.director.reading import WrittenTrial, read_trial
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene, compile_scene

BATCH = 500
"""Records whose scenes are held at once."""
DEFAULT_SIZE = (480, 320)
"""Pixels of a picture for scenes that do not say."""
Record = Mapping[str, Any]


class Picture(NamedTuple):
    """A picture and the objects in it."""

    key: str
    """Equal for equal pictures."""
    file: Path | bytes | None
    """Its file, or what would be in it; None if there is none: then the objects are drawn as dots."""
    shown: Record
    """`size` and `objects`: for each its `name`, `box`, place (`at`) and `color`, as far as the scene says them."""


class PageEntry(NamedTuple):
    """A question, dialog or trial on the page."""

    picture: Picture
    shown: Record
    family: str
    answer: str | None
    length: int
    """Steps of a program, rounds of a dialog, words of an instruction."""


def picture_of(
    record: Record, scene: Scene | None, folders: Sequence[Path], source: RecordSource, place: int
) -> Picture:
    """Return the picture of a record that names it. BadInput for one outside of the folders."""
    name = picture_name(record) or (scene.image if scene else "")
    file = picture_at(source.path, f"{source.kind.path(place)}.image_filename", name, folders)
    key = str(name or record.get("image_index", record.get("scene_index", "")))
    return Picture(key, file, picture_facts(scene))


def picture_facts(scene: Scene | None) -> Record:
    """Return the size of a scene's picture, and its objects."""
    if scene is None:
        return {"size": DEFAULT_SIZE, "objects": []}
    camera = scene.record.get("camera")
    camera = camera if isinstance(camera, Mapping) else {}
    objects = [
        {
            "name": scene.describe(1 << number),
            "box": thing.get("box"),
            "at": [*(thing.get("pixel_coords") or ())][:2],
            "color": thing.get("color"),
        }
        for number, thing in enumerate(scene.record["objects"])
    ]
    return {"size": [camera.get("width", DEFAULT_SIZE[0]), camera.get("height", DEFAULT_SIZE[1])], "objects": objects}


# Questions and dialogs ------------------------------------------------------------------------------------------------


def record_entries(
    source: RecordSource, scenes: SceneSource | None, catalogue: Catalogue, folders: Sequence[Path], are_dialogs: bool
) -> Iterator[PageEntry]:
    """Yield the entries of a file of questions or dialogs; without `scenes` no step is run.

    Pictures lie in `folders`.
    """
    records: Iterable[tuple[int, Record, Scene | QuestionFault | None]]
    if scenes is None:
        records = ((place, record, None) for place, record in enumerate(source.records()))
    else:
        records = records_with_scenes(source.records(), scenes, catalogue.domain, BATCH)
    for place, record, found in records:
        scene = found if isinstance(found, Scene) else None
        note = found.problem if isinstance(found, QuestionFault) else ""
        picture = picture_of(record, scene, folders, source, place)
        if are_dialogs:
            yield dialog_entry(record, picture, place, note)
        else:
            yield question_entry(record, scene, catalogue, picture, place, note)


def dataset_entries(folder: Path, data: str, catalogue: Catalogue) -> Iterator[PageEntry]:
    """Yield the entries of a dataset's questions or dialogs."""
    last: tuple[str, Scene, Picture] | None = None
    for place, row in enumerate(read_rows(folder, None, data)):
        name = f"{row['image_id']} {(row['image'] or {}).get('path')}"
        if last is None or last[0] != name:
            scene = compile_scene(orjson.loads(row["scene"]), catalogue.domain, row["image_id"])
            content = (row["image"] or {}).get("bytes")
            if content and not picture_kind(content):
                raise BadInput([Problem(f"row {place} has no picture: its content is of another kind", str(folder))])
            last = name, scene, Picture(name, content, picture_facts(scene))
        if "dialog" in row:
            yield dialog_entry({**orjson.loads(row["dialog"]), "split": row["split"]}, last[2], place)
        else:
            record = {**row, "program": orjson.loads(row["program"]), "question_index": row["question_id"]}
            record["trace"] = [orjson.loads(step) for step in row.get("trace") or ()]
            yield question_entry(record, last[1], catalogue, last[2], place)


def question_entry(
    record: Record, scene: Scene | None, catalogue: Catalogue, picture: Picture, place: int, note: str = ""
) -> PageEntry:
    """Return the entry of a question. A `note` says what is wrong with it."""
    steps, why = _steps(record.get("program") or [], record.get("trace"), scene, catalogue)
    answer = record.get("answer")
    text = None if answer is None else release_answer(tuple(answer) if isinstance(answer, list) else answer)
    options: list[Any] = next((record[key] for key in OPTION_KEYS if record.get(key)), [])
    file, number = record.get("template_filename"), record.get("question_family_index")
    shown = {
        **_head(record, "question_index", place, note or why),
        "question": str(record.get("question", "")),
        "answer": text,
        "options": [release_answer(option) for option in options],
        "reasoning": record.get("reasoning") or "",
        "mentions": [[*each["span"], each["objects"]] for each in record.get("mentions") or ()],
        "steps": steps,
    }
    return PageEntry(picture, shown, record.get("family") or family_name(file, number), text, len(steps))


def _head(record: Record, key: str, place: int, note: str) -> Record:
    return {"id": record.get(key, place), "split": record.get("split"), "note": note}


def _steps(
    nodes: Any, trace: Sequence[Any] | None, scene: Scene | None, catalogue: Catalogue
) -> tuple[list[dict[str, Any]], str]:
    """Return the steps of a program, with the objects or the value that each finds in its scene, and what is wrong.

    What they find stands in the `trace`, or is found again where there is none.
    """
    if not nodes:
        return [], ""
    try:
        program = Program.from_records(nodes, catalogue)
    except BadInput as error:
        return [], error.problems[0].message
    steps: list[dict[str, Any]] = [
        {"function": name, "inputs": inputs, "values": values} for name, inputs, values in program.nodes
    ]
    outputs = list(trace or ())
    if scene is not None and len(outputs) != len(steps):
        try:
            outputs = program.readable_outputs(scene)
        except Undefined as error:
            return steps, f"the program has no answer in this scene: {error}"
    for step, output in zip(steps, outputs, strict=False):
        kind = catalogue[step["function"]].output
        if kind in ("ObjectSet", "Object", PLACE, PLACES):
            step["objects"] = [output] if kind == "Object" else output
        else:
            step["value"] = release_answer(output)
    return steps, ""


def dialog_entry(record: Record, picture: Picture, place: int, note: str = "") -> PageEntry:
    """Return the entry of a dialog. BadInput for one of another tool, which does not say what refers to what."""
    try:
        sentences = [_sentence(spoken) for spoken in (record["caption"], *record["rounds"])]
        entities = [entity["objects"] for entity in record["entities"]]
    except (KeyError, TypeError, AttributeError):
        message = "no marks in this dialog; show dialogs as `vqagen dialog` writes them"
        raise BadInput([Problem(message, path=f"dialogs[{place}]")]) from None
    shown = {**_head(record, "dialog_index", place, note), "sentences": sentences, "entities": entities}
    return PageEntry(picture, shown, str(record["caption"].get("label", "")), None, len(sentences) - 1)


def _sentence(spoken: Record) -> Record:
    """Return the caption or a round; a mention is the number of its entity and the words from its start to its end."""
    return {
        "text": spoken["question"] if "question" in spoken else spoken["text"],
        "answer": release_answer(spoken["answer"]) if "answer" in spoken else None,
        "label": spoken.get("label", ""),
        "mentions": [[mention["entity"], *mention["span"]] for mention in spoken["mentions"] if mention["span"]],
        "objects": list(chain.from_iterable(spoken.get("referents", {}).values())),
    }


# Trials ---------------------------------------------------------------------------------------------------------------


def trial_entries(source: RecordSource) -> Iterator[PageEntry]:
    """Yield the entries of director trials. BadInput for the first that is none."""
    folder = Path(str(source.path)).parent
    for place, record in enumerate(source.records()):
        if not isinstance(trial := read_trial(record), WrittenTrial):
            path, message = trial[0]
            raise BadInput([Problem(message, str(source.path), f"trials[{place}].{path}")])
        file = picture_at(source.path, f"trials[{place}].image", trial.image, [folder], is_svg_shown=True)
        kept = ("instruction", "answer", "participant_answers", "blocked", "cells", "width", "height", "rule", "frame")
        shown = {**_head(record, "trial_index", place, ""), **{key: record[key] for key in kept}}
        length = len(trial.instruction.split())
        family = f"{trial.type}/{trial.rule_class}"
        yield PageEntry(Picture(str(trial.index), file, picture_facts(None)), shown, family, record["answer"], length)
