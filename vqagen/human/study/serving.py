"""How a study is served: leases, limits, codes. `serving.json`, written with defaults by make-tasks, edited by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import orjson

from vqagen.errors import Fault, UsageError, unknown
from vqagen.files.parsing import read_object
from vqagen.tasks.settings import CheckedSettings, setting, setting_of

SERVING_FILE = "serving.json"
_ADDRESS = re.compile(r"https://[\w{][^\s]*")
_FILLED = "{code} is filled in, and {id}, {STUDY_ID}, {SESSION_ID} and others from the address that the rater came by."


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
    record = {"comment": [f"{each.name}: {setting_of(each).help}" for each in fields(Serving)]}
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
