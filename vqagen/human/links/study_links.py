"""The links of a study: one for each task, one for each slot of a task, or one for all."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from vqagen.errors import UsageError
from vqagen.human.links.link_files import LinkRow
from vqagen.human.links.secret import Secret
from vqagen.human.links.settings import GENERAL, TASK
from vqagen.human.links.tokens import Link, sign
from vqagen.human.study.study import Study

NEVER = "never"
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def links_of(study: Study, secret: Secret, mode: str, public_url: str, expires: int) -> list[LinkRow]:
    """Return the links of a study in the order of its tasks."""
    tasks, slots = tuple(study.tasks), study.slots
    if mode == GENERAL:
        chosen = [(Link(study.id, expires=expires), len(tasks) * slots)]
    elif mode == TASK:
        chosen = [(Link(study.id, task, expires=expires), slots) for task in tasks]
    else:
        chosen = [(Link(study.id, task, slot, expires), 1) for task in tasks for slot in range(slots)]
    return [LinkRow(f"{public_url}/s/{sign(link, secret)}", link.task, link.slot, places) for link, places in chosen]


def expiry(text: str, days: int, now: datetime) -> int:
    """Return when links expire, in seconds since 1970: after the day `text` (UTC), never (0), or after `days`.

    >>> expiry("2026-12-31", days=90, now=datetime(2026, 1, 1, tzinfo=UTC))
    1798761600
    """
    if text == NEVER:
        return 0
    if not text:
        return int((now + timedelta(days=days)).timestamp())
    try:
        last = date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        last = None
    if last is None:
        raise UsageError(f"--expires must be a day such as 2026-12-31, or {NEVER}; found {text!r}")
    end = datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(days=1)
    if end <= now:
        raise UsageError(f"--expires {text} is in the past")
    return int(end.timestamp())
