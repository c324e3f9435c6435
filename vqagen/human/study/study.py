"""A study as its folder holds it, loaded with all hashes verified; its settings of serving; the trials of a rater."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import orjson
from msgspec import Struct

from vqagen.errors import BadInput, Fault, PlaceError, Problem, UsageError, collecting, describe, unknown
from vqagen.files.locations import open_as_it_is
from vqagen.files.parsing import read_object
from vqagen.human.store.facts import ANSWERS, SERVED
from vqagen.human.store.opening import is_redis, sqlite_path
from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import AFTER, BEFORE, COMPARE, PRACTICE, StudyItem
from vqagen.human.study.texts import TEXTS_FILE, Texts, load_texts
from vqagen.rng import shuffled, stream
from vqagen.tasks.settings import CheckedSettings, setting, setting_of

STUDY_SCHEMA = "vqagen.human.study/2"
STUDY_FILE = "study.json"
_CHANGED = "changed since the study was made; restore it, or make the study again"
_AT_ENDS = {BEFORE: -1, AFTER: 1}
"""The use of questions to the rater -> where they stand; all other trials are at 0."""
SERVING_FILE = "serving.json"
_ADDRESS = re.compile(r"https://[\w{][^\s]*")
_FILLED = "{code} is filled in, and {id}, {STUDY_ID}, {SESSION_ID} and others from the address that the rater came by."


# How it is served: leases, limits, codes. `serving.json` is written with defaults by make-tasks, edited by hand. ------


@dataclass(frozen=True)
class Serving(CheckedSettings):
    """The settings of serving. They may be changed between two runs of `serve`."""

    store: str = setting("", "Where answers are: sqlite:PATH from here, or redis://HOST/DB; empty: answers.sqlite.")
    lease_minutes: int = setting(30, "Minutes without an answer after which a place is free for others.", least=1)
    tasks_per_person: int = setting(0, "How many tasks one person may do; 0 for any number.", least=0)
    break_every: int = setting(0, "After how many trials a break is offered; 0 for none.", least=0)
    link_days: int = setting(90, "Days until a link expires, counted from when it is made.", least=1)
    keep_withdrawn_answers: bool = setting(False, "Keep the answers of raters who withdraw; say so in the consent.")
    code_completed: str = setting("", "The completion code for all, such as Prolific's; empty for one each.")
    code_withdrawn: str = setting("", "The code for all who withdraw; empty for none.")
    redirect_completed: str = setting("", f"Address of the link behind the last trial; {_FILLED}")
    redirect_withdrawn: str = setting("", f"Address of the link for those who withdraw; {_FILLED}")
    prolific_workspace: str = setting(
        "", "The id of your workspace at Prolific, without which anybody there could have an address signed."
    )
    prolific_audience: str = setting(
        "", "The domain of this study in what Prolific signs; prolific_keys.json beside this file has Prolific's keys."
    )

    @property
    def lease(self) -> int:
        """Milliseconds of a lease."""
        return self.lease_minutes * 60_000

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        for name in ("redirect_completed", "redirect_withdrawn"):
            address = getattr(self, name)
            if address and not _ADDRESS.fullmatch(address):
                yield f"{name} must be an address that begins with https://, found {address!r}"


def default_serving() -> bytes:
    """Return the file of the default settings, each with its meaning."""
    record = {"comment": [f"{field.name}: {setting_of(field).help}" for field in fields(Serving)]}
    return orjson.dumps({**record, **Serving().to_record()}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def load_serving(path: Path) -> Serving:
    """Load the settings of serving. BadInput with every mistake in the file."""
    return Serving(**_settings(read_object(path, _faults)))


def _settings(document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key in Serving.names()}


def _faults(document: Mapping[str, Any]) -> Iterator[Fault]:
    known = Serving.names()
    yield from ((key, unknown("key", key, known)) for key in document if key not in (*known, "comment", "$schema"))
    try:
        Serving(**_settings(document))
    except UsageError as error:
        for line in str(error).splitlines():
            message = line.removeprefix("--")
            yield message.split()[0].replace("-", "_"), message


# The study ------------------------------------------------------------------------------------------------------------


class PlannedTrial(Struct, frozen=True):
    """An item in a task. `second_on_right` is its side in slots 0, 2, 4, …; slots 1, 3, 5, … have it reversed."""

    item: str
    second_on_right: bool


class PlannedTask(Struct, frozen=True):
    """Trials that one rater does in a row. Each of the study's slots of a task is one rater's work."""

    id: str
    trials: tuple[PlannedTrial, ...]
    """Those of a series stand one after the other, and questions before and after in their order."""


class ShownTrial(Struct, frozen=True):
    """A trial as one rater sees it."""

    number: int
    """From 1, in the order in which the rater sees them."""
    item: StudyItem
    second_on_right: bool

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts from left to right."""
        texts = tuple(candidate.text for candidate in self.item.candidates)
        return texts if self.second_on_right else texts[::-1]


PARTS: Mapping[str, msgspec.json.Decoder[Any]] = {
    "items": msgspec.json.Decoder(StudyItem),
    "tasks": msgspec.json.Decoder(PlannedTask),
    "images": msgspec.json.Decoder(StudyImage),
}
"""What a study is kept in: `items.jsonl` and the like and, of an extension, `items-2.jsonl`."""


@dataclass(frozen=True)
class Study:
    """A study: what is asked, in which tasks, in which words."""

    folder: Path
    id: str
    seed: int
    slots: int
    """Raters of each task."""
    items: Mapping[str, StudyItem]
    """All items by id, of every use."""
    tasks: Mapping[str, PlannedTask]
    images: Mapping[str, StudyImage]
    practice: tuple[StudyItem, ...]
    """In the order in which they are shown."""
    texts: Texts
    serving: Serving
    info: Mapping[str, Any]

    @property
    def store(self) -> str | Path:
        """The place of its answers, as its settings of serving say."""
        store = self.serving.store
        return store if is_redis(store) else self.folder / (sqlite_path(store) if store else ANSWERS)

    @property
    def was_served(self) -> bool:
        """False if it was never served, and has no answers in its folder. A store elsewhere counts as served."""
        return bool(self.serving.store) or any((self.folder / name).exists() for name in (ANSWERS, SERVED))

    def trials(self, task: str, slot: int) -> tuple[ShownTrial, ...]:
        """Return the trials of a rater in the rater's order."""
        return trials_of_slot(self.tasks[task], slot, self.items, self.seed)


def load_study(folder: str | Path) -> Study:
    """Load a study. UsageError if there is none; BadInput with all problems if a file was changed or is missing."""
    top = Path(folder)
    record = load_record(top)
    problems: list[Problem] = []
    parts: dict[str, dict[str, Any]] = {kind: {} for kind in PARTS}
    for name, digest in record["hashes"].items():
        kind = name.partition(".")[0].partition("-")[0]
        with collecting(problems), open_as_it_is(top / name) as file:
            content = file.read()
            if digest_of(content) != digest:
                raise BadInput([Problem(_CHANGED, str(top / name))])
            parts[kind] |= {record_of_part.id: record_of_part for record_of_part in PARTS[kind].decode_lines(content)}
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
        id=record["study"],
        seed=record["info"]["settings"]["seed"],
        slots=record["raters_per_item"],
        practice=tuple(item for item in parts["items"].values() if item.use == PRACTICE),
        texts=texts,
        serving=serving,
        info=record["info"],
        **parts,
    )


def load_record(top: Path) -> dict[str, Any]:
    """Return the content of `study.json`. BadInput for a study of another version, or for one that was changed.

    Its keys: `study`, the id, to which answers and links belong; `raters_per_item`; `hashes` of the parts; `info`, with
    version, settings and input hashes, also of extensions; and `guard`, the hash of all else.
    """
    path = top / STUDY_FILE
    if not path.is_file():
        what = f"holds no {STUDY_FILE}" if top.is_dir() else "does not exist"
        raise PlaceError(f"study folder {top} {what}; make a study with `vqagen human make-tasks`")
    record = read_object(path, lambda document: ())
    if record.get("schema") != STUDY_SCHEMA:
        wrong = f"expected {STUDY_SCHEMA!r}, found {describe(record.get('schema'))}"
        raise BadInput([Problem(f"{wrong}; make the study again with this version of vqagen", str(path), "schema")])
    if record != guarded(record):
        raise BadInput([Problem(_CHANGED, str(path))])
    return record


def guarded(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with its guard."""
    bare = {key: value for key, value in record.items() if key != "guard"}
    return {**bare, "guard": digest_of(msgspec.json.encode(bare))}


def digest_of(content: bytes) -> str:
    """Return the hash of a part."""
    return hashlib.sha256(content).hexdigest()


def trials_of_slot(task: PlannedTask, slot: int, items: Mapping[str, StudyItem], seed: int) -> tuple[ShownTrial, ...]:
    """Return the trials of a slot in its own order. A slot that is given to another rater keeps order and sides.

    What is rated or answered has no side: its values are never reversed. Each series is one unit of the order, as are
    all questions before the first trial, and all after the last one.
    """
    units: dict[str, list[PlannedTrial]] = {}
    for trial in task.trials:
        item = items[trial.item]
        units.setdefault(item.use if item.use in _AT_ENDS else item.unit, []).append(trial)
    order = shuffled(stream(seed, f"human/order/{task.id}", slot), list(units.values()))
    order.sort(key=lambda unit: _AT_ENDS.get(items[unit[0].item].use, 0))
    return tuple(
        ShownTrial(
            number, items[trial.item], items[trial.item].kind != COMPARE or trial.second_on_right == (slot % 2 == 0)
        )
        for number, trial in enumerate(chain(*order), 1)
    )
