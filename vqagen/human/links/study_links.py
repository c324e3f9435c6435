"""The links of a study, and the codes that raters got by them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from vqagen.errors import UsageError
from vqagen.human.links.link_files import LINKS_FOLDER, LinkRow, link_files, write_files
from vqagen.human.links.secret import Secret, add_key, load_secret
from vqagen.human.links.settings import GENERAL, NEVER, PERSONAL, PREVIEW, TASK, LinkSettings
from vqagen.human.study.study import Study, load_study


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
    place = study.folder / LINKS_FOLDER / (PREVIEW if chosen.mode == PREVIEW else "") if out is None else Path(out)
    return len(rows), write_files(place, link_files(rows, chosen.format, chosen.batch_size))


def links_of(study: Study, secret: Secret, mode: str, public_url: str, expires: int) -> list[LinkRow]:
    """Return the links of a study in the order of its tasks."""
    from vqagen.human.links.tokens import Link, sign_link

    tasks, slots = study.tasks, study.slots
    link = partial(Link, study.id, expires=expires, is_preview=mode == PREVIEW)
    chosen = {
        TASK: [(link(task), slots) for task in tasks],
        PERSONAL: [(link(task, slot), 1) for task in tasks for slot in range(slots)],
        GENERAL: [(link(), len(tasks) * slots)],
        PREVIEW: [(link(), 0)],
    }[mode]
    address = f"{public_url}/s/"
    return [LinkRow(each.task, each.slot, places, address + sign_link(each, secret)) for each, places in chosen]


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
    from vqagen.human.links.tokens import assignments_of_codes

    study = load_study(folder)
    spelled = {code: re.sub(r"[\s-]", "", code).upper() for code in codes}
    fixed = {code for code in spelled if code.strip() == study.serving.code_completed != ""}
    found: dict[str, str] = {}
    if asked := {spelling for code, spelling in spelled.items() if code not in fixed}:
        secret = load_secret(study.folder, missing="codes cannot be verified without it; restore a copy of it")
        found = assignments_of_codes(asked, secret, study.id, list(study.tasks), study.slots)
    return {code: "" if code in fixed else found.get(spelling) for code, spelling in spelled.items()}
