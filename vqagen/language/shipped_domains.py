"""The domains that vqagen ships, listed: their metadata, and their templates for each task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

QUESTIONS, DIALOGS = "questions", "dialogs"


class ShippedDomain(NamedTuple):
    """The places of a domain's files among the shipped data."""

    metadata: str
    templates: Mapping[str, str]
    """Task -> file or folder of templates. A domain may serve several tasks; the first is its main one."""


SHIPPED_DOMAINS: Mapping[str, ShippedDomain] = {
    "clevr": ShippedDomain("metadata/clevr.json", {QUESTIONS: "templates/clevr", DIALOGS: "templates/dialog"}),
    "market": ShippedDomain("metadata/market.json", {QUESTIONS: "templates/market", DIALOGS: "templates/dialog"}),
}
DEFAULT_DOMAIN = "clevr"
