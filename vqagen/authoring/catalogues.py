"""The functions, constraints and vocabulary that an author of templates can use, each with its meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from vqagen.language.catalogue import Catalogue
from vqagen.language.synonyms import Synonyms
from vqagen.plugin import NODE, PLURAL_KINDS, SLOT
from vqagen.world.attribute import Attribute

BUILT_IN = "built-in"
COMPOSITE = "templates only"


@dataclass(frozen=True)
class CatalogueEntry:
    """A function or constraint: its signature, its meaning, and the plug-in that adds it."""

    name: str
    signature: str
    meaning: str
    aliases: tuple[str, ...] = ()
    source: str = BUILT_IN

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Word:
    """A value, `depth` groups down. `ways` are the ways to say it, empty if it is said as itself."""

    value: str
    depth: int = 0
    ways: tuple[str, ...] = ()


@dataclass(frozen=True)
class WordList:
    """The words of one type. `key` and `null` are those of the attribute; relations have "" there."""

    name: str
    type: str
    words: tuple[Word, ...]
    key: str = ""
    null: str = ""
    traits: tuple[str, ...] = ()
    """Remarks, such as "a list of values"."""

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return asdict(self)


def function_entries(catalogue: Catalogue) -> list[CatalogueEntry]:
    """Return every function of the domain, and the nodes that only templates have."""
    functions = [
        CatalogueEntry(each.name, each.signature, each.meaning, each.aliases, each.source or BUILT_IN)
        for each in catalogue.values()
    ]
    return [*functions, *_composites(catalogue)]


def _composites(catalogue: Catalogue) -> Iterator[CatalogueEntry]:
    for name, composite in catalogue.composites.items():
        relation = "<relation>, " if composite.relates else ""
        signature = f"{name}({composite.input}; {relation}<value> …) -> {composite.output}"
        steps = ["relate"] if composite.relates else []
        steps += ["a filter for each value that is not left open", *filter(None, [composite.reducer])]
        yield CatalogueEntry(name, signature, "Stands for " + ", then ".join(steps) + ".", source=COMPOSITE)


def constraint_entries(catalogue: Catalogue) -> list[CatalogueEntry]:
    """Return every constraint that templates may have, with its names in other generators."""
    return [
        CatalogueEntry(
            name,
            f"{name}({', '.join(map(_parameter, kind.params))})",
            kind.meaning,
            kind.aliases,
            kind.source or BUILT_IN,
        )
        for name, kind in catalogue.constraints.items()
    ]


def _parameter(kind: str) -> str:
    """Return a kind of parameter for people: `<slot> …` takes one or more."""
    one = {SLOT: "<slot>", NODE: "node"}
    return f"{one.get(kind[:-1], kind[:-1])} …" if kind in PLURAL_KINDS else one.get(kind, kind)


def vocabularies(catalogue: Catalogue, synonyms: Synonyms) -> list[WordList]:
    """Return the words of the domain's attributes, then of its relations."""
    domain = catalogue.domain
    found = [_vocabulary(attribute, synonyms) for attribute in domain.attributes]
    if domain.relations:
        words = tuple(_word(domain.relation_type, each, 0, synonyms) for each in domain.relations)
        computed = tuple(f"{each} computed by a plug-in" for each in domain.computed_relations)
        found.append(WordList("relations", domain.relation_type, words, traits=computed))
    return found


def _vocabulary(attribute: Attribute, synonyms: Synonyms) -> WordList:
    words = tuple(_word(attribute.type, value, depth, synonyms) for value, depth in _in_groups(attribute))
    null = " / ".join(filter(None, synonyms.of(attribute.type, None)))
    return WordList(attribute.name, attribute.type, words, attribute.key, null, tuple(_traits(attribute)))


def _traits(attribute: Attribute) -> Iterator[str]:
    if attribute.multi:
        yield "a list of values"
    if attribute.optional:
        yield "may be missing"
    if attribute.compute is not None:
        yield "computed by a plug-in"


def _in_groups(attribute: Attribute) -> Iterator[tuple[str, int]]:
    """Yield every value with its depth, each group before its members."""
    members: dict[str | None, list[str]] = {}
    for value in attribute.values:
        members.setdefault(attribute.parents.get(value), []).append(value)
    yield from _below(None, 0, members)


def _below(group: str | None, depth: int, members: Mapping[str | None, list[str]]) -> Iterator[tuple[str, int]]:
    for value in members.get(group, []):
        yield value, depth
        yield from _below(value, depth + 1, members)


def _word(type_name: str, value: str, depth: int, synonyms: Synonyms) -> Word:
    ways = synonyms.of(type_name, value)
    return Word(value, depth, () if ways == (value,) else ways)
