"""A study as its folder holds it: loaded, with all hashes verified."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from vqagen.errors import BadInput, PlaceError, Problem, collecting, describe
from vqagen.files.reading import open_as_it_is
from vqagen.human.store.opening import ANSWERS, is_redis, sqlite_path
from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import PRACTICE, Item
from vqagen.human.study.serving import SERVING_FILE, Serving, load_serving
from vqagen.human.study.texts import TEXTS_FILE, Texts, load_texts
from vqagen.human.study.trial import Task, Trial, trials_of_slot
from vqagen.json.parsing import read_object

STUDY_SCHEMA = "vqagen.human.study/2"
STUDY_FILE = "study.json"
PARTS: Mapping[str, msgspec.json.Decoder[Any]] = {
    "items": msgspec.json.Decoder(Item),
    "tasks": msgspec.json.Decoder(Task),
    "images": msgspec.json.Decoder(StudyImage),
}
"""What a study is kept in: `items.jsonl` and the like and, of an extension, `items-2.jsonl`."""
_CHANGED = "changed since the study was made; restore it, or make the study again"


class StudyRecord(Struct, frozen=True, kw_only=True):
    """The content of `study.json`."""

    schema: str = STUDY_SCHEMA
    study: str = ""
    """The id. An extension keeps it: answers and links belong to it."""
    raters_per_item: int
    hashes: dict[str, str]
    """The hash of each part. An edit of one makes another study."""
    info: dict[str, Any]
    """Version, settings and input hashes, also those of extensions."""
    guard: str = ""
    """The hash of all else in the file."""


@dataclass(frozen=True)
class Study:
    """A study: what is asked, in which tasks, in which words."""

    folder: Path
    id: str
    seed: int
    slots: int
    """Raters of each task."""
    items: Mapping[str, Item]
    """All items by id, of every use."""
    tasks: Mapping[str, Task]
    images: Mapping[str, StudyImage]
    practice: tuple[Item, ...]
    """In the order in which they are shown."""
    texts: Texts
    serving: Serving
    info: Mapping[str, Any]

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
    record = load_record(top)
    problems: list[Problem] = []
    parts: dict[str, dict[str, Any]] = {kind: {} for kind in PARTS}
    for name, digest in record.hashes.items():
        kind = name.partition(".")[0].partition("-")[0]
        with collecting(problems), open_as_it_is(top / name) as file:
            content = file.read()
            if digest_of(content) != digest:
                raise BadInput([Problem(_CHANGED, str(top / name))])
            parts[kind] |= {each.id: each for each in PARTS[kind].decode_lines(content)}
    with collecting(problems):
        texts = load_texts(top / TEXTS_FILE)
    with collecting(problems):
        serving = load_serving(top / SERVING_FILE)
    problems += [
        Problem(f"image {image.id} is missing; restore it, or make the study again", str(top / image.file))
        for image in parts["images"].values()
        if not (top / image.file).is_file()
    ]
    if problems:
        raise BadInput(problems)
    return Study(
        folder=top,
        id=record.study,
        seed=record.info["settings"]["seed"],
        slots=record.raters_per_item,
        practice=tuple(item for item in parts["items"].values() if item.use == PRACTICE),
        texts=texts,
        serving=serving,
        info=record.info,
        **parts,
    )


def load_record(top: Path) -> StudyRecord:
    """Return the content of `study.json`. BadInput for a study of another version, or for one that was changed."""
    path = top / STUDY_FILE
    if not path.is_file():
        what = f"holds no {STUDY_FILE}" if top.is_dir() else "does not exist"
        raise PlaceError(f"study folder {top} {what}; make a study with `vqagen human make-tasks`")
    document = read_object(path, lambda document: ())
    if document.get("schema") != STUDY_SCHEMA:
        wrong = f"expected {STUDY_SCHEMA!r}, found {describe(document.get('schema'))}"
        raise BadInput([Problem(f"{wrong}; make the study again with this version of vqagen", str(path), "schema")])
    try:
        record = msgspec.convert(document, StudyRecord)
        is_unchanged = record == guarded(record)
    except (msgspec.ValidationError, LookupError, TypeError):
        is_unchanged = False
    if not is_unchanged:
        raise BadInput([Problem(_CHANGED, str(path))])
    return record


def guarded(record: StudyRecord) -> StudyRecord:
    """Return the record with its guard, and with an id if it has none: the hash of what decides what raters see."""
    decisive = [record.hashes, record.raters_per_item, record.info["settings"]["seed"]]
    id = record.study or digest_of(msgspec.json.encode(decisive))[:16]
    bare = msgspec.structs.replace(record, study=id, guard="")
    return msgspec.structs.replace(bare, guard=digest_of(msgspec.json.encode(bare)))


def digest_of(content: bytes) -> str:
    """Return the hash of a part."""
    return hashlib.sha256(content).hexdigest()
