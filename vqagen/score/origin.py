"""What the `info` of a file says of its origin, and whether the inputs at hand are those that it was made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vqagen.errors import BadInput, Problem, warn
from vqagen.files.source import RecordSource
from vqagen.language.domain_files import SHIPPED_DOMAINS

PLUGINS = "plugins"


def generator_of(source: RecordSource) -> Mapping[str, Any]:
    """Return the `generator` of a file's info; empty if vqagen did not make the file."""
    found = source.info.get("generator")
    return found if isinstance(found, Mapping) and found.get("name") == "vqagen" else {}


def settings_of(source: RecordSource) -> Mapping[str, Any]:
    """Return the settings of the run that made a file, by its `info`; empty if vqagen did not make it."""
    found = generator_of(source).get("settings")
    return found if isinstance(found, Mapping) else {}


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
        if wanted is None or wanted == (found := content_hash()):
            continue
        if role == PLUGINS and not found:
            message = f"a plug-in is missing: the {records} were made with one; give it with --plugin"
        else:
            inputs = "plug-ins" if role == PLUGINS else role
            message = f"other {inputs} than the {records} were made from: the content differs"
        warn(Problem(message, str(source.path)))
