"""The links of a study in files for platforms, and the codes that raters got by them."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from vqagen.errors import Problem, UsageError, warn
from vqagen.files.output import atomic_output, sweep
from vqagen.human.settings import (
    CSV,
    GENERAL,
    HUMANR_CSV,
    NEVER,
    PERSONAL,
    PREVIEW,
    TASK,
    TASKFLOW,
    TXT,
    LinkSettings,
)
from vqagen.human.study.study import Study, load_study
from vqagen.human.tokens import Link, Secret, add_key, assignments_of_codes, load_secret, sign_link
from vqagen.report.writers import csv_text

LINKS_FOLDER = "links"
"""The folder in a study where its links are, unless another is named."""
WRITTEN = ".written.json"
"""The list of files in the folder that this command wrote, with their hashes."""
_PROLIFIC_IDS = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
"""Placeholders that Prolific fills (docs.prolific.com, "The study object")."""
_INDENTED = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


LinkRow = dict[str, Any]
"""A `link`, the `task` and `slot` that it is for, and how many raters may use it: `places`."""
_BATCHES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    HUMANR_CSV: ("hit_links_{}.csv", {"HIT_Link": "link"}),
    CSV: ("links_{}.csv", {name: name for name in ("task", "slot", "places", "link")}),
    TXT: ("links_{}.txt", {"": "link"}),
}
"""Format -> names of its files, and header -> field of their columns."""


def write_links(
    folder: Path | str, settings: LinkSettings | None = None, out: Path | str | None = None
) -> tuple[int, list[Path]]:
    """Write the links of a study to the folder `out`, by default `links` in the study; return their number and files.

    Files that an earlier call wrote there are replaced or deleted. A preview has the folder `links/preview`.
    """
    chosen, study = settings or LinkSettings(), load_study(folder)
    expires = expiry(chosen.expires, study.serving.link_days, datetime.now(UTC))
    if chosen.new_key:
        add_key(study.folder)
    rows = links_of(study, load_secret(study.folder), chosen.mode, chosen.public_url.rstrip("/"), expires)
    target = study.folder / LINKS_FOLDER / (PREVIEW if chosen.mode == PREVIEW else "") if out is None else Path(out)
    return len(rows), write_files(target, link_files(rows, chosen.format, chosen.batch_size))


def links_of(study: Study, secret: Secret, mode: str, public_url: str, expires: int) -> list[LinkRow]:
    """Return the links of a study in the order of its tasks."""
    tasks, slots = study.tasks, study.slots
    link_to = partial(Link, study.id, expires=expires, is_preview=mode == PREVIEW)
    chosen = {
        TASK: [(link_to(task), slots) for task in tasks],
        PERSONAL: [(link_to(task, slot), 1) for task in tasks for slot in range(slots)],
        GENERAL: [(link_to(), len(tasks) * slots)],
        PREVIEW: [(link_to(), 0)],
    }[mode]
    address = f"{public_url}/s/"
    return [
        {"task": link.task, "slot": link.slot, "places": places, "link": address + sign_link(link, secret)}
        for link, places in chosen
    ]


def expiry(text: str, days: int, now: datetime) -> int:
    """Return when links expire, in seconds since 1970: after the day `text` (UTC), never (0), or after `days`.

    >>> expiry("2026-12-31", days=90, now=datetime(2026, 1, 1, tzinfo=UTC))
    1798761600
    """
    if text == NEVER:
        return 0
    try:
        end = datetime.strptime(f"{text}Z", "%Y-%m-%d%z") + timedelta(days=1) if text else now + timedelta(days=days)
    except (ValueError, OverflowError):
        raise UsageError(f"--expires must be a day such as 2026-12-31, or {NEVER}; found {text!r}") from None
    if end <= now:
        raise UsageError(f"--expires {text} is in the past")
    return int(end.timestamp())


def verify_codes(folder: Path | str, codes: Iterable[str]) -> dict[str, str | None]:
    """Return the assignment of each completion code, None for a code that the study did not issue.

    People type spaces, hyphens and small letters. A fixed code of the study's platform, which all raters get, is of no
    assignment: "".
    """
    study = load_study(folder)
    spelled = {code: re.sub(r"[\s-]", "", code).upper() for code in codes}
    fixed = {code for code in spelled if code.strip() == study.serving.code_completed != ""}
    assignments: dict[str, str] = {}
    if asked := {spelling for code, spelling in spelled.items() if code not in fixed}:
        secret = load_secret(study.folder, missing="codes cannot be verified without it; restore a copy of it")
        assignments = assignments_of_codes(asked, secret, study.id, list(study.tasks), study.slots)
    return {code: "" if code in fixed else assignments.get(spelling) for code, spelling in spelled.items()}


# Files ----------------------------------------------------------------------------------------------------------------


def link_files(rows: Sequence[LinkRow], format: str, batch_size: int) -> dict[str, bytes]:
    """Return name -> content of the files of links, at most `batch_size` links in each.

    Taskflow has the fields of a Prolific study that concern links (docs.prolific.com, "Create a draft study").
    """
    if format == TASKFLOW:
        record = {
            "access_details": [
                {"external_url": row["link"] + _PROLIFIC_IDS, "total_allocation": row["places"]} for row in rows
            ],
            "total_available_places": sum(row["places"] for row in rows),
            "prolific_id_option": "url_parameters",
        }
        return {"taskflow.json": orjson.dumps(record, option=_INDENTED)}
    name, columns = _BATCHES[format]
    starts = range(0, len(rows), batch_size)
    header = [columns] if any(columns) else []  # a text file has none
    lines = [[row[field] for field in columns.values()] for row in rows]
    batches = ([*header, *lines[at : at + batch_size]] for at in starts)
    return {name.format(number): csv_text(batch).encode() for number, batch in enumerate(batches)}


def write_files(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files into a folder and delete those that an earlier call wrote there; return their paths.

    A file that somebody else wrote or changed is never touched: UsageError if it has a name that is needed.
    """
    written: dict[str, Any] = {}
    with suppress(OSError, TypeError, ValueError):
        written = dict(orjson.loads((folder / WRITTEN).read_bytes()))
    present = [path for path in sorted(folder.glob("*")) if path.name in written or path.name in files]
    unchanged = [path for path in present if path.is_file() and _hash(path.read_bytes()) == written.get(path.name)]
    foreign = [path for path in present if path not in unchanged]
    if needed := [str(path) for path in foreign if path.name in files]:
        named = ", ".join(needed[:5]) + (", …" if len(needed) > 5 else "")
        raise UsageError(f"{named} exists and was not written by this command; name another folder with --out")
    folder.mkdir(parents=True, exist_ok=True)
    for path in unchanged:
        path.unlink()
    record = {name: _hash(content) for name, content in files.items()}
    for name, content in {WRITTEN: orjson.dumps(record, option=_INDENTED), **files}.items():
        sweep(str(folder / name))
        with atomic_output(str(folder / name)) as file:
            os.fchmod(file.fileno(), 0o600)  # whoever has a link can take part
            file.write(content)
    for path in foreign:
        warn(Problem("was changed by hand after it was written; it stays", str(path)))
    return [folder / name for name in files]


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
