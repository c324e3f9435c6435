"""The functions, constraints and vocabulary that an author of templates can use, each with its meaning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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
    words = tuple(_word(attribute.type, value, depth, synonyms) for value, depth in _in_groups(attribute, None, 0))
    null = " / ".join(filter(None, synonyms.of(attribute.type, None)))
    traits = {
        "a list of values": attribute.multi,
        "may be missing": attribute.optional,
        "computed by a plug-in": attribute.compute is not None,
    }
    is_so = tuple(trait for trait, holds in traits.items() if holds)
    return WordList(attribute.name, attribute.type, words, attribute.key, null, is_so)


def _in_groups(attribute: Attribute, group: str | None, depth: int) -> Iterator[tuple[str, int]]:
    """Yield every value below a group with its depth, each group before its members."""
    for value in attribute.values:
        if attribute.parents.get(value) == group:
            yield value, depth
            yield from _in_groups(attribute, value, depth + 1)


def _word(type_name: str, value: str, depth: int, synonyms: Synonyms) -> Word:
    ways = synonyms.of(type_name, value)
    return Word(value, depth, () if ways == (value,) else ways)
