"""The words of a domain as the `info` of a file carries them, so that its answers can be read without the domain.

{"language": "en", "attributes": {"color": {"red": [], "gray": ["silver"]}, "shape": {"cube": ["block", …], …}}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vqagen.language.synonyms import Synonyms
from vqagen.world.domain import Domain

ENGLISH = "en"


Attributes = Mapping[str, Mapping[str, Sequence[str]]]
"""Attribute -> its values, each with the other ways to say it."""


def vocabulary_record(domain: Domain, synonyms: Synonyms) -> dict[str, Any]:
    """Return the `vocabulary` of a file's `generator`."""
    answers = {"answers": dict(domain.answer_words)} if domain.answer_words else {}
    return {
        "language": domain.language or ENGLISH,
        "attributes": words_of(domain, synonyms),
        **answers,
    }


def words_of(domain: Domain, synonyms: Synonyms) -> Attributes:
    """Return the values of each attribute, each with the other ways to say it; those of nouns also in the plural."""
    attributes: dict[str, dict[str, list[str]]] = {}
    for attribute in domain.attributes:
        said = attributes.setdefault(attribute.key, {})
        for value in attribute.values:
            ways = [value, *synonyms.of(attribute.type, value)]
            plurals = map(synonyms.plural, ways) if attribute.null else ()  # of a noun
            said[value] = sorted({*ways, *plurals} - {value})
    return attributes
