"""Warnings about synonyms and plurals, placed in the synonyms file or in the metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vqagen.authoring.check.check_report import CheckReport
from vqagen.errors import unknown
from vqagen.files.parsing import parse_json, read_text
from vqagen.files.schema import content_of, problem_in
from vqagen.language.synonyms import EXTREME, Synonyms, counted_ends
from vqagen.world.domain import Domain

UNKNOWN, AMBIGUOUS, UNSAID_PLURAL = "unknown-synonym", "ambiguous-word", "unsaid-plural"
Meaning = tuple[str, str, bool]
"""A word's meaning: a value of a type, or the null word of a type left open (True)."""


def warn_own_section(domain: Domain, report: CheckReport) -> None:
    """Warn of values in the metadata's `synonyms` that the domain does not have."""
    for path, message in unknown_synonyms(domain.synonyms_section, domain, "synonyms"):
        report.of(domain.source).warn(UNKNOWN, domain.problem(path, message))


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
    """Warn of plurals in the metadata of words that are not said."""
    for path, message in unsaid_plurals(synonyms, domain):
        report.of(domain.source).warn(UNSAID_PLURAL, domain.problem(path, message))


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
    messages_of = [dict(unknown_synonyms(table, domain)) for domain in domains]
    for where, message in messages_of[0].items() if messages_of else ():
        if all(where in others for others in messages_of):
            report.of(path).warn(UNKNOWN, problem_in(str(path), where, message, text))


def unknown_synonyms(table: Mapping[str, Any], domain: Domain, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield (JSON path, message) for each type or value that the domain lacks; `place` is the table's path."""
    every_word = list(dict.fromkeys(word for name in domain.value_types for word in _words(domain, name)))
    for key, entry in content_of(table).items():
        here = f"{place}.{key}" if place else key
        if not isinstance(entry, Mapping):
            if key not in every_word:
                yield here, unknown("value", key, every_word)
        elif key in domain.value_types:
            yield from _unknown_values(entry, key, _words(domain, key), here)
        elif key == EXTREME:
            yield from _unknown_values(entry, key, list(domain.relations), here)
        else:
            yield here, unknown("type", key, (*domain.value_types, EXTREME))


def _unknown_values(
    table: Mapping[str, Any], type_name: str, known: list[str], place: str
) -> Iterator[tuple[str, str]]:
    for value in content_of(table):
        if value not in known:
            yield f"{place}.{value}", unknown(type_name, value, known)


def _words(domain: Domain, type_name: str) -> list[str]:
    """Return the words that may have synonyms: the values of a type, and its null word."""
    attribute = domain.attribute_of(type_name)
    null = [attribute.null] if attribute and attribute.null else []
    return [*domain.values_of(type_name), *null]


def ambiguous_words(synonyms: Synonyms, domain: Domain) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each word with two meanings, and the (type, value) of all its meanings.

    An attribute left open stands under its null word, beside values; that two attributes say "thing" when they are
    left open is no ambiguity. Capitals do not count, since a sentence starts with one.
    """
    meanings: dict[str, list[Meaning]] = {}
    spelt: dict[str, str] = {}
    for way, meaning in _everything_said(synonyms, domain):
        meanings.setdefault(way.casefold(), []).append(meaning)
        spelt.setdefault(way.casefold(), way)
    for word, every in meanings.items():
        things = list(dict.fromkeys((kind, value) for kind, value, _ in every))
        if len(things) > 1 and not all(is_open for _, _, is_open in every):
            yield spelt[word], things


def _everything_said(synonyms: Synonyms, domain: Domain) -> Iterator[tuple[str, Meaning]]:
    for type_name in domain.value_types:
        attribute = domain.attribute_of(type_name)
        for value in (*domain.values_of(type_name), None):
            meaning = (type_name, value or (attribute.null if attribute else ""), value is None)
            yield from ((" ".join(way.split()), meaning) for way in synonyms.of(type_name, value) if way)


def unsaid_plurals(synonyms: Synonyms, domain: Domain) -> Iterator[tuple[str, str]]:
    """Yield (JSON path, message) for each of the domain's `plurals` whose word nothing is said by."""
    said = dict.fromkeys(end for way, _ in _everything_said(synonyms, domain) for end in counted_ends(way))
    for word in domain.plurals:
        if word not in said and word.removesuffix("s") not in said:
            yield f"plurals.{word}", unknown("word", word, list(said))
