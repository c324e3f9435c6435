"""Files of links: in batches, in the formats of platforms, with nothing left of an earlier and longer list."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from vqagen.errors import PlaceError, Problem, UsageError, warn
from vqagen.files.output import atomic_output
from vqagen.human.links.settings import CSV, HUMANR, TASKFLOW, TXT

HUMANR_HEADER = "HIT_Link"
LINKS_FOLDER = "links"
"""The folder in a study where its links are, unless another is named."""
WRITTEN = ".written.json"
"""The list of files in the folder that this command wrote, with their hashes."""
_SCHEMA = "vqagen.human.links/1"
_PROLIFIC_IDS = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
"""Placeholders that Prolific fills (docs.prolific.com, "The study object")."""


class LinkRow(NamedTuple):
    """A link, and how many raters may use it."""

    url: str
    task: str
    slot: int | None
    places: int


def link_files(rows: Sequence[LinkRow], format: str, batch_size: int) -> dict[str, bytes]:
    """Return name -> content of the files of links, at most `batch_size` links in each."""
    if format == TASKFLOW:
        return {"taskflow.json": _taskflow(rows)}
    stem, ending, write = _BATCHES[format]
    starts = range(0, len(rows), batch_size)
    return {f"{stem}_{i}.{ending}": write(rows[at : at + batch_size]) for i, at in enumerate(starts)}


def _humanr_csv(rows: Iterable[LinkRow]) -> bytes:
    return _csv([HUMANR_HEADER], ([row.url] for row in rows))


def _plain_csv(rows: Iterable[LinkRow]) -> bytes:
    return _csv(["task", "slot", "places", "link"], ([row.task, row.slot, row.places, row.url] for row in rows))


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def _txt(rows: Iterable[LinkRow]) -> bytes:
    return "".join(f"{row.url}\n" for row in rows).encode()


def _taskflow(rows: Sequence[LinkRow]) -> bytes:
    """Return the fields of a Prolific study that concern links (docs.prolific.com, "Create a draft study")."""
    record = {
        "access_details": [{"external_url": row.url + _PROLIFIC_IDS, "total_allocation": row.places} for row in rows],
        "total_available_places": sum(row.places for row in rows),
        "prolific_id_option": "url_parameters",
    }
    return (json.dumps(record, indent=2) + "\n").encode()


_BATCHES: dict[str, tuple[str, str, Callable[[Sequence[LinkRow]], bytes]]] = {
    HUMANR: ("hit_links", "csv", _humanr_csv),
    CSV: ("links", "csv", _plain_csv),
    TXT: ("links", "txt", _txt),
}


# Folder ---------------------------------------------------------------------------------------------------------------


def write_files(folder: Path, files: dict[str, bytes]) -> list[Path]:
    """Write files into a folder and delete those that an earlier call wrote there; return their paths.

    A file that somebody else wrote or changed is never touched: UsageError if it has a name that is needed.
    """
    if folder.exists() and not folder.is_dir():
        raise PlaceError(f"{folder} is a file; name a folder with --out")
    written = _written(folder)
    own = {name for name, digest in written.items() if _digest(folder / name) == digest}
    foreign = [str(folder / name) for name in files if name not in own and (folder / name).exists()]
    if foreign:
        named = ", ".join(foreign[:5]) + (", …" if len(foreign) > 5 else "")
        raise UsageError(f"{named} exists and was not written by this command; name another folder with --out")
    folder.mkdir(parents=True, exist_ok=True)
    _record(folder, {**written, **{name: _hash(content) for name, content in files.items()}})
    for name, content in files.items():
        with atomic_output(str(folder / name)) as file:
            file.write(content)
    for name in written.keys() - files.keys():
        if name in own:
            (folder / name).unlink()
        elif (folder / name).exists():
            warn(Problem("was changed by hand after it was written; it stays", str(folder / name)))
    _record(folder, {name: _hash(content) for name, content in files.items()})
    return [folder / name for name in files]


def _written(folder: Path) -> dict[str, str]:
    """Return name -> hash of the files that earlier calls wrote."""
    with suppress(OSError, ValueError):
        record: Any = json.loads((folder / WRITTEN).read_bytes())
        if isinstance(record, dict) and record.get("schema") == _SCHEMA:
            return dict(_plain_names(record.get("files")))
    return {}


def _plain_names(files: object) -> Iterator[tuple[str, str]]:
    """Yield names without a folder: an edited list must not lead to other files."""
    if isinstance(files, dict):
        yield from ((name, str(digest)) for name, digest in files.items() if Path(name).name == name)


def _record(folder: Path, files: dict[str, str]) -> None:
    with atomic_output(str(folder / WRITTEN)) as file:
        file.write((json.dumps({"schema": _SCHEMA, "files": files}, indent=2) + "\n").encode())


def _digest(path: Path) -> str | None:
    with suppress(OSError):
        return _hash(path.read_bytes())
    return None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
