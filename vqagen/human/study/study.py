"""A study as its folder holds it: loaded, with all hashes verified."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from vqagen.errors import BadInput, PlaceError, Problem, VqagenError
from vqagen.human.store.opening import ANSWERS, is_redis, sqlite_path
from vqagen.human.study.images import StudyImage, image_of_record
from vqagen.human.study.item import Item
from vqagen.human.study.item_record import item_of_record
from vqagen.human.study.serving import SERVING_FILE, Serving, load_serving
from vqagen.human.study.texts import TEXTS_FILE, Texts, load_texts
from vqagen.human.study.trial import PlannedTrial, Task, Trial, trials_of_slot

STUDY_SCHEMA = "vqagen.human.study/1"
STUDY_FILE, ITEMS_FILE, TASKS_FILE, IMAGES_FILE = "study.json", "items.jsonl", "tasks.jsonl", "images.json"
HASHED = (ITEMS_FILE, TASKS_FILE, IMAGES_FILE)
"""Files whose hashes are in `study.json`. An edit of them makes another study."""


@dataclass(frozen=True)
class Study:
    """A study: what is asked, in which tasks, in which words."""

    folder: Path
    id: str
    seed: int
    slots: int
    """Raters of each task."""
    items: Mapping[str, Item]
    """All items by id: real, check, instructed and practice."""
    tasks: Mapping[str, Task]
    images: Mapping[str, StudyImage]
    practice: tuple[Item, ...]
    """In the order in which they are shown."""
    texts: Texts
    serving: Serving
    info: Mapping[str, Any]
    """Version, settings and input hashes."""

    @property
    def store(self) -> str | Path:
        """The place of its answers, as its settings of serving say."""
        place = self.serving.store
        return place if is_redis(place) else self.folder / (sqlite_path(place) if place else ANSWERS)

    @property
    def was_served(self) -> bool:
        """False if serving has made no file of answers in its folder. A store elsewhere counts as served."""
        return bool(self.serving.store) or (self.folder / ANSWERS).exists()

    def trials(self, task: str, slot: int) -> tuple[Trial, ...]:
        """Return the trials of a rater in the rater's order."""
        return trials_of_slot(self.tasks[task], slot, self.items, self.seed)


def load_study(folder: str | Path) -> Study:
    """Load a study. UsageError if there is none; BadInput with all problems if a file was changed or is missing."""
    top = Path(folder)
    if not (top / STUDY_FILE).is_file():
        what = "holds no study.json" if top.is_dir() else "does not exist"
        raise PlaceError(f"study folder {top} {what}; make a study with `vqagen human make-tasks`")
    record = _study_record(top / STUDY_FILE)
    contents, problems = _contents(top, record)
    texts, serving = (
        _loaded(load_texts, top / TEXTS_FILE, problems),
        _loaded(load_serving, top / SERVING_FILE, problems),
    )
    images = {each["id"]: image_of_record(each) for each in orjson.loads(contents.get(IMAGES_FILE, b"[]"))}
    problems += _missing_images(top, images)
    if problems or texts is None or serving is None:
        raise BadInput(problems)
    items = {item.id: item for item in map(item_of_record, _lines(contents[ITEMS_FILE]))}
    return Study(
        folder=top,
        id=record["study"],
        seed=record["info"]["settings"]["seed"],
        slots=record["raters_per_item"],
        items=items,
        tasks={task.id: task for task in map(task_of_record, _lines(contents[TASKS_FILE]))},
        images=images,
        practice=tuple(items[name] for name in record["practice"]),
        texts=texts,
        serving=serving,
        info=record["info"],
    )


def _study_record(path: Path) -> dict[str, Any]:
    """Return the content of `study.json`. BadInput for a study of another version, or for no study."""
    try:
        record = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise BadInput([Problem(f"not valid JSON: {error}", str(path))]) from None
    schema = record.get("schema") if isinstance(record, dict) else None
    if schema != STUDY_SCHEMA:
        shown = "no schema" if schema is None else repr(schema)
        message = f"expected {STUDY_SCHEMA!r}, found {shown}; make the study again with this version of vqagen"
        raise BadInput([Problem(message, str(path), "schema")])
    try:
        is_unchanged = record["study"] == study_id(record)
    except (KeyError, TypeError, AttributeError):
        is_unchanged = False
    if not is_unchanged:
        raise BadInput([Problem("changed since the study was made; restore it, or make the study again", str(path))])
    return dict(record)


def study_id(record: Mapping[str, Any]) -> str:
    """Return the id of a study: the hash of all that decides what raters see, apart from words."""
    decisive = [
        {name: record["hashes"][name] for name in HASHED},
        record["raters_per_item"],
        list(record["practice"]),
        record["info"]["settings"]["seed"],
    ]
    return hashlib.sha256(orjson.dumps(decisive, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def _contents(top: Path, record: Mapping[str, Any]) -> tuple[dict[str, bytes], list[Problem]]:
    """Return the content of each file that has the hash it should have, and a problem for each other."""
    contents, problems = {}, []
    for name in HASHED:
        try:
            content = (top / name).read_bytes()
        except OSError as error:
            problems.append(Problem(f"cannot read: {error.strerror}", str(top / name)))
            continue
        if hashlib.sha256(content).hexdigest() == record["hashes"].get(name):
            contents[name] = content
        else:
            message = "changed since the study was made; restore it, or make the study again"
            problems.append(Problem(message, str(top / name)))
    return contents, problems


def _loaded(load: Any, path: Path, problems: list[Problem]) -> Any:
    """Return what `load` makes of a file; None if there is something wrong, which is added to `problems`."""
    try:
        return load(path)
    except BadInput as error:
        problems += error.problems
    except VqagenError as error:
        problems.append(Problem(str(error)))
    return None


def _missing_images(top: Path, images: Mapping[str, StudyImage]) -> Iterator[Problem]:
    for image in images.values():
        if not (top / image.file).is_file():
            yield Problem(f"image {image.id} is missing; restore it, or make the study again", str(top / image.file))


def _lines(content: bytes) -> Iterator[Any]:
    return map(orjson.loads, content.splitlines())


def task_record(task: Task) -> dict[str, Any]:
    """Return a task as a line of `tasks.jsonl` has it."""
    return {
        "task": task.id,
        "trials": [{"item": each.item, "second_on_right": each.second_on_right} for each in task.trials],
    }


def task_of_record(record: Mapping[str, Any]) -> Task:
    """Return the task of a line that `task_record` made."""
    return Task(record["task"], tuple(PlannedTrial(**each) for each in record["trials"]))
