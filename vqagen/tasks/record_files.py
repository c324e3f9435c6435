"""Files of records: their kind (questions, dialogs or trials), and what their `info` says of their origin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, PlaceError, Problem, warn
from vqagen.files.locations import Location, files_below, locate, require
from vqagen.files.packing import IN_FOLDERS
from vqagen.files.records import RecordKind, RecordSource, first_keys, given_records, open_records
from vqagen.language.domain_files import SHIPPED_DOMAINS, PathLike
from vqagen.language.question import QUESTIONS
from vqagen.tasks import task_named
from vqagen.tasks.contract import Task, find_record_file


def _restored(key: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return the record that a row of a Parquet file was made of, as its task reads it."""
    return task_named(key).restored(row)


DIALOGS = RecordKind("dialogs", own_keys=("dialog_index", "rounds", "caption"), restored=partial(_restored, "dialogs"))
TRIALS = RecordKind("trials", own_keys=("trial_index", "trial_type"))
SAMPLES = RecordKind("samples", own_keys=("sample_id", "sample_type"))
"""Trials in the shape of the reference's dataset."""
_OWN = (DIALOGS, QUESTIONS, TRIALS, SAMPLES)
Kinds = Mapping[str, RecordKind]
"""A key that tells -> the kind of records that it tells."""
KINDS: Kinds = {key: kind for kind in _OWN for key in (kind.key, *kind.own_keys)}
ANY_KIND = "questions, dialogs or trials"


def task_of(kind: RecordKind) -> type[Task]:
    """Return the task whose records are of a kind; samples are trials in another shape."""
    return task_named(TRIALS.key if kind is SAMPLES else kind.key)


def require_records(path: PathLike) -> Location:
    """Return the place of a file or folder of records of any kind. UsageError if there is none, or an empty folder."""
    location = require(locate(path), ANY_KIND)
    if _telling_file(location) is None:
        names = ", ".join(f"*{ending}" for ending in IN_FOLDERS)
        raise PlaceError(f"no {ANY_KIND} ({names}, trials.jsonl) in folder {location}; name their file")
    return location


def find_any_records(
    given: PathLike | Mapping[str, Any] | Iterable[Mapping[str, Any]], kinds: Kinds = KINDS
) -> RecordSource:
    """Find questions, dialogs, trials or samples of trials at a place, or take records in memory as a source.

    UsageError where nothing lies, BadInput for what are no records.
    """
    if isinstance(given, str | Path):
        path = require_records(given)
        return open_records(trials_file(path) or path, kind_of_file(path, kinds))
    if not isinstance(given, Mapping):
        given = list(given)
    first = given if isinstance(given, Mapping) else next(iter(given), {})
    keys = first if isinstance(first, Mapping) else ()
    return given_records(given, next((kinds[key] for key in keys if key in kinds), QUESTIONS))


def find_trials(path: PathLike | Location) -> RecordSource:
    """Find the trials of a folder or file, or samples. UsageError where there is none, BadInput for what are none."""
    folder = require(locate(path), TRIALS.key)
    file = trials_file(folder) or folder
    if file.is_dir():
        raise PlaceError(f"no trials in folder {folder}: expected {TRIALS.key}.jsonl or {TRIALS.key}.json in it")
    return open_records(file, SAMPLES if kind_of_file(file) is SAMPLES else TRIALS)


def kind_of_file(path: Location, kinds: Kinds = KINDS) -> RecordKind:
    """Return the kind that the first telling key of a file, or of the first file of a folder, tells.

    QUESTIONS if nothing is there, or nothing tells. BadInput for text that is not JSON, and for documents of VisDial's
    kind, which lack what reading dialogs needs.
    """
    before, file = list[str](), _telling_file(path)
    for key in first_keys(file) if file and file.is_file() else ():
        if key in kinds:
            return kinds[key]
        before.append(key)
        if before == ["version", "data"]:
            message = (
                "VisDial's documents and coreference clusters cannot be read; give the dialogs they were made from"
            )
            raise BadInput([Problem(message, str(file))])
    return QUESTIONS


def trials_file(folder: Location) -> Path | None:
    """Return the file of an output folder that holds its trials; None if there is none."""
    return find_record_file(folder, TRIALS.key) if isinstance(folder, Path) and folder.is_dir() else None


def _telling_file(path: Location) -> Location | None:
    """Return a file; of a folder, that of its trials or the first that holds a record; None if there is none."""
    if not path.is_dir():
        return path
    return trials_file(path) or next((file for file in files_below(path) if file.name.endswith(IN_FOLDERS)), None)


PLUGINS = "plugins"


def generator_of(source: RecordSource) -> Mapping[str, Any]:
    """Return the `generator` of a file's info; empty if vqagen did not make the file."""
    generator = source.info.get("generator")
    return generator if isinstance(generator, Mapping) and generator.get("name") == "vqagen" else {}


def settings_of(source: RecordSource) -> Mapping[str, Any]:
    """Return the settings of the run that made a file, by its `info`; empty if vqagen did not make it."""
    settings = generator_of(source).get("settings")
    return settings if isinstance(settings, Mapping) else {}


def shipped_domain(info: Mapping[str, Any]) -> str | None:
    """Return the shipped domain that a file's `info` names; None if it names none.

    The folder of a domain of one's own is not known from its name.
    """
    match info:
        case {"generator": {"domain": str(name)}} if name in SHIPPED_DOMAINS:
            return name
    return None


def check_origin(source: RecordSource, hashes: Mapping[str, Callable[[], str]]) -> None:
    """Warn of each input that is not the one that the records were made from; BadInput if they have no answers.

    `hashes` give the content hash of the inputs at hand, by role; "" if there is none. A file without an `info` of
    vqagen's own says nothing.
    """
    generator, records = generator_of(source), source.kind.key
    if (generator.get("records") or {}).get("hide_answers"):
        message = "made with --hide-answers: programs and answers are left out, so there is nothing to verify"
        raise BadInput([Problem(message, str(source.path))])
    made_from = generator.get("inputs") or {}
    for role, content_hash in hashes.items():
        wanted = made_from.get(role)
        if wanted is None or wanted == (content := content_hash()):
            continue
        if role == PLUGINS and not content:
            message = f"a plug-in is missing: the {records} were made with one; give it with --plugin"
        else:
            inputs = "plug-ins" if role == PLUGINS else role
            message = f"other {inputs} than the {records} were made from: the content differs"
        warn(Problem(message, str(source.path)))
