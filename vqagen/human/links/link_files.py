"""Files of links: in batches, in the formats of platforms, with nothing left of an earlier and longer list."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from vqagen.errors import Problem, UsageError, warn
from vqagen.files.output import atomic_output
from vqagen.human.links.settings import CSV, HUMANR, TASKFLOW, TXT

LINKS_FOLDER = "links"
"""The folder in a study where its links are, unless another is named."""
WRITTEN = ".written.json"
"""The list of files in the folder that this command wrote, with their hashes."""
_PROLIFIC_IDS = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
"""Placeholders that Prolific fills (docs.prolific.com, "The study object")."""
_INDENTED = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


class LinkRow(NamedTuple):
    """A link, and how many raters may use it."""

    task: str
    slot: int | None
    places: int
    link: str


_BATCHES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    HUMANR: ("hit_links_{}.csv", {"HIT_Link": "link"}),
    CSV: ("links_{}.csv", {name: name for name in LinkRow._fields}),
    TXT: ("links_{}.txt", {"": "link"}),
}
"""Format -> names of its files, and header -> field of their columns."""


def link_files(rows: Sequence[LinkRow], format: str, batch_size: int) -> dict[str, bytes]:
    """Return name -> content of the files of links, at most `batch_size` links in each.

    Taskflow has the fields of a Prolific study that concern links (docs.prolific.com, "Create a draft study").
    """
    if format == TASKFLOW:
        record = {
            "access_details": [
                {"external_url": row.link + _PROLIFIC_IDS, "total_allocation": row.places} for row in rows
            ],
            "total_available_places": sum(row.places for row in rows),
            "prolific_id_option": "url_parameters",
        }
        return {"taskflow.json": orjson.dumps(record, option=_INDENTED)}
    name, columns = _BATCHES[format]
    starts = range(0, len(rows), batch_size)
    return {name.format(i): _lines(rows[at : at + batch_size], columns) for i, at in enumerate(starts)}


def _lines(rows: Sequence[LinkRow], columns: Mapping[str, str]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if any(columns):  # a text file has no header
        writer.writerow(columns)
    writer.writerows([getattr(row, field) for field in columns.values()] for row in rows)
    return text.getvalue().encode()


def write_files(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files into a folder and delete those that an earlier call wrote there; return their paths.

    A file that somebody else wrote or changed is never touched: UsageError if it has a name that is needed.
    """
    written: dict[str, Any] = {}
    with suppress(OSError, TypeError, ValueError):
        written = dict(orjson.loads((folder / WRITTEN).read_bytes()))
    present = [path for path in sorted(folder.glob("*")) if path.name in written or path.name in files]
    own = [path for path in present if path.is_file() and _hash(path.read_bytes()) == written.get(path.name)]
    foreign = [path for path in present if path not in own]
    if needed := [str(path) for path in foreign if path.name in files]:
        named = ", ".join(needed[:5]) + (", …" if len(needed) > 5 else "")
        raise UsageError(f"{named} exists and was not written by this command; name another folder with --out")
    folder.mkdir(parents=True, exist_ok=True)
    for path in own:
        path.unlink()
    record = {name: _hash(content) for name, content in files.items()}
    for name, content in {WRITTEN: orjson.dumps(record, option=_INDENTED), **files}.items():
        with atomic_output(str(folder / name)) as file:
            file.write(content)
    for path in foreign:
        warn(Problem("was changed by hand after it was written; it stays", str(path)))
    return [folder / name for name in files]


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
