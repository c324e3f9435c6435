"""The rules and quotas that a dialog file was made with, by its `info`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from vqagen.tasks.dialog.knowledge import Rules
from vqagen.tasks.dialog.quotas import PRESETS, Quotas, quotas_from_record
from vqagen.tasks.dialog.settings import LEGACY, NEAREST


class DialogOrigin(NamedTuple):
    """The rules and quotas of a run."""

    rules: Rules
    quotas: Quotas


def origin_of(info: Mapping[str, Any], source: str) -> DialogOrigin | None:
    """Return how a file was made, by its info; None if vqagen did not make it.

    Raises BadInput for quotas in it that are no quotas; `source` names the file there.
    """
    match info:
        case {"generator": {"name": "vqagen", "settings": {"quotas": str(name), **settings}, **rest}}:
            rules = Rules(settings.get("semantics") != LEGACY, str(settings.get("rel_seek", NEAREST)))
            if "quotas" in rest:
                return DialogOrigin(rules, quotas_from_record(name, rest["quotas"], f"{source}: info.generator.quotas"))
            return DialogOrigin(rules, PRESETS.get(name, PRESETS["none"]))
    return None
