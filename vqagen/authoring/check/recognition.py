"""Finds the files to check and the kind of each: by its content or, if that is broken, by its name.

`LOOKS` describes each kind. In a folder, JSON and Parquet files are checked, and Python files that import
`vqagen.plugin`; hidden files, JSON Schemas and the infos beside outputs are skipped.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vqagen.authoring.check.check_report import CheckReport
from vqagen.errors import BadInput, InputWarning, PlaceError, Problem, UsageError, VqagenError
from vqagen.files.locations import files_in, holds_columns
from vqagen.files.packing import COLUMNS_SUFFIX, IN_FOLDERS, LINES_SUFFIXES, PACKINGS, is_named_columns, is_named_lines
from vqagen.files.parsing import parse_json, read_text
from vqagen.files.records import first_keys
from vqagen.files.schema import content_of, schema_names
from vqagen.language.loading import holds_templates_with
from vqagen.language.question import QUESTIONS as QUESTION_RECORDS
from vqagen.tasks.record_files import DIALOGS as DIALOG_RECORDS, SAMPLES as SAMPLE_RECORDS, TRIALS as TRIAL_RECORDS
from vqagen.world.loading import SCENES as SCENE_RECORDS
from vqagen.world.metadata_reader import section_of_types

DIRECTOR, DIRECTOR_TEMPLATES, TRIALS = OF_DIRECTOR = ("director", "director-templates", "trials")
"""Kinds of the director task: a catalogue of items, instructions, and trials, which are not checked here."""
METADATA, TEMPLATES, DIALOG_TEMPLATES, SYNONYMS, SCENES, QUESTIONS, DIALOGS, PLUGIN = (
    "metadata",
    "templates",
    "dialog-templates",
    "synonyms",
    "scenes",
    "questions",
    "dialogs",
    "plug-in",
)
"""Kinds of files. DIALOGS are not checked here."""
LOOKS = {
    METADATA: 'an object with "types"',
    DIRECTOR_TEMPLATES: 'instructions of the director task: an object with "targets", "frames" or "templates"',
    DIRECTOR: 'a catalogue of items of the director task: an object with "adjectives" and "kinds"',
    DIALOG_TEMPLATES: 'a list of dialog templates (objects with "label" and "text"), or {"templates": […]}',
    TEMPLATES: 'a list of templates (objects with "text" and "nodes"), or {"templates": […]}',
    SYNONYMS: "an object of value: [ways to say it]",
    SCENES: '{"scenes": […]}, a list of scenes (objects with "objects"), one on each line, or Parquet',
    QUESTIONS: '{"questions": […]}, a list of questions (objects with "program"), one on each line, or Parquet',
}
_KEYS = {
    DIALOGS: {DIALOG_RECORDS.key, DIALOG_RECORDS.own_keys[0]},
    TRIALS: {key for kind in (TRIAL_RECORDS, SAMPLE_RECORDS) for key in (kind.key, *kind.own_keys)},
    METADATA: {"types"},
    DIRECTOR: {"adjectives", "kinds"},
    DIRECTOR_TEMPLATES: {"targets", "frames"},
    TEMPLATES: {"templates", "nodes", "constraints"},
    DIALOG_TEMPLATES: {"label"},
    SCENES: {SCENE_RECORDS.key, *SCENE_RECORDS.own_keys},
    QUESTIONS: {QUESTION_RECORDS.key, *QUESTION_RECORDS.own_keys},
}
"""Keys of a document, or of an item of its list; any one of them shows the kind. Dialogs can have objects as well."""

SUFFIXES = (*IN_FOLDERS, *(f"{lines}{packing}" for lines in LINES_SUFFIXES for packing in ("", *PACKINGS)))
_UNPACKED = ", ".join(f"*{suffix}" for suffix in SUFFIXES if not suffix.endswith(PACKINGS))
_ENDINGS = f"{_UNPACKED} (also {', '.join(PACKINGS)}), no *{COLUMNS_SUFFIX}"
SCHEMA, INFO = SKIPPED = (".schema.json", ".info.json")
"""Suffixes of JSON Schemas, which `vqagen init` puts beside the files of a domain, and of infos beside outputs."""
_IMPORT = re.compile(rb"^\s*from\s+vqagen\.plugin\s+import", re.MULTILINE)
WHOLE = 1 << 22
"""Bytes up to which a file is read as a whole to find its kind; of a larger file, only the first keys."""


@dataclass(frozen=True)
class CheckedFile:
    """A file to check."""

    path: Path
    kind: str

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folder of the file, the folder of that folder, and so on."""
        return tuple(Path(os.path.abspath(self.path)).parents)


def find_files(paths: Sequence[Path | str], report: CheckReport) -> list[Path]:
    """Return the files at these paths, each once; raise UsageError if there are none.

    A folder that cannot be read is an error in the report.
    """
    found: dict[str, Path] = {}
    for path in map(Path, paths):
        if not path.is_dir() and not path.is_file():
            raise PlaceError(f"nothing to check at {path}: there is no such file or folder")
        files = _files_in(path, report) if path.is_dir() else [path]
        if not files and not report.errors:
            raise PlaceError(f"nothing to check in {path}: no {_ENDINGS}, and no plug-in")
        for file in files:
            found.setdefault(os.path.abspath(file), file)
    return list(found.values())


def _files_in(folder: Path, report: CheckReport) -> list[Path]:
    def note(error: OSError) -> None:
        report.of(error.filename).error(Problem(f"cannot be read: {error.strerror}", str(error.filename)))

    return [file for file in files_in(folder, note) if file.is_file() and (_is_data(file) or _is_plugin(file))]


def _is_data(file: Path) -> bool:
    """True for a name that says JSON or Parquet."""
    is_json = file.name.endswith(SUFFIXES) and not file.name.endswith(SKIPPED)
    return is_json or is_named_columns(file.name)


def _is_plugin(file: Path) -> bool:
    """True if a Python file imports `vqagen.plugin`. A check must not run other Python files in a folder."""
    try:
        return file.suffix == ".py" and _IMPORT.search(file.read_bytes()) is not None
    except OSError:
        return True  # loading it reports the error


def recognise_all(paths: Sequence[Path], report: CheckReport) -> list[CheckedFile]:
    """Return files with their kinds. A file that cannot be read, or is of no kind, is an error."""
    items = [_recognised(path, report) for path in paths]
    for item in items:
        file = report.of(item.path)
        if not item.kind and not file.errors:
            looks = "; ".join(f"{kind}, {look}" for kind, look in LOOKS.items())
            file.error(Problem(f"unknown kind of file; expected {looks}", str(item.path)))
    return items


def _recognised(path: Path, report: CheckReport) -> CheckedFile:
    """Return a file with its kind, "" for none. A file that cannot be read is an error."""
    file = report.of(path)
    try:
        file.kind = _kind(path, report)
    except UsageError as error:
        file.error(Problem(str(error), str(path)))
    except BadInput as error:
        report.add_errors(path, error.problems)
        file.kind = "" if is_named_columns(path.name) else _kind_of_name(path)
    return CheckedFile(path, file.kind)


def _kind(path: Path, report: CheckReport) -> str:
    if path.suffix == ".py":
        return PLUGIN
    if holds_columns(path):
        return _kind_of_records(dict.fromkeys(first_keys(path)))
    is_streamed = is_named_lines(path.name) or path.stat().st_size > WHOLE
    return _kind_of_opening(path) if is_streamed else _kind_of_whole(path, report)


def _kind_of_whole(path: Path, report: CheckReport) -> str:
    """Return the kind of a small file. Scenes and questions may stand one on each line (JSON Lines)."""
    text = read_text(path)
    with report.listening(path, "not-json"):
        try:
            return kind_of(parse_json(text, str(path)), path)
        except BadInput as error:
            kind = ""
            with suppress(ValueError, RecursionError):  # of a first line that is no whole object
                kind = _kind_of_records(json.loads(text.lstrip().partition("\n")[0]))
            if not kind:  # not JSON Lines either
                report.add_errors(path, error.problems)
            return kind or _kind_of_name(path)


def _kind_of_records(record: object) -> str:
    """Return the kind of a file of records by its first record, or by its columns."""
    kind = _kind_of_keys(record)
    return kind if kind in (SCENES, QUESTIONS, DIALOGS, TRIALS) else ""


def _kind_of_opening(path: Path) -> str:
    """Return the kind by the first key that shows it; for files that may be too large for memory."""
    kind_of_key = {key: kind for kind, keys in _KEYS.items() for key in keys}
    return next((kind_of_key[key] for key in first_keys(path) if key in kind_of_key), "") or _kind_of_name(path)


def kind_of(document: object, path: Path) -> str:
    """Return the kind of a document: by its `$schema`, its keys, its file's name, or its form; "" if unknown."""
    first = document[0] if isinstance(document, list) and document else document
    kind = _kind_of_schema(document) or _kind_of_keys(first) or _kind_of_name(path)
    return kind or (SYNONYMS if isinstance(document, Mapping) and document and _are_ways(document) else "")


def _kind_of_schema(document: object) -> str:
    named = document.get("$schema") if isinstance(document, Mapping) else None
    stem = named.rsplit("/", 1)[-1].removesuffix(SCHEMA) if isinstance(named, str) else ""
    return stem if stem in schema_names() else ""


def may_be_metadata(path: Path) -> bool:
    """True for a file with the keys of metadata, and for one that cannot be read as JSON."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        try:
            return _kind_of_keys(parse_json(read_text(path), str(path))) == METADATA
        except VqagenError:
            return True


def _kind_of_keys(document: object) -> str:
    if not isinstance(document, Mapping):
        return ""
    found = next((kind for kind, keys in _KEYS.items() if not keys.isdisjoint(document)), "")
    if found == TEMPLATES and holds_templates_with(document, "label", but="nodes"):
        found = DIALOG_TEMPLATES
    return found or (METADATA if section_of_types(document) in document else "")


def _kind_of_name(path: Path) -> str:
    """Return the kind by a word in the file's name, or else by the name of its folder."""
    named = [kind for kind in LOOKS if kind.removesuffix("s") in path.name.lower()]
    folders = [kind for folder in Path(os.path.abspath(path)).parents[:2] for kind in LOOKS if folder.name == kind]
    return next(iter((*named, *folders)), "")  # my_templates.json; templates/farm/x.json


def _are_ways(entry: object) -> bool:
    """True for a list of ways to say a value, and for an object of such lists."""
    if isinstance(entry, Mapping):
        return all(map(_are_ways, content_of(entry).values()))
    return isinstance(entry, list) and bool(entry) and all(isinstance(word, str) for word in entry)
