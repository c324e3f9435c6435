"""The settings of `vqagen human links`. Light to import: the help of the command needs it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vqagen.human.server.settings import LOCAL_URL, url_faults
from vqagen.tasks.settings import CheckedSettings, setting

TASK, PERSONAL, GENERAL, PREVIEW = MODES = "task", "personal", "general", "preview"
NEVER = "never"
HUMANR, CSV, TASKFLOW, TXT = FORMATS = "humanr-csv", "csv", "taskflow-json", "txt"


@dataclass(frozen=True)
class LinkSettings(CheckedSettings):
    """For whom links are, and how they are written."""

    mode: str = setting(
        TASK,
        "A link for each task, for each rater of a task (personal), for all (general), or to look at it (preview).",
        choices=MODES,
    )
    format: str = setting(
        HUMANR,
        "One column HIT_Link; task, slot, places, link; fields of a Prolific study; a link a line.",
        choices=FORMATS,
    )
    batch_size: int = setting(500, "Most links in a file.", least=1)
    public_url: str = setting(LOCAL_URL, "Address that raters open.")
    insecure_http: bool = setting(False, "Accept an address without https.")
    expires: str = setting(
        "",
        "Last day of the links, such as 2026-12-31. [default: link_days of serving.json from now]",
        metavar=f"DAY|{NEVER}",
    )
    new_key: bool = setting(
        False,
        "Sign with a new key. To refuse older links, delete the line before it in `secret`, and restart the server.",
    )

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        yield from url_faults(self.public_url, insecure_http=self.insecure_http)
