"""Ways to say the values of a domain, from a synonyms file and from the metadata's own `synonyms` section.

Both have one form: `{value: [ways]}`, `{type: {value: [ways]}}`, or both in one; a type is written as in `types`. The
ways to say a value are the first of these that there are:

1. in the file, those of its type, then those of any type;
2. in the metadata's section, likewise;
3. its attribute's `display` of it;
4. the value itself.

The section `Extreme` has words such as "leftmost" for relations, which only captions of dialogs use.

A word that stands for an attribute left open ("thing") has synonyms like a value. How several words are counted as one
thing is in the domain's `plurals`: by the whole way to say it, or by its last word, which a hyphen may begin.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from vqagen.errors import Problem, counted
from vqagen.files.parsing import parse_json, read_text
from vqagen.files.schema import Findings, content_of, malformed
from vqagen.world.domain import Domain

Ways = tuple[str, ...]
"""The ways to say one value."""
Phrases = Mapping[str, Sequence[tuple[list[str], Ways, str]]]
"""First word -> phrases that begin with it, each with the ways to say its value and the one that it stands for."""

EXTREME = "Extreme"
"""The section with a word such as "leftmost" for each relation; no type of a domain."""
MOST_FAULTS = 10
"""Mistakes listed of one file: a file of another kind has one at every key."""
NO_SYNONYMS = "is it a file of synonyms, {value: [ways to say it]}?"
_WORD = re.compile(r"<[^<>\s()]+>|[\w-]+")


class Synonyms:
    """Ways to say a value; `table` is that of the file, and comes before the metadata's."""

    def __init__(self, table: Mapping[str, Any], domain: Domain) -> None:
        self.domain = domain
        self._tables = (table, domain.synonyms_section)
        self._of_type: dict[str, Mapping[str | None, Ways]] = {}
        self._plurals: dict[str, str] = {"": ""}

    def of_type(self, type_name: str) -> Mapping[str | None, Ways]:
        """The ways to say each value of a slot of a type, and its open form."""
        if type_name not in self._of_type:
            values = (*self.domain.values_of(type_name), None)
            self._of_type[type_name] = {value: self.of(type_name, value) for value in values}
        return self._of_type[type_name]

    def of(self, type_name: str, value: str | None) -> Ways:
        """The ways to say a slot's value, or its open form; a single "" where an open slot says nothing."""
        attribute = self.domain.attribute_of(type_name)
        if value is None:
            value = attribute.null if attribute else ""
        if not value:  # an open slot of an attribute without a null word
            return ("",)
        for table in self._tables:
            if ways := _listed(table, type_name, value):
                return ways
        displayed = attribute.display.get(value) if attribute else None
        return (displayed or value,)

    def extreme(self, relation: str) -> tuple[str, ...]:
        """The words for what lies farthest in a direction, such as "leftmost"; none if there are none."""
        for table in self._tables:
            ways = table.get(EXTREME)
            if isinstance(ways, Mapping) and isinstance(ways.get(relation), list):
                return tuple(ways[relation])
        return ()

    def plural(self, way: str) -> str:
        """The plural of a way to say a value: the domain's, of all of it or of its last word; else the English rule."""
        known = self._plurals.get(way)
        if known is None:
            known = self._plurals[way] = self.listed_plural(way) or english_plural(way)
        return known

    def listed_plural(self, way: str) -> str | None:
        """The plural of a way to say a value by the domain's `plurals`, if they have any for it.

        The domain may also list what is wrong with an s put behind it, as SHOP-VRB does: `{"knifes": "knives"}`.
        """
        plurals = self.domain.plurals
        for end in counted_ends(way):
            plural = plurals.get(end) or plurals.get(f"{end}s")
            if plural:
                return way.removesuffix(end) + plural
        return None

    def said_in(self, text: str) -> dict[Ways, str]:
        """Return the way to say each value that comes first in a text's own words."""
        words = [word for token in text.lower().split() for word in _words_of(token)]
        phrases, way_of = self._phrases, dict[Ways, str]()
        for at, word in enumerate(words):
            for phrase, ways, way in phrases.get(word, ()):
                if words[at : at + len(phrase)] == phrase:
                    way_of.setdefault(ways, way)
        return way_of

    @cached_property
    def _phrases(self) -> Phrases:
        """The phrases that can stand for a value that may be said in several ways, in the singular and the plural.

        {"ball": [(["ball"], ("sphere", "ball"), "ball")], "balls": [(["balls"], ("sphere", "ball"), "ball")], …}
        """
        phrases: defaultdict[str, list[tuple[list[str], Ways, str]]] = defaultdict(list)
        every = (ways for kind in self.domain.slot_types for ways in self.of_type(kind).values())
        for ways in dict.fromkeys(every):
            for way in ways if len(ways) > 1 else ():
                for form in (way, self.plural(way)):
                    words = _WORD.findall(form.lower())
                    phrases[words[0] if words else ""].append((words, ways, way))
        return phrases


@lru_cache(maxsize=10_000)
def _words_of(token: str) -> list[str]:
    """Return the words between two spaces. Of 9,951 such tokens of the shipped CLEVR texts 201 differ."""
    return _WORD.findall(token)


def _listed(table: Mapping[str, Any], type_name: str, value: str) -> tuple[str, ...]:
    of_type = table.get(type_name)
    ways = of_type.get(value) if isinstance(of_type, Mapping) else None
    ways = ways or table.get(value)
    return tuple(ways) if isinstance(ways, list) else ()


def load_synonyms(path: Path | str | None, domain: Domain) -> Synonyms:
    """Read a synonyms file, or none, above the section in the domain's metadata.

    Raises BadInput with the mistakes in the file. Values that the domain does not have are none: a file may serve
    several domains.
    """
    return Synonyms(_read(str(path)) if path is not None else {}, domain)


def _read(path: str) -> Mapping[str, Any]:
    text = read_text(Path(path))
    table, findings = parse_json(text, path), Findings(path, text)
    faults = [fault for part in malformed(table, "synonyms").values() for fault in part]
    findings.faults(faults[:MOST_FAULTS])
    if more := len(faults[MOST_FAULTS:]):
        findings.problems.append(Problem(f"… and {counted(more, 'more mistake')}: {NO_SYNONYMS}", path))
    findings.settle()
    return content_of(table)


def counted_ends(way: str) -> tuple[str, ...]:
    """Return what of a way to say a value may have a plural of its own: all, its last word, what follows a hyphen.

    >>> counted_ends("old sheep-dog")
    ('old sheep-dog', 'sheep-dog', 'dog')
    """
    return way, way[way.rfind(" ") + 1 :], re.split("[ -]", way)[-1]


def english_plural(word: str) -> str:
    """The regular plural: boxes, berries, cubes.

    >>> english_plural("box"), english_plural("berry"), english_plural("toy")
    ('boxes', 'berries', 'toys')
    """
    if re.search(r"(?:s|x|z|ch|sh)$", word):
        return word + "es"
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + "s"


# The words of a domain in the `info` of a file, so that its answers can be read without the domain ------------------
# {"language": "en", "attributes": {"color": {"red": [], "gray": ["silver"]}, "shape": {"cube": ["block", …], …}}}

Attributes = Mapping[str, Mapping[str, Sequence[str]]]
"""Attribute -> its values, each with the other ways to say it."""


def vocabulary_record(domain: Domain, synonyms: Synonyms) -> dict[str, Any]:
    """Return the `vocabulary` of a file's `generator`."""
    answers = {"answers": dict(domain.answer_words)} if domain.answer_words else {}
    return {
        "language": domain.language or "en",
        "attributes": words_of(domain, synonyms),
        **answers,
    }


def words_of(domain: Domain, synonyms: Synonyms) -> Attributes:
    """Return the values of each attribute, each with the other ways to say it; those of nouns also in the plural."""
    attributes: dict[str, dict[str, list[str]]] = {}
    for attribute in domain.attributes:
        ways_of = attributes.setdefault(attribute.key, {})
        for value in attribute.values:
            ways = [value, *synonyms.of(attribute.type, value)]
            plurals = map(synonyms.plural, ways) if attribute.null else ()  # "cubes", but not "reds"
            ways_of[value] = sorted({*ways, *plurals} - {value})
    return attributes
