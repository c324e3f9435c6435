"""Warnings about synonyms and plurals, placed in the synonyms file or in the metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vqagen.authoring.check.check_report import CheckReport
from vqagen.files.parsing import parse_json, read_text
from vqagen.language.synonyms import Synonyms
from vqagen.language.synonyms_check import ambiguous_words, missing_plurals, unknown_synonyms, unsaid_plurals
from vqagen.world.domain import Domain
from vqagen.world.findings import problem_in

UNKNOWN, AMBIGUOUS = "unknown-synonym", "ambiguous-word"
UNSAID_PLURAL, MISSING_PLURAL = "unsaid-plural", "missing-plural"


def warn_own_section(domain: Domain, report: CheckReport) -> None:
    """Warn of values in the metadata's `synonyms` that the domain does not have."""
    for place, message in unknown_synonyms(domain.synonyms_section, domain, "synonyms"):
        report.of(domain.source).warn(UNKNOWN, domain.problem(place, message))


def warn_ambiguous(synonyms: Synonyms, domain: Domain, path: Path | None, report: CheckReport) -> None:
    """Warn of words with two meanings; `path` is the synonyms file, if there is one."""
    text = read_text(path) if path else ""
    table = parse_json(text, str(path)) if path else {}
    for word, things in ambiguous_words(synonyms, domain):
        message = f"{word!r} may mean {' or '.join(f'{kind} {value!r}' for kind, value in things)}"
        place = next(_places(table, things), None)
        if path and place is not None:
            report.of(path).warn(AMBIGUOUS, problem_in(str(path), place, message, text))
        else:
            own = next(_places(domain.synonyms_section, things), None)
            where = f"synonyms.{own}" if own is not None else f"types.{things[-1][0]}"
            report.of(domain.source).warn(AMBIGUOUS, domain.problem(where, message))


def warn_plurals(synonyms: Synonyms, domain: Domain, report: CheckReport) -> None:
    """Warn of plurals in the metadata that do not fit the words that are said."""
    for code, doubts in ((UNSAID_PLURAL, unsaid_plurals), (MISSING_PLURAL, missing_plurals)):
        for place, message in doubts(synonyms, domain):
            report.of(domain.source).warn(code, domain.problem(place, message))


def _places(table: Mapping[str, Any], things: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the places of these things in a table, the last one first: it was added last."""
    for kind, value in reversed(things):
        of_type = table.get(kind)
        if isinstance(of_type, Mapping) and value in of_type:
            yield f"{kind}.{value}"
        elif value in table:
            yield value


def warn_unknown(path: Path, domains: Sequence[Domain], report: CheckReport) -> None:
    """Warn of values in a synonyms file that none of its domains has."""
    text = read_text(path)
    table = parse_json(text, str(path))
    found = [dict(unknown_synonyms(table, domain)) for domain in domains]
    for place, message in found[0].items() if found else ():
        if all(place in others for others in found):
            report.of(path).warn(UNKNOWN, problem_in(str(path), place, message, text))
