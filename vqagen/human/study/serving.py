"""How a study is served: leases, limits, codes. `serving.json`, written with defaults by make-tasks, edited by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from urllib.parse import urlsplit

import orjson

from vqagen.errors import BadInput, Problem, UsageError, describe, unknown
from vqagen.files.locations import Location
from vqagen.json.parsing import parse_json, read_text
from vqagen.json.text import locate
from vqagen.tasks.settings import CheckedSettings, setting

SERVING_FILE = "serving.json"


@dataclass(frozen=True)
class Serving(CheckedSettings):
    """The settings of serving. They may be changed between two runs of `serve`."""

    store: str = setting("", "Where answers are: sqlite:PATH from here, or redis://HOST/DB; empty: answers.sqlite.")
    lease_minutes: int = setting(60, "Minutes until an unfinished assignment is free for another rater.", least=1)
    tasks_per_person: int = setting(0, "How many tasks one person may do; 0 for any number.", least=0)
    link_days: int = setting(90, "Days until a link expires, counted from when it is made.", least=1)
    keep_withdrawn_answers: bool = setting(False, "Keep the answers of raters who withdraw; say so in the consent.")
    code_completed: str = setting("", "The completion code for all, such as Prolific's; empty for one each.")
    code_withdrawn: str = setting("", "The code for all who withdraw; empty for none.")
    redirect_completed: str = setting("", "Address of the link behind the last trial; {code} is filled.")
    redirect_withdrawn: str = setting("", "Address of the link for those who withdraw; {code} is filled.")

    @property
    def lease(self) -> int:
        """Milliseconds of a lease."""
        return self.lease_minutes * 60_000

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        for name in ("redirect_completed", "redirect_withdrawn"):
            address = getattr(self, name)
            if address and not _is_web_address(address):
                yield f"{name} must be an address that begins with https://, found {address!r}"


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname)


def default_serving() -> bytes:
    """Return the file of the default settings, each with its meaning."""
    record = {"comment": [f"{each.name}: {each.metadata['setting'].help}" for each in fields(Serving)]}
    return orjson.dumps({**record, **Serving().to_record()}, option=orjson.OPT_INDENT_2) + b"\n"


def load_serving(path: Location) -> Serving:
    """Load the settings of serving. BadInput with every mistake in the file."""
    text, source = read_text(path), str(path)
    document = parse_json(text, source)
    if not isinstance(document, dict):
        raise BadInput([Problem(f"expected an object, found {describe(document)}", source)])
    known = Serving.names()
    given = {key: value for key, value in document.items() if key not in ("comment", "$schema")}
    strange = [
        Problem(unknown("key", key, known), source, key, *locate(text, key)) for key in given if key not in known
    ]
    try:
        settings = Serving(**{key: value for key, value in given.items() if key in known})
    except UsageError as error:
        strange += [Problem(line.removeprefix("--"), source) for line in str(error).splitlines()]
    if strange:
        raise BadInput(strange)
    return settings
