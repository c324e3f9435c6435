"""Kinds of answers, their canonical values, and the vocabulary in which words are answers.

bool      True or False          "yes", "no", "true", …
integer   an int                 "2", "two", "2.0"
word      a value of a domain    "metal", "metallic", "shiny"
list      a tuple of values      "red, blue and green"
cell      a label                "B2", "column B, row 2"
text      free text              anything
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self

from vqagen.errors import VqagenError
from vqagen.language.domain_files import find_domain, synonyms_file
from vqagen.language.shipped_domains import DEFAULT_DOMAIN
from vqagen.language.synonyms import Synonyms, load_synonyms
from vqagen.world.domain import Domain, load_domain

BOOL, INTEGER, WORD, LIST, CELL, TEXT = "bool", "integer", "word", "list", "cell", "text"

Answer = bool | int | str | tuple[Any, ...]
"""The canonical value of an answer."""
_SPELLINGS = {"gray": "grey", "grey": "gray"}
"""Words that British and American English spell differently."""
_TRUTHS = {True: "yes", False: "no"}


def text_of(answer: Answer) -> str:
    """Return an answer as files and reports write it.

    >>> text_of(True), text_of(2), text_of(("red", "blue"))
    ('yes', '2', 'red, blue')
    """
    if isinstance(answer, bool):
        return _TRUTHS[answer]
    return (", ".join(map(text_of, answer)) or "none") if isinstance(answer, tuple) else str(answer)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The values that a word may be an answer for. It equals only itself, so that finders can be kept."""

    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Lower-case way to say a value -> the value."""
    groups: tuple[frozenset[str], ...] = ()
    """The values of each attribute: an answer is one of the values of one attribute."""

    @classmethod
    def of_domain(cls, domain: Domain, synonyms: Synonyms) -> Self:
        """Return the values of a domain's attributes, with their synonyms; nouns also in the plural.

        A name of a value always means this value. A synonym of several values means none of them.
        """
        names = {value.lower(): value for attribute in domain.attributes for value in attribute.values}
        meant: dict[str, set[str]] = {}
        for way, value in _ways(domain, synonyms):
            meant.setdefault(way.lower(), set()).add(value)
        sure = {way: next(iter(values)) for way, values in meant.items() if len(values) == 1}
        groups = tuple(frozenset(attribute.values) for attribute in domain.attributes)
        return cls(MappingProxyType(sure | names), groups)

    def beside(self, values: Collection[str]) -> frozenset[str]:
        """Return all values of the attributes that have one of these values; empty if no attribute has one."""
        return frozenset().union(*(group for group in self.groups if not group.isdisjoint(values)))


NO_VOCABULARY = Vocabulary()
"""For answers that may be any words."""


def _ways(domain: Domain, synonyms: Synonyms) -> Iterator[tuple[str, str]]:
    """Yield (way to say it, value) for all values of attributes."""
    for attribute in domain.attributes:
        for value in attribute.values:
            for way in (value, *synonyms.of(attribute.type, value)):
                yield way, value
                yield " ".join(_SPELLINGS.get(word.lower(), word) for word in way.split()), value
                if attribute.null:  # a noun
                    yield synonyms.plural(way), value


NONE_THERE = "none"
"""The answer about the next object of a dialog where there is none."""


def vocabulary_of(info: Mapping[str, Any], are_dialogs: bool) -> Vocabulary:
    """Return the words of the file's domain, and further answers that its info lists.

    The words of a domain that cannot be read are left out.
    """
    generator = info.get("generator")
    made = generator if isinstance(generator, Mapping) else {}
    further = [NONE_THERE] if are_dialogs else []
    own = {str(answer).lower(): str(answer) for answer in (*further, *(made.get("answers") or ()))}
    name = made.get("domain") or (None if made else DEFAULT_DOMAIN)
    if not name:
        return Vocabulary()
    try:
        files = find_domain(name)
        domain = load_domain(files.metadata)
        of_domain = Vocabulary.of_domain(domain, load_synonyms(synonyms_file(files, domain), domain))
    except VqagenError:  # it is not at hand
        return Vocabulary()
    return replace(of_domain, words={**own, **of_domain.words})
